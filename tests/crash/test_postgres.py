"""The server fails; nothing is lost, nothing is there twice, and no agent waits."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.client import Client, NotRunning, Refused
from tests.crash import postgres
from tests.fakes.daemons import RealDaemon
from tests.fakes.postgres import Server, running
from tests.fakes.waiting import PATIENCE_S

RATE = 200.0
SECONDS = 8.0


@pytest.fixture(scope="module")
def durable() -> Iterator[Server]:
    """A server of its own, whose commits are really on the disk."""
    with running(durable=True) as server:
        yield server


def test_two_daemons_lose_and_double_nothing_when_the_server_is_killed_under_load(
    durable: Server, tmp_path: pathlib.Path, seed: int
) -> None:
    report = postgres.run(tmp_path, durable, rate=RATE, seconds=SECONDS, restarts=1, seed=seed)
    assert not report.findings, report.findings
    assert report.stored == report.sent > 100
    assert report.spooled > 0, "the server was away, so something must have been spooled"


def test_a_daemon_starts_without_its_server_and_keeps_what_it_is_told(
    durable: Server, tmp_path: pathlib.Path
) -> None:
    database = durable.database()
    one = postgres.daemon(tmp_path / "home", durable, database)
    durable.stop()
    try:
        one.start()
        health = one.client.get("/healthz")
        assert health["status"] == "degraded" and health["store"]["kind"] == "postgresql"
        assert "no PostgreSQL server listens" in health["store"]["problem"]
        payload = {"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_use_id": "t",
                   "tool_input": {"command": "during the outage"}, "tool_response": {}}  # fmt: skip
        done = one.run_hook("claude-code", "PostToolUse", payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        for number in range(30):
            assert not postgres.hook(str(one.home), postgres.frame(f"late {number}", "s"))
        durable.start()
        postgres.wait_until_drained([one])
        expected = {"during the outage", *(f"late {number}" for number in range(30))}
        assert postgres.stored(durable, database) == dict.fromkeys(expected, 1)
        deadline = time.monotonic() + PATIENCE_S
        while one.client.get("/healthz")["status"] != "ok":
            assert time.monotonic() < deadline, one.client.get("/healthz")
            time.sleep(0.1)
        assert one.client.get("/healthz")["hosts"]
    finally:
        if not (durable.data / "postmaster.pid").exists():
            durable.start()
        if one.process is not None:
            one.stop()
        durable.drop(database)


def processes(server: Server) -> list[int]:
    """The postmaster and its children."""
    found = [server.pid]
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit():
                parent = (
                    pathlib.Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
                )
                found += [int(name)] if int(parent) == server.pid else []
    return found


def test_health_is_told_at_once_while_the_server_says_nothing(
    durable: Server, tmp_path: pathlib.Path
) -> None:
    """A server that is stopped keeps its connections and answers none of them."""
    database = durable.database()
    one = postgres.daemon(tmp_path / "home", durable, database)
    one.start()
    stopped: list[int] = []
    answered: list[str] = []

    def wait_for_the_store() -> None:
        ask(one, "/api/projects")
        answered.append("the store")

    waiting = [threading.Thread(target=wait_for_the_store, daemon=True) for _ in range(40)]
    try:
        assert postgres.hook(str(one.home), postgres.frame("before", "s"))
        while not ask(one, "/healthz")["hosts"]:  # until it was looked at once
            time.sleep(0.1)
        # The postmaster first: it starts a process for a connection that is opened meanwhile.
        stopped = [durable.pid]
        os.kill(durable.pid, signal.SIGSTOP)
        stopped = processes(durable)
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):  # it ended by itself
                os.kill(pid, signal.SIGSTOP)
        for thread in waiting:  # all the threads that answer requests wait for it
            thread.start()
        ask(one, "/healthz")
        answered.append("health")
        deadline = time.monotonic() + PATIENCE_S
        while not (told := ask(one, "/healthz"))["store"]["problem"]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert told["status"] == "degraded" and told["store"]["since"] is not None
        assert told["hosts"], "what was known before is told"
        first = told["store"]["since"]
        assert ask(one, "/healthz")["store"]["since"] == first
        status = subprocess.run(
            [sys.executable, "-m", "recollect", "status"],
            env=one.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=True,
        )  # fmt: skip
        assert "does not answer" in status.stdout and "noticed" in status.stdout
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        while ask(one, "/healthz")["status"] != "ok":
            assert time.monotonic() < deadline + 60, one.client.get("/healthz")
            time.sleep(0.1)
        assert ask(one, "/healthz")["store"]["since"] is None
        assert answered[0] == "health", "health waited for the store"
    finally:
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        for thread in waiting:
            if thread.is_alive():
                thread.join(PATIENCE_S)
        one.stop()
        durable.drop(database)


def ask(one: RealDaemon, path: str) -> dict[str, Any]:
    """What it answers; nothing when the store does not."""
    with contextlib.suppress(NotRunning, Refused):
        answer: dict[str, Any] = Client(one.settings, timeout=PATIENCE_S).get(path)
        return answer
    if path == "/healthz":
        raise AssertionError("health was not told in time")
    return {}
