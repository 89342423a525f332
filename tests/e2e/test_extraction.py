"""Extraction as a user has it: real hooks, a real daemon, memories out; by rules and by model."""

import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import pytest

from recollect import Memory
from recollect.client import Refused
from recollect.core.ids import new_ulid
from recollect.core.values import ExtractionRun, Record
from recollect.store.sqlite import SqliteStore
from tests.fakes import claude_cli
from tests.fakes.acp_agent import acp_command
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.extraction import memory
from tests.fakes.llm_server import Behaviour, LlmServer
from tests.fakes.waiting import PATIENCE_S

RECOLLECT = pathlib.Path(sys.executable).parent / "recollect"
DECISION = (
    "We decided to use PostgreSQL 16 instead of MySQL for billing-api, because it has "
    "transactional DDL. Always run `make migrate` before the tests."
)

BY_OPENAI = {"provider": "openai", "embedding": "false", "llm_model": "m"}


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
    told = command(daemon, "queue", "list").stdout
    assert "a" in told and "kept" in told
    assert "Waiting for extraction (by rules): 0 events." in command(daemon, "status").stdout
    health = daemon.client.get("/healthz")
    assert health["extraction"]["provider"] == "none"
    records, runs = stored(daemon)
    assert any("PostgreSQL" in record.title + record.summary for record in records)
    assert all(record.source_event_ids for record in records)
    assert len(runs) == 1 and "run namespace=" in daemon.log()


def test_watchers_hear_of_new_memories(daemon: RealDaemon, tmp_path: pathlib.Path) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE_S)
    connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {daemon.token}"})
    lines = connection.getresponse()
    turn(daemon, tmp_path / "a", DECISION)
    queue_now(daemon)
    heard: set[str] = set()
    while not {"memory", "run"} <= heard:
        line = lines.readline().decode()
        if line.startswith("event: "):
            heard.add(line.removeprefix("event: ").strip())
    connection.close()


@pytest.mark.parametrize("route", ["openai", "anthropic", "acp", "claude-code"])
def test_events_become_memories_by_each_route(
    route: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = memory("billing-api moved from MySQL 8 to PostgreSQL 16", sort="decision")
    programs = tmp_path / "bin"
    claude_cli.install(programs, text=answer)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with LlmServer([answer]) as server:
        urls = {"openai": server.openai_url, "anthropic": server.url}
        chosen = {
            "provider": route,
            "embedding": "false",
            "llm_base_url": urls.get(route, ""),
            "llm_model": "small" if route in urls else "",
            "acp_command": acp_command("plain", text=answer),
        }
        with real_daemon(tmp_path / "home", **chosen) as daemon:
            turn(daemon, tmp_path / "a", "please look at billing")
            (one,) = [item for item in queue_now(daemon)["items"] if item["last_run"]]
            assert one["last_run"]["provider"] == route, one["last_run"]
            if route == "openai":
                assert "tokens" in command(daemon, "status").stdout
            events = daemon.events(str(tmp_path / "a"), expected=2)
            assert len(events) == 2  # an agent that answers us is not captured
            records, (run,) = stored(daemon)
        made = [record for record in records if record.strategy == "llm-summary"]
        assert [record.title for record in made] == [
            "billing-api moved from MySQL 8 to PostgreSQL 16"
        ]
        assert run.outcome == "committed" and run.input_tokens > 0
        assert bool(server.seen) == (route in urls)


def test_what_a_model_cannot_do_is_set_aside_and_retried(tmp_path: pathlib.Path) -> None:
    with LlmServer(["garbage"] * 9 + ["<skip/>"]) as server:
        chosen = {**BY_OPENAI, "llm_base_url": server.openai_url}
        with real_daemon(tmp_path / "home", **chosen) as daemon:
            turn(daemon, tmp_path / "a", DECISION)
            for _ in range(3):
                (one,) = queue_now(daemon)["items"]
            assert one["quarantined"] == 2 and "unreadable answers" in one["set_aside"][0]["reason"]
            told = command(daemon, "queue", "list").stdout
            assert "Set aside in (everywhere)" in told and "recollect queue retry" in told
            assert "Set aside after failing: 2 events" in command(daemon, "status").stdout
            assert "Back in line: 2 events." in command(daemon, "queue", "retry").stdout
            assert command(daemon, "queue", "run").returncode == 0
            (one,) = daemon.client.get("/api/queue")["items"]
            # the model failed three times in a row: rules go on, and say why
            assert one["last_run"]["provider"] == "none" and one["quarantined"] == 0
            assert "goes on by rules" in command(daemon, "status").stdout
        assert len(server.seen) == 9


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


def test_a_server_that_is_gone_is_not_the_events_fault(tmp_path: pathlib.Path) -> None:
    with LlmServer([Behaviour("status", status=500)]) as server:
        chosen = {**BY_OPENAI, "llm_base_url": server.openai_url}
        with real_daemon(tmp_path / "home", **chosen) as daemon:
            turn(daemon, tmp_path / "a", DECISION)
            for _ in range(4):
                (one,) = queue_now(daemon)["items"]
            assert (one["events"], one["quarantined"]) == (0, 0)
            assert one["last_run"]["provider"] == "none"


# P02
def test_never_again_at_every_door(daemon: RealDaemon, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "a"

    def rules() -> list[dict[str, Any]]:
        queue_now(daemon)
        found = daemon.client.get("/api/memories", project=str(place))["items"]
        return [one for one in found if one["knowledge_type"] == "constraint"]

    doors: list[Any] = [
        lambda known: daemon.client.ask("DELETE", f"/api/memories/{known}?never=true"),
        lambda known: command(daemon, "forget", "-y", "--never-again", known),
        lambda known: Memory(home=str(daemon.home)).delete(known, never=True),
    ]
    for number, door in enumerate(doors):
        stated = f"Always run `make check{number}` before you commit to billing-api."
        turn(daemon, place, stated)
        (known,) = rules()
        door(known["record_id"])
        turn(daemon, place, stated)
        assert rules() == [], f"door {number}"
    assert command(daemon, "undo", "-p", str(place)).returncode == 0
    assert [one["title"] for one in rules()] == [known["title"]]
