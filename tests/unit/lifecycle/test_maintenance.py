"""A pass over what has grown old, on a real store with a clock that is moved by hand."""

import itertools
import pathlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import DiskFull, ProviderDown
from recollect.core.projects import locate, namespace
from recollect.core.settings import Settings
from recollect.core.values import Checkpoint, Entity, Fact, Receipt, Record, Relationship
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.turn_writer import TurnWriter
from recollect.lifecycle.file_freshness import cite
from recollect.lifecycle.maintenance import (
    LEAVING,
    Maintenance,
    MaintenanceReport,
    MaintenanceStopped,
)
from recollect.llm.base import Completion, ModelRequest
from recollect.store.interface import RecordFilter
from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite.transaction import SqliteTransaction
from tests.fakes.checkpoints import put_checkpoint
from tests.fakes.stored import put_graph, vectors_in
from tests.make import NAMESPACE, arrival, record, vector


class Here:
    def __init__(self, store: SqliteStore, clock: ManualClock, settings: Settings) -> None:
        self.store, self.clock, self.settings = store, clock, settings
        self.memories = Memories(store)

    def maintenance(self, **fields: Any) -> Maintenance:
        return Maintenance(self.store, self.memories, self.clock, self.settings, **fields)

    def turn(self, text: str, session: str = "s1", **fields: Any) -> Record:
        made = record(
            text[:60],
            kind="episode",
            detail=text,
            session_id=session,
            position=len(self.all()),
            valid_from=self.clock.now(),
            **fields,
        )
        return self.memories.add([made])[0]

    def all(self) -> list[Record]:
        return list(self.store.records.page(NAMESPACE, limit=1000).items)

    def levels(self) -> list[str]:
        return sorted(one.level for one in self.all() if one.kind == "episode")


@pytest.fixture
def here(store: SqliteStore, clock: ManualClock, settings: Settings) -> Here:
    return Here(store, clock, settings)


TALK = [
    "Why does the upload fail?\n\nThe upload failed because nginx limits bodies to 1 MB. "
    "We decided to raise client_max_body_size to 25m in deploy/nginx.conf.\n\n"
    "Commands:\nnginx -t\nsystemctl reload nginx",
    "ok thanks",
    "Rename the worker.\n\nRenamed hermes to courier everywhere; the queue is called courier_jobs.",
]


def test_turns_become_one_compressed_episode_and_stay_beside_it(here: Here) -> None:
    made = [here.turn(text) for text in TALK]
    here.clock.advance(hours=23)
    assert not here.maintenance().run().counts["turns compressed"]
    here.clock.advance(hours=2)
    assert here.maintenance().run().counts["turns compressed"] == 3
    assert here.levels() == ["compressed", "raw", "raw", "raw"]
    (short,) = [one for one in here.all() if one.level == "compressed"]
    for word in ("client_max_body_size", "25m", "deploy/nginx.conf", "courier_jobs", "hermes"):
        assert word in short.detail, word
    assert "systemctl reload nginx" in short.detail and short.facts
    assert short.session_id == "s1" and short.valid_from == made[0].valid_from
    assert short.expires_at == here.clock.now() + timedelta(days=90)


def test_a_turn_goes_six_days_after_its_summary_and_the_summary_is_distilled(here: Here) -> None:
    for text in TALK:
        here.turn(text)
    important = here.turn("The licence key lives in vault path kv/prod.", importance=8)
    pinned = here.turn("Never deploy on Fridays.", pinned=True)
    here.clock.advance(hours=25)
    here.maintenance().run()
    here.clock.advance(days=6)
    report = here.maintenance().run()
    assert report.forgotten == {"a summary has replaced it": 3}
    left = {one.record_id for one in here.all() if one.level == "raw" and one.kind == "episode"}
    assert left == {important.record_id, pinned.record_id}
    here.clock.advance(days=1)
    assert here.maintenance().run().counts["turns distilled"] == 1
    (last,) = [one for one in here.all() if one.level == "distilled"]
    assert last.expires_at is None
    for word in ("client_max_body_size", "courier_jobs", "nginx -t"):
        assert word in last.detail, word
    found = here.store.records.search([NAMESPACE], "courier_jobs", 5)
    assert found and found[0].record.record_id == last.record_id


def test_nothing_is_taken_twice_and_what_changed_is_taken_again(here: Here) -> None:
    one = here.turn(TALK[0])
    here.clock.advance(hours=25)
    here.maintenance().run()
    before = here.all()
    assert not +here.maintenance().run().counts
    assert here.all() == before
    longer = replace_detail(one, TALK[0] + " It also needs proxy_read_timeout 90s.")
    here.memories.replace([longer])
    assert here.maintenance().run().counts["turns compressed"] == 1
    assert any("proxy_read_timeout" in x.detail for x in here.all() if x.level == "compressed")


def replace_detail(one: Record, detail: str) -> Record:
    return msgspec.structs.replace(one, detail=detail, updated_at=None)


def test_an_undone_step_stays_undone(here: Here) -> None:
    made = [here.turn(text) for text in TALK]
    here.clock.advance(hours=25)
    here.maintenance().run()
    here.clock.advance(days=6)
    here.maintenance().run()
    (forgot,) = [o for o in here.store.log.page(NAMESPACE).items if o.kind == "forget"]
    here.memories.undo(NAMESPACE, forgot.op_id, "ada")
    assert here.levels() == ["compressed", "raw", "raw", "raw"]
    here.clock.advance(days=40)
    here.maintenance().run()
    kept = {one.record_id for one in here.all() if one.level == "raw" and one.kind == "episode"}
    assert kept == {one.record_id for one in made}


def test_turns_whose_summary_was_taken_back_are_kept_until_retention(here: Here) -> None:
    here.turn(TALK[0])
    here.clock.advance(hours=25)
    here.maintenance().run()
    (merge,) = [o for o in here.store.log.page(NAMESPACE).items if "session" in o.reason]
    here.memories.undo(NAMESPACE, merge.op_id, "ada")
    here.clock.advance(days=10)
    here.maintenance().run()
    assert here.levels() == ["raw"]
    here.clock.advance(days=20)
    assert here.maintenance().run().forgotten == {"retention of turns": 1}


def test_what_was_forgotten_is_not_made_again_from_the_events(here: Here) -> None:
    counters = Counters(here.clock)
    for _ in range(2):
        turn_writer = TurnWriter(here.store, here.memories, counters)
        here.store.events.put(
            [arrival("why is the sky blue over Lisbon")] if not here.all() else []
        )
        turn_writer.start()
        turn_writer.close()
        if any(one.level == "raw" and one.kind == "episode" for one in here.all()):
            here.clock.advance(hours=25)
            here.maintenance().run()
            here.clock.advance(days=7)
            here.maintenance().run()
            here.clock.advance(days=40)  # and the archive is purged as well
            here.maintenance().run()
    assert "raw" not in here.levels()
    here.memories.delete(NAMESPACE, [one.record_id for one in here.all()], "ada")
    turn_writer = TurnWriter(here.store, here.memories, counters)
    turn_writer.start()
    turn_writer.close()
    assert here.all() == []


def test_a_checkpoint_holds_what_it_shows_until_work_has_long_gone_on(here: Here) -> None:
    """Else every session's last observations would stay for ever."""
    first, second = here.memories.add([record("shown first"), record("shown last")])
    for number, shown in enumerate((first, second)):
        put_checkpoint(
            here.store,
            Checkpoint(
                checkpoint_id=f"chk_{number}",
                namespace=NAMESPACE,
                session_id=f"s{number}",
                task="t",
                snapshot=(shown.record_id,),
            ),
        )
        here.clock.advance(days=29 if number else 31)
    here.clock.advance(days=200)
    assert here.maintenance().run().forgotten == {"retention of notes": 1}
    assert [one.title for one in here.all() if one.kind == "observation"] == ["shown last"]


def test_retention_by_kind_with_its_exceptions(here: Here) -> None:
    kept = here.memories.add(
        [
            record("pinned", pinned=True),
            record("important", importance=8),
            record("by hand", strategy="user"),
            record("cited"),
            record("knowledge", kind="knowledge"),
        ]
    )
    put_checkpoint(
        here.store,
        Checkpoint(
            checkpoint_id="chk_1",
            namespace=NAMESPACE,
            session_id="s",
            task="t",
            snapshot=(kept[3].record_id,),
        ),
    )
    here.memories.add([record("observation"), record("summary", kind="summary")])
    here.clock.advance(days=91)
    assert here.maintenance().run().forgotten == {"retention of notes": 1}
    here.clock.advance(days=275)
    assert here.maintenance().run().forgotten == {"retention of summaries": 1}
    titles = {one.title for one in here.all()}
    assert {one.title for one in kept} <= titles
    here.settings = replace(here.settings, retention=("beliefs:300",))
    here.maintenance().run()
    assert "knowledge" not in {one.title for one in here.all()}


def test_what_expires_goes_when_it_expires(here: Here) -> None:
    here.memories.add([record("short", expires_at=here.clock.now() + timedelta(hours=1))])
    here.memories.add([record("long", expires_at=here.clock.now() + timedelta(days=2))])
    here.clock.advance(hours=2)
    assert here.maintenance().run().forgotten == {"expired": 1}
    assert "long" in {one.title for one in here.all()}


def test_three_observations_of_the_same_files_become_one(here: Here) -> None:
    made = here.memories.add(
        [
            record(f"Edited retry.py {n}", observation_type="tool_use", files=("src/retry.py",),
                   facts=(f"fact {n}", "shared"), summary=f"Changed attempt {n}.")
            for n in range(3)
        ]
        + [record("other", observation_type="error", files=("src/retry.py",))]
    )  # fmt: skip
    here.clock.advance(hours=25)
    assert here.maintenance().preview().counts["notes consolidated"] == 3
    assert here.maintenance().run().counts["notes consolidated"] == 3
    left = [one for one in here.all() if one.kind == "observation"]
    assert len(left) == 2
    (one,) = [x for x in left if x.observation_type == "tool_use"]
    assert set(one.facts) == {"fact 0", "fact 1", "fact 2", "shared"}
    (merge,) = [
        o for o in here.store.log.page(NAMESPACE).items if set(o.targets) & {made[0].record_id}
    ]
    here.memories.undo(NAMESPACE, merge.op_id, "ada")
    assert {x.record_id for x in here.all()} >= {x.record_id for x in made}


def test_only_what_was_inferred_fades_and_it_can_be_undone(here: Here) -> None:
    now = here.clock.now()
    common: dict[str, Any] = {"namespace": NAMESPACE, "subject": "api", "valid_from": now}
    here.memories.add([record("so that the namespace is known")])
    put_graph(here.store,
        *(Entity(entity_id=e, namespace=NAMESPACE, name=e, type="tool") for e in ("e1", "e2")),
        Relationship(relationship_id="r1", namespace=NAMESPACE, source_id="e1", target_id="e2",
                     type="uses", source_type="inferred", valid_from=now),
        Fact(fact_id="f1", predicate="uses", object="redis", source_type="inferred", **common),
        Fact(fact_id="f2", predicate="is", object="slow", source_type="stated", **common),
        Fact(fact_id="f3", predicate="has", object="bug", source_type="inferred",
             confidence=0.102, **common),
    )  # fmt: skip
    before = here.store.graph.facts(NAMESPACE)
    here.clock.advance(days=15)
    assert here.maintenance().run().counts["inferred things faded"] == 3
    (related,) = here.store.graph.all(NAMESPACE, Relationship, of="e1")
    assert related.confidence == pytest.approx(0.95**2)
    facts = {one.fact_id: one for one in here.store.graph.facts(NAMESPACE)}
    assert facts["f1"].confidence == pytest.approx(0.95**2)
    assert facts["f2"].confidence == 1.0 and "f3" not in facts
    assert not here.maintenance().run().counts["inferred things faded"]
    operations = here.store.log.page(NAMESPACE).items
    faded = next(one for one in operations if "f1" in one.targets)
    assert faded.detail == {"faded": 2, "no longer held": 1}
    here.store.log.undo(NAMESPACE, faded.op_id, "ada")
    assert here.store.graph.facts(NAMESPACE) == before


def test_a_day_and_a_week_are_summed_up_once(here: Here) -> None:
    here.turn(TALK[0], summary="We decided to raise client_max_body_size to 25m.")
    here.clock.advance(days=1)
    here.maintenance().run()
    here.clock.advance(days=7)
    here.maintenance().run()
    summaries = here.store.records.page(NAMESPACE, RecordFilter(kind="summary")).items
    assert sorted(one.category or "" for one in summaries) == ["daily", "weekly"]
    assert any("client_max_body_size" in one.summary for one in summaries)
    here.memories.delete(NAMESPACE, [one.record_id for one in summaries], "ada")
    here.maintenance().run()
    assert not here.store.records.page(NAMESPACE, RecordFilter(kind="summary")).items


def test_old_receipts_and_versions_are_dropped(here: Here) -> None:
    one = here.memories.add([record("a")])[0]
    here.memories.delete(NAMESPACE, [one.record_id], "ada")
    here.store.receipts.put(
        Receipt(receipt_id="rcp_1", namespace=NAMESPACE, trigger="prompt", query="q")
    )
    here.clock.advance(days=31)
    looked = here.maintenance().preview().counts
    assert (looked["receipts dropped"], looked["archived versions dropped"]) == (1, 1)
    assert +here.maintenance().run().counts == +looked
    assert here.store.receipts.get(NAMESPACE, "rcp_1") is None


def test_a_preview_counts_the_memories_whose_files_changed(
    here: Here, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "Makefile").touch()
    where = namespace("ada", here.store.projects.resolve(locate(str(tmp_path))))
    (tmp_path / "a.py").write_text("a = 1")
    cited = cite(["a.py"], str(tmp_path))
    (tmp_path / "b.py").write_text("b = 1")
    same = cite(["b.py"], str(tmp_path))
    here.memories.add(
        [
            record("a", namespace=where, citations=cited, files=("a.py",)),
            record("b", namespace=where, citations=same, files=("b.py",)),
        ]
    )
    (tmp_path / "a.py").write_text("a = 2")

    def told(report: MaintenanceReport) -> tuple[dict[str, int], int, list[str]]:
        return dict(+report.counts), report.stale, [one.title for one in report.stale_named]

    looked = told(here.maintenance().preview())
    assert looked == ({"marked as stale": 1, "marked as up to date": 1}, 1, ["a"])
    assert told(here.maintenance().run()) == looked
    assert told(here.maintenance().preview()) == ({}, 1, ["a"])
    (tmp_path / "a.py").write_text("a = 1")
    assert told(here.maintenance().preview()) == ({"marked as up to date": 1}, 0, [])
    assert told(here.maintenance().run()) == ({"marked as up to date": 1}, 0, [])


def test_a_store_that_is_too_large_goes_on_at_once_and_gives_pages_back(here: Here) -> None:
    for number in range(40):
        here.turn(f"number {number} " + "word " * 3000, session=f"s{number}")
    here.clock.advance(hours=25)
    size = here.store.upkeep.space().bytes
    report = here.maintenance(size_limit=100_000).run()
    assert report.tight and "distilled" in here.levels() and "raw" not in here.levels()
    here.clock.advance(days=31)
    report = here.maintenance(size_limit=100_000).run()
    assert report.counts["pages given back"] > 0 and report.bytes < size
    assert here.store.upkeep.check() == []


class Model:
    name, model = "fake", "fake-1"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> Completion:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer, self.model)

    def close(self) -> None:
        return


def test_a_model_leads_and_its_failure_loses_nothing(here: Here) -> None:
    here.turn(TALK[0], session="a")
    here.turn(TALK[2], session="b")
    here.clock.advance(hours=25)
    model = Model("The upload limit was decided to be 25 MB.", ProviderDown("no"))
    here.maintenance(provider=lambda: model).run()
    assert [one.purpose for one in model.asked] == ["compact", "compact"]
    by_session = {one.session_id: one for one in here.all() if one.level == "compressed"}
    assert by_session["a"].strategy == "llm-summary"
    assert "25 MB" in by_session["a"].summary and "client_max_body_size" in by_session["a"].detail
    assert by_session["b"].strategy == "rules" and "courier_jobs" in by_session["b"].detail


def test_a_pass_that_is_stopped_goes_on_next_time(here: Here) -> None:
    for number in range(4):
        here.turn(TALK[number % 3], session=f"s{number}")
    here.clock.advance(hours=25)

    def stop() -> None:
        raise MaintenanceStopped

    steps = 0
    while not (report := here.maintenance().run(stop)).finished:
        steps += 1
        assert not report.counts["turns compressed"] > 1
    assert steps >= 4 and here.levels().count("compressed") == 4


# O17
def test_an_error_in_the_middle_leaves_whole_batches_and_the_next_pass_finishes(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [
        record(f"note {n}", kind="observation", importance=3, expires_at=here.clock.now())
        for n in range(3 * LEAVING)
    ]
    here.memories.add(notes)
    here.clock.advance(hours=1)
    due = here.maintenance().preview().counts["memories forgotten"]
    assert due == 3 * LEAVING
    real, calls = SqliteTransaction.change_records, itertools.count(1)

    def broken(self: SqliteTransaction, operation: Any) -> Any:
        done = real(self, operation)
        if next(calls) == 2:
            raise DiskFull
        return done

    with monkeypatch.context() as patch:
        patch.setattr(SqliteTransaction, "change_records", broken)
        with pytest.raises(DiskFull):
            here.maintenance().run()
    # The first batch is forgotten, the second is as it was, although its rows were already deleted.
    assert len(here.all()) == 2 * LEAVING and here.store.upkeep.check() == []
    forgotten = [one for one in here.store.log.page(NAMESPACE).items if one.kind == "forget"]
    assert [len(one.targets) for one in forgotten] == [LEAVING]
    assert here.maintenance().preview().counts["memories forgotten"] == 2 * LEAVING
    assert here.maintenance().run().counts["memories forgotten"] == 2 * LEAVING
    assert here.all() == []


def test_vectors_and_index_follow(here: Here) -> None:
    one = here.turn(TALK[2])
    here.store.vectors.put([vector(one)])
    seen: list[tuple[str, list[str]]] = []

    class Listener:
        def stored(self, records: Any) -> None:
            seen.append(("stored", [x.record_id for x in records]))

        def removed(self, namespace: str, record_ids: Any) -> None:
            seen.append(("removed", list(record_ids)))

    here.memories.listeners.append(Listener())
    here.clock.advance(hours=25)
    here.maintenance().run()
    here.clock.advance(days=6)
    here.maintenance().run()
    assert ("removed", [one.record_id]) in seen
    assert vectors_in(here.store, NAMESPACE, "test-model") == []
    assert here.maintenance().preview().memories["compressed turns"]["never used"] == 1
