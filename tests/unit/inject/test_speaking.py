"""The decision to speak: features in, a probability and a reason out."""

from datetime import timedelta
from typing import Any

import pytest

from recollect.core.tuning import NOTES, SPEAKING
from recollect.core.values import Fact, Record
from recollect.ingest.messages import RecallQuestion
from recollect.inject.draft import BriefLine, Draft, memory_line
from recollect.inject.speaking import (
    ABOUT_PAST,
    chance_of_file,
    decide,
    idleness,
    names_nothing,
    only_publishes,
    weight_of_prompt,
)
from tests.make import NAMESPACE, NOON, record

STRONG = {"cosine": 0.7, "grams": 0.5}
WEAK = {"cosine": 0.1, "grams": 0.1}


def draft(*lines: BriefLine, **fields: Any) -> Draft:
    question = RecallQuestion("prompt", "how are retries capped?", ("/a/",), "s", None, 9500)
    return Draft(question, lines=list(lines), semantic=True, **fields)


def alike(one: Record, other: Record) -> float:
    return 0.6


def note(title: str, parts: dict[str, float]) -> BriefLine:
    return memory_line(record(title), 1.0, parts)


def turn(title: str, parts: dict[str, float], **fields: Any) -> BriefLine:
    return memory_line(record(title, kind="episode", **fields), 1.0, parts)


def test_a_likely_line_is_kept_and_an_unlikely_one_says_how_unlikely() -> None:
    made = draft(note("Retries are capped", STRONG), note("Dark mode", WEAK))
    decide(made, alike)
    assert [line.record.title for line in made.kept if line.record] == ["Retries are capped"]
    (left,) = [line for line in made.lines if line.why_not]
    assert left.why_not == f"too unlikely to be of use: {left.chance:.2f} of {NOTES.speak:.2f}"


def test_the_same_line_is_not_told_to_an_idle_prompt() -> None:
    near = {"cosine": 0.4, "grams": 0.5}
    awake, idle = draft(note("Run it", near)), draft(note("Run it", near), idle=0.99)
    decide(awake, alike)
    decide(idle, alike)
    assert awake.kept and not idle.kept


def test_a_prompt_that_may_be_idle_is_asked_for_no_more_than_another() -> None:
    near = {"cosine": 0.38}
    chances = []
    for idle in (0.0, NOTES.is_idle, 0.7, 1.0):
        made = draft(note("Retries are capped", near), idle=idle)
        decide(made, alike)
        chances.append(made.lines[0].chance)
    assert chances[0] == chances[1] > NOTES.speak > chances[2] > chances[3]


def test_chance_makes_a_cosine_worth_less_in_a_large_store() -> None:
    near = {"cosine": 0.4, "grams": 0.1}
    small, large = draft(note("a", near), by_chance=0.2), draft(note("a", near), by_chance=0.46)
    decide(small, alike)
    decide(large, alike)
    assert small.kept and not large.kept


def test_a_turn_waits_for_a_question_about_the_past_or_near_certainty() -> None:
    likely = {"cosine": 0.42, "grams": 0.1}
    plain, past = draft(turn("yes", likely)), draft(turn("yes", likely), about_past=True)
    decide(plain, alike)
    decide(past, alike)
    assert not plain.kept and past.kept
    certain = draft(turn("Cap the retries", {"cosine": 0.8, "grams": 0.9}))
    decide(certain, alike)
    assert certain.kept
    beside = draft(note("Retries", STRONG), turn("Cap them", {"cosine": 0.8, "grams": 0.9}))
    decide(beside, alike)
    assert [line.why_not for line in beside.lines if line.why_not] == [
        "a note or a belief already answers"
    ]


def test_a_rule_about_the_action_needs_no_likeness() -> None:
    rule = BriefLine("b1", "rules", 1.0, "the prompt names pip", record=record("Use uv"))
    rule.by_action = True
    made = draft(rule, idle=0.9)
    decide(made, alike)
    assert made.kept == [rule]


def test_at_most_two_memories_are_told_and_more_about_the_past() -> None:
    lines = [note(f"Retries, part {n}", STRONG) for n in range(12)]
    made = draft(*lines)
    decide(made, alike)
    assert len(made.kept) == 2
    past = draft(*[note(f"Retries, part {n}", STRONG) for n in range(12)], about_past=True)
    decide(past, alike)
    assert len(past.kept) == 8


def test_files_are_likelier_at_the_first_prompt_and_least_when_the_work_is_over() -> None:
    first = weight_of_prompt("cap the retries of billing", later=False, idle=0.0)
    later = weight_of_prompt("cap the retries of billing", later=True, idle=0.0)
    idle = weight_of_prompt("cap the retries of billing", later=True, idle=1.0)
    over = weight_of_prompt("commit and push", later=True, idle=1.0)
    assert first > later > idle > over
    assert chance_of_file(4.0, first) > SPEAKING.speak > chance_of_file(1.0, over)


@pytest.mark.parametrize(
    ("text", "past", "nothing"),
    [
        ("where were we?", True, True),
        ("what did we do last time?", True, True),
        ("remind me where we left off yesterday", True, True),
        ("what did we decide about the billing queue?", True, False),
        ("why did we drop redis?", True, False),
        ("when did the importer break?", True, False),
        ("how does undo work?", False, False),
        ("fix the importer", False, False),
    ],
)
def test_questions_about_the_past(text: str, past: bool, nothing: bool) -> None:
    assert bool(ABOUT_PAST.search(text)) == past
    assert (past and names_nothing(text)) == nothing


@pytest.mark.parametrize(
    ("text", "only"),
    [("commit this", True), ("Commit and push", True), ("open a PR", True), ("push", True),
     ("commit the retry fix", False), ("", False), ("fix the push button", False)],
)  # fmt: skip
def test_asking_to_publish_what_was_done(text: str, only: bool) -> None:
    assert only_publishes(text) == only


def test_without_a_model_the_words_that_mean_something_are_counted() -> None:
    assert idleness("ok", None) > 0.5
    assert idleness("how are retries of billing capped?", None) == 0.0


def test_a_note_is_not_told_when_a_later_belief_changed_what_it_says() -> None:
    old = memory_line(record("Sessions are stored in Redis for 30 minutes"), 1.0, STRONG)
    said = "Sessions move from Redis to Postgres, because Redis lost them"
    later = {"kind": "knowledge", "knowledge_type": "decision"}
    new = memory_line(record(said, **later, valid_from=NOON + timedelta(days=1)), 1.0, STRONG)
    made = draft(old, new)
    decide(made, alike)
    assert made.kept == [new] and old.why_not == "a later belief says otherwise"
    before = memory_line(record(said, **later, valid_from=NOON - timedelta(days=1)), 1.0, STRONG)
    made = draft(note("Sessions are stored in Redis for 30 minutes", STRONG), before)
    decide(made, alike)
    assert len(made.kept) == 2


def test_of_likely_lines_a_decision_comes_before_notes_and_two_are_told() -> None:
    decided = record("Requests name their version in a header", kind="knowledge")
    held = memory_line(decided, 1.0, {"cosine": 0.55, "grams": 0.5})
    lines = [note(title, STRONG) for title in ("Clients send /v1", "The path had v1 until June")]
    made = draft(*lines, held)
    decide(made, alike)
    assert made.kept == [held, lines[0]]
    known = Fact(
        fact_id="fact_1", namespace=NAMESPACE, entity_id="ent_1", subject="api",
        predicate="versioned_by", object="header", valid_from=NOON,
    )  # fmt: skip
    made = draft(*(note(one.record.title, STRONG) for one in lines if one.record),
                 BriefLine("fact_1", "known", 1.0, "named", thing=known))  # fmt: skip
    decide(made, alike)
    assert len(made.kept) == 2


def test_what_is_unsure_is_told_to_a_task_only_where_it_is_likely_to_be_of_use() -> None:
    between = {"cosine": 0.375, "grams": 0.1}
    likely, unlikely = (
        note("the bench is flashed with probe-rs", one) for one in (STRONG, between)
    )
    plain = note("the bench is flashed with probe-rs", between)
    for line in (likely, unlikely):
        line.is_unsure = True
    made = draft(likely, unlikely, plain)
    decide(made, alike)
    assert NOTES.speak < plain.chance < NOTES.unsure
    assert made.kept == [likely, plain]
