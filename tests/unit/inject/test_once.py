"""A rule of the user is a memory and a preference; it is told once."""

from dataclasses import replace

from recollect.ingest.pipeline import RecallQuestion
from recollect.inject import render
from tests.bench.end_to_end import run_history
from tests.bench.knowledge import ACTOR, GLOBAL, START

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
