"""Forgotten and scrubbed text is in no byte of any file of the data directory."""

import os
import pathlib
from datetime import timedelta

import msgspec
import pytest

from recollect.core.errors import BadInput, NotFound
from recollect.core.projects import ProjectPlace, namespace
from recollect.core.values import Checkpoint, Entity, Fact, Receipt
from recollect.extract.tombstones import Tombstones
from recollect.inject.judge import Feedback
from recollect.portable import backups
from recollect.portable.erasure import ErasureSelection
from recollect.store.interface import Selection, details_of
from recollect.store.sqlite import upkeep
from tests.fakes import transcripts as made
from tests.fakes.checkpoints import put_checkpoint
from tests.fakes.stored import delete_records, edit_record, put_graph
from tests.fakes.transcripts import ANSWERS, PROMPTS, START
from tests.fakes.waiting import PATIENCE_S
from tests.make import arrival, record, vector
from tests.unit.portable.conftest import Desk

CANARY = "zanzibarcanary"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def where(desk: Desk, text: str) -> list[str]:
    """Files that hold these bytes, whatever their case; the spelling of FTS5's terms too."""
    needle = text.lower().encode()
    found = []
    for folder, _, names in os.walk(desk.settings.directory):
        for name in names:
            path = pathlib.Path(folder) / name
            if needle in path.read_bytes().lower():
                found.append(name)
    return found


def plant(desk: Desk, project: str, text: str, session: str = "planted") -> str:
    """The text in every place where it can be: event, memory, version, operation, receipt, graph,
    checkpoint, vector's owner, log file. Gives the id of the memory."""
    here = desk.namespace(project)
    store = desk.store
    one = arrival(f"Remember {text} well", namespace=here, session_id=session)
    store.events.put([one])
    first = record(
        f"About {text}", namespace=here, detail=f"{text} in detail", session_id=session,
        facts=(f"{text} is a fact",), concepts=(text,), files=(f"src/{text}.py",),
        source_event_ids=(one.event.event_id,),
    )  # fmt: skip
    store.records.put([first], [vector(first)])
    edited = msgspec.structs.replace(first, summary=f"{text} once more")
    edit_record(store, edited, "ada", f"because of {text}")
    gone = record(f"Deleted {text}", namespace=here, source_event_ids=(one.event.event_id,))
    store.records.put([gone])
    delete_records(store, here, [gone.record_id], "ada", f"no more {text}")
    entity = Entity(entity_id=f"ent_{session}", namespace=here, name="Port", type="place",
                    description=f"where {text} is")  # fmt: skip
    put_graph(store,
        entity,
        Fact(fact_id=f"fact_{session}", namespace=here, entity_id=entity.entity_id, subject="Port",
             predicate="knows", object=text, valid_from=START,
             source_event_ids=(one.event.event_id,)),
    )  # fmt: skip
    store.receipts.put(Receipt(
        receipt_id=f"rcp_{session}", namespace=here, session_id=session, trigger="prompt",
        query=text, injected=(first.record_id,), detail={"candidates": [{"title": text}]},
    ))  # fmt: skip
    put_checkpoint(store, Checkpoint(
        checkpoint_id=f"chk_{session}", namespace=here, session_id=session, task=text,
    ))  # fmt: skip
    return first.record_id


def busy(desk: Desk, project: str) -> None:
    """Other memories around it, so that pages are shared and split."""
    here = desk.namespace(project)
    desk.store.events.put(
        [arrival(f"harmless {n} " + "word " * 50, namespace=here) for n in range(300)]
    )
    desk.store.records.put(
        [record(f"Harmless {n}", namespace=here, detail="lorem " * 60) for n in range(300)]
    )


AIMS = {
    "memory": lambda record_id, here: ErasureSelection(record_ids=(record_id,)),
    "session": lambda record_id, here: ErasureSelection(session_id="planted"),
    "text": lambda record_id, here: ErasureSelection(text="ZanzibarCanary"),
    "project": lambda record_id, here: ErasureSelection(everything=True, namespace=here),
    "age": lambda record_id, here: ErasureSelection(
        before=START.replace(year=2027), namespace=here
    ),
    "entity": lambda record_id, here: ErasureSelection(entity=CANARY),
}


@pytest.mark.parametrize("by", sorted(AIMS))
def test_no_byte_of_what_was_forgotten_is_left(desk: Desk, project: str, by: str) -> None:
    busy(desk, project)
    record_id = plant(desk, project, CANARY)
    busy(desk, project)
    assert where(desk, CANARY)
    if by == "age":  # what was deleted or decided lately is not old: only the words find it
        desk.clock.advance(days=800)
        desk.store.aging.purge("archive", desk.clock.now())
    aim = AIMS[by](record_id, desk.namespace(project))
    foreseen = desk.erasure.preview(aim)
    done = desk.erasure.forget(aim, "ada")
    assert done.chosen == foreseen.chosen
    assert where(desk, CANARY) == []
    assert desk.store.upkeep.check() == [] and desk.store.upkeep.repair("orphans") == {}
    assert desk.store.upkeep.scrub(None, 5000).damaged == ()


def test_log_files_and_spooled_frames_lose_it_too(desk: Desk, project: str) -> None:
    plant(desk, project, CANARY)
    for name in ("logs/recollect.log", "spool/damaged/frame"):
        path = pathlib.Path(desk.settings.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"first\nsomething about {CANARY}\nlast\n")
    done = desk.erasure.forget(ErasureSelection(text=CANARY), "ada")
    assert len(done.files) == 2 and where(desk, CANARY) == []
    assert pathlib.Path(desk.settings.path("logs/recollect.log")).read_text() == "first\nlast\n"


def test_backups_lose_it_at_once_when_asked_and_stay_whole(desk: Desk, project: str) -> None:
    busy(desk, project)
    plant(desk, project, CANARY)
    path = desk.backups.create().path
    desk.erasure.forget(ErasureSelection(session_id="planted"), "ada")
    assert where(desk, CANARY) == [os.path.basename(path)]
    plant(desk, project, CANARY, "again")
    done = desk.erasure.forget(ErasureSelection(text=CANARY), "ada", backups=True)
    assert done.backups == 1 and where(desk, CANARY) == []
    assert upkeep.verify_file(path).events == 600 // 2


def test_backups_lose_what_the_store_has_lost_already(desk: Desk, project: str) -> None:
    """Also a database that a restore laid aside, and a project that is forgotten whole."""
    record_id = plant(desk, project, CANARY)
    here = desk.namespace(project)
    path = desk.backups.create().path
    aside = backups.aside_name(desk.backups.folder, desk.clock.now())
    pathlib.Path(aside).write_bytes(pathlib.Path(path).read_bytes())
    desk.erasure.forget(ErasureSelection(everything=True, namespace=here), "ada")
    assert sorted(where(desk, CANARY)) == sorted(map(os.path.basename, (path, aside)))
    with pytest.raises(NotFound) as told:
        desk.erasure.preview(ErasureSelection(text=CANARY))
    assert "--backups" in told.value.hint
    foreseen = desk.erasure.preview(ErasureSelection(record_ids=(record_id,)), backups=True)
    assert foreseen.backups == 2 and foreseen.chosen == ()
    assert sorted(where(desk, CANARY)) == sorted(map(os.path.basename, (path, aside)))
    done = desk.erasure.forget(ErasureSelection(text=CANARY), "ada", backups=True)
    assert done.backups == 2 and where(desk, CANARY) == []
    with pytest.raises(NotFound):
        desk.erasure.forget(ErasureSelection(text=CANARY), "ada", backups=True)


def test_a_project_that_was_forgotten_goes_from_backups_by_its_directory(
    desk: Desk, project: str
) -> None:
    """It has another id when it is named again."""
    plant(desk, project, CANARY)
    first = desk.namespace(project)
    path = desk.backups.create().path
    desk.erasure.forget(ErasureSelection(everything=True, namespace=first), "ada")
    desk.pipeline.forget_seen()
    again = desk.namespace(project)
    assert again != first and where(desk, CANARY) == [os.path.basename(path)]
    done = desk.erasure.forget(
        ErasureSelection(everything=True, namespace=again), "ada", backups=True
    )
    assert done.backups == 1 and where(desk, CANARY) == []


def test_a_deleted_memory_is_found_by_its_id_and_erased_from_the_archive(
    desk: Desk, project: str
) -> None:
    here = desk.namespace(project)
    event = arrival(f"Remember {CANARY}", namespace=here)
    desk.store.events.put([event])
    one = record(f"About {CANARY}", namespace=here, source_event_ids=(event.event.event_id,))
    desk.store.records.put([one])
    delete_records(desk.store, here, [one.record_id], "ada", f"no more {CANARY}")
    aim = ErasureSelection(record_ids=(one.record_id,))
    foreseen = desk.erasure.preview(aim).counts
    assert foreseen == {"event": 1, "operation": 1, "version": 1, "session": 1}
    desk.erasure.forget(aim, "ada")
    assert where(desk, CANARY) == []
    with pytest.raises(NotFound):
        desk.erasure.forget(aim, "ada")


def test_a_backup_knows_the_other_names_of_an_entity_that_the_store_forgot(
    desk: Desk, project: str
) -> None:
    here = desk.namespace(project)
    entity = Entity(entity_id="ent_z", namespace=here, name="Zanzibar", type="place",
                    aliases=(CANARY,))  # fmt: skip
    put_graph(desk.store, entity)
    desk.store.records.put([record(f"Ships go to {CANARY} at night", namespace=here)])
    desk.backups.create()
    desk.erasure.forget(ErasureSelection(entity="Zanzibar"), "ada")
    done = desk.erasure.forget(ErasureSelection(entity="Zanzibar"), "ada", backups=True)
    assert done.backups == 1 and where(desk, CANARY) == []


def test_backups_lose_it_within_one_rotation(desk: Desk, project: str) -> None:
    plant(desk, project, CANARY)
    desk.backups.create()
    desk.erasure.forget(ErasureSelection(text=CANARY), "ada")
    for _ in range(backups.BACKUPS_KEPT):
        desk.clock.advance(days=1)
        desk.backups.create()
    assert where(desk, CANARY) == [] and len(desk.backups.made()) == backups.BACKUPS_KEPT


def test_an_imported_session_that_was_forgotten_does_not_come_back(
    desk: Desk, project: str
) -> None:
    made.claude_code(desk.home, project)
    desk.take("claude-code")
    desk.erasure.forget(ErasureSelection(text="till"), "ada")
    left = [one.event for one in desk.events()]
    assert not any("till" in str(one.body) for one in left)
    desk.take("claude-code")
    assert [one.event for one in desk.events()] == left


def test_forgetting_one_memory_keeps_the_rest_of_its_session(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, project)
    desk.take("claude-code")
    here = desk.namespace(project)
    first, second = sorted(desk.store.records.page(here).items, key=lambda one: one.valid_from)
    desk.erasure.forget(ErasureSelection(record_ids=(first.record_id,)), "ada")
    assert [one.record_id for one in desk.store.records.page(here).items] == [second.record_id]
    said = str([one.event.body for one in desk.events()])
    assert PROMPTS[0] not in said and ANSWERS[1] in said


def test_a_turn_that_is_still_open_is_not_written_down_again(desk: Desk, project: str) -> None:
    """The turn writer holds a turn in its hands; it is forgotten; the session goes on."""
    here = desk.namespace(project)

    def say(text: str, kind: str = "prompt") -> None:
        event = arrival(text, namespace=here, session_id="open", kind=kind).event
        desk.pipeline.events([(event, event.event_id)])
        assert desk.turn_writer.wait(PATIENCE_S)

    say(f"the word is {CANARY}")
    desk.erasure.forget(ErasureSelection(text=CANARY), "ada")
    say("and it goes on", "session_summary")
    say("another turn")
    with desk.turn_writer.paused():
        pass
    titles = {one.title for one in desk.store.records.page(here).items}
    assert titles == {"and it goes on", "another turn"} and where(desk, CANARY) == []


def test_never_again_leaves_a_tombstone_without_the_words(desk: Desk, project: str) -> None:
    here = desk.namespace(project)
    desk.store.records.put([record(f"About {CANARY}", namespace=here, content_hash="abc123")])
    done = desk.erasure.forget(ErasureSelection(text=CANARY), "ada", never_again=True)
    kinds = [one.kind for one in desk.store.log.page(here).items]
    assert done.tombstones == 1 and kinds == ["forget", "tombstone"]
    assert where(desk, CANARY) == []
    stones = Tombstones(desk.store)
    assert stones.refused(here, f"about {CANARY}!"), "erasing took its own stone along"
    (detail,) = details_of(desk.store.log, here, "tombstone")
    assert not detail.get("said") and not detail.get("wide"), "words could be guessed from these"


def test_erasing_takes_the_words_of_stones_along(desk: Desk, project: str) -> None:
    """A verdict's stone keeps hashed words; when its memory is erased, they go, and what is left
    of the log can be read."""
    here = desk.namespace(project)
    (known,) = desk.store.records.put([record(f"About {CANARY}", namespace=here)])
    Feedback(desk.store).give(here, known.record_id, "never", "ada")
    desk.erasure.forget(ErasureSelection(record_ids=(known.record_id,)), "ada")
    assert details_of(desk.store.log, here, "tombstone") == [None]
    assert not Tombstones(desk.store).refused(here, f"About {CANARY}")
    assert Feedback(desk.store).of(here).given == {}


def test_an_error_in_the_middle_leaves_everything_as_it_was(
    desk: Desk, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(desk, project, CANARY)
    here = desk.namespace(project)
    before = list(desk.store.bulk.dump(here))
    from recollect.store.sql import bulk

    def fail(*_: object) -> None:
        raise BadInput("in the middle")

    monkeypatch.setattr(bulk, "put_operation", fail)
    with pytest.raises(BadInput):
        desk.erasure.forget(ErasureSelection(text=CANARY), "ada")
    assert list(desk.store.bulk.dump(here)) == before


@pytest.mark.parametrize(
    ("aim", "problem"),
    [
        (ErasureSelection(), BadInput),
        (ErasureSelection(text="a"), BadInput),
        (ErasureSelection(everything=True), BadInput),
        (ErasureSelection(text="nobody ever said this"), NotFound),
        (ErasureSelection(session_id="unheard of"), NotFound),
        (ErasureSelection(record_ids=("mr_01KJQZ00000000000000000009",)), NotFound),
    ],
)
def test_what_means_nothing_or_everything_is_refused(
    desk: Desk, project: str, aim: ErasureSelection, problem: type[Exception]
) -> None:
    plant(desk, project, CANARY)
    with pytest.raises(problem):
        desk.erasure.forget(aim, "ada")


def test_events_that_are_being_extracted_are_waited_for(
    desk: Desk, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.core.errors import StoreBusy
    from recollect.store.sql import bulk

    plant(desk, project, CANARY)
    here = desk.namespace(project)
    batch = desk.store.events.claim(here, 10, 100_000)
    assert batch is not None
    monkeypatch.setattr(bulk, "CLAIM_WAIT_S", 0.0)
    with pytest.raises(StoreBusy):
        desk.erasure.forget(ErasureSelection(text=CANARY), "ada")
    desk.store.events.release(batch)
    desk.erasure.forget(ErasureSelection(text=CANARY), "ada")


# --- scrub ---


def test_old_secrets_are_found_and_no_byte_of_them_is_left(desk: Desk, project: str) -> None:
    """Rows from a time when nobody knew this kind of secret: past the pipeline, into the store."""
    busy(desk, project)
    record_id = plant(desk, project, SECRET)
    shown = desk.erasure.scrub("ada", apply=False)
    assert sum(shown.found.values()) > 8 and where(desk, SECRET)
    assert {"event", "memory", "fact", "receipt", "checkpoint", "version", "operation"} <= set(
        shown.counts
    )
    done = desk.erasure.scrub("ada", apply=True)
    assert done.counts == shown.counts and where(desk, SECRET) == []
    assert desk.erasure.scrub("ada", apply=False).found == {}
    kept = desk.store.records.get(desk.namespace(project), [record_id])
    assert kept and kept[0].title.startswith("About [")
    assert desk.store.upkeep.scrub(None, 5000).damaged == ()


def test_scrub_replaces_backups_when_asked(desk: Desk, project: str) -> None:
    plant(desk, project, SECRET)
    desk.backups.create()
    desk.clock.advance(minutes=1)
    done = desk.erasure.scrub("ada", apply=True, backups=True)
    assert done.backups == 1 and where(desk, SECRET) == [] and len(desk.backups.made()) == 1


# --- move ---


def test_memories_move_by_rule_after_a_preview(desk: Desk, project: str) -> None:
    made.claude_code(desk.home, f"{project}/api")
    pathlib.Path(project, "api").mkdir()
    desk.take("claude-code")
    other = namespace("ada", desk.store.projects.resolve(ProjectPlace(root="/srv/api")))
    aim = ErasureSelection(path=f"{project}/api")
    shown = desk.erasure.move(aim, other, "ada", apply=False)
    assert shown.counts["event"] == 7 and desk.store.events.page(other).items == ()
    done = desk.erasure.move(aim, other, "ada", apply=True)
    assert done.chosen == shown.chosen
    assert {one.event.namespace for one in desk.events()} == {other}
    assert len(desk.store.records.page(other).items) == 2
    with pytest.raises(NotFound):
        desk.erasure.move(aim, other, "ada", apply=True)


def test_a_move_that_fits_nothing_does_not_speak_of_backups(desk: Desk, project: str) -> None:
    busy(desk, project)
    desk.backups.create()
    with pytest.raises(NotFound, match="nothing matches this selection") as told:
        desk.erasure.move(
            ErasureSelection(text="nobody said this"), desk.namespace(project), "ada", apply=False
        )
    assert told.value.hint == "recollect search"


def test_sweeping_leaves_a_store_that_goes_on(desk: Desk, project: str) -> None:
    plant(desk, project, CANARY)
    desk.store.bulk.erase(desk.namespace(project), Selection(session_id="planted"), "ada")
    desk.store.bulk.sweep()
    log = pathlib.Path(desk.settings.path("recollect.db-wal"))
    assert log.stat().st_size == 0
    desk.clock.advance(hours=timedelta(hours=1).seconds / 3600)
    busy(desk, project)
    assert desk.store.upkeep.check() == []
