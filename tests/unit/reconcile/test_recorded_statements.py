"""A statement that an agent records and the rules read as well is one belief, in either order."""

import pytest

from recollect.core.errors import BadInput
from recollect.reconcile.recorded_statements import of_one_statement
from tests.fakes.project_sessions import ProjectSessions
from tests.make import record

SAID = "Always run the linter before committing. And fix the parser bug please."
QUOTE = "Always run the linter before committing"
RECORDED = "Run the linter before each commit"


def recorded(sessions: ProjectSessions, text: str, quote: str, **given: str) -> str:
    return sessions.tool("remember", text=text, quote=quote, **{"type": "constraint", **given})


def recorded_and_read(sessions: ProjectSessions) -> None:
    sessions.start()
    sessions.hook("UserPromptSubmit", prompt=SAID)
    recorded(sessions, RECORDED, QUOTE)
    sessions.hook("Stop", last_assistant_message="Noted.")
    sessions.end()


@pytest.mark.parametrize(
    ("prompt", "text", "quote"),
    [
        (SAID, RECORDED, QUOTE),
        (
            "From now on use pnpm in this repository, not npm.",
            "Use pnpm, not npm",
            "use pnpm in this repository, not npm",
        ),
        (
            "we agreed with Lena that invoices are kept for ten years",
            "Invoices are kept for ten years (agreed with Lena)",
            "invoices are kept for ten years",
        ),
    ],
)
@pytest.mark.parametrize("first", ["agent", "rules"])
def test_what_is_recorded_and_read_is_one_belief(
    sessions: ProjectSessions, first: str, prompt: str, text: str, quote: str
) -> None:
    sessions.start()
    sessions.hook("UserPromptSubmit", prompt=prompt)
    if first == "agent":
        recorded(sessions, text, quote)
    sessions.hook("Stop", last_assistant_message="Noted.")
    if first == "rules":
        sessions.learn()
        recorded(sessions, text, quote)
    sessions.end()
    (one,) = sessions.beliefs()
    assert (one.state, one.author, one.knowledge_type) == ("current", "user", "constraint")
    assert sessions.told_at_start().count(one.title.rstrip(".")) == 1


@pytest.mark.parametrize(
    "withdrawal",
    [
        "You no longer need to run the linter before committing, drop that rule.",
        "No more linter runs before commits, that rule is gone.",
    ],
)
def test_a_withdrawal_leaves_nothing_of_a_statement_that_was_recorded_too(
    sessions: ProjectSessions, withdrawal: str
) -> None:
    recorded_and_read(sessions)
    assert "linter" in sessions.told_at_start()
    sessions.session(withdrawal)
    assert not [one for one in sessions.beliefs("current", "disputed") if one.is_rule]
    assert "before each commit" not in sessions.told_at_start()


def test_what_an_agent_recorded_changes_older_beliefs_by_the_words_that_were_said(
    sessions: ProjectSessions,
) -> None:
    sessions.session("From now on use npm in this repository.")
    sessions.start()
    said = "From now on use pnpm in this repository, not npm."
    sessions.hook("UserPromptSubmit", prompt=said)
    recorded(sessions, "Use pnpm here, not npm", said)
    sessions.hook("Stop", last_assistant_message="Noted.")
    sessions.end()
    (old,) = sessions.beliefs("ended")
    (new,) = sessions.beliefs("current")
    assert (old.title, old.ended_by) == ("From now on use npm in this repository.", new.record_id)


def test_a_statement_that_ended_before_it_was_read_stays_ended(sessions: ProjectSessions) -> None:
    sessions.start()
    sessions.hook("UserPromptSubmit", prompt=SAID)
    recorded(sessions, RECORDED, QUOTE)
    sessions.prompt("hm, the linter before committing is too slow for me")
    (one,) = sessions.beliefs()
    vague = {"id": one.record_id, "action": "end", "quote": "the linter before committing"}
    assert "withdraws or changes nothing" in sessions.tool("correct", **vague)
    sessions.home.client.ask("POST", f"/api/beliefs/{one.record_id}/drop", {})
    sessions.end()
    assert not sessions.beliefs("current")
    assert "linter" not in sessions.told_at_start()


def test_what_an_agent_adds_to_a_users_rule_does_not_take_its_place(
    sessions: ProjectSessions,
) -> None:
    sessions.start()
    said = "Never push to main directly."
    sessions.hook("UserPromptSubmit", prompt=said)
    recorded(sessions, "Jobs never push anything to main directly", said)
    sessions.hook("Stop", last_assistant_message="Noted.")
    sessions.end()
    assert sessions.titles("current") == [said]


def test_a_rule_that_was_recorded_as_a_decision_is_a_rule(sessions: ProjectSessions) -> None:
    sessions.start()
    sessions.hook("UserPromptSubmit", prompt=SAID)
    recorded(sessions, RECORDED, QUOTE, type="decision")
    sessions.hook("Stop", last_assistant_message="Noted.")
    sessions.end()
    (one,) = sessions.beliefs()
    assert (one.title, one.knowledge_type) == (RECORDED, "constraint")
    assert RECORDED in sessions.told_at_start()


def test_in_no_project_what_is_read_holds_as_it_was_recorded(sessions: ProjectSessions) -> None:
    (sessions.project / ".git" / "HEAD").unlink()
    sessions.start()
    sessions.hook("UserPromptSubmit", prompt=SAID)
    assert "all projects" in recorded(sessions, RECORDED, QUOTE)
    sessions.hook("Stop", last_assistant_message="Noted.")
    sessions.end()
    (one,) = sessions.beliefs()
    assert (one.title, one.state, one.author) == (RECORDED, "current", "user")


def test_the_statements_of_one_prompt_stay_apart(sessions: ProjectSessions) -> None:
    sessions.start()
    said = "Never push to main directly. Never push to release directly."
    sessions.hook("UserPromptSubmit", prompt=said)
    recorded(sessions, "Never push directly to main", "Never push to main directly")
    sessions.hook("Stop", last_assistant_message="Noted.")
    sessions.end()
    assert sorted(sessions.titles("current")) == [
        "Never push directly to main", "Never push to release directly.",
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["wrong", "never", "drop", "forget"])
def test_what_acts_on_one_of_two_rows_acts_on_the_statement(
    sessions: ProjectSessions, how: str
) -> None:
    """Stores of before have both rows."""
    sessions.session(SAID)
    (read,) = sessions.beliefs()
    twice = record(
        RECORDED, kind="knowledge", knowledge_type="constraint", strategy="user", author="user",
        namespace=read.namespace, source_event_ids=read.source_event_ids,
        valid_from=read.valid_from,
    )  # fmt: skip
    sessions.home.runtime.store.records.put([twice])
    sessions.home.runtime.memories.changed(read.namespace, [twice.record_id])
    assert RECORDED in sessions.told_at_start()
    ask = sessions.home.client.ask
    if how in ("wrong", "never"):
        ask("POST", "/api/feedback", {"record_id": read.record_id, "verdict": how})
    elif how == "drop":
        ask("POST", f"/api/beliefs/{read.record_id}/drop", {})
    else:
        ask("DELETE", f"/api/memories/{read.record_id}", {})
    assert "linter" not in sessions.told_at_start()


def test_what_waits_for_a_belief_ends_with_it_and_nothing_ends_twice(
    sessions: ProjectSessions,
) -> None:
    sessions.session("Never push to main directly.")
    (rule,) = sessions.beliefs()
    sessions.start()
    sessions.tool("correct", id=rule.record_id, action="end")
    (waits,) = sessions.beliefs("proposed")
    sessions.prompt("pushing to main directly is fine now, drop that rule")
    said = "pushing to main directly is fine now"
    assert "Ended" in sessions.tool("correct", id=rule.record_id, action="end", quote=said)
    assert waits.title not in sessions.titles("proposed")
    with pytest.raises(BadInput, match="ended already"):
        sessions.tool("correct", id=rule.record_id, action="end")


def test_of_several_sentences_the_nearest_is_what_was_recorded() -> None:
    given = {"kind": "knowledge", "author": "user", "source_event_ids": ("e1",)}
    agents = record("Never push to main", strategy="user", **given)
    main, release = (
        record(f"Never push to {branch} directly", strategy="rules", **given)
        for branch in ("main", "release")
    )
    assert of_one_statement(agents, [release, main]) == [main]
    both = record("Never push to main or release directly", strategy="user", **given)
    assert set(of_one_statement(both, [release, main])) == {main, release}
    assert not of_one_statement(main, [release])
