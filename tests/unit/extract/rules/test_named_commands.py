"""A command that worked and that the user or a file of the project names is a fact after its
session; another waits until its project is met again."""

import pytest

from tests.fakes.project_sessions import ProjectSessions


def learned(sessions: ProjectSessions, prompt: str, command: str) -> set[tuple[str, str]]:
    sessions.start()
    sessions.hook("UserPromptSubmit", prompt=prompt)
    sessions.ran(command)
    sessions.hook("Stop", last_assistant_message="All pass.")
    sessions.end()
    facts = sessions.home.runtime.store.graph.facts(sessions.namespace)
    return {(one.predicate, one.object) for one in facts}


@pytest.mark.parametrize(
    ("prompt", "command", "fact"),
    [
        ("run the tests with `make check`", "make check", ("check_command", "make check")),
        ("build it with npm run build:prod", "npm run build:prod",
         ("build_command", "npm run build:prod")),
    ],
)  # fmt: skip
def test_a_command_that_the_user_names_is_known_after_its_session(
    sessions: ProjectSessions, prompt: str, command: str, fact: tuple[str, str]
) -> None:
    assert fact in learned(sessions, prompt, command)


def test_a_command_that_nobody_names_is_not(sessions: ProjectSessions) -> None:
    assert not learned(sessions, "fix the parser", "make check")
