"""Recall through the real hook and daemon: after a restart, without a model, in shadow mode."""

import json
import pathlib
import time

from recollect.core.ids import new_ulid
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


def until_embedded(daemon: RealDaemon, memories: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        health = daemon.client.get("/healthz")["embedding"]
        if health.get("embedded", 0) >= memories and health["state"] == "idle":
            return
        assert time.monotonic() < deadline, health
        time.sleep(0.05)


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


def test_a_shadow_session_is_told_nothing_before_and_after_a_restart(
    tmp_path: pathlib.Path,
) -> None:
    daemon = RealDaemon(tmp_path / "home", shadow="1")
    daemon.start()
    try:
        (tmp_path / "Makefile").touch()
        work(daemon, tmp_path, "Rename the cluster", "The staging cluster is called quokka now.")
        until_embedded(daemon, 1)
        question = "what is the staging cluster called?"
        key = (tmp_path / "home" / "shadow.key").read_text()
        for _ in range(2):
            assert prompt(daemon, question, tmp_path, "one session") == ""
            daemon.stop()
            daemon.start()
        assert (tmp_path / "home" / "shadow.key").read_text() == key
        asked = {"query": question, "project": str(tmp_path)}
        assert daemon.client.get("/api/search", **asked)["items"]
        receipts = daemon.client.get("/api/receipts", session_id="one session", project="all")
        assert len(receipts["items"]) == 2
        for one in receipts["items"]:
            assert one["detail"]["shadow"] is True and one["injected"] == []
        assert any("quokka" in one["detail"]["shadow_text"] for one in receipts["items"])
        found = daemon.client.get("/api/report/effect", project="all")
        assert (found["memory_sessions"], found["silent_sessions"]) == (0, 2)
    finally:
        daemon.stop()
