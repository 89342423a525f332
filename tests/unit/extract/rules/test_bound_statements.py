"""What is said for a session or a branch is held there, and told only there."""

import pytest

from tests.fakes.project_sessions import ProjectSessions


@pytest.mark.parametrize(
    ("said", "scope", "name"),
    [
        ("For this session always answer in German.", "session", ""),
        ("In this session always answer in German.", "session", ""),
        ("On this branch never touch the migrations.", "branch", "main"),
        ("On branch feature/x we use the old API.", "branch", "feature/x"),
    ],
)
def test_it_is_held_where_it_was_said(
    sessions: ProjectSessions, said: str, scope: str, name: str
) -> None:
    (sessions.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    sessions.start()
    sessions.prompt(said)
    here = sessions.session_id
    sessions.end()
    (held,) = sessions.beliefs()
    assert (held.state, held.scope, held.scope_name) == ("current", scope, name or here)
    (sessions.project / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
    assert said.rstrip(".") not in sessions.told_at_start()


@pytest.mark.parametrize(
    "said", ["Please never amend commits that are pushed", "Never touch files that we generate."]
)
def test_a_clause_that_says_which_is_no_task_at_hand(sessions: ProjectSessions, said: str) -> None:
    sessions.session(said)
    assert len(sessions.beliefs("current")) == 1


def test_a_task_for_this_branch_is_not_held(sessions: ProjectSessions) -> None:
    sessions.session("Fix the failing tests on this branch.", "Run the linter on this branch.")
    assert not sessions.beliefs("current")
