"""The notes of a session are brought to the state of its end, and a person can take that back."""

import msgspec

from recollect.core.clock import ManualClock
from recollect.core.values import Arrival, Record
from recollect.extract.rules.extractor import RulesExtractor
from recollect.extract.rules.store_reads import StoreReads
from recollect.ingest.memories import Memories
from recollect.store.interface import RecordFilter
from recollect.store.sqlite import SqliteStore
from tests.fakes.extraction import worker
from tests.make import NAMESPACE
from tests.unit.extract.session import Told

CODE = "src/hooks.py"
CHECK = "    check_hooks(repo)\n    log_hooks(repo)\n"


def learn(store: SqliteStore, clock: ManualClock, told: Told) -> None:
    """Store what is new of the session, and extract it as the daemon does."""
    known = {one.event.event_id for one in store.events.session(NAMESPACE, told.session_id)}
    store.events.put([Arrival(event=one) for one in told.events if one.event_id not in known])
    worker(store, clock, rules=RulesExtractor(StoreReads(store), clock)).run(NAMESPACE)


def notes(store: SqliteStore) -> list[Record]:
    return list(store.records.page(NAMESPACE, RecordFilter(kind="observation")).items)


def edit(told: Told, old: str, new: str) -> Told:
    change = {"file_path": CODE, "old_string": old, "new_string": new}
    return told.use("Edit", change, {"filePath": CODE})


def with_a_note(store: SqliteStore, clock: ManualClock) -> Told:
    told = edit(Told().ask("check the hooks when a turn ends"), "    pass\n", "    pass\n" + CHECK)
    told.answer(
        "Added `check_hooks()` to the stop handler in hooks.py, which runs after each turn."
    )
    learn(store, clock, told)
    assert [one.title[:19] for one in notes(store)] == ["Added check_hooks()"]
    return told


def undo_last(store: SqliteStore) -> None:
    [last] = store.log.page(NAMESPACE, kind="supersede").items
    store.log.undo(NAMESPACE, last.op_id, "ada")


def test_a_note_ends_when_its_work_is_taken_out_and_comes_back_by_undo(
    store: SqliteStore, clock: ManualClock
) -> None:
    told = with_a_note(store, clock)
    edit(told.ask("hm, that is too slow"), CHECK, "").answer("It is out again.")
    learn(store, clock, told)
    assert not any("check_hooks" in one.title for one in notes(store))
    undo_last(store)
    assert any("check_hooks" in one.title for one in notes(store))
    learn(store, clock, told.ask("thanks").answer("You are welcome."))
    assert any("check_hooks" in one.title for one in notes(store))  # who took it back is right


def test_a_note_gets_the_message_of_the_commit_that_comes_later(
    store: SqliteStore, clock: ManualClock
) -> None:
    told = with_a_note(store, clock)
    told.ask("commit").run('git commit -m "Check the git hooks at the end of a turn"')
    learn(store, clock, told.answer("Committed."))
    [note] = notes(store)
    assert (note.title, note.version) == ("Check the git hooks at the end of a turn", 2)
    undo_last(store)
    assert [one.title[:19] for one in notes(store)] == ["Added check_hooks()"]


def test_what_a_person_reworded_stays(store: SqliteStore, clock: ManualClock) -> None:
    told = with_a_note(store, clock)
    [note] = notes(store)
    Memories(store).edit(msgspec.structs.replace(note, title="Mine"), "ada")
    edit(told.ask("hm, that is too slow"), CHECK, "").answer("It is out again.")
    learn(store, clock, told)
    assert "Mine" in [one.title for one in notes(store)]


def test_a_session_that_goes_on_elsewhere_changes_no_note(
    store: SqliteStore, clock: ManualClock
) -> None:
    told = with_a_note(store, clock)
    learn(store, clock, told.ask("and how long does it take?").answer("About 40 ms."))
    assert notes(store)[0].version == 1
    assert store.log.page(NAMESPACE, kind="supersede").items == ()
