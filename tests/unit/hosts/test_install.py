"""Installing under unfriendly conditions: nothing is lost, nothing is half done."""

import builtins
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.foreign import strip_foreign
from recollect.core.errors import BadInput, CannotWrite, ConfigChanged
from recollect.core.private_sessions import privacy_word
from recollect.core.tool_schemas import READING, WRITING
from recollect.hosts import apply as applying
from recollect.hosts import registry
from recollect.hosts.apply import apply_install, diff
from recollect.hosts.changes import FileChange
from recollect.hosts.context import Context
from recollect.hosts.install import install, installer, is_bystander, uninstall
from recollect.hosts.installer import Installer
from recollect.hosts.json_edit import JsonDocument
from recollect.hosts.proof import Daemon, prove
from tests.unit.hosts.golden import context, tree

CLAUDE = installer("claude-code")
SETTINGS = ".claude/settings.json"

ORIGINALS = {
    "no-file": None,
    "empty": b"",
    "blank": b"\n  \r\n",
    "bom-only": b"\xef\xbb\xbf",
    "braces": b"{}",
    "braces-apart": b"{\n}\n",
    "crlf": b'{\r\n\t"a": 1,\r\n\t"hooks": {"Stop": []}\r\n}',
    "comments": b'// top\n{ /* a */ "hooks": { // b\n "Stop": [ /* none */ ], }, // c\n} // end',
    "one-line": b'{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
}


def yes(*_: object) -> bool:
    return True


def write(path: Path, raw: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("raw", ORIGINALS.values(), ids=ORIGINALS.keys())
def test_uninstall_restores_these_bytes(raw: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / SETTINGS
    if raw is not None:
        write(path, raw)
    assert install([CLAUDE], context(tmp_path), yes).ok
    assert uninstall([CLAUDE], context(tmp_path), yes).ok
    assert (path.read_bytes() if path.exists() else None) == raw
    assert not (tmp_path / ".recollect" / "install").exists()


@pytest.mark.parametrize("raw", ORIGINALS.values(), ids=ORIGINALS.keys())
def test_after_a_change_by_the_user_only_ours_is_removed(raw: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / SETTINGS
    if raw is not None:
        write(path, raw)
    install([CLAUDE], context(tmp_path), yes)
    path.write_bytes(JsonDocument.read(path.read_bytes(), "f").set(("mine",), True).raw)
    assert uninstall([CLAUDE], context(tmp_path), yes).ok
    left = path.read_bytes()
    assert b"recollect" not in left
    assert b'"mine": true' in left
    if raw and b"//" not in raw:
        kept = json.loads(raw.decode("utf-8-sig").strip() or "{}")
        assert json.loads(left.decode("utf-8-sig")) == {**kept, "mine": True}
    elif raw:
        assert [
            part for part in (b"// top", b"/* a */", b"// c", b"// end") if part not in left
        ] == []


def test_an_upgrade_after_a_change_keeps_the_change_as_the_new_original(tmp_path: Path) -> None:
    path = write(tmp_path / SETTINGS, b'{\n  "a": 1\n}\n')
    install([CLAUDE], context(tmp_path), yes)
    path.write_bytes(path.read_bytes().replace(b'"a": 1', b'"a": 2'))
    newer = context(tmp_path, hook_command=str(tmp_path / "new dir" / "recollect-hook"))
    assert install([CLAUDE], newer, yes).results[0].outcome == "installed"
    assert path.read_bytes().count(b"recollect-hook") == path.read_bytes().count(b"new dir")
    assert uninstall([CLAUDE], newer, yes).ok
    assert path.read_bytes() == b'{\n  "a": 2\n}\n'


def test_a_path_with_blanks_is_quoted_for_the_shell(tmp_path: Path) -> None:
    install([CLAUDE], context(tmp_path, hook_command="/my dir/it's/recollect-hook"), yes)
    hooks = json.loads((tmp_path / SETTINGS).read_bytes())["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    assert command == """'/my dir/it'"'"'s/recollect-hook' claude-code Stop"""


def test_a_symlinked_file_stays_a_symlink(tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles" / "settings.json", b'{"a": 1}')
    link = tmp_path / SETTINGS
    link.parent.mkdir()
    link.symlink_to(real)
    assert install([CLAUDE], context(tmp_path), yes).ok
    assert link.is_symlink()
    assert b"recollect-hook" in real.read_bytes()
    assert uninstall([CLAUDE], context(tmp_path), yes).ok
    assert link.is_symlink()
    assert real.read_bytes() == b'{"a": 1}'


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / SETTINGS, b"{}")
    path.chmod(0o640)
    install([CLAUDE], context(tmp_path), yes)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    uninstall([CLAUDE], context(tmp_path), yes)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_new_files_and_backups_are_private(tmp_path: Path) -> None:
    write(tmp_path / SETTINGS, b'{"secret": "x"}')
    install([CLAUDE], context(tmp_path), yes)
    kept = [path for path in (tmp_path / ".recollect").rglob("*") if path.is_file()]
    assert len(kept) == 2
    for path in [*kept, tmp_path / ".claude.json"]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for path in [tmp_path / ".recollect" / "install", *{one.parent for one in kept}]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_read_only_file_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    path = write(tmp_path / SETTINGS, b"{}")
    path.chmod(0o444)
    before = tree(tmp_path)
    result = install([CLAUDE], context(tmp_path), yes).results[0]
    assert isinstance(result.error, CannotWrite)
    assert str(path) in str(result.error)
    assert tree(tmp_path) == before
    assert not (tmp_path / ".recollect").exists()


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"{\n  'a': 1\n}", "line 2"),
        (b"{\n\n\n", "line 4"),
        (b"[1, 2", "line 1"),
        (b"{} x", "line 1"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_nothing_changes(
    raw: bytes, line: str, tmp_path: Path
) -> None:
    path = write(tmp_path / SETTINGS, raw)
    result = install([CLAUDE], context(tmp_path), yes).results[0]
    assert isinstance(result.error, BadInput)
    assert str(path) in str(result.error)
    assert line in str(result.error)
    assert tree(tmp_path) == {SETTINGS: raw}


@pytest.mark.parametrize(
    "raw", [b'{"hooks": []}', b'{"hooks": {"Stop": {}}}', b"[]", b'"x"', b"\xff"]
)
def test_a_file_in_another_shape_is_refused_and_nothing_changes(raw: bytes, tmp_path: Path) -> None:
    write(tmp_path / SETTINGS, raw)
    result = install([CLAUDE], context(tmp_path), yes).results[0]
    assert isinstance(result.error, BadInput)
    assert tree(tmp_path) == {SETTINGS: raw}


def test_a_file_that_changes_after_planning_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / SETTINGS, b"{}")

    def meanwhile(*_: object) -> bool:
        path.write_bytes(b'{"new": 1}')
        return True

    result = install([CLAUDE], context(tmp_path), meanwhile).results[0]
    assert isinstance(result.error, ConfigChanged)
    assert tree(tmp_path) == {SETTINGS: b'{"new": 1}'}


def test_no_is_no(tmp_path: Path) -> None:
    report = install(registry.installers().values(), context(tmp_path), lambda *_: False)
    assert {result.outcome for result in report.results} == {"declined"}
    assert list(tmp_path.iterdir()) == []


def test_a_failed_install_puts_the_first_files_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third of five files cannot be written."""
    cline = installer("cline")
    write(tmp_path / "Documents/Cline/keep", b"x")
    before = tree(tmp_path)
    real, calls = applying._write, []

    def third_fails(path: str, raw: bytes | None, mode: int | None) -> None:
        if ".recollect" not in path:
            calls.append(path)
            if len(calls) == 3:
                raise OSError(28, "No space left on device")
        real(path, raw, mode)

    monkeypatch.setattr(applying, "_write", third_fails)
    result = install([cline], context(tmp_path), yes).results[0]
    assert isinstance(result.error, CannotWrite)
    assert "No space left" in str(result.error)
    assert tree(tmp_path) == before
    assert not (tmp_path / "Documents/Cline/Hooks").exists()
    assert list((tmp_path / ".recollect").iterdir()) == []
    assert cline.state(context(tmp_path)) == "absent"


def test_one_failing_host_does_not_stop_the_others(tmp_path: Path) -> None:
    write(tmp_path / SETTINGS, b"broken")
    report = install(registry.installers().values(), context(tmp_path), yes)
    assert not report.ok
    outcomes = {one.host: one.outcome for one in report.results}
    # Both of Kiro's programs read the same files: the second finds them written.
    expected = {"claude-code": "failed", "kiro-ide": "unchanged"}
    assert outcomes == {name: expected.get(name, "installed") for name in registry.installers()}


def test_who_only_reads_anothers_files_is_not_connected(tmp_path: Path) -> None:
    cli, ide, here = installer("kiro-cli"), installer("kiro-ide"), context(tmp_path)
    install([cli], here, yes)
    assert is_bystander(ide, here) and not is_bystander(cli, here)
    (tmp_path / ".config/Kiro").mkdir(parents=True)  # on this machine it does read them
    assert not is_bystander(ide, here)


def test_a_file_of_two_hosts_goes_with_the_second(tmp_path: Path) -> None:
    servers = write(tmp_path / ".kiro/settings/mcp.json", b'{"mcpServers": {}}')
    cli, ide = installer("kiro-cli"), installer("kiro-ide")
    install([cli, ide], context(tmp_path), yes)
    uninstall([cli], context(tmp_path), yes)
    assert b"recollect" in servers.read_bytes()
    assert ide.state(context(tmp_path)) == "installed"
    uninstall([ide], context(tmp_path), yes)
    assert servers.read_bytes() == b'{"mcpServers": {}}'


def test_a_foreign_hook_script_of_cline_stays_and_is_named(tmp_path: Path) -> None:
    script = write(tmp_path / "Documents/Cline/Hooks/TaskStart", b"#!/bin/sh\n")
    result = install([installer("cline")], context(tmp_path), yes).results[0]
    assert result.outcome == "installed"
    assert script.read_bytes() == b"#!/bin/sh\n"
    assert any(str(script) in note for note in result.notes)
    assert os.access(tmp_path / "Documents/Cline/Hooks/TaskResume", os.X_OK)


def test_kiros_default_agent_is_taken_only_when_free_and_wanted(tmp_path: Path) -> None:
    kiro, settings = installer("kiro-cli"), tmp_path / ".kiro/settings/cli.json"
    install([kiro], context(tmp_path, set_default=False), yes)
    assert not settings.exists()
    install([kiro], context(tmp_path), yes)
    assert json.loads(settings.read_bytes()) == {"chat.defaultAgent": "recollect"}
    settings.write_bytes(b'{"chat.defaultAgent": "mine"}')
    notes = kiro.notes(context(tmp_path))
    assert any("'mine'" in note for note in notes)
    uninstall([kiro], context(tmp_path), yes)
    assert settings.read_bytes() == b'{"chat.defaultAgent": "mine"}'


def test_the_users_own_kiro_agents_stay_as_they_are(tmp_path: Path) -> None:
    kiro = installer("kiro-cli")
    agent = write(tmp_path / ".kiro/agents/mine.json", b'{"name": "mine", "tools": []}\n')
    install([kiro], context(tmp_path), yes)
    uninstall([kiro], context(tmp_path), yes)
    assert agent.read_bytes() == b'{"name": "mine", "tools": []}\n'


@pytest.mark.parametrize(
    ("host", "variable", "expected"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("copilot", "COPILOT_HOME", "hooks/recollect.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/recollect.js"),
    ],
)
def test_a_host_that_was_moved_is_found_there(
    host: str, variable: str, expected: str, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    where = context(tmp_path / "home", env={variable: str(moved)})
    assert install([installer(host)], where, yes).ok
    assert (moved / expected).exists()
    assert list((tmp_path / "home").iterdir()) == [tmp_path / "home" / ".recollect"]
    if variable != "XDG_CONFIG_HOME":
        assert installer(host).detect(where.home, where.env)


def test_a_moved_data_directory_is_told_to_the_mcp_server(tmp_path: Path) -> None:
    where = context(tmp_path, data_dir=str(tmp_path / "elsewhere"))
    install([CLAUDE, installer("codex"), installer("opencode")], where, yes)
    assert b"RECOLLECT_HOME" in (tmp_path / ".claude.json").read_bytes()
    assert b"[mcp_servers.recollect.env]" in (tmp_path / ".codex/config.toml").read_bytes()
    assert b'"environment"' in (tmp_path / ".config/opencode/opencode.json").read_bytes()


def test_the_diff_shows_what_a_person_wants_to_see() -> None:
    text = diff(FileChange("/f", b'{"a": 1}', b'{"a": 1}\n', "why"))
    assert "\\ No newline" in text
    assert diff(FileChange("/f", None, b"x\n", "why")).startswith("--- /dev/null\n+++ /f\n")
    assert "+++ /dev/null" in diff(FileChange("/f", b"x\n", None, "why"))


def test_a_damaged_ledger_stops_uninstall_with_a_hint(tmp_path: Path) -> None:
    install([CLAUDE], context(tmp_path), yes)
    before = tree(tmp_path)
    (tmp_path / ".recollect/install/ledger.json").write_bytes(b"{")
    result = uninstall([CLAUDE], context(tmp_path), yes).results[0]
    assert isinstance(result.error, BadInput)
    assert result.error.hint
    assert tree(tmp_path) == before


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    write(tmp_path / SETTINGS, b"{}")
    install([CLAUDE], context(tmp_path), yes)
    for path in (tmp_path / ".recollect/install/files").iterdir():
        path.write_bytes(b"garbage")
    result = uninstall([CLAUDE], context(tmp_path), yes).results[0]
    assert isinstance(result.error, BadInput)
    assert b"recollect-hook" in (tmp_path / SETTINGS).read_bytes()


def test_a_crash_before_the_first_write_leaves_an_uninstall_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / SETTINGS, b"{}")
    monkeypatch.setattr(applying, "_write_all", lambda changes: None)
    apply_install(CLAUDE, context(tmp_path), CLAUDE.plan_install(context(tmp_path)))
    monkeypatch.undo()
    assert uninstall([CLAUDE], context(tmp_path), yes).ok
    assert path.read_bytes() == b"{}"


def test_an_unknown_host_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="known are claude-code, cline, codex"):
        installer("emacs")
    assert installer(" Claude ").name == "claude-code"
    with pytest.raises(BadInput, match="project"):
        Context("/h", "/h/.recollect", "/h/x", ("recollect", "mcp"), scope="project")


def test_names_and_aliases_are_unique() -> None:
    names = [
        name for host in registry.installers().values() for name in (host.name, *host.facts.aliases)
    ]
    assert len(names) == len(set(names))


def test_a_host_is_found_by_its_directory_or_its_program(tmp_path: Path) -> None:
    env = {"PATH": str(tmp_path / "bin")}
    for host in registry.installers().values():
        assert host.detect(str(tmp_path), env) is None
    (tmp_path / ".gemini").mkdir()
    write(tmp_path / "bin/codex", b"#!/bin/sh\n").chmod(0o755)
    found = {host.name: host.detect(str(tmp_path), env) for host in registry.installers().values()}
    assert {name for name, how in found.items() if how} == {"gemini", "codex"}
    assert found["codex"] is not None
    assert found["codex"].program == str(tmp_path / "bin/codex")


@pytest.mark.parametrize("host", registry.installers().values(), ids=lambda host: host.name)
def test_nothing_outside_the_given_home_is_written(
    host: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "real"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "real"))
    touched: list[str] = []
    real_open, real_os_open, real_mkdir = builtins.open, os.open, os.mkdir

    def note(path: Any, write: bool) -> None:
        if write:
            touched.append(os.path.abspath(path))

    def watched_open(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
        note(file, any(letter in mode for letter in "wax+")) if isinstance(file, str) else None
        return real_open(file, mode, *args, **more)

    def watched_os_open(path: Any, flags: int, *args: Any, **more: Any) -> int:
        note(path, bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))
        return real_os_open(path, flags, *args, **more)

    def watched_mkdir(path: Any, *args: Any, **more: Any) -> None:
        note(path, True)
        real_mkdir(path, *args, **more)

    monkeypatch.setattr(builtins, "open", watched_open)
    monkeypatch.setattr(os, "open", watched_os_open)
    monkeypatch.setattr(os, "mkdir", watched_mkdir)
    assert install([host], context(home), yes).ok
    assert uninstall([host], context(home), yes).ok
    monkeypatch.undo()
    assert touched
    assert [path for path in touched if not f"{path}/".startswith(f"{home}/")] == []
    assert not (tmp_path / "real").exists()


def test_the_agents_of_provider_acp_have_a_small_model_and_nothing_else(tmp_path: Path) -> None:
    """D10. Hooks never join them."""
    kiro, agents = installer("kiro-cli"), tmp_path / ".kiro/agents"
    for _ in range(2):
        install([kiro], context(tmp_path), yes)
    for name in ("recollect-compressor", "recollect-reconciler"):
        agent = json.loads((agents / f"{name}.json").read_text())
        assert (agent["name"], agent["model"]) == (name, "claude-haiku-4.5")
        assert agent["includeMcpJson"] is False
        for nothing in ("tools", "allowedTools", "mcpServers", "resources", "hooks"):
            assert not agent[nothing]
    uninstall([kiro], context(tmp_path), yes)
    assert not agents.exists()


OWN_JSON = (
    b'{"mcpServers": {"recollect": {"command": "npx",  "args": ["-y", "recollect"]}}, "a": 1}'
)
OWN_TOML = (
    b'# mine\n[mcp_servers.recollect]\ncommand = "my-own"   # of another maker\n\n[z]\na = 1\n'
)


@pytest.mark.parametrize("later", [b"", b"written since"], ids=["untouched", "written since"])
@pytest.mark.parametrize(
    ("host", "name", "raw", "change"),
    [
        ("claude-code", ".claude.json", OWN_JSON, (b'"a": 1', b'"a": 2')),
        ("codex", ".codex/config.toml", OWN_TOML, (b"a = 1", b"a = 2")),
    ],
)
def test_a_server_of_the_users_with_our_name_comes_back(
    host: str, name: str, raw: bytes, change: tuple[bytes, bytes], later: bytes, tmp_path: Path
) -> None:
    path = write(tmp_path / name, raw)
    agent = installer(host)
    assert agent.state(context(tmp_path)) == "absent"
    assert install([agent], context(tmp_path), yes).ok
    assert (
        agent.state(context(tmp_path)) == "installed" and b"venv/bin/recollect" in path.read_bytes()
    )
    if later:
        path.write_bytes(path.read_bytes().replace(*change))
        assert install([agent], context(tmp_path, set_default=False), yes).ok
    assert uninstall([agent], context(tmp_path), yes).ok
    assert path.read_bytes() == (raw.replace(*change) if later else raw)


def rules(path: Path) -> list[str]:
    allowed: list[str] = json.loads(path.read_bytes())["permissions"]["allow"]
    return allowed


def test_reading_tools_are_allowed_and_writing_ones_only_when_the_user_says_so(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / SETTINGS, b'{"permissions": {"allow": ["Read"]}}')
    install([CLAUDE], context(tmp_path), yes)
    reading = ["Read", *(f"mcp__recollect__{name}" for name in READING)]
    assert rules(path) == reading
    apply_install(CLAUDE, context(tmp_path), CLAUDE.plan_writes(context(tmp_path)))
    granted = [*reading, *(f"mcp__recollect__{name}" for name in WRITING)]
    assert rules(path) == granted
    assert CLAUDE.plan_writes(context(tmp_path)) == []
    # To connect again without saying so takes nothing back.
    assert CLAUDE.state(context(tmp_path)) == "installed"
    assert CLAUDE.plan_install(context(tmp_path)) == []
    uninstall([CLAUDE], context(tmp_path), yes)
    assert path.read_bytes() == b'{"permissions": {"allow": ["Read"]}}'


def test_codex_asks_before_a_tool_changes_memory_unless_the_user_says_otherwise(
    tmp_path: Path,
) -> None:
    def approved() -> list[str]:
        server = tomllib.loads(path.read_text())["mcp_servers"]["recollect"]
        assert server["default_tools_approval_mode"] == "prompt"
        return [name for name, one in server["tools"].items() if one["approval_mode"] == "approve"]

    codex = installer("codex")
    path = write(tmp_path / ".codex" / "config.toml", b'model = "gpt-5.4"\n')
    install([codex], context(tmp_path), yes)
    assert approved() == list(READING)
    chosen = b'\n[mcp_servers.recollect.tools.remember]\napproval_mode = "approve"\n'
    path.write_bytes(path.read_bytes() + chosen)  # as Codex does when the user answers "always"
    assert codex.plan_install(context(tmp_path)) == []
    assert approved() == [*READING, "remember"]
    apply_install(codex, context(tmp_path), codex.plan_writes(context(tmp_path)))
    assert sorted(approved()) == sorted((*READING, *WRITING))
    assert codex.plan_writes(context(tmp_path)) == codex.plan_install(context(tmp_path)) == []
    uninstall([codex], context(tmp_path), yes)
    assert path.read_bytes() == b'model = "gpt-5.4"\n'


def test_no_rule_is_added_where_one_of_the_users_allows_all_our_tools(tmp_path: Path) -> None:
    raw = b'{"permissions": {"allow": ["mcp__recollect"]}}'
    path = write(tmp_path / SETTINGS, raw)
    install([CLAUDE], context(tmp_path), yes)
    assert rules(path) == ["mcp__recollect"]
    assert CLAUDE.state(context(tmp_path)) == "installed"


def test_what_the_user_approves_in_a_host_survives_connecting_again(tmp_path: Path) -> None:
    kiro = installer("kiro-ide")
    install([kiro], context(tmp_path), yes)
    path = tmp_path / ".kiro" / "settings" / "mcp.json"
    added = JsonDocument.read(path.read_bytes(), "f").append(
        ("mcpServers", "recollect", "autoApprove"), "remember"
    )
    path.write_bytes(added.raw)
    assert kiro.state(context(tmp_path)) == "installed"
    install([kiro], context(tmp_path), yes)
    assert b'"remember"' in path.read_bytes()


# --- the command /recollect -----------------------------------------------------------------------

WITH_COMMAND = [
    host for host in registry.installers().values()
    if host.slash_command(context(Path("/nowhere")))
]  # fmt: skip


def test_agents_with_commands_of_their_users_have_ours() -> None:
    names = {"claude-code", "codex", "gemini", "copilot", "qwen", "opencode"}
    assert names <= {host.name for host in WITH_COMMAND}


@pytest.mark.parametrize("host", WITH_COMMAND, ids=lambda host: host.name)
def test_a_command_of_the_users_own_stays_and_the_rest_is_installed(
    host: Installer, tmp_path: Path
) -> None:
    (ours,) = host.slash_command(context(tmp_path))
    path = write(Path(ours.path), b"my own command\n")
    before = tree(tmp_path)
    assert install([host], context(tmp_path), yes).ok
    assert host.state(context(tmp_path)) == "installed"
    assert path.read_bytes() == b"my own command\n"
    assert uninstall([host], context(tmp_path), yes).ok
    assert tree(tmp_path) == before


@pytest.mark.parametrize("host", WITH_COMMAND, ids=lambda host: host.name)
def test_what_the_command_says_is_not_taken_for_the_users_words(
    host: Installer, tmp_path: Path
) -> None:
    """A host that puts the text into the prompt leaves the line after it: what was asked."""
    assert install([host], context(tmp_path), yes).ok
    text = Path(host.slash_command(context(tmp_path))[0].path).read_text()
    body = text[text.index("[recollect c0de]") :].rstrip().removesuffix('"""')
    for words in ("about the pier", "off"):
        shown = body.replace("$ARGUMENTS", words).replace("{{args}}", words)
        left = strip_foreign(shown).strip()
        assert left == (f"recollect: {words}" if "recollect: " in body else "")
        assert privacy_word(left) == ("private" if words == "off" and left else "")


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("/recollect off", "private"),
        ("$recollect ON", "public"),
        ("recollect: off", "private"),
        ("/recollect off the coast", ""),
        ("what does /recollect off do?", ""),
    ],
)
def test_the_command_makes_a_session_private(typed: str, word: str) -> None:
    assert privacy_word(typed) == word


# --- agents without hooks -------------------------------------------------------------------------

GENERIC = installer("zed")


def test_generic_needs_a_rules_file_and_remembers_it(tmp_path: Path) -> None:
    nameless = context(tmp_path, rules_file="")
    (asked,) = install([GENERIC], nameless, yes).results
    assert asked.error is not None and "--file AGENTS.md" in asked.error.hint
    shop = write(tmp_path / "shop" / "AGENTS.md", b"# Shop\n")
    book = write(tmp_path / "book" / "RULES.md", b"")
    before = tree(tmp_path)
    for path in (shop, book):
        assert install([GENERIC], context(tmp_path, rules_file=str(path)), yes).ok
    assert b"get_context" in shop.read_bytes() and b"get_context" in book.read_bytes()
    assert GENERIC.state(nameless) == "installed"
    assert uninstall([GENERIC], nameless, yes).ok
    assert tree(tmp_path) == before


def test_generic_a_rules_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    gone = write(tmp_path / "gone" / "AGENTS.md", b"")
    kept = write(tmp_path / "kept" / "AGENTS.md", b"")
    for path in (gone, kept):
        assert install([GENERIC], context(tmp_path, rules_file=str(path)), yes).ok
    gone.unlink()
    gone.parent.rmdir()
    assert install([GENERIC], context(tmp_path, rules_file=""), yes).ok
    assert not gone.parent.exists()
    assert uninstall([GENERIC], context(tmp_path, rules_file=""), yes).ok
    assert kept.read_bytes() == b""
    assert not (tmp_path / ".recollect" / "install").exists()


def test_generic_nothing_is_sent_to_prove_an_agent_without_hooks(tmp_path: Path) -> None:
    nobody = Daemon(events=lambda place: [], remember=lambda place, text: None)
    assert "nothing was sent" in prove(context(tmp_path), GENERIC, nobody).message
