"""The server fails; nothing is lost, nothing is there twice, and no agent waits."""

import pathlib
import time
from collections.abc import Iterator

import pytest

from tests.crash import postgres
from tests.fakes.postgres import Server, running

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
        deadline = time.monotonic() + 30
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
