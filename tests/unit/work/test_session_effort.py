"""What a session took: turns, calls before the first edit, failed commands, corrected turns."""

from typing import Any

import pytest

from recollect.core.values import ChatMessage, Event, JsonBody, MessageBody
from recollect.hosts.adapter import tool_draft
from recollect.work.session_effort import SessionEffort, effort, step_of
from tests.make import event


def tool(name: str, given: dict[str, Any], output: Any = None, failed: bool | None = None) -> Event:
    body = tool_draft(name, given, output, failed=failed).body
    return event(kind="tool_use", body=body)


def edit(old: str, new: str, path: str = "/src/a.py") -> Event:
    return tool("Edit", {"file_path": path, "old_string": old, "new_string": new})


def bash(command: str, **fields: Any) -> Event:
    return tool("Bash", {"command": command}, **fields)


def read(path: str) -> Event:
    return tool("Read", {"file_path": path})


def prompt() -> Event:
    return event("do this", kind="prompt")


def answer() -> Event:
    body = MessageBody(turns=(ChatMessage(role="assistant", content="done"),))
    return event(kind="session_summary", body=body)


def of(*events: Event) -> SessionEffort:
    return effort(step for one in events if (step := step_of(one)) is not None)


def test_calls_before_the_first_edit_are_counted_over_turns() -> None:
    session = [
        prompt(),
        read("/src/a.py"),
        answer(),
        prompt(),
        bash("ls"),
        edit("a", "b"),
        answer(),
    ]
    assert of(*session) == SessionEffort(2, 2, 0, 0)
    assert of(prompt(), read("/src/a.py"), answer()).calls_before_edit is None
    # An edit that failed is none.
    failed = tool("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, failed=True)
    assert of(prompt(), failed, edit("a", "b")).calls_before_edit == 1


def test_failed_commands_are_those_that_do_something() -> None:
    session = [prompt(), bash("make test", failed=True), bash("grep -r x .", failed=True),
               bash("make test"), answer()]  # fmt: skip
    assert of(*session).failed_commands == 1


def test_an_empty_session_took_nothing() -> None:
    assert of() == SessionEffort(0, None, 0, 0)
    assert of(event(kind="note"), read("/src/a.py")) == SessionEffort(0, None, 0, 0)


def test_a_turn_that_is_cut_short_is_corrected_where_answers_are_reported() -> None:
    assert of(prompt(), answer(), prompt(), prompt(), answer()).corrected_turns == 1
    assert of(prompt(), prompt(), prompt()).corrected_turns == 0  # this host reports no answers
    assert of(prompt(), answer(), prompt()).corrected_turns == 0  # the last one may still run


@pytest.mark.parametrize(
    "output", [{"interrupted": True}, {"is_interrupt": True}, {"resultType": "denied"}]
)
def test_a_stopped_call_is_a_correction_and_no_failed_command(output: dict[str, Any]) -> None:
    found = of(prompt(), bash("make test", output=output), bash("make", output=output), answer())
    assert (found.corrected_turns, found.failed_commands) == (1, 0)


def test_an_edit_that_a_later_turn_takes_back_is_corrected() -> None:
    first = [prompt(), edit("a", "b"), answer()]
    assert of(*first, prompt(), edit("b", "a"), answer()).corrected_turns == 1
    assert of(*first, prompt(), edit("b", "c"), answer()).corrected_turns == 0
    assert of(*first, prompt(), edit("b", "a", "/src/b.py"), answer()).corrected_turns == 0
    # Within one turn the agent corrects itself.
    assert of(prompt(), edit("a", "b"), edit("b", "a"), answer()).corrected_turns == 0
    # Back and forth: each turn but the last was taken back.
    back = [prompt(), edit("b", "a"), answer()]
    assert of(*first, *back, *first).corrected_turns == 1


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git restore a.py", 1), ("cd x && git checkout -- .", 1), ("git -C /src revert HEAD", 1),
        ("git reset --hard HEAD~1", 1), ("git checkout main -- src/a.py", 1),
        ("git restore --staged a.py", 0), ("git checkout main", 0), ("git reset a.py", 0),
    ],
)  # fmt: skip
def test_git_takes_back_what_an_earlier_turn_edited(command: str, expected: int) -> None:
    first = [prompt(), edit("a", "b"), answer()]
    assert of(*first, prompt(), bash(command), answer()).corrected_turns == expected
    assert of(prompt(), edit("a", "b"), bash(command), answer()).corrected_turns == 0
    assert of(prompt(), bash(command), answer()).corrected_turns == 0


def test_a_broken_call_is_counted_as_a_call() -> None:
    broken = event(kind="tool_use", body=JsonBody(data={"class": 3, "input": [], "files": "x"}))
    assert of(prompt(), broken, edit("a", "b")).calls_before_edit == 1
