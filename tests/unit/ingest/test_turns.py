"""Episodes: one per turn, the same from the same events."""

import os
import pathlib
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput
from recollect.core.values import (
    ChatMessage,
    JsonBody,
    MessageBody,
    Record,
    StoredEvent,
    TextBody,
    check,
)
from recollect.embedding.backfill import searchable
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.messages import Notice
from recollect.ingest.turn_writer import TurnWriter
from recollect.ingest.turns import turns_of
from recollect.store.interface import RecordFilter
from recollect.store.sqlite import SqliteStore
from tests.fakes.waiting import PATIENCE_S
from tests.make import NAMESPACE, NOON, arrival, event
from tests.torture.events import shuffled_arrival


def stored(seq: int, kind: str, body: Any, **fields: Any) -> StoredEvent:
    return StoredEvent(event=event(kind=kind, body=body, **fields), seq=seq, transaction_time=NOON)


def prompt(seq: int, text: str) -> StoredEvent:
    return stored(seq, "prompt", TextBody(content=text))


def tool(seq: int, **call: Any) -> StoredEvent:
    return stored(seq, "tool_use", JsonBody(data=call))


def answer(seq: int, text: str) -> StoredEvent:
    turns = (ChatMessage(role="assistant", content=text),)
    return stored(seq, "session_summary", MessageBody(turns=turns))


SESSION = [
    stored(1, "note", JsonBody(data={"signal": "session-start"})),
    prompt(2, "Fix the retry storm"),
    tool(3, **{"class": "file-write", "files": ["src/retry.py"]}),
    tool(4, **{"class": "command", "command": "pytest"}),
    answer(5, "Retries are capped at five."),
    prompt(6, "Thanks. Now the docs"),
]


def test_a_turn_is_what_was_asked_what_was_answered_and_what_was_done() -> None:
    first, second = (turn.episode() for turn in turns_of(SESSION))
    assert first.title == "Fix the retry storm"
    assert first.summary == "Retries are capped at five."
    assert "Fix the retry storm" in first.detail and "capped at five" in first.detail
    assert first.files == ("src/retry.py",) and "pytest" in first.detail
    assert (first.session_id, first.position, first.kind) == ("session-1", 2, "episode")
    assert len(first.source_event_ids) == 4
    assert (second.title, second.author) == ("Thanks. Now the docs", "user")
    for episode in (first, second):
        check(episode)


def test_an_episode_says_how_its_last_command_ended() -> None:
    def outcome(*calls: StoredEvent) -> str | None:
        (turn,) = turns_of([prompt(1, "Fix it"), *calls, answer(9, "Done.")])
        return turn.episode().category

    run = {"class": "command", "command": "make check"}
    assert outcome() is None
    assert outcome(tool(2, **run, failed=True)) == "failed"
    assert outcome(tool(2, **run, failed=True), tool(3, **run)) == "succeeded"
    assert outcome(tool(2, **run), tool(3, **{"class": "file-read"}, failed=True)) == "succeeded"
    assert turns_of([prompt(1, "Fix it")])[0].episode().category == "unanswered"


def test_a_turn_is_found_by_what_its_failed_command_printed() -> None:
    run = {
        "class": "command",
        "command": "make check",
        "output": {"stderr": "Error: port 5433 busy"},
    }
    events = [prompt(1, "Check it"), tool(2, **run, failed=True), answer(3, "It does not pass.")]
    (turn,) = turns_of(events)
    assert "port 5433 busy" in searchable(turn.episode())


def test_the_same_events_give_the_same_episode() -> None:
    assert [turn.episode() for turn in turns_of(SESSION)] == [
        turn.episode() for turn in turns_of(SESSION)
    ]


def test_a_note_and_a_single_message_are_episodes_at_once() -> None:
    events = [
        stored(1, "note", TextBody(content="We deploy on Fridays only")),
        stored(2, "note", MessageBody(turns=(ChatMessage(role="user", content="I like pnpm"),))),
        stored(3, "note", MessageBody(turns=(ChatMessage(role="assistant", content="Noted"),))),
    ]
    episodes = [turn.episode() for turn in turns_of(events)]
    assert [one.title for one in episodes] == ["We deploy on Fridays only", "I like pnpm", "Noted"]
    assert [one.author for one in episodes][1:] == ["user", "assistant"]


def test_long_turns_are_kept_whole_and_their_title_is_cut_at_a_word() -> None:
    text = "word " * 5000
    (turn,) = turns_of([prompt(1, text)])
    episode = turn.episode()
    assert episode.detail == text
    assert len(episode.title) <= 200 and episode.title.endswith("…")
    check(episode)


@pytest.mark.parametrize("text", ["   \n\t ", "x" * 3000, "é" * 999, "\u200b"])
def test_no_text_breaks_an_episode(text: str) -> None:
    for turn in turns_of([prompt(1, text), answer(2, text)]):
        if turn.has_content:
            check(turn.episode())


@pytest.fixture
def turn_writer(store: SqliteStore, clock: ManualClock) -> TurnWriter:
    return TurnWriter(store, Memories(store), Counters(clock))


def say(store: SqliteStore, turn_writer: TurnWriter, kind: str, body: Any, **fields: Any) -> None:
    one = arrival(kind=kind, body=body, **fields)
    store.events.put([one])
    turn_writer.on_event(Notice(one, "test"))


def episodes(store: SqliteStore) -> list[str]:
    page = store.records.page(NAMESPACE, RecordFilter(kind="episode"))
    return sorted(f"{one.title}|{one.summary}" for one in page.items)


def test_episodes_are_written_as_turns_end(store: SqliteStore, turn_writer: TurnWriter) -> None:
    turn_writer.start()
    say(store, turn_writer, "prompt", TextBody(content="one"))
    done = MessageBody(turns=(ChatMessage(role="assistant", content="first answer"),))
    say(store, turn_writer, "session_summary", done)
    assert turn_writer.wait(PATIENCE_S)
    assert episodes(store) == ["one|first answer"]
    say(store, turn_writer, "prompt", TextBody(content="two"))
    turn_writer.close()
    assert episodes(store) == ["one|first answer", "two|"]


def test_what_a_crash_left_unwritten_is_made_up_for(
    store: SqliteStore, clock: ManualClock, turn_writer: TurnWriter
) -> None:
    """The events were committed, the episode was not: the next start makes it, once."""
    for number in range(3):
        store.events.put([arrival(f"prompt {number}", session_id=f"s{number}")])
    for _ in range(2):
        again = TurnWriter(store, Memories(store), Counters(clock))
        again.start()
        again.close()
    assert episodes(store) == ["prompt 0|", "prompt 1|", "prompt 2|"]
    assert [one.version for one in store.records.page(NAMESPACE).items] == [1, 1, 1]
    created = {one.created_at == one.updated_at for one in store.records.page(NAMESPACE).items}
    assert created == {True}


def test_a_turn_that_went_on_elsewhere_is_completed_from_the_store(
    store: SqliteStore, turn_writer: TurnWriter, clock: ManualClock
) -> None:
    """The daemon restarted in the middle of a turn."""
    store.events.put([arrival("asked before the restart")])
    turn_writer.start()
    done = MessageBody(turns=(ChatMessage(role="assistant", content="answered after it"),))
    say(store, turn_writer, "session_summary", done)
    assert turn_writer.wait(PATIENCE_S)
    turn_writer.close()
    assert episodes(store) == ["asked before the restart|answered after it"]


# --- what comes late -----------------------------------------------------------------------------


def answered(text: str) -> MessageBody:
    return MessageBody(turns=(ChatMessage(role="assistant", content=text),))


def at(tick: int) -> dict[str, Any]:
    return {"boot_id": "b", "mono_ns": tick, "valid_time": NOON + timedelta(seconds=tick)}


def test_what_comes_late_ends_in_its_own_turn(store: SqliteStore, turn_writer: TurnWriter) -> None:
    """The answer of the first turn lay in the spool while the second one was made."""
    turn_writer.start()
    say(store, turn_writer, "prompt", TextBody(content="one"), **at(10))
    say(store, turn_writer, "prompt", TextBody(content="two"), **at(30))
    say(store, turn_writer, "session_summary", answered("second answer"), **at(40))
    assert turn_writer.wait(PATIENCE_S)
    say(store, turn_writer, "session_summary", answered("first answer"), **at(20))
    assert turn_writer.wait(PATIENCE_S)
    assert episodes(store) == ["one|first answer", "two|second answer"]
    turn_writer.close()
    assert episodes(store) == ["one|first answer", "two|second answer"]


def test_a_prompt_that_comes_late_takes_what_followed_it(
    store: SqliteStore, turn_writer: TurnWriter
) -> None:
    """Out of the turn before it, and out of an episode that had begun without it."""
    turn_writer.start()
    say(store, turn_writer, "session_summary", answered("first answer"), **at(20))
    assert turn_writer.wait(PATIENCE_S)
    assert episodes(store) == ["first answer|"]
    say(store, turn_writer, "prompt", TextBody(content="one"), **at(10))
    say(store, turn_writer, "session_summary", answered("second answer"), **at(40))
    assert turn_writer.wait(PATIENCE_S)
    assert episodes(store) == ["one|first answer second answer"]
    say(store, turn_writer, "prompt", TextBody(content="two"), **at(30))
    assert turn_writer.wait(PATIENCE_S)
    assert episodes(store) == ["one|first answer", "two|second answer"]
    turn_writer.close()
    first, second = store.records.page(
        NAMESPACE, RecordFilter(kind="episode", session_id="session-1"), limit=5, by_position=True
    ).items[::-1]
    assert (first.title, second.title) == ("one", "two")


def test_the_last_turns_of_a_session_are_the_last_that_happened(
    store: SqliteStore, turn_writer: TurnWriter
) -> None:
    turn_writer.start()
    for number in (4, 5, 0, 1, 2, 3):
        say(store, turn_writer, "prompt", TextBody(content=f"turn {number}"), **at(10 * number))
        say(store, turn_writer, "session_summary", answered("done"), **at(10 * number + 1))
        assert turn_writer.wait(PATIENCE_S)
    turn_writer.close()
    last = store.records.page(
        NAMESPACE, RecordFilter(kind="episode", session_id="session-1"), limit=4, by_position=True
    ).items
    assert [one.title for one in last] == ["turn 5", "turn 4", "turn 3", "turn 2"]


def test_frames_in_any_order_give_the_same_episodes(tmp_path: pathlib.Path) -> None:
    seed = int(os.environ.get("RECOLLECT_SEED", "20261115"))
    assert shuffled_arrival(random.Random(seed), 4, tmp_path).failures == [], f"seed {seed}"


def test_a_prompt_of_nul_ends_nobodys_episodes(store: SqliteStore, turn_writer: TurnWriter) -> None:
    """SQLite's texts end at a NUL: a title that begins with one is empty to it, and refused."""
    turn_writer.start()
    for text in ("\0", "\0\0 begins with it", " \n ", "the one after"):
        say(store, turn_writer, "prompt", TextBody(content=text))
    assert turn_writer.wait(PATIENCE_S)
    turn_writer.close()
    assert episodes(store) == ["(nothing but white space)|", "begins with it|", "the one after|"]


@pytest.mark.parametrize("error", [BadInput("not valid"), ValueError("a bug of ours")])
def test_an_episode_that_cannot_be_written_stays_out_alone(
    store: SqliteStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    counters = Counters(clock)
    memories = Memories(store)
    turn_writer = TurnWriter(store, memories, counters)
    put = memories.replace

    def refuse(records: Sequence[Record]) -> list[Record]:
        if any("refuse me" in one.title for one in records):
            raise error
        return put(records)

    monkeypatch.setattr(memories, "replace", refuse)
    for number, text in enumerate(("before", "refuse me", "after")):
        say(store, turn_writer, "prompt", TextBody(content=text), session_id=f"s{number}")
    turn_writer.start()
    turn_writer.close()
    assert episodes(store) == ["after|", "before|"]
    again = TurnWriter(store, memories, counters)  # the next start meets it first
    say(store, again, "prompt", TextBody(content="later"), session_id="s9")
    again.start()
    again.close()
    assert episodes(store) == ["after|", "before|", "later|"]
    assert any("left out" in one for one in counters.errors_last_hour())
