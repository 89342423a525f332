"""What only repeats another memory is left out; what differs stays."""

from datetime import timedelta
from typing import Any

import msgspec

from recollect.core import ids
from recollect.core.values import Fact, Record
from recollect.ingest.messages import RecallQuestion
from recollect.inject.draft import BriefLine, Draft, memory_line
from recollect.inject.speaking import put_in_order
from tests.make import NOON, record

TURN = (ids.new_ulid(), ids.new_ulid())
OTHER = (ids.new_ulid(),)


def kept(*records: Record, told: tuple[Record, ...] = (), whole: bool = False) -> list[str]:
    trigger = "session-start" if whole else "prompt"
    draft = Draft(RecallQuestion(trigger, "", ("a",), "s", None, 9500))
    draft.lines = [memory_line(one, 1.0) for one in records]
    put_in_order(draft, told)
    return [line.record.title for line in draft.kept if line.record]


def of(title: str, kind: Any, events: tuple[str, ...] = TURN, **fields: Any) -> Record:
    return record(title, kind=kind, source_event_ids=events, **fields)


def test_a_turn_and_what_was_learned_from_it_are_said_once() -> None:
    turn = of("Which queue shall we use?", "episode", detail="long")
    learned = of("RabbitMQ instead of Kafka", "knowledge")
    assert kept(learned, turn) == ["RabbitMQ instead of Kafka"]
    assert kept(turn, learned) == ["Which queue shall we use?"]


def test_two_things_learned_in_one_turn_are_both_said() -> None:
    assert len(kept(of("RabbitMQ instead of Kafka", "knowledge"), of("Use pnpm", "knowledge"))) == 2


def test_work_done_that_only_repeats_a_decision_is_left_out() -> None:
    decided = of("I decided to use RabbitMQ instead of Kafka", "knowledge")
    done = of("Decided to use RabbitMQ instead of Kafka.", "observation")
    assert kept(decided, done) == [decided.title]


def test_a_fact_and_what_is_open_are_not_told_beside_a_memory_that_says_them() -> None:
    belief = memory_line(of("Billing-api is deployed on Fly", "knowledge"), 1.0)
    summary = memory_line(of("Vouchers", "summary", summary="Next: add a test for two."), 1.0)
    draft = Draft(RecallQuestion("prompt", "", ("a",), "s", None, 9500))
    for place in ("Fly", "Heroku"):
        fact = Fact(fact_id=place, namespace="a", subject="billing-api", predicate="deployed_on",
                    object=place, valid_from=NOON)  # fmt: skip
        draft.lines.append(BriefLine(place, "known", 1.0, "", thing=fact))
    for key, left in (("same", "next: add a test for two"), ("more", "next: add a test for ten")):
        draft.lines.append(BriefLine(key, "state", 1.0, "", line=left))
    draft.lines += [belief, summary]
    put_in_order(draft)
    assert {line.id for line in draft.kept if line.record is None} == {"Heroku", "more"}


def test_a_rule_of_five_sessions_is_one_rule() -> None:
    rules = [of("Always use pnpm.", "knowledge", (ids.new_ulid(),)) for _ in range(5)]
    assert len(kept(*rules)) == 1


def test_a_summary_stands_for_its_turns_only_when_nobody_asked() -> None:
    summary = of("Made webhooks reliable", "summary")
    turn = of("Why do webhooks fail?", "episode")
    assert len(kept(summary, turn)) == 2
    assert kept(summary, turn, whole=True) == ["Made webhooks reliable"]


def test_what_a_session_was_told_is_not_said_in_other_words() -> None:
    told = of("RabbitMQ instead of Kafka", "knowledge")
    turn = of("Which queue shall we use?", "episode")
    other = of("Which cache shall we use?", "episode", OTHER)
    assert kept(turn, other, told=(told,)) == ["Which cache shall we use?"]


def test_the_same_question_with_another_answer_stays() -> None:
    first = of("What is slow?", "episode", summary="The index.")
    second = of("What is slow?", "episode", OTHER, summary="The network.")
    assert len(kept(first, second)) == 2
    again = of("What is slow?", "episode", (ids.new_ulid(),), summary="The index.")
    assert len(kept(first, again)) == 1


def in_order(lines: list[BriefLine]) -> list[BriefLine]:
    draft = Draft(RecallQuestion("prompt", "", ("a",), "s", None, 9500), lines=lines)
    put_in_order(draft)
    return draft.lines


def ordered(*said: tuple[str, int]) -> list[tuple[str, bool]]:
    """Titles, each said so many hours after noon, in the order in which they are told."""
    found = [
        memory_line(record(text, valid_from=NOON + timedelta(hours=hour)), 1.0)
        for text, hour in said
    ]
    return [(line.record.title, line.older) for line in in_order(found) if line.record]


def test_the_newer_of_two_that_are_much_alike_comes_first() -> None:
    fifteen, thirty = "The session timeout is 15 minutes.", "The session timeout is 30 minutes."
    assert ordered((fifteen, 0), (thirty, 1)) == [(thirty, False), (fifteen, True)]
    assert ordered((thirty, 1), (fifteen, 0)) == [(thirty, False), (fifteen, True)]
    # The dates tell it themselves on different days.
    assert ordered((fifteen, 0), (thirty, 48)) == [(thirty, False), (fifteen, False)]


def test_a_session_in_short_does_not_make_its_turns_old() -> None:
    turn = memory_line(
        record("Always use ruff for formatting", kind="episode", valid_from=NOON), 1.0
    )
    summary = record("Session: always use ruff for formatting", kind="summary")
    short = memory_line(msgspec.structs.replace(summary, valid_from=NOON + timedelta(hours=1)), 1.0)
    assert in_order([turn, short]) == [turn, short] and not turn.older


def test_what_is_about_other_things_keeps_its_order() -> None:
    first, second, third = "We deploy to Heroku", "Tests need Docker to run", "Use it"
    assert ordered((first, 0), (second, 5), (third, 6)) == [
        (first, False),
        (second, False),
        (third, False),
    ]


def test_the_newest_of_many_goes_to_the_place_of_the_first() -> None:
    other = "Tests need Docker to run"
    old, mid, new = (f"The build of {n} runs on the large runner" for n in ("1", "2", "3"))
    assert ordered((other, 0), (old, 1), (mid, 2), (new, 3)) == [
        (other, False),
        (new, False),
        (mid, True),
        (old, True),
    ]
