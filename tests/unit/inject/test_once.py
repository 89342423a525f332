"""A rule of the user is a memory and a preference; it is told once."""

from dataclasses import replace

from recollect.ingest.messages import RecallQuestion
from recollect.inject import render
from recollect.inject.draft import memory_line
from tests.bench.end_to_end import run_history
from tests.bench.knowledge import ACTOR, GLOBAL, START
from tests.make import record

NAMESPACE = f"/actor/{ACTOR}/project/once/"


def test_a_rule_is_told_as_a_preference_and_not_once_more_as_history() -> None:
    with run_history(None) as made:
        rule = "Always use uv instead of pip in this project."
        made.capture(NAMESPACE, rule, START, "s1", "user")
        made.capture(NAMESPACE, "Understood.", START, "s1", "assistant")
        made.extract(NAMESPACE)
        made.settle([NAMESPACE, GLOBAL])
        kept = made.store.records.page(NAMESPACE).items
        assert any(one.kind == "knowledge" and "uv" in one.title for one in kept)
        asked = RecallQuestion("session-start", "", (NAMESPACE, GLOBAL), "s2", None, 9500)
        for question in (
            asked,
            replace(asked, trigger="prompt", text="uv or pip in this project?", session_id="s3"),
        ):
            text = render.parse(made.it.recall_now(question).context) or ""
            assert text.count(rule.rstrip(".")) == 1


def test_who_was_told_a_rule_was_not_told_what_else_its_turn_did() -> None:
    said = "Always use uv, never pip."
    turn, note, rule = (
        memory_line(record(title, **fields, source_event_ids=("e1",)), 1.0)
        for title, fields in (
            (f"{said} Cap the retries", {"kind": "episode"}),
            ("Retries are capped at five", {"kind": "observation"}),
            (said, {"kind": "knowledge", "knowledge_type": "constraint"}),
        )
    )
    assert set(rule.identity.told_as).isdisjoint(note.identity.same_as)
    assert set(note.identity.told_as).isdisjoint(rule.identity.same_as)
    assert not set(turn.identity.told_as).isdisjoint(note.identity.same_as)
    alone = memory_line(record(said, kind="episode", source_event_ids=("e1",)), 1.0)
    assert not set(rule.identity.told_as).isdisjoint(alone.identity.same_as)
