"""What was ended and is said again: it ends what ended it, and can be ended again."""

import pytest

from tests.fakes.project_sessions import ProjectSessions

RULE = "Always write a changelog entry for each change."
OTHERS = ("Never push to main directly.", "From now on use pnpm in this repository, not npm.")


@pytest.mark.parametrize(
    "withdrawal",
    [
        "We no longer need a changelog entry for each change; drop that rule.",
        "Changelog entries are no longer needed for each change.",
    ],
)
def test_a_rule_can_be_withdrawn_again_with_the_same_words(
    sessions: ProjectSessions, withdrawal: str
) -> None:
    sessions.session(RULE, *OTHERS)
    sessions.session(withdrawal)
    assert "changelog" not in sessions.told_at_start()
    sessions.session(RULE)
    assert "changelog" in sessions.told_at_start()
    (rule,) = [one for one in sessions.beliefs("current") if one.title == RULE]
    (over,) = [one for one in sessions.beliefs("ended") if one.title == withdrawal]
    assert over.ended_by == rule.record_id
    sessions.session(withdrawal)
    assert RULE not in sessions.titles("current", "disputed")
    assert "changelog" not in sessions.told_at_start()


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        (
            "Deployments go through Jenkins.",
            "Deployments go through GitHub Actions now.",
            "what do deployments go through?",
        ),
        (
            "The staging database lives on db2.internal.",
            "The staging database lives on db7.internal.",
            "where does the staging database live?",
        ),
    ],
)
def test_a_changed_mind_that_goes_back_to_the_first_words_is_what_holds(
    sessions: ProjectSessions, first: str, then: str, question: str
) -> None:
    sessions.session(*OTHERS)
    for text in (first, then, first):
        sessions.session(text)
    told = sessions.asked(question)
    assert first.rstrip(".") in told and then.rstrip(".") not in told


def test_what_a_person_ended_is_not_proposed_again(sessions: ProjectSessions) -> None:
    said = "Deployments go through Jenkins."
    sessions.session(said)
    (proposed,) = sessions.beliefs("proposed")
    sessions.home.client.ask("POST", f"/api/beliefs/{proposed.record_id}/drop", {})
    sessions.session(said)
    assert sessions.titles("proposed", "current") == []


def test_keeping_what_ended_ends_what_ended_it(sessions: ProjectSessions) -> None:
    sessions.session("The staging database lives on db2.internal.")
    sessions.session("The staging database lives on db7.internal.")
    (old,), (new,) = sessions.beliefs("ended"), sessions.beliefs("current")
    sessions.home.client.ask("POST", f"/api/beliefs/{old.record_id}/keep", {})
    (now,) = sessions.beliefs("current")
    (over,) = sessions.beliefs("ended")
    assert (now.record_id, over.record_id, over.ended_by) == (
        old.record_id, new.record_id, old.record_id,
    )  # fmt: skip
