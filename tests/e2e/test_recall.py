"""Recall as an agent sees it: through the real hook, the real daemon and the real model."""

import json
import pathlib
import time
from typing import Any

from recollect.client import Refused
from recollect.core.ids import new_ulid
from recollect.inject import fence
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S


def prompt(daemon: RealDaemon, text: str, place: pathlib.Path, session: str = "") -> str:
    """What a prompt in a fresh session is given."""
    payload = {"session_id": session or new_ulid(), "cwd": str(place), "prompt": text}
    done = daemon.run_hook("claude-code", "UserPromptSubmit", payload)
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    told: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    return told


def work(daemon: RealDaemon, place: pathlib.Path, asked: str, answered: str) -> None:
    session = {"session_id": new_ulid(), "cwd": str(place)}
    daemon.run_hook("claude-code", "UserPromptSubmit", {**session, "prompt": asked})
    daemon.run_hook("claude-code", "Stop", {**session, "last_assistant_message": answered})


def written_receipt(daemon: RealDaemon, receipt_id: str, place: pathlib.Path) -> dict[str, Any]:
    """Receipts are written after the answer is sent."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            found: dict[str, Any] = daemon.client.get(
                f"/api/receipts/{receipt_id}?project_path={place}"
            )
        except Refused:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return found


def until_embedded(daemon: RealDaemon, memories: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        health = daemon.client.get("/healthz")["embedding"]
        if health.get("embedded", 0) >= memories and health["state"] == "idle":
            return
        assert time.monotonic() < deadline, health
        time.sleep(0.05)


def test_a_memory_of_one_session_reaches_the_next(
    daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    place, other = tmp_path / "a", tmp_path / "b"
    for directory in (place, other):
        directory.mkdir()
        (directory / "Makefile").touch()
    work(daemon, place, "Cap the billing retries", "Retries are capped at five, in src/retry.py.")
    work(daemon, place, "Add a dark theme", "The settings page has a dark theme switch now.")
    until_embedded(daemon, 2)
    context = prompt(daemon, "where did we cap the billing retries?", place)
    content = fence.parse(context)
    assert content is not None and "capped at five" in content
    assert "dark theme" not in content
    assert prompt(daemon, "what is the population of Mongolia's capital?", place) == ""
    assert prompt(daemon, "where did we cap the billing retries?", other) == ""

    started = daemon.run_hook(
        "claude-code", "SessionStart", {"session_id": "new", "cwd": str(place), "source": "startup"}
    )
    told = json.loads(started.stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart" and "capped at five" in told["additionalContext"]

    answered = daemon.client.ask("POST", "/v1/events?retrieve=true", {
        "session_id": new_ulid(), "kind": "prompt",
        "source": {"surface": "test", "project_path": str(place)},
        "body": {"type": "text", "content": "where are the billing retries capped?"},
    })  # fmt: skip
    assert answered["stored"] and len(answered["retrieval"]["records"]) == 1
    receipt = written_receipt(daemon, answered["retrieval"]["receipt_id"], place)
    assert receipt["injected"] == answered["retrieval"]["records"]
    daemon.client.ask("POST", "/api/feedback", {
        "namespace": receipt["namespace"], "record_id": receipt["injected"][0], "verdict": "never",
    })  # fmt: skip
    assert prompt(daemon, "where did we cap the billing retries?", place) == ""


def test_recall_works_after_a_restart(daemon: RealDaemon, tmp_path: pathlib.Path) -> None:
    (tmp_path / "Makefile").touch()
    work(daemon, tmp_path, "Rename the cluster", "The staging cluster is called quokka now.")
    until_embedded(daemon, 1)
    daemon.stop()
    daemon.start()
    deadline = time.monotonic() + PATIENCE_S
    while "quokka" not in prompt(daemon, "what is the staging cluster called?", tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_without_a_model_words_are_enough(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home", model_dir=str(tmp_path / "none"))
    daemon.environment["RECOLLECT_MODEL_DIR"] = str(tmp_path / "none")
    daemon.start()
    try:
        (tmp_path / "Makefile").touch()
        work(daemon, tmp_path, "Rename the cluster", "The staging cluster is called quokka now.")
        deadline = time.monotonic() + PATIENCE_S
        question = "what is the staging cluster called, quokka?"
        while "quokka" not in prompt(daemon, question, tmp_path):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert daemon.client.get("/healthz")["embedding"]["state"] == "off"
    finally:
        daemon.stop()


def test_what_a_user_says_again_is_kept_word_for_word(
    daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    sentence = "We decided on Kafka for the event bus because RabbitMQ lost messages."
    place, other = tmp_path / "a", tmp_path / "b"
    for directory in (place, other):
        directory.mkdir()
        (directory / "Makefile").touch()
    work(daemon, place, sentence, "Noted, the event bus is Kafka.")
    until_embedded(daemon, 1)
    session = new_ulid()
    told = prompt(daemon, "which event bus did we decide on?", place, session)
    line = next(line for line in told.splitlines() if sentence in line)
    # The user says so again, here and elsewhere, and the agent repeats the line it was given.
    prompt(daemon, line, place, session)
    prompt(daemon, line, other)
    stop = {"session_id": session, "cwd": str(place), "last_assistant_message": f"So:\n{line}\nOk."}
    daemon.run_hook("claude-code", "Stop", stop)
    said = [
        json.dumps(event)
        for where in (place, other)
        for event in daemon.client.get(f"/v1/events?project_path={where}")["items"]
    ]
    assert sum(sentence in body for body in said) == 3
    assert any("So:" in body and sentence not in body for body in said)
