"""Rules set, withdrawn and told through the hooks: what a person meets in the first hour."""

import json
import pathlib
from collections.abc import Callable

import pytest

from tests.fakes.runtime import RuntimeHome

Session = Callable[..., str]


@pytest.fixture
def session(runtime_home: RuntimeHome, tmp_path: pathlib.Path) -> Session:
    """A session with these prompts; what its agent was told."""
    numbers = iter(range(100))

    def live(*prompts: str) -> str:
        said = {"session_id": f"s{next(numbers)}", "cwd": str(tmp_path)}
        calls = [("SessionStart", {"source": "startup"})]
        for prompt in prompts:
            calls.append(("UserPromptSubmit", {"prompt": prompt}))
            calls.append(("Stop", {"last_assistant_message": "Done."}))
        told = []
        for event, more in [*calls, ("SessionEnd", {"reason": "exit"})]:
            reply = runtime_home.run_hook("claude-code", event, {**said, **more})
            answer = json.loads(reply.stdout) if reply.stdout.strip() else {}
            told.append(str(answer.get("hookSpecificOutput", {}).get("additionalContext", "")))
        runtime_home.extract()
        runtime_home.clock.advance(hours=20)
        return "\n".join(told)

    return live


def test_a_withdrawal_ends_the_rule_that_it_names_and_no_other(session: Session) -> None:
    session("All dates are in UTC.", "from now on prices are shown in euros.")
    told = session("forget the rule about short commit messages")
    assert "UTC" in told and "euros" in told
    session("Scrap that rule about euros")
    told = session("go on")
    assert "UTC" in told and "euros" not in told and "commit messages" not in told
    session("drop the UTC rule")
    assert "UTC" not in session("go on")


def test_what_else_a_turn_said_is_told_though_one_rule_of_it_was(session: Session) -> None:
    session("Always write tests with pytest. The staging server is called bluebird.")
    told = session("what is the staging server called?")
    assert "pytest" in told and "bluebird" in told


def test_a_rule_is_held_with_words_before_it(session: Session) -> None:
    session("we use pnpm here, not npm. and please don't ever push straight to main")
    told = session("go on")
    assert "pnpm" in told and "push straight to main" in told
