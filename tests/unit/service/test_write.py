"""Writing, changing, moving and undoing by hand: what is stored, and what is refused."""

import pathlib

import msgspec
import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput, CannotUndo, Conflict, NotFound
from recollect.core.values import Record
from recollect.daemon.runtime import Runtime
from recollect.lifecycle.file_freshness import FreshnessChecker
from recollect.service import read, write
from recollect.service.scope import Scope
from recollect.service.search import SearchQuery, search
from recollect.service.undo import undo_operation
from recollect.store.interface import Transaction
from tests.make import NAMESPACE, record

ELSEWHERE = "/actor/ada/project/shop/"
ABSENT = "mr_01M7H0H5P1BNFDHVBT75T84K25"


def note(runtime: Runtime, text: str = "The port is 7325", **fields: str) -> Record:
    given = write.NewNote(text=text, **{"namespace": NAMESPACE, **fields})  # type: ignore[arg-type]
    return write.add_note(runtime, given).record


def titles(runtime: Runtime, namespace: str = NAMESPACE) -> list[str]:
    return [one.title for one in runtime.store.records.page(namespace, limit=50).items]


# --- adding --------------------------------------------------------------------------------------


def test_a_long_note_keeps_its_text_and_has_a_title_that_fits(runtime: Runtime) -> None:
    long = note(runtime, "retry " * 1000)
    assert len(long.title) <= 200 and long.title.endswith("retry…")
    assert len(long.summary) <= 1000 and long.detail == "retry " * 1000
    short = note(runtime, "two\n words")
    assert (short.title, short.summary, short.detail) == ("two words", "", "")


def test_the_same_words_are_one_memory_however_they_are_spaced(runtime: Runtime) -> None:
    first = note(runtime)
    given = write.NewNote(text=" The  port\nis 7325 ", namespace=NAMESPACE)
    again = write.add_note(runtime, given)
    assert not again.stored and again.op_id is None and again.record == first
    assert note(runtime, namespace=ELSEWHERE).record_id != first.record_id
    observed = write.NewObservation(title="The port is 7325", namespace=NAMESPACE)
    assert write.add_observation(runtime, observed).stored, "of another kind"


def test_what_an_agent_was_told_is_not_what_it_found_out(runtime: Runtime) -> None:
    """What stands in a brief of its session is taken out, unless a person says it."""
    runtime.pipeline.own_text = lambda session, text: text.replace("from the brief", "")
    given = {"title": "Ports", "content": "7325 from the brief", "session_id": "s"}
    for author, kept in (("assistant", "7325 "), ("user", "7325 from the brief")):
        new = write.NewObservation(**given, author=author, namespace=NAMESPACE)  # type: ignore[arg-type]
        assert write.add_observation(runtime, new).record.summary == kept


def test_a_belief_holds_its_reason_and_counts_by_its_type(runtime: Runtime) -> None:
    new = write.NewKnowledge(
        type="constraint", title="No floats for money", severity="hard", reason="rounding",
        context="invoices", alternatives=("decimals",), namespace=NAMESPACE,
    )  # fmt: skip
    kept = write.add_knowledge(runtime, new).record
    assert kept.facts == (
        "Severity: hard", "Reason: rounding", "When: invoices", "Alternative: decimals",
    )  # fmt: skip
    assert (kept.category, kept.knowledge_type) == ("hard", "constraint")
    plain = write.NewKnowledge(type="heuristic", title="Run it twice", namespace=NAMESPACE)
    assert write.add_knowledge(runtime, plain).record.importance < kept.importance


@pytest.mark.parametrize("session", [None, "s1"])
def test_a_summary_is_a_checkpoint_where_it_has_a_session(
    runtime: Runtime, session: str | None
) -> None:
    new = write.NewSummary(
        request="Raise the cap", completed=("found it",), next_steps=("raise it",), notes="later",
        session_id=session, namespace=NAMESPACE,
    )  # fmt: skip
    kept = write.add_summary(runtime, new).record
    assert kept.title == "Raise the cap" and kept.summary == "Done: found it."
    assert (
        kept.detail == "### Completed\n- found it\n\n### Next steps\n- raise it\n\n### Notes\nlater"
    )
    stood = runtime.store.sessions.last_checkpoint(NAMESPACE)
    assert (stood is not None) == (session is not None)
    if stood is not None:
        assert stood.next_steps == ("raise it",) and stood.snapshot == (kept.record_id,)


def test_what_is_added_by_hand_is_anchored_to_its_files(
    runtime: Runtime, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "Makefile").touch()
    (tmp_path / "retry.py").write_text("CAP = 5")
    here = str(tmp_path)

    def state(record: Record) -> str:
        found = FreshnessChecker(runtime.store).freshness_of([record], patience_s=5)
        return found[record.record_id].state

    def told(made: list[Record], freshness: str) -> None:
        """Search, `show`, the tools and the API say what recall does, although none has touched the
        row."""
        for one in made:
            asked = SearchQuery(query=one.title, namespace=one.namespace)
            for raw in (False, True):
                found = search(runtime, msgspec.structs.replace(asked, raw=raw)).items
                assert {hit.record.freshness for hit in found} == {freshness}
            by_state = msgspec.structs.replace(asked, freshness="orphaned")
            assert search(runtime, by_state).items == ()
            shown = read.history(runtime, one.record_id).record
            assert shown is not None and shown.freshness == freshness

    files = ("retry.py", "absent.py")
    made = [
        write.add_observation(
            runtime, write.NewObservation(title="The cap is 5", files=files, project=here)
        ).record,
        write.add_knowledge(
            runtime,
            write.NewKnowledge(type="decision", title="Cap at 5", files=files, project_path=here),
        ).record,
        # By its name, a project lies where its directory is.
        write.add_note(
            runtime, write.NewNote(text="cap: 5", files=files, project=tmp_path.name)
        ).record,
    ]
    for one in made:
        assert [(cited.path, len(cited.sha256)) for cited in one.citations] == [("retry.py", 64)]
        assert state(one) == "fresh"
    told(made, "fresh")
    (tmp_path / "retry.py").write_text("CAP = 7")
    assert {state(one) for one in made} == {"drifted"}
    told(made, "drifted")
    edited = write.edit(runtime, made[0].record_id, write.MemoryEdit(files=("./retry.py",)))
    assert state(edited.record) == "fresh"
    (tmp_path / "retry.py").unlink()
    assert state(edited.record) == "orphaned"


def test_nothing_new_goes_to_all_projects_or_without_a_title(runtime: Runtime) -> None:
    with pytest.raises(BadInput, match="one project, not to all"):
        write.add_note(runtime, write.NewNote(text="x", project="all"))
    with pytest.raises(BadInput, match="the title is empty"):
        write.add_observation(runtime, write.NewObservation(title=" ", namespace=NAMESPACE))
    assert titles(runtime) == []


# --- changing ------------------------------------------------------------------------------------


def test_an_edit_changes_what_it_names_and_needs_the_version_that_was_seen(
    runtime: Runtime,
) -> None:
    known = note(runtime)
    change = write.MemoryEdit(title="The port is 7400", importance=9, version=1)
    changed = write.edit(runtime, known.record_id, change).record
    assert (changed.title, changed.importance, changed.version) == ("The port is 7400", 9, 2)
    assert changed.content_hash != known.content_hash
    with pytest.raises(Conflict, match="at version 2, not 1"):
        write.edit(runtime, known.record_id, change)
    undo_operation(runtime)
    assert write.find(runtime, known.record_id).title == "The port is 7325"


def test_an_edit_that_changes_nothing_is_refused(runtime: Runtime) -> None:
    known = note(runtime)
    with pytest.raises(BadInput, match="no change was given"):
        write.edit(runtime, known.record_id, write.MemoryEdit())
    with pytest.raises(BadInput, match="already like that"):
        write.edit(runtime, known.record_id, write.MemoryEdit(title=known.title))
    with pytest.raises(NotFound, match="there is no memory"):
        write.edit(runtime, ABSENT, write.MemoryEdit(title="Another"))


def test_several_are_deleted_at_once_and_an_undo_brings_back_its_own(runtime: Runtime) -> None:
    here, there = note(runtime), note(runtime, namespace=ELSEWHERE)
    gone = write.delete(runtime, (here.record_id, there.record_id, ABSENT))
    assert set(gone.record_ids) == {here.record_id, there.record_id} and len(gone.op_ids) == 2
    with pytest.raises(NotFound):
        write.delete(runtime, (here.record_id,))
    for op_id in gone.op_ids:
        undo_operation(runtime, op_id)
    assert titles(runtime) == titles(runtime, ELSEWHERE) == [here.title]


def test_a_memory_is_moved_with_its_verdict_and_back_by_either_entry(
    runtime: Runtime, clock: ManualClock
) -> None:
    known = note(runtime)
    write.judge(runtime, known.record_id, "never")
    with pytest.raises(Conflict, match="is already in that project"):
        write.move(runtime, known.record_id, Scope(namespace=NAMESPACE))
    for entry in (0, 1):
        clock.advance(seconds=1)
        moved = write.move(runtime, known.record_id, Scope(namespace=ELSEWHERE))
        assert moved.record.namespace == ELSEWHERE and titles(runtime) == []
        assert runtime.recall().feedback.of(ELSEWHERE).given[known.record_id] == "never"
        left = runtime.store.log.page(NAMESPACE, limit=1).items[0]
        clock.advance(seconds=1)
        undone = undo_operation(runtime, (left.op_id, moved.op_id)[entry])
        assert undone.restored == (known.record_id,) and undone.removed == ()
        assert titles(runtime) == [known.title] and titles(runtime, ELSEWHERE) == []


def test_undo_takes_the_newest_that_stands_and_says_when_there_is_none(
    runtime: Runtime, clock: ManualClock
) -> None:
    first = note(runtime)
    clock.advance(seconds=1)
    write.judge(runtime, first.record_id, "useful")  # takes nothing away, so it is not undone
    done = undo_operation(runtime)
    assert done.removed == (first.record_id,) and titles(runtime) == []
    for scope in (Scope(), Scope(namespace=ELSEWHERE)):
        with pytest.raises(NotFound, match="nothing to undo here"):
            undo_operation(runtime, scope=scope)
    undo_operation(runtime, done.op_id)
    assert titles(runtime) == [first.title]
    with pytest.raises(NotFound, match="there is no change"):
        undo_operation(runtime, "op_01M7H0H5P1BNFDHVBT75T84K25")


def test_a_verdict_is_taken_back_unless_another_one_was_given_since(
    runtime: Runtime, clock: ManualClock
) -> None:
    known = note(runtime)
    feedback = runtime.recall().feedback
    given = {}
    for verdict in ("useful", "never"):
        clock.advance(seconds=1)
        given[verdict] = write.judge(runtime, known.record_id, verdict).op_id
    with pytest.raises(CannotUndo, match="another verdict"):
        undo_operation(runtime, given["useful"])
    assert undo_operation(runtime).undoes == given["never"]
    assert feedback.of(NAMESPACE).given[known.record_id] == "useful"


def test_the_history_of_a_merged_memory_names_the_merge_and_so_do_those_of_its_parts(
    runtime: Runtime,
) -> None:
    parts = [note(runtime, "The port is 7325"), note(runtime, "Port 7325 is ours")]
    made = record("The port is 7325, ours alone", strategy="llm-reconciled")

    def merge(tx: Transaction) -> str:
        names = [one.record_id for one in parts]
        done = tx.log("merge", NAMESPACE, "extraction", targets=names, created=[made.record_id])
        tx.change_records(done)
        tx.put_record(made, done.op_id)
        return done.op_id

    op_id = runtime.store.transaction(merge)
    for name, kinds in ((made.record_id, ["merge"]), (parts[0].record_id, ["merge", "add"])):
        shown = read.history(runtime, name)
        assert shown.operations[0].op_id == op_id
        assert [one.kind for one in shown.operations] == kinds
    undone = undo_operation(runtime, op_id)
    shown = read.history(runtime, made.record_id)
    assert shown.record is None and {one.op_id for one in shown.operations} == {op_id, undone.op_id}
