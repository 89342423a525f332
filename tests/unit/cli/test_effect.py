"""`recollect report --effect`: the same comparison at every door, and honest words."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from recollect import Memory
from recollect.inject.recall import Shadow
from recollect.service import effect as effects
from tests.fakes.mcp_agent import McpAgent
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal

NOTE = "Retries of the billing API are capped at five with backoff."
SESSIONS = 40


@pytest.fixture
def home(tmp_path: pathlib.Path, alone: Terminal) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path / "home", shadow=0.5)
    alone.lead_to(made)
    yield made
    made.close()


@pytest.fixture
def here(tmp_path: pathlib.Path) -> str:
    place = tmp_path / "billing"
    place.mkdir()
    (place / "Makefile").touch()
    return str(place)


class Agent:
    """One session of Claude Code."""

    def __init__(self, home: RuntimeHome, here: str, session: str) -> None:
        self.home, self.session = home, {"session_id": session, "cwd": here}

    def hook(self, event: str, **fields: Any) -> str:
        reply = self.home.run_hook("claude-code", event, {**self.session, **fields})
        return reply.stdout.decode()

    def ask(self, text: str) -> str:
        return self.hook("UserPromptSubmit", prompt=text)

    def run(self, command: str, *, failed: bool = False) -> None:
        event = "PostToolUseFailure" if failed else "PostToolUse"
        self.hook(event, tool_name="Bash", tool_input={"command": command}, tool_response={})

    def edit(self, name: str = "a.py") -> None:
        given = {"file_path": f"{self.session['cwd']}/{name}", "old_string": "a", "new_string": "b"}
        self.hook("PostToolUse", tool_name="Edit", tool_input=given, tool_response={})

    def stop(self) -> None:
        self.hook("Stop", last_assistant_message="Done.")


def work(home: RuntimeHome, here: str, count: int = SESSIONS) -> set[str]:
    """Sessions, of which the silent ones take longer; returns those."""
    home.client.ask("POST", "/api/observations", {"project": here, "title": NOTE})
    shadow = Shadow(home.settings)
    silent = set()
    for number in range(count):
        name = f"s{number}"
        agent = Agent(home, here, name)
        slow = shadow.silences(name)
        silent |= {name} if slow else set()
        for turn in range(4 if slow else 2 - number % 2):
            told = agent.ask(f"how are retries of the billing api capped? {turn}")
            assert not (slow and told)
            agent.run("make test", failed=slow)
            if turn or not slow:
                agent.edit()
            agent.stop()
    home.runtime.recall().receipts.flush()
    return silent


def test_every_door_compares_both_arms(home: RuntimeHome, alone: Terminal, here: str) -> None:
    silent = work(home, here)
    # Neither counts: a proof of the hook, and a session without a prompt.
    Agent(home, here, "prove-1").ask("how are retries of the billing api capped?")
    Agent(home, here, "empty").hook("SessionStart", source="startup")
    home.runtime.recall().receipts.flush()

    by_rest = home.client.get("/api/report/effect", project=here)
    assert (by_rest["memory_sessions"], by_rest["silent_sessions"]) == (
        SESSIONS - len(silent),
        len(silent),
    )
    assert by_rest["shares"] == [0.5] and by_rest["complete"]
    assert by_rest["left_out"] == {"without_shadow": 0, "changed_arm": 0, "without_prompt": 1}
    of = {one["name"]: one["comparison"] for one in by_rest["measures"]}
    assert of["turns"]["silent"]["value"] == 4 and of["turns"]["memory"]["value"] < 2
    assert of["turns"]["clear"] and of["turns"]["difference"]["high"] < 0
    assert of["failed_commands"]["silent"]["value"] == 4
    assert of["failed_commands"]["memory"]["value"] == 0
    assert of["calls_before_edit"]["memory"]["value"] == 1
    assert of["calls_before_edit"]["silent"]["value"] == 2
    assert of["corrected_turns"]["difference"]["value"] == 0
    assert of["tokens"]["silent"]["value"] == 0 and of["tokens"]["memory"]["value"] > 0

    by_python = msgspec.to_builtins(Memory(here).effect())
    typed = alone("report", "--effect", "--json", "-p", here)
    assert json.loads(json.dumps(by_python))["measures"] == by_rest["measures"]
    assert json.loads(typed.stdout)["measures"] == by_rest["measures"]
    printed = alone("report", "--effect", "-p", here).stdout
    assert max(map(len, printed.splitlines())) <= 80
    assert "with memory" in printed and "Fewer turns with memory: -" in printed
    assert "No difference that chance could not explain: corrected turns." in printed
    assert "Sessions not counted: 1 had no prompt." in printed


def test_explicit_doors_answer_in_a_silent_session(home: RuntimeHome, here: str) -> None:
    work(home, here, 1)
    asked = {"query": "how are retries of the billing api capped?", "project": here}
    assert home.client.get("/api/search", **asked)["items"]
    session = next(f"x{n}" for n in range(99) if Shadow(home.settings).silences(f"x{n}"))
    assert "capped at five" not in Agent(home, here, session).ask(asked["query"])
    assert "capped at five" in home.client.get("/api/context", **asked)["context"]
    told, failed = McpAgent(here).call("search_memory", query=asked["query"])
    assert "capped at five" in told and not failed


def test_too_few_sessions_and_none_are_said_in_words(
    home: RuntimeHome, alone: Terminal, here: str
) -> None:
    none = alone("report", "--effect", "-p", here).stdout
    assert "no session has been assigned to an arm yet" in none
    work(home, here, 12)
    few = alone("report", "--effect", "-p", here).stdout
    assert "Too few sessions to conclude anything: " in few
    assert "More sessions needed to see a difference of 20 %" in few
    assert "Fewer" not in few and "chance" not in few
    refused = alone("report", "--effect", "--markdown", "-p", here)
    assert refused.returncode == 2 and "use --json" in refused.stderr


def test_without_shadow_the_report_says_how_to_turn_it_on(terminal: Terminal, here: str) -> None:
    never = terminal("report", "--effect", "-p", here).stdout
    assert "Shadow mode was never on in this time" in never and "set shadow 0.2" in never


def test_sessions_from_before_and_those_whose_arm_changed_are_left_out(
    tmp_path: pathlib.Path, here: str
) -> None:
    for share in (0.0, 0.5, 1.0, 0.5):
        home = RuntimeHome(tmp_path / "home", shadow=share)
        try:
            # `all` runs under every setting; the other one under this setting only.
            Agent(home, here, "all").ask("what did we decide?")
            Agent(home, here, f"at {share}").ask("what did we decide?")
            home.runtime.recall().receipts.flush()
            found = home.client.get("/api/report/effect", project=here)
        finally:
            home.close()
    assert found["left_out"]["without_shadow"] == 1  # "at 0.0"
    assert found["left_out"]["changed_arm"] == 1  # "all"
    assert found["memory_sessions"] + found["silent_sessions"] == 2
    assert found["shares"] == [0.5, 1.0]
    assert any("The share changed in this time (0.5, 1)" in one for one in found["conclusions"])


def test_a_report_reads_no_more_than_its_limits(
    home: RuntimeHome, here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(home, here, 12)
    monkeypatch.setattr(effects, "MOST_SESSIONS", 5)
    found = home.client.get("/api/report/effect", project=here)
    assert found["memory_sessions"] + found["silent_sessions"] == 5 and not found["complete"]
    monkeypatch.setattr(effects, "MOST_SESSIONS", 2000)
    monkeypatch.setattr(effects, "PAGE", 2)
    monkeypatch.setattr(effects, "MOST_RECEIPTS", 4)
    found = home.client.get("/api/report/effect", project=here)
    assert 1 <= found["memory_sessions"] + found["silent_sessions"] <= 4 and not found["complete"]
    assert "the newest are counted" in found["conclusions"][-1]
    monkeypatch.setattr(effects, "MOST_RECEIPTS", 20_000)
    found = home.client.get("/api/report/effect", project=here)
    assert found["memory_sessions"] + found["silent_sessions"] == 12 and found["complete"]
