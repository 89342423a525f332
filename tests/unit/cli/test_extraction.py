"""Extraction as a user has it, in process: by rules and by each model, watched, failed, retried."""

import os
import pathlib
from typing import Any

import pytest

from recollect import Memory
from recollect.core.ids import new_ulid
from tests.fakes import claude_cli
from tests.fakes.acp_agent import acp_command
from tests.fakes.extraction import memory
from tests.fakes.llm_server import Behaviour, LlmServer
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal

DECISION = (
    "We decided to use PostgreSQL 16 instead of MySQL for billing-api, because it has "
    "transactional DDL. Always run `make migrate` before the tests."
)


def turn(home: RuntimeHome, place: pathlib.Path, asked: str, answered: str = "Done.") -> None:
    place.mkdir(exist_ok=True)
    session = {"session_id": new_ulid(), "cwd": str(place)}
    home.run_hook("claude-code", "UserPromptSubmit", {**session, "prompt": asked})
    home.run_hook("claude-code", "Stop", {**session, "last_assistant_message": answered})


def queue_now(home: RuntimeHome) -> list[dict[str, Any]]:
    """What `recollect queue run` asks, and how the queue is then."""
    assert home.client.ask("POST", "/api/queue/run", {"wait_s": 25})["done"]
    items: list[dict[str, Any]] = home.client.get("/api/queue")["items"]
    return items


def test_watchers_hear_of_new_memories(runtime_home: RuntimeHome, tmp_path: pathlib.Path) -> None:
    runtime_home.start_extraction()
    with runtime_home.watching() as until:
        turn(runtime_home, tmp_path / "a", DECISION)
        queue_now(runtime_home)
        assert "event: memory" in until("event: run")


@pytest.mark.parametrize("route", ["openai", "anthropic", "acp", "claude-code", "agent"])
def test_events_become_memories_by_each_route(
    route: str, alone: Terminal, tmp_path: pathlib.Path
) -> None:
    answer = memory("billing-api moved from MySQL 8 to PostgreSQL 16", sort="decision")
    programs = tmp_path / "bin"
    claude_cli.install(programs, text=answer)
    alone.patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with LlmServer([answer]) as server:
        urls = {"openai": server.openai_url, "anthropic": server.url}
        home = RuntimeHome(
            tmp_path / "home",
            provider=route,
            llm_base_url=urls.get(route, ""),
            llm_model="small" if route in urls else "",
            acp_command=acp_command("plain", text=answer),
        )
        alone.lead_to(home)
        home.start_extraction()
        turn(home, tmp_path / "a", "please look at billing")
        (one,) = queue_now(home)
        asked = {"agent": "claude-code"}.get(route, route)
        assert one["last_run"]["provider"] == asked, one["last_run"]
        if route in ("openai", "agent"):
            assert "tokens" in alone("status").stdout
        store = home.runtime.store
        made = [
            record.title
            for namespace in store.projects.namespaces()
            for record in store.records.page(namespace, limit=200).items
            if record.strategy == "llm-summary"
        ]
        assert made == ["billing-api moved from MySQL 8 to PostgreSQL 16"]
        (run,) = store.runs.latest()
        assert run.outcome == "committed" and run.input_tokens > 0
        home.close()
        assert bool(server.seen) == (route in urls)


def test_what_a_model_cannot_do_is_set_aside_and_retried(
    alone: Terminal, tmp_path: pathlib.Path
) -> None:
    with LlmServer(["garbage"] * 9 + ["<skip/>"]) as server:
        home = RuntimeHome(
            tmp_path / "home", provider="openai", llm_model="m", llm_base_url=server.openai_url
        )
        alone.lead_to(home)
        home.start_extraction()
        turn(home, tmp_path / "a", DECISION)
        for _ in range(3):
            (one,) = queue_now(home)
        assert one["quarantined"] == 2 and "unreadable answers" in one["set_aside"][0]["reason"]
        told = alone("queue", "list").stdout
        assert "Set aside in (everywhere)" in told and "recollect queue retry" in told
        assert "Set aside after failing: 2 events" in alone("status").stdout
        assert "Back in line: 2 events." in alone("queue", "retry").stdout
        assert alone("queue", "run").returncode == 0
        (one,) = home.client.get("/api/queue")["items"]
        # the model failed three times in a row: rules go on, and say why
        assert one["last_run"]["provider"] == "none" and one["quarantined"] == 0
        assert "goes on by rules" in alone("status").stdout
        home.close()
        assert len(server.seen) == 9


def test_a_server_that_is_gone_is_not_the_events_fault(tmp_path: pathlib.Path) -> None:
    with LlmServer([Behaviour("status", status=500)]) as server:
        home = RuntimeHome(
            tmp_path / "home", provider="openai", llm_model="m", llm_base_url=server.openai_url
        )
        home.start_extraction()
        turn(home, tmp_path / "a", DECISION)
        for _ in range(4):
            (one,) = queue_now(home)
        assert (one["events"], one["quarantined"]) == (0, 0)
        assert one["last_run"]["provider"] == "none"
        home.close()


# P02
def test_never_again_at_every_door(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    place = tmp_path / "a"
    runtime_home.start_extraction()

    def rules() -> list[dict[str, Any]]:
        queue_now(runtime_home)
        found = runtime_home.client.get("/api/memories", project=str(place))["items"]
        return [one for one in found if one["knowledge_type"] == "constraint"]

    doors: list[Any] = [
        lambda known: runtime_home.client.ask("DELETE", f"/api/memories/{known}?never=true"),
        lambda known: terminal("forget", "-y", "--never-again", known),
        lambda known: Memory(home=str(terminal.home)).delete(known, never=True),
    ]
    for number, door in enumerate(doors):
        stated = f"Always run `make check{number}` before you commit to billing-api."
        turn(runtime_home, place, stated)
        (known,) = rules()
        door(known["record_id"])
        turn(runtime_home, place, stated)
        assert rules() == [], f"door {number}"
    assert terminal("undo", "-p", str(place), "--yes").returncode == 0
    assert [one["title"] for one in rules()] == [known["title"]]
