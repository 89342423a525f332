"""Agents as child processes: nobody left behind, no recursion (D08, D09, D10)."""

import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from recollect.core.errors import (
    BadSetting,
    ProviderDown,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
)
from recollect.core.settings import checked
from recollect.hosts import registry
from recollect.hosts.kiro_cli.facts import COMPRESSOR, RECONCILER
from recollect.hosts.kiro_cli.facts import MODEL as KIRO_MODEL
from recollect.llm import child_process
from recollect.llm.acp import AcpProvider
from recollect.llm.base import ModelRequest, Provider, Purpose
from recollect.llm.choose import of_agent
from tests.fakes import claude_cli, hooks
from tests.fakes.acp_agent import acp_command, children_of_group
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.make import NAMESPACE

LONG = 60.0  # far beyond what any of these takes: who waits for it, hangs


def ask(
    timeout_s: float = LONG, max_tokens: int = 500, purpose: Purpose = "extract"
) -> ModelRequest:
    return ModelRequest(
        NAMESPACE, purpose, "Answer in XML.", "What <happened>?", timeout_s, max_tokens
    )


def noted(path: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {key: value for line in lines for key, value in line.items()}


def alone(path: Path) -> bool:
    return children_of_group(noted(path)["group"]) == []


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


def agent(behaviour: str, notes: Path, **more: Any) -> AcpProvider:
    return AcpProvider(acp_command(behaviour, notes=notes, **more), "", str(notes.parent))


@pytest.mark.parametrize("behaviour", ["answer", "noise"])
def test_an_agent_answers_in_a_session_and_a_group_of_its_own(behaviour: str, notes: Path) -> None:
    done = agent(behaviour, notes, text="<skip/> because").complete(ask())
    assert done.text == "<skip/> because"
    assert done.estimated and done.output_tokens > 0
    seen = noted(notes)
    assert seen["prompt"] == "Answer in XML.\n\nWhat <happened>?"
    assert (seen["guard"], seen["cwd"]) == ("1", str(notes.parent))
    assert seen["group"] != os.getpgrp()
    assert alone(notes)


def test_each_call_has_a_process_of_its_own(notes: Path) -> None:
    provider = agent("counted", notes)
    groups = set()
    for _ in range(2):
        done = provider.complete(ask())
        groups.add(noted(notes)["group"])
    assert len(groups) == 2
    assert (done.input_tokens, done.output_tokens, done.estimated) == (20, 10, False)


@pytest.mark.parametrize(
    ("behaviour", "timeout_s", "error", "said"),
    [
        ("hang", 1, ProviderTimeout, "within 1 s"),
        ("slow", 1, ProviderTimeout, "within 1 s"),
        ("deaf", 1, ProviderTimeout, "within 1 s"),
        ("grandchild", 1, ProviderTimeout, "within 1 s"),
        ("crash", LONG, ProviderDown, "exit code 9.*out of luck"),
        ("crash-at-start", LONG, ProviderDown, "exit code 3.*not signed in"),
        ("garbage", LONG, ProviderDown, "does not speak the protocol"),
        ("endless-line", LONG, ProviderRefused, "without end"),
        ("over-long", LONG, ProviderRefused, "more than 500 tokens"),
        ("refuses", LONG, ProviderRefused, "refused to answer"),
        ("sign-in", LONG, ProviderRefused, "sign in"),
        ("wrong-types", LONG, ProviderDown, "not the protocol's"),
    ],
)
def test_every_way_to_fail_is_told_and_leaves_nobody(
    behaviour: str,
    timeout_s: float,
    error: type[ProviderError],
    said: str,
    notes: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(child_process, "GRACE_S", 0.3)  # what "deaf" is given before KILL
    provider = agent(behaviour, notes)
    with pytest.raises(error, match=said) as caught:
        provider.complete(ask(timeout_s))
    assert alone(notes)
    assert "ghp_" not in str(caught.value)
    assert "What <happened>?" not in caplog.text


def test_what_an_agent_asks_for_is_refused(notes: Path) -> None:
    assert agent("asks", notes).complete(ask()).text == "an answer"
    seen = noted(notes)
    assert seen["permission"] == "cancelled"
    refused = {seen[name] for name in ("read_text_file", "write_text_file", "create_terminal")}
    assert refused == {-32601}


def test_a_stop_ends_what_runs_and_leaves_nobody(notes: Path) -> None:
    provider = agent("grandchild", notes)
    told: list[BaseException] = []

    def call() -> None:
        try:
            provider.complete(ask())
        except ProviderError as error:
            told.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: notes.exists() and "prompt" in noted(notes))
    assert not alone(notes)
    provider.close()
    assert alone(notes)
    thread.join(PATIENCE_S)
    assert isinstance(told[0], ProviderDown)


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProviderRefused, match="no-such-agent is not on the PATH"):
        AcpProvider("no-such-agent acp", "", str(tmp_path)).complete(ask())
    broken = tmp_path / "broken"
    broken.write_text("no program")
    broken.chmod(0o755)
    with pytest.raises(ProviderRefused, match="cannot be started"):
        AcpProvider(str(broken), "", str(tmp_path)).complete(ask())


@pytest.mark.parametrize(("purpose", "name"), [("extract", COMPRESSOR), ("judge", RECONCILER)])
def test_each_purpose_has_its_agent_and_the_model_is_pinned(
    purpose: Purpose, name: str, notes: Path
) -> None:
    provider = AcpProvider(
        acp_command("plain", notes=notes, text="I am {agent}"), "", str(notes.parent)
    )
    assert provider.model == KIRO_MODEL
    assert provider.complete(ask(purpose=purpose)).text == f"I am {name}"


def test_a_model_that_the_agent_offers_is_chosen(notes: Path) -> None:
    provider = AcpProvider(acp_command("models", notes=notes), "huge-1", str(notes.parent))
    assert provider.complete(ask()).text == "an answer"
    chosen = {"sessionId": "s1", "configId": "model", "value": "huge-1"}
    assert noted(notes)["chosen"] == chosen


def test_a_model_that_the_agent_does_not_offer_is_refused(notes: Path) -> None:
    provider = AcpProvider(acp_command("plain", notes=notes), "huge-1", str(notes.parent))
    with pytest.raises(ProviderRefused, match="no model 'huge-1'"):
        provider.complete(ask())
    assert alone(notes)


# --- Claude Code ---------------------------------------------------------------------------------


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(how: str, host: str = "claude-code", **more: Any) -> tuple[Provider, Path]:
        program = registry.facts()[host].programs[0]
        found = claude_cli.install(tmp_path / "bin", how, program=program, **more)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-for-this")
        monkeypatch.setenv("CLAUDECODE", "1")
        empty = tmp_path / "empty"
        empty.mkdir()
        return of_agent(host, "", str(empty)), found

    return install


@pytest.mark.parametrize("how", ["answer", "grandchild"])
def test_claude_is_asked_in_isolation(how: str, put: Any, tmp_path: Path) -> None:
    provider, path = put(how)
    prompt = "x" * 300_000  # longer than one argument may be
    done = provider.complete(ModelRequest(NAMESPACE, "extract", "Answer in XML.", prompt, LONG))
    assert (done.text, done.input_tokens, done.output_tokens) == ("an answer", 7, 3)
    seen: dict[str, Any] = claude_cli.seen(path)
    argv = " ".join(seen["argv"])
    assert seen["prompt"] == prompt
    for flags in (
        "--model claude-haiku-5-5", "-p --output-format json",
        "--setting-sources  --strict-mcp-config",
        "--tools  --no-session-persistence", "--system-prompt Answer in XML.",
    ):  # fmt: skip
        assert flags in argv
    assert seen["cwd"] == str(tmp_path / "empty")
    assert seen["env"]["RECOLLECT_INTERNAL"] == "1"
    assert not {"ANTHROPIC_API_KEY", "CLAUDECODE"} & set(seen["env"])
    assert children_of_group(seen["group"]) == []


@pytest.mark.parametrize(
    ("how", "timeout_s", "error", "said"),
    [
        ("hang", 1, ProviderTimeout, "within 1 s"),
        ("crash", LONG, ProviderDown, "exit code 7.*it broke"),
        ("garbage", LONG, ProviderDown, "not its JSON"),
        ("wrong types", LONG, ProviderDown, "without a text"),
        ("not signed in", LONG, ProviderRefused, "Not logged in"),
        ("over-long", LONG, ProviderRefused, "more than 500 tokens"),
    ],
)
def test_claude_fails_in_words_of_ours_and_leaves_nobody(
    how: str, timeout_s: float, error: type[ProviderError], said: str, put: Any
) -> None:
    provider, path = put(how)
    with pytest.raises(error, match=said):
        provider.complete(ask(timeout_s))
    seen: Any = claude_cli.seen(path)
    assert children_of_group(seen["group"]) == []


# --- other agents ---------------------------------------------------------------------------------


def test_codex_is_asked_in_isolation_and_its_events_are_read(
    put: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('[mcp_servers.mail]\ncommand = "mail"\n')
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    provider, path = put("answer", "codex")
    done = provider.complete(ask())
    assert (done.text, done.input_tokens, done.output_tokens) == ("an answer", 5, 3)
    assert (provider.name, done.model) == ("codex", "chosen by the agent")
    seen: dict[str, Any] = claude_cli.seen(path)
    argv = " ".join(seen["argv"])
    assert (
        "--ephemeral --disable hooks --json" in argv and "-c mcp_servers.mail.enabled=false" in argv
    )
    assert seen["prompt"] == "Answer in XML.\n\nWhat <happened>?"
    assert seen["env"]["RECOLLECT_INTERNAL"] == "1" and seen["cwd"] == str(tmp_path / "empty")


@pytest.mark.parametrize(
    ("how", "error", "said"),
    [
        ("crash", ProviderDown, "codex ended before it answered .exit code 7.*it broke"),
        ("garbage", ProviderDown, "codex answered what is not its JSON"),
        ("not signed in", ProviderRefused, "codex refused: Not logged in"),
        ("over-long", ProviderRefused, "more than 500 tokens"),
    ],
)
def test_codex_fails_in_words_of_ours(
    how: str, error: type[ProviderError], said: str, put: Any
) -> None:
    provider, _ = put(how, "codex")
    with pytest.raises(error, match=said):
        provider.complete(ask())


@pytest.mark.parametrize("host", ["gemini", "qwen", "copilot", "opencode"])
def test_agents_that_speak_the_protocol_are_asked_by_it(
    host: str, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / registry.facts()[host].programs[0]
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {acp_command('answer', notes=notes, text='fine')}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    provider = of_agent(host, "", str(tmp_path))
    done = provider.complete(ask())
    run = registry.facts()[host].model_run
    assert run is not None and done.text == "fine" and provider.name == host
    assert done.estimated and done.input_tokens > run.own_tokens
    assert provider.model == (run.model or "chosen by the agent")


def test_the_setting_takes_every_agent_that_can_be_asked() -> None:
    able = {name for name, facts in registry.facts().items() if facts.model_run}
    for name in able:
        assert checked("agent", name) == name
    with pytest.raises(BadSetting):
        checked("agent", "windsurf")


def test_claude_that_does_not_count_is_estimated(put: Any) -> None:
    provider, _ = put("uncounted")
    assert provider.complete(ask()).estimated


# --- no recursion --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", hooks.KINDS)
def test_hooks_inside_our_own_calls_capture_nothing(
    kind: str, tmp_path: Path, notes: Path, put: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent really runs our installed hook. Without the guard the same call is captured."""
    hook = hooks.install(kind, tmp_path / "data")
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "data"))
    command = (hook.program, "claude-code", "UserPromptSubmit")
    assert agent("hook", notes, hook=" ".join(command)).complete(ask()).text == "an answer"
    provider, _ = put("hook", hook=command)
    assert provider.complete(ask()).text == "an answer"
    assert hook.spooled() == []
    hook.call(*command[1:], stdin=b'{"session_id": "s", "cwd": "/", "prompt": "from inside"}')
    assert len(hook.spooled()) == 1
