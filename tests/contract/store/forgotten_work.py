"""Forgetting, privacy and moves reach the work index, and a rebuild brings nothing back."""

import pathlib
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Action, Arrival, EventSource, Receipt
from recollect.daemon.runtime import Runtime
from recollect.portable.erasure import ErasureSelection
from recollect.service import read, sessions, write
from recollect.service.undo import undo_operation
from recollect.store.interface import Store
from recollect.work.index import ProjectWork
from tests.fakes.waiting import PATIENCE_S
from tests.make import NAMESPACE
from tests.unit.extract.session import Told

OTHER = "/actor/ada/project/other/"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "abcdef"


class Workshop:
    """A runtime that writes turns."""

    def __init__(self, store: Store, clock: ManualClock, settings: Settings) -> None:
        self.store, self.clock, self.settings = store, clock, settings
        self.runtime = Runtime(replace(settings, embedding=False), clock, store)  # type: ignore[arg-type]
        self.runtime.turn_writer.start()
        self.runtime.load_recall()

    def take(self, told: Told, **source: str) -> None:
        events = told.events
        if source:
            events = [
                msgspec.structs.replace(one, source=EventSource(surface="claude-code", **source))
                for one in events
            ]
        self.runtime.pipeline.events([(one, one.event_id) for one in events])
        assert self.runtime.turn_writer.wait(PATIENCE_S)
        with self.runtime.turn_writer.paused():
            self.clock.advance(minutes=10)

    def session(self, name: str, path: str, command: str, output: str = "") -> None:
        told = Told(name, self.clock.now()).ask(f"Please mend what {name} is about.")
        told.write(path, f"{pathlib.PurePath(path).stem}_limit = 1")
        told.run(command, output, failed=bool(output)).answer("It is mended now.")
        self.take(told)

    def seen(self, namespace: str = NAMESPACE) -> str:
        """What whoever asks about work can be told."""
        self.runtime.work.fill([namespace])
        shown = self.runtime.work.ask(namespace, lambda work: _shown(work))
        rows = list(self.runtime.visible_store.turn_works.stream(namespace))
        assert {path for path in shown[0] if path} == {
            one.path for row in rows for one in row.actions if one.path
        }
        graph = self.runtime.work.graph(namespace)
        return str((shown, sorted(one.name for one in graph.entities())))

    def rebuild(self) -> None:
        self.runtime.turn_writer.rebuild_work()

    def stored(self, namespace: str = NAMESPACE) -> str:
        """Everything that the store holds there."""
        rows = [str(one) for one in self.store.turn_works.stream(namespace)]
        return "\n".join([*rows, *map(str, self.store.bulk.dump(namespace))])

    def in_files(self, words: str) -> list[str]:
        files = pathlib.Path(self.settings.directory).rglob("*")
        return [one.name for one in files if one.is_file() and words.encode() in one.read_bytes()]

    def receipt(self, text: str, session: str = "reader") -> str:
        made = Receipt(
            receipt_id=ids.new_id(ids.RECEIPT), namespace=NAMESPACE, session_id=session,
            trigger="session-start", query="", detail={"text": text, "candidates": []},
        )  # fmt: skip
        return self.store.receipts.put(made).receipt_id

    def turn_of(self, session: str) -> str:
        return ids.RECORD + next(self.store.turn_works.stream(NAMESPACE, session)).turn_id


def _shown(work: ProjectWork) -> tuple[list[str], list[tuple[str, Action]], list[str], list[str]]:
    ran = [(form, runs.last) for form, runs in work.runs.items()]
    names = {*work.symbols, *work.names, *(name for some in work.edited.values() for name in some)}
    return sorted(work.path), ran, sorted(names), sorted(work.by_branch)


class ForgottenWorkContract:
    @pytest.fixture
    def shop(self, store: Store, clock: ManualClock, settings: Settings) -> Iterator[Workshop]:
        made = Workshop(store, clock, settings)
        yield made
        made.runtime.close()

    def test_a_rebuild_makes_the_same_rows(self, shop: Workshop) -> None:
        shop.session("one", "src/pricing.py", "make test", "FAILED tests/test_pricing.py")
        shop.session("two", "src/orders.py", "make lint")
        before = list(shop.store.turn_works.stream(NAMESPACE))
        assert [len(one.actions) for one in before] == [2, 2]
        shop.store.turn_works.delete(NAMESPACE)
        shop.rebuild()
        assert list(shop.store.turn_works.stream(NAMESPACE)) == before

    def test_the_work_of_a_forgotten_turn_is_not_shown_until_undo(self, shop: Workshop) -> None:
        shop.session("one", "src/zeppelin.py", "deploy --to zeppelin")
        shop.session("two", "src/orders.py", "make lint")
        before = shop.seen()
        assert "src/zeppelin.py" in before and "deploy --to zeppelin" in before
        gone = write.delete(shop.runtime, (shop.turn_of("one"),))
        assert "zeppelin" not in shop.seen() and "make lint" in shop.seen()
        assert "orders_limit" in shop.seen() and "zeppelin_limit" in before
        shop.rebuild()
        assert "zeppelin" not in shop.seen()
        undo_operation(shop.runtime, gone.op_ids[0])
        assert shop.seen() == before

    def test_what_is_never_wanted_again_is_not_shown_when_it_is_done_again(
        self, shop: Workshop
    ) -> None:
        shop.session("one", "src/a.py", "make ship", "ERROR: zeppelin host refused the upload")
        note = write.add_note(
            shop.runtime,
            write.NewNote(namespace=NAMESPACE, text="zeppelin host refused the upload"),
        )
        also = write.add_note(
            shop.runtime,
            write.NewNote(namespace=NAMESPACE, text="deploy billing to zeppelin frankfurt"),
        )
        name = write.add_note(
            shop.runtime, write.NewNote(namespace=NAMESPACE, text="zeppelin_limit")
        )
        for one in (note, also, name):
            write.delete(shop.runtime, (one.record.record_id,), never=True)
        shop.session("two", "src/b.py", "deploy billing --to zeppelin --in frankfurt")
        shop.session("three", "src/c.py", "make ship", "ERROR: zeppelin host refused the upload")
        told = Told("four", shop.clock.now()).ask("Mend it.")
        shop.take(told.write("src/d.py", "zeppelin_limit = floor_limit").answer("Mended."))
        shop.rebuild()
        seen = shop.seen()
        assert "src/b.py" in seen and "make ship" in seen and "zeppelin" not in seen
        assert "floor_limit" in seen and "b_limit" in seen
        assert any("zeppelin" in str(one) for one in shop.store.turn_works.stream(NAMESPACE))

    def test_nothing_is_left_of_an_erased_session_or_of_briefs_that_named_its_work(
        self, shop: Workshop
    ) -> None:
        shop.session("one", "src/zeppelin.py", "deploy --to graf")
        shop.session("two", "src/orders.py", "make lint")
        named = [
            shop.receipt("Likely files: zeppelin.py, orders.py"),
            shop.receipt("Runs: make lint; deploy --to graf"),
            shop.receipt("Likely files: orders.py (zeppelin_limit)"),
        ]
        kept = shop.receipt("Likely files: orders.py (orders_limit)\nRuns: make lint")
        shop.runtime.erasure.forget(ErasureSelection(session_id="one"), "ada")
        shop.rebuild()
        assert [one for one in named if shop.store.receipts.get(NAMESPACE, one)] == []
        assert shop.store.receipts.get(NAMESPACE, kept) is not None
        assert "src/orders.py" in shop.seen()
        for words in ("zeppelin", "deploy --to graf"):
            assert words not in shop.seen() + shop.stored() and shop.in_files(words) == []

    def test_scrubbing_reaches_commands_and_receipts(self, shop: Workshop) -> None:
        told = Told("one", shop.clock.now()).ask("Please ship it.").edit("src/a.py")
        told.run(f"ship --as ada {SECRET}", f"error: {SECRET} was refused", failed=True)
        # As an older version stored it, which did not know this kind of secret.
        shop.store.events.put([Arrival(event=one) for one in told.events])
        shop.runtime.turn_writer.derive_work(NAMESPACE)
        shop.receipt(f"Runs: ship --as ada {SECRET}")
        assert SECRET in shop.seen() and SECRET in shop.stored()
        shop.runtime.erasure.scrub("ada", apply=True)
        assert "ship --as ada" in shop.seen() and "ship --as ada" in shop.stored()
        shop.rebuild()
        assert SECRET not in shop.seen() + shop.stored() and shop.in_files(SECRET) == []

    def test_what_is_kept_out_leaves_no_work(self, shop: Workshop, tmp_path: pathlib.Path) -> None:
        project = tmp_path / "orbit"
        project.mkdir()
        (project / ".recollect.toml").write_text('ignore = ["vault/"]\n')
        told = Told("one", shop.clock.now()).ask("Look at it.").edit(f"{project}/vault/zeppelin.py")
        told.run("check vault/zeppelin.py").edit(f"{project}/src/orders.py").answer("Done.")
        shop.take(told, project_path=str(project))
        private = Told("two", shop.clock.now()).ask("recollect: private")
        private.edit(f"{project}/src/zeppelin.py").run("deploy --to zeppelin").answer("Done.")
        shop.take(private, project_path=str(project))
        shop.rebuild()
        assert "src/orders.py" in shop.seen()
        assert "zeppelin" not in shop.seen() + shop.stored() and shop.in_files("zeppelin") == []

    def test_work_moves_with_its_events_also_into_a_session_that_is_there(
        self, shop: Workshop
    ) -> None:
        for name, path in (("/work/orbit", "src/a.py"), ("/work/moon", "src/b.py")):
            told = Told("one", shop.clock.now()).ask("Mend it.").edit(f"{name}/{path}")
            shop.take(told.answer("Mended."), project_path=name)
        moved = ErasureSelection(path="/work/moon", namespace=NAMESPACE)
        shop.runtime.erasure.move(moved, OTHER, "ada", apply=True)
        assert "src/b.py" not in shop.seen() and "src/b.py" in shop.seen(OTHER)
        back = ErasureSelection(everything=True, namespace=OTHER)
        shop.runtime.erasure.move(back, NAMESPACE, "ada", apply=True)
        assert "src/a.py" in shop.seen() and "src/b.py" in shop.seen()
        assert list(shop.store.turn_works.stream(OTHER)) == []

    def test_the_work_of_turns_that_were_merged_counts(self, shop: Workshop) -> None:
        for number in range(4):
            shop.session("one", f"src/part{number}.py", "make lint")
        before = list(shop.store.turn_works.stream(NAMESPACE))
        for _ in range(20):
            shop.clock.advance(days=10)
            shop.runtime.maintenance.run()
        turns = shop.store.records.get(NAMESPACE, [ids.RECORD + one.turn_id for one in before])
        assert len(turns) < len(before) == 4, "some were merged"
        shop.rebuild()
        assert list(shop.store.turn_works.stream(NAMESPACE)) == before
        assert "src/part3.py" in shop.seen()

    def test_receipts_and_conversations_are_read_without_what_was_forgotten(
        self, shop: Workshop
    ) -> None:
        told = Told("one", shop.clock.now()).ask("Mend it. The server is graf zeppelin.")
        shop.take(told.run("make lint").run("echo the server is graf zeppelin").answer("Mended."))
        made = write.add_note(
            shop.runtime, write.NewNote(namespace=NAMESPACE, text="The server is graf zeppelin")
        )
        receipt = shop.receipt("- The server is graf zeppelin\nRuns: make lint")

        def said() -> list[str]:
            page = sessions.conversation(shop.runtime, "one", 0, 100)
            return [one.text for one in page.items]

        before = said()
        assert sum("zeppelin" in one for one in before) == 2
        gone = write.delete(shop.runtime, (made.record.record_id,))
        assert read.receipt(shop.runtime, receipt).detail["text"] == "Runs: make lint"
        assert said() == ["Mend it.", "make lint", "", "Mended."]
        undo_operation(shop.runtime, gone.op_ids[0])
        assert "zeppelin" in read.receipt(shop.runtime, receipt).detail["text"]
        assert said() == before
