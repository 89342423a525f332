"""Extraction as a user has it: real hooks, a real daemon, memories out; and how it stops."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

from recollect.client import Refused
from recollect.core.ids import new_ulid
from recollect.core.values import ExtractionRun, Record
from recollect.store.sqlite import SqliteStore
from tests.fakes.acp_agent import acp_command
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S

RECOLLECT = pathlib.Path(sys.executable).parent / "recollect"
DECISION = (
    "We decided to use PostgreSQL 16 instead of MySQL for billing-api, because it has "
    "transactional DDL. Always run `make migrate` before the tests."
)


def command(daemon: RealDaemon, *arguments: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [str(RECOLLECT), *arguments], env={**daemon.environment, "NO_COLOR": "1"}, cwd="/",
        capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    return done


def queue_now(daemon: RealDaemon) -> dict[str, Any]:
    """What `recollect queue run` asks of the daemon, as soon as extraction is loaded."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(Refused):
            if daemon.client.ask("POST", "/api/queue/run", {"wait_s": 20})["done"]:
                found: dict[str, Any] = daemon.client.get("/api/queue")
                return found
        assert time.monotonic() < deadline, daemon.log()
        time.sleep(0.05)


def turn(daemon: RealDaemon, place: pathlib.Path, asked: str, answered: str = "Done.") -> None:
    place.mkdir(exist_ok=True)
    session = {"session_id": new_ulid(), "cwd": str(place)}
    daemon.run_hook("claude-code", "UserPromptSubmit", {**session, "prompt": asked})
    daemon.run_hook("claude-code", "Stop", {**session, "last_assistant_message": answered})
    daemon.events(str(place), expected=2)


def stored(daemon: RealDaemon) -> tuple[list[Record], list[ExtractionRun]]:
    """What is in the store when the daemon has stopped."""
    daemon.stop()
    store = SqliteStore(daemon.settings)
    try:
        records = [
            record
            for namespace in store.projects.namespaces()
            for record in store.records.page(namespace, limit=200).items
            if record.kind != "episode"
        ]
        return records, store.runs.latest()
    finally:
        store.close()


def test_events_become_memories_by_rules_and_the_queue_is_empty(
    daemon: RealDaemon, tmp_path: pathlib.Path
) -> None:
    turn(daemon, tmp_path / "a", DECISION, "PostgreSQL 16 is set up in compose.yaml.")
    queue_now(daemon)
    found = json.loads(command(daemon, "queue", "run", "--json").stdout)
    (one,) = [item for item in found["items"] if item["last_run"]]
    assert (one["events"], one["quarantined"]) == (0, 0)
    assert one["last_run"]["provider"] == "none" and one["last_run"]["kept"] >= 1
    assert command(daemon, "queue", "list").stdout == "Nothing waits for extraction.\n"
    assert "Waiting for extraction (by rules): 0 events." in command(daemon, "status").stdout
    health = daemon.client.get("/healthz")
    assert health["extraction"]["provider"] == "none"
    records, runs = stored(daemon)
    assert any("PostgreSQL" in record.title + record.summary for record in records)
    assert all(record.source_event_ids for record in records)
    assert len(runs) == 1 and "run namespace=" in daemon.log()


def test_a_stop_does_not_wait_for_a_model_and_leaves_no_child(tmp_path: pathlib.Path) -> None:
    notes = tmp_path / "notes"
    chosen = {
        "provider": "acp",
        "embedding": "false",
        "acp_command": acp_command("hang", notes=notes),
    }
    with real_daemon(tmp_path / "home", **chosen) as daemon:
        turn(daemon, tmp_path / "a", DECISION)
        deadline = time.monotonic() + PATIENCE_S
        while not notes.exists():
            with contextlib.suppress(Refused):  # it is still being loaded
                daemon.client.ask("POST", "/api/queue/run", {"wait_s": 0})
            assert time.monotonic() < deadline, daemon.log()
            time.sleep(0.1)
        children = _children(daemon)
        assert children
        assert daemon.stop() == 0
        assert [pid for pid in children if os.path.exists(f"/proc/{pid}/cmdline")] == []
    store = SqliteStore(daemon.settings)
    (waits,) = store.events.backlog()
    assert (waits.count, waits.quarantined) == (2, 0)
    store.close()


def _children(daemon: RealDaemon) -> list[int]:
    assert daemon.process is not None
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = pathlib.Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == daemon.process.pid and fields[0] != "Z":
            found.append(int(name))
    return found
