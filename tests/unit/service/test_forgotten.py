"""Point 22: what is forgotten is told at no door, in no form; undo brings all of it back."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.core import ids, projects
from recollect.core.clock import ManualClock
from recollect.core.errors import NotFound
from recollect.core.settings import Settings
from recollect.core.values import Checkpoint, Entity, Preference, Record
from recollect.daemon.runtime import Runtime
from recollect.ingest.messages import RecallQuestion
from recollect.lifecycle.maintenance import Maintenance
from recollect.portable.imported_records import FoundRecord, RecordImporter
from recollect.service import agent_memory, graph_edit, read, tools, write
from recollect.service.scope import Scope
from recollect.service.undo import undo_operation
from recollect.store.sqlite import SqliteStore
from tests.fakes.checkpoints import put_checkpoint
from tests.fakes.waiting import PATIENCE_S
from tests.make import NAMESPACE
from tests.unit.extract.session import Told

RULE = "From now on always use pnpm, never npm, in packages/ui."
FACT = "The staging server of billing-api runs on zeppelin.example in Frankfurt."
OTHER = "We decided to use PostgreSQL 16 instead of MySQL for billing-api."
GLOBAL = projects.namespace("ada")


class House:
    """A runtime with episodes, extraction by rules, and recall."""

    def __init__(self, store: SqliteStore, clock: ManualClock, settings: Settings) -> None:
        by_words = replace(settings, embedding=False)
        self.store, self.clock = store, clock
        self.runtime = runtime = Runtime(by_words, clock, store)
        self.memories, self.pipeline = runtime.memories, runtime.pipeline
        self.turn_writer = runtime.turn_writer
        self.turn_writer.start()
        self.it = runtime.load_recall()
        self.learning = runtime.load_learning()
        self.learning.start()
        self.maintenance = Maintenance(store, self.memories, clock, by_words, lambda: None)

    def session(self, name: str, *said: str) -> None:
        told = Told(name, self.clock.now())
        for text in said:
            told.ask(text).answer(f"Understood: {text} I noted it.").edit("docs/rules.md")
        told.answer("Done for today. Next: write the tests.").signal("session-end")
        self.pipeline.events([(one, one.event_id) for one in told.events])
        self.clock.advance(minutes=10)
        assert self.turn_writer.wait(PATIENCE_S)
        assert self.learning.run_now([NAMESPACE, GLOBAL], 30)

    def memory(self, words: str) -> Record:
        """What was learned of a statement."""
        page = self.store.records.page(NAMESPACE, limit=100)
        return next(one for one in page.items if one.kind == "knowledge" and words in one.title)

    def everything(self, about: str) -> str:
        """What an agent can hear, at all doors."""
        namespaces = (NAMESPACE, GLOBAL)
        parts = []
        for trigger, text in (("session-start", ""), ("prompt", about)):
            question = RecallQuestion(trigger, text, namespaces, "another-session", None, 20_000)
            self.it.index_cache.fill(namespaces)
            self.it.graphs.fill(namespaces)
            parts.append(self.it.recall_now.preview(question, 8000).context)
        here = {"namespace": NAMESPACE}
        known = self.store.records.page(NAMESPACE, limit=200).items
        for name, given in (
            ("search_memory", {"query": about, "limit": 50}),
            ("search_memory", {"query": about, "mode": "keyword", "as_of": self.now()}),
            ("get_context", {"query": about, "token_budget": 8000}),
            ("get_context", {}),
            ("timeline", {"before": 100}),
            ("get_observations", {"ids": [one.record_id for one in known]}),
            ("resume_session", {}),
            ("generate_report", {"period": "month"}),
        ):
            arguments = dict(given.items())
            parts.append(tools.RUN[name](self.runtime, {**arguments, **here}))
        for one in self.store.graph.all(NAMESPACE, Entity):
            try:
                parts.append(tools.RUN["recall_entity"](self.runtime, {"name": one.name, **here}))
            except NotFound as error:  # nothing is known of it any more
                parts.append(str(error).replace(one.name, ""))
        parts += [one.title for one in read.memories(self.runtime, read.ListQuery(limit=200)).items]
        return re.sub(r"\[/?recollect \w+\]", "", "\n".join(parts))

    def now(self) -> str:
        return (self.clock.now() + timedelta(seconds=1)).isoformat()

    def close(self) -> None:
        self.runtime.close()


@pytest.fixture
def house(store: SqliteStore, clock: ManualClock, settings: Settings) -> Iterator[House]:
    made = House(store, clock, settings)
    yield made
    made.close()


def never(house: House, record_id: str) -> str:
    return write.judge(house.runtime, record_id, "never").op_id


def forget(house: House, record_id: str) -> str:
    return write.delete(house.runtime, (record_id,)).op_ids[0]


def forget_for_ever(house: House, record_id: str) -> str:
    return write.delete(house.runtime, (record_id,), never=True).op_ids[0]


@pytest.mark.parametrize("how", [never, forget, forget_for_ever])
@pytest.mark.parametrize(("text", "words"), [(RULE, "pnpm"), (FACT, "zeppelin")])
def test_nothing_tells_it_and_undo_brings_all_back(
    house: House, how: Callable[[House, str], str], text: str, words: str
) -> None:
    house.session("one", text, OTHER)
    before = house.everything(text)
    assert words in before and "PostgreSQL" in before
    known = house.store.records.page(NAMESPACE, limit=100).items
    mine = [one for one in known if one.kind == "knowledge" and words in one.title]
    op_id = how(house, (mine or [one for one in known if words in one.title])[0].record_id)
    after = house.everything(text)
    assert words not in after, [line for line in after.splitlines() if words in line]
    assert "PostgreSQL" in house.everything(OTHER)
    undo_operation(house.runtime, op_id)
    assert house.everything(text) == before


@pytest.mark.parametrize("how", [never, forget])
def test_what_is_made_later_of_the_same_events_does_not_tell_it(
    house: House, clock: ManualClock, how: Callable[[House, str], str]
) -> None:
    house.session("one", RULE, OTHER)
    how(house, house.memory("pnpm").record_id)
    house.session("one", "Please also mend the retry loop in worker.py.")  # the session goes on
    for _ in range(4):
        clock.advance(days=2)
        house.maintenance.run()
    assert any(
        "pnpm" in f"{one.summary}{one.detail}"
        for one in house.store.records.page(NAMESPACE, limit=200).items
    ), "something holds it still"
    assert "pnpm" not in house.everything(RULE)


def test_a_forgotten_statement_may_be_said_again_and_a_refused_one_may_not(house: House) -> None:
    house.session("one", RULE)
    forget(house, house.memory("pnpm").record_id)
    assert "pnpm" not in house.everything(RULE)
    house.clock.advance(hours=1)
    house.session("two", RULE)
    assert "pnpm" in house.everything(RULE)
    never(house, house.memory("pnpm").record_id)
    house.session("three", RULE)
    assert "pnpm" not in house.everything(RULE)


@pytest.mark.parametrize("how", [never, forget, forget_for_ever])
def test_receipts_do_not_tell_it_and_undo_brings_their_text_back(
    house: House, how: Callable[[House, str], str]
) -> None:
    house.session("one", RULE, OTHER)
    house.it.index_cache.fill((NAMESPACE, GLOBAL))
    house.it.graphs.fill((NAMESPACE, GLOBAL))
    asked = "what did we decide about pnpm in packages/ui, and about PostgreSQL?"
    question = RecallQuestion("prompt", asked, (NAMESPACE, GLOBAL), "another", None, 20_000)
    told = house.it.recall_now(question)
    house.it.receipts.flush()
    assert "pnpm" in told.context and "PostgreSQL" in told.context

    def receipts() -> str:
        one = read.receipt(house.runtime, told.receipt_id or "")
        listed = read.receipts(house.runtime, read.LogQuery(), (NAMESPACE,))
        assert list(listed.items) == [one]
        return str(one.detail)

    before = receipts()
    assert told.context in read.receipt(house.runtime, told.receipt_id or "").detail["text"]
    op_id = how(house, house.memory("pnpm").record_id)
    assert "pnpm" not in receipts() and "PostgreSQL" in receipts()
    undo_operation(house.runtime, op_id)
    assert receipts() == before


def test_where_a_session_stood_does_not_tell_it(house: House) -> None:
    house.session("one", RULE)
    known = house.memory("pnpm")
    put_checkpoint(
        house.store,
        Checkpoint(
            checkpoint_id=ids.new_id(ids.CHECKPOINT),
            namespace=NAMESPACE,
            session_id="one",
            task="Use pnpm, never npm, in packages/ui",
            progress="The retry loop is mended.",
            next_steps=("Move packages/ui to pnpm instead of npm", "Write the tests"),
        ),
    )
    assert "pnpm" in house.everything("where were we?")
    forget(house, known.record_id)
    told = house.everything("where were we?")
    assert "pnpm" not in told and "The retry loop is mended" in told and "Write the tests" in told


def test_a_preference_taken_out_takes_its_statement_along(house: House) -> None:
    house.session("one", RULE, OTHER)
    wishes = [
        *house.store.graph.all(NAMESPACE, Preference),
        *house.store.graph.all(GLOBAL, Preference),
    ]
    wish = next(one for one in wishes if "pnpm" in one.value)
    before = house.everything(RULE)
    done = graph_edit.remove(house.runtime, wish.preference_id)
    assert "pnpm" not in house.everything(RULE)
    undo_operation(house.runtime, done.op_id)
    assert house.everything(RULE) == before


def test_the_old_wording_of_a_corrected_memory_is_not_told(house: House) -> None:
    house.session("one", RULE, OTHER)
    known = house.memory("pnpm")
    before = house.everything(RULE)
    done = write.edit(
        house.runtime, known.record_id, write.MemoryEdit(title="Always use bun in packages/ui")
    )
    told = house.everything(RULE)
    assert "pnpm" not in told and "bun" in told
    undo_operation(house.runtime, done.op_id)
    assert house.everything(RULE) == before


def test_a_second_correction_leaves_the_first_wording_untold(house: House) -> None:
    house.session("one", RULE, OTHER)
    known = house.memory("pnpm")

    def told() -> set[str]:
        return {one for one in ("pnpm", "bun", "deno") if one in house.everything(RULE)}

    def correct(title: str) -> str:
        return write.edit(house.runtime, known.record_id, write.MemoryEdit(title=title)).op_id

    before = house.everything(RULE)
    first = correct("Always use bun in packages/ui")
    second = correct("Always use deno in packages/ui")
    assert told() == {"deno"}
    undone = undo_operation(house.runtime, second)
    assert told() == {"bun"}
    redone = undo_operation(house.runtime, undone.op_id)
    assert told() == {"deno"}
    third = correct(known.title)
    assert told() == {"pnpm"}
    for op_id, words in ((third, {"deno"}), (redone.op_id, {"bun"}), (first, {"pnpm"})):
        undo_operation(house.runtime, op_id)
        assert told() == words
    assert house.everything(RULE) == before


def test_an_undone_undo_keeps_it_back_again(house: House) -> None:
    house.session("one", RULE)
    gone = forget(house, house.memory("pnpm").record_id)
    undone = undo_operation(house.runtime, gone)
    assert "pnpm" in house.everything(RULE)
    undo_operation(house.runtime, undone.op_id)
    assert "pnpm" not in house.everything(RULE)


def test_a_verdict_goes_along_when_a_memory_is_moved(house: House) -> None:
    house.session("one", RULE)
    known = house.memory("pnpm")
    never(house, known.record_id)
    write.move(house.runtime, known.record_id, Scope(project="global"))
    assert "pnpm" not in house.everything(RULE)


def test_what_is_put_in_by_hand_after_all_is_told(house: House) -> None:
    house.session("one", RULE)
    forget_for_ever(house, house.memory("pnpm").record_id)
    house.clock.advance(minutes=1)
    note = write.NewNote(text="Always use pnpm, never npm, in packages/ui", namespace=NAMESPACE)
    write.add_note(house.runtime, note)
    assert "pnpm" in house.everything(RULE)


GUESTS = "The upload limit in src/upload.py is 10 MB for guests"
MEMBERS = "The upload limit in src/upload.py is 50 MB for members"


def by_note(house: House, text: str) -> Record:
    return write.add_note(house.runtime, write.NewNote(text=text, namespace=NAMESPACE)).record


def by_agent(house: House, text: str) -> Record:
    new = write.NewObservation(
        title=text, session_id="one", author="assistant", namespace=NAMESPACE
    )
    return write.add_observation(house.runtime, new).record


def by_belief(house: House, text: str) -> Record:
    given = agent_memory.Remember(text=text, type="decision", namespace=NAMESPACE)
    return agent_memory.remember(house.runtime, given).record


def by_commit(house: House, text: str) -> Record:
    found = FoundRecord(
        program="git", key=text, namespace=NAMESPACE, at=house.clock.now(), kind="observation",
        title=text, category="commit", author="tool",
    )  # fmt: skip
    RecordImporter(house.store, house.memories).store_new([found])
    page = house.store.records.page(NAMESPACE, limit=100)
    return next(one for one in page.items if one.title == text)


def correct(house: House, record_id: str) -> str:
    change = write.MemoryEdit(title="The upload limit in src/upload.py is 20 MB for guests")
    return write.edit(house.runtime, record_id, change).op_id


@pytest.mark.parametrize("how", [never, forget, forget_for_ever, correct])
@pytest.mark.parametrize("written", [by_note, by_agent, by_belief, by_commit])
def test_forgetting_one_memory_without_events_hides_no_other(
    house: House,
    how: Callable[[House, str], str],
    written: Callable[[House, str], Record],
) -> None:
    """Nobody said the two in one sentence, however alike their words are."""
    one, other = written(house, GUESTS), written(house, MEMBERS)
    house.clock.advance(minutes=1)
    how(house, one.record_id)
    visible = house.runtime.visible_store.records.get(NAMESPACE, [other.record_id])
    assert visible == [other]
    told = house.everything("upload limit")
    assert "50 MB" in told and "10 MB" not in told


def test_a_statement_of_the_same_session_is_hidden_only_by_all_of_its_words(house: House) -> None:
    house.session("one", f"From now on: {GUESTS}.", f"From now on: {MEMBERS}.")
    forget(house, house.memory("guests").record_id)
    told = house.everything("upload limit")
    assert "50 MB" in told and "10 MB" not in told


def test_the_digest_of_a_day_loses_the_forgotten_sentence_alone(house: House) -> None:
    house.session("one", f"From now on: {GUESTS}.", f"From now on: {MEMBERS}.")
    house.clock.advance(days=2)
    house.maintenance.run()

    def digest() -> str:
        page = house.runtime.visible_store.records.page(NAMESPACE, limit=100)
        return next(one.summary for one in page.items if one.category == "daily")

    assert "50 MB" in digest() and "10 MB" in digest()
    forget(house, house.memory("guests").record_id)
    assert "50 MB" in digest() and "10 MB" not in digest()
