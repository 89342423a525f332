"""Recall as an agent sees it, in process: frames of hooks in, what they print out."""

import json
import pathlib
from collections.abc import Iterator

import pytest

from recollect.core.ids import new_ulid
from recollect.inject import render
from tests.fakes.runtime import RuntimeHome


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path / "home", embedding=True)
    made.runtime.recall().recall_now.limit_ms = 60_000  # on a busy machine too
    yield made
    made.close()


def prompt(home: RuntimeHome, text: str, place: pathlib.Path, session: str = "") -> str:
    """What a prompt in a fresh session is given."""
    payload = {"session_id": session or new_ulid(), "cwd": str(place), "prompt": text}
    done = home.run_hook("claude-code", "UserPromptSubmit", payload)
    if not done.stdout:
        return ""
    told: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    return told


def work(home: RuntimeHome, place: pathlib.Path, asked: str, answered: str) -> None:
    session = {"session_id": new_ulid(), "cwd": str(place)}
    home.run_hook("claude-code", "UserPromptSubmit", {**session, "prompt": asked})
    home.run_hook("claude-code", "Stop", {**session, "last_assistant_message": answered})


def test_a_memory_of_one_session_reaches_the_next(
    home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    place, other = tmp_path / "a", tmp_path / "b"
    for directory in (place, other):
        directory.mkdir()
        (directory / "Makefile").touch()
    work(home, place, "Cap the billing retries", "Retries are capped at five, in src/retry.py.")
    work(home, place, "Add a dark theme", "The settings page has a dark theme switch now.")
    home.embed()
    context = prompt(home, "where did we cap the billing retries?", place)
    content = render.parse(context)
    assert content is not None and "capped at five" in content
    assert "dark theme" not in content
    assert prompt(home, "what is the population of Mongolia's capital?", place) == ""
    assert prompt(home, "where did we cap the billing retries?", other) == ""

    started = home.run_hook(
        "claude-code", "SessionStart", {"session_id": "new", "cwd": str(place), "source": "startup"}
    )
    assert started.stdout == b""  # the words of turns wait for a question

    answered = home.client.ask("POST", "/v1/events?retrieve=true", {
        "session_id": new_ulid(), "kind": "prompt",
        "source": {"surface": "test", "project_path": str(place)},
        "body": {"type": "text", "content": "where are the billing retries capped?"},
    })  # fmt: skip
    assert answered["stored"] and len(answered["retrieval"]["records"]) == 1
    home.runtime.recall().receipts.flush()
    lines = answered["retrieval"]["lines"]
    assert all(one in answered["retrieval"]["context"] for one in lines)
    receipt = home.client.get(
        f"/api/receipts/{answered['retrieval']['receipt_id']}", project_path=str(place)
    )
    assert receipt["injected"] == answered["retrieval"]["records"]
    home.client.ask("POST", "/api/feedback", {
        "namespace": receipt["namespace"], "record_id": receipt["injected"][0], "verdict": "never",
    })  # fmt: skip
    assert prompt(home, "where did we cap the billing retries?", place) == ""


def test_what_a_user_says_again_is_kept_word_for_word(
    home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    sentence = "We decided on Kafka for the event bus because RabbitMQ lost messages."
    place, other = tmp_path / "a", tmp_path / "b"
    for directory in (place, other):
        directory.mkdir()
        (directory / "Makefile").touch()
    work(home, place, sentence, "Noted, the event bus is Kafka.")
    home.embed()
    session = new_ulid()
    told = prompt(home, "which event bus did we decide on?", place, session)
    line = next(line for line in told.splitlines() if sentence in line)
    # The user says so again, here and elsewhere, and the agent repeats the line it was given.
    prompt(home, line, place, session)
    prompt(home, line, other)
    stop = {"session_id": session, "cwd": str(place), "last_assistant_message": f"So:\n{line}\nOk."}
    home.run_hook("claude-code", "Stop", stop)
    said = [
        json.dumps(event)
        for where in (place, other)
        for event in home.client.get(f"/v1/events?project_path={where}")["items"]
    ]
    assert sum(sentence in body for body in said) == 3
    assert any("So:" in body and sentence not in body for body in said)


def test_what_is_told_of_earlier_work_stands_in_lines(
    home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    place = tmp_path / "a"
    place.mkdir()
    (place / "Makefile").touch()
    for session in ("one", "two"):
        said = {"session_id": session, "cwd": str(place)}
        home.run_hook("claude-code", "UserPromptSubmit", {**said, "prompt": "Run the tests"})
        home.run_hook("claude-code", "PostToolUse", {
            **said, "tool_name": "Bash", "tool_input": {"command": "make test"},
            "tool_response": {"stdout": "12 passed", "stderr": "", "exit_code": 0},
        })  # fmt: skip
        home.run_hook("claude-code", "Stop", {**said, "last_assistant_message": "All pass."})
    answered = home.client.ask("POST", "/v1/events?retrieve=true", {
        "session_id": new_ulid(), "kind": "prompt",
        "source": {"surface": "test", "project_path": str(place)},
        "body": {"type": "text", "content": "the parser drops the last row of a file, mend it"},
    })["retrieval"]  # fmt: skip
    assert answered["lines"] == ["Runs: make test"]
    assert "Runs: make test" in answered["context"] and answered["records"] == []
