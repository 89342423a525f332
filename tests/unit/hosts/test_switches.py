"""Every way to switch a host's hooks off is noticed, with the file in which it stands."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.hosts import registry
from recollect.hosts.apply import apply_install
from recollect.hosts.codex.installer import INSTALLER as CODEX
from recollect.hosts.context import Context
from recollect.hosts.install import install, installer
from recollect.hosts.proof import Daemon, prove
from tests.unit.hosts.golden import context
from tests.unit.hosts.test_codex_trust import prepared

OFF = '{"disableAllHooks": true}'
ON = '{"disableAllHooks": false}'
GEMINI_OFF = '{"hooksConfig": {"enabled": false}}'
MACHINE = "machine/etc"
CASES = {
    "claude-code, user": ("claude-code", ".claude/settings.json", OFF),
    "claude-code, project": ("claude-code", "shop/.claude/settings.json", OFF),
    "claude-code, personal": ("claude-code", "shop/.claude/settings.local.json", OFF),
    "claude-code, managed": (
        *("claude-code", f"{MACHINE}/claude-code/managed-settings.json", OFF),
    ),
    "claude-code, managed fragment": (
        *("claude-code", f"{MACHINE}/claude-code/managed-settings.d/10-hooks.json", OFF),
    ),
    "claude-code, managed by a server": ("claude-code", ".claude/remote-settings.json", OFF),
    "claude-code, managed hooks only": (
        "claude-code",
        f"{MACHINE}/claude-code/managed-settings.json",
        '{"allowManagedHooksOnly": true}',
    ),
    "codex, user": ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
    "codex, older name": ("codex", ".codex/config.toml", "[features]\ncodex_hooks = false\n"),
    "codex, project": ("codex", "shop/.codex/config.toml", "[features]\nhooks = false\n"),
    "codex, managed": (
        *("codex", f"{MACHINE}/codex/managed_config.toml", "[features]\nhooks = false\n"),
    ),
    "codex, required": (
        *("codex", f"{MACHINE}/codex/requirements.toml", "allow_managed_hooks_only = true\n"),
    ),
    "gemini, user": ("gemini", ".gemini/settings.json", GEMINI_OFF),
    "gemini, project": ("gemini", "shop/.gemini/settings.json", GEMINI_OFF),
    "gemini, managed": ("gemini", f"{MACHINE}/gemini-cli/settings.json", GEMINI_OFF),
    "gemini, one by one": (
        "gemini",
        ".gemini/settings.json",
        '{"hooksConfig": {"disabled": ["/x/recollect-hook gemini BeforeAgent"]}}',
    ),
    "qwen, user": ("qwen", ".qwen/settings.json", OFF),
    "qwen, project": ("qwen", "shop/.qwen/settings.json", OFF),
    "qwen, managed": ("qwen", f"{MACHINE}/qwen-code/settings.json", OFF),
    "copilot, repository": ("copilot", "shop/.github/copilot/settings.json", OFF),
    "continue, user": ("continue-cli", ".continue/settings.json", OFF),
    "continue, project": ("continue-cli", "shop/.continue/settings.local.json", OFF),
    "continue, by claude-code's file": ("continue-cli", ".claude/settings.json", OFF),
    "antigravity": (
        *("antigravity-cli", ".gemini/config/hooks.json", '{"recollect": {"enabled": false}}'),
    ),
}


PROMPTED = [name for name, known in registry.facts().items() if known.prompts]
NOBODY = Daemon(events=lambda place: [], remember=lambda place, text: None)


def yes(*_: object) -> bool:
    return True


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def here(home: Path) -> Context:
    (home / "shop" / "src").mkdir(parents=True, exist_ok=True)
    (home / "shop" / ".git").mkdir(exist_ok=True)
    return context(home, root=str(home / "machine"))


def off(host: str, where: Context) -> list[str]:
    """What is said in a folder of the project."""
    cwd = os.path.join(where.home, "shop", "src")
    found = [one.what for one in installer(host).off_switches(where, cwd)]
    return [one for one in found if "has not been told to trust" not in one]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_switch_is_noticed_and_its_file_named(case: tuple[str, str, str], tmp_path: Path) -> None:
    host, name, text = case
    where = here(tmp_path)
    assert off(host, where) == []
    path = write(tmp_path / name, text)
    (told,) = off(host, where)
    assert str(path) in told
    proof = prove(where, installer(host), NOBODY, str(tmp_path / "shop"))
    assert not proof.ok and str(path) in proof.message


def test_the_strongest_file_decides(tmp_path: Path) -> None:
    where = here(tmp_path)
    write(tmp_path / ".claude/settings.json", OFF)
    write(tmp_path / "shop/.claude/settings.json", ON)
    assert off("claude-code", where) == []
    write(tmp_path / MACHINE / "claude-code/managed-settings.json", OFF)
    assert off("claude-code", where)


def test_the_file_that_a_variable_names_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere.json", GEMINI_OFF)
    where = replace(here(tmp_path), env={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(path)})
    assert str(path) in off("gemini", where)[0]


@pytest.mark.parametrize("host", ["opencode", "kilo"])
def test_a_variable_that_keeps_plugins_out_is_noticed(host: str, tmp_path: Path) -> None:
    where = here(tmp_path)
    assert off(host, where) == []
    name = f"{host.upper()}_PURE"
    (told,) = off(host, replace(where, env={name: "1"}))
    assert name in told


def test_a_file_that_cannot_be_read_switches_nothing_off(tmp_path: Path) -> None:
    where = here(tmp_path)
    write(tmp_path / ".claude/settings.json", '{"disableAllHooks": tru')
    write(tmp_path / ".codex/config.toml", "[features\nhooks = false")
    assert off("claude-code", where) == []
    assert installer("claude-code").off_switches(where, "/") == []


def test_copilot_is_not_switched_off_by_the_users_own_settings(tmp_path: Path) -> None:
    write(tmp_path / ".copilot/settings.json", OFF)
    assert off("copilot", here(tmp_path)) == []


# --- Codex's trust --------------------------------------------------------------------------------


def test_codex_without_trust_is_noticed(tmp_path: Path) -> None:
    (told,) = CODEX.off_switches(prepared(tmp_path), str(tmp_path))
    assert "trust" in told.what and told.hint == "recollect install codex --trust"


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ({"trustStatus": "trusted"}, ""),
        ({"trustStatus": "modified"}, "trust is in other hooks"),
        ({"trustStatus": "trusted", "enabled": False}, "hooks are disabled"),
        ({"command": "of somebody else"}, "does not read"),
    ],
)
def test_codex_says_itself_whether_it_runs_our_hooks(
    listed: dict[str, object], expected: str, tmp_path: Path
) -> None:
    where = prepared(tmp_path)
    apply_install(CODEX, where, CODEX.plan_trust(where))
    command = CODEX.hook_command(where, "Stop")
    assert command is not None
    hook = {"command": command[-1], "eventName": "stop", **listed}
    answer = json.dumps({"id": 2, "result": {"data": [{"hooks": [hook]}]}})
    program = tmp_path / "bin" / "codex"
    program.write_text(f"#!{sys.executable} -I\nprint({answer!r})\n")
    found = [one.what for one in CODEX.off_switches(where, str(tmp_path))]
    assert [expected in one for one in found] == ([True] if expected else [])


def test_a_codex_that_cannot_be_asked_is_taken_at_its_file(tmp_path: Path) -> None:
    where = prepared(tmp_path)
    apply_install(CODEX, where, CODEX.plan_trust(where))
    assert CODEX.off_switches(replace(where, env={"PATH": "/nowhere"}), str(tmp_path)) == []


# --- what is run ----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", PROMPTED)
def test_the_command_of_a_proof_is_the_one_in_the_hosts_file(host: str, tmp_path: Path) -> None:
    where = replace(context(tmp_path), hook_command="/an older place/recollect-hook")
    one = installer(host)
    event = one.prompt_call("", "", "").event
    assert one.hook_command(where, event) is None
    assert install([one], where, yes).ok
    found = one.hook_command(context(tmp_path), event)
    assert found is not None
    told = " ".join(found) if len(found) > 1 else Path(found[0]).read_text()
    assert "/an older place/recollect-hook" in told and event in told


def test_a_host_that_was_never_run_is_not_called_injected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hook answers with the marker, and still nobody has seen the host take it."""
    told: list[str] = []
    program = tmp_path / "hook"
    program.write_text(f"#!/bin/sh\ncat >> {tmp_path}/told; cat {tmp_path}/note || true\n")
    program.chmod(0o755)
    where = replace(context(tmp_path), hook_command=str(program))
    monkeypatch.setattr("recollect.hosts.proof.PROVE_S", 5.0)
    for name, sentence in (
        ("factory-droid", "never seen"),
        ("cline", "never seen"),  # it takes text with tools only
        ("claude-code", "and injected"),
    ):
        host = installer(name)
        command = ("/bin/sh", "-c", str(program))
        monkeypatch.setattr(host, "hook_command", lambda *_, command=command: command)
        daemon = Daemon(
            events=lambda place: [(tmp_path / "told").read_text()],
            remember=lambda place, text: (tmp_path / "note").write_text(text),
        )
        proof = prove(where, host, daemon)
        assert proof.ok and sentence in proof.message, proof
        told.append(proof.message)
    assert "injected" not in told[0] + told[1]
