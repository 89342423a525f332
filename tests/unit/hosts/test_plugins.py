"""The packaged plugins: what their script does with and without Recollect."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from recollect.hosts import registry
from recollect.hosts.install import installer
from tests.unit.hosts.golden import context
from tools import plugins

SCRIPTS = {
    "claude-code": "claude-code/recollect/recollect-hook.sh",
    "codex": "codex/plugins/recollect/recollect-hook.sh",
    "gemini": "gemini/recollect-hook.sh",
}
OWN = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("plugins")
    plugins.build(folder)
    return folder


def run(script: pathlib.Path, home: pathlib.Path, *arguments: str, said: str = "") -> str:
    done = subprocess.run(
        [script, *arguments], input=said, text=True, capture_output=True, timeout=30,
        env={"HOME": str(home), "PATH": f"{home}/path:/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def program(path: pathlib.Path, says: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)


def asked(method: str, **more: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, **more}) + "\n"


@pytest.mark.parametrize("host", SCRIPTS)
def test_the_hooks_are_those_that_install_writes(host: str, built: pathlib.Path) -> None:
    hooks = json.loads(
        (built / SCRIPTS[host]).with_name("hooks").joinpath("hooks.json").read_text()
    )
    assert list(hooks["hooks"]) == list(
        dict.fromkeys(one.event for one in registry.facts()[host].hooks)
    )
    for event, (group, *_) in hooks["hooks"].items():
        (hook,) = group["hooks"]
        assert hook["command"].endswith(f'/recollect-hook.sh" {host} {event}')


@pytest.mark.parametrize("host", SCRIPTS)
def test_without_the_program_it_says_once_how_to_install_it(
    host: str, built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    script = built / SCRIPTS[host]
    told = json.loads(run(script, tmp_path, host, "SessionStart", said="{}"))
    assert plugins.MISSING in json.dumps(told)
    assert run(script, tmp_path, host, "UserPromptSubmit", said="{}") == ""
    # A server that fails would be remembered as one: this one has no tools.
    lines = run(
        script, tmp_path, "mcp",
        said=asked("initialize", id=0, params={}) + asked("notifications/initialized")
        + asked("tools/list", id="a-1") + asked("ping", id=7),
    ).splitlines()  # fmt: skip
    answers = [json.loads(line) for line in lines]
    assert [one["id"] for one in answers] == [0, "a-1", 7]
    assert answers[0]["result"]["instructions"] == plugins.MISSING
    assert answers[1]["result"] == {"tools": []}
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("host", SCRIPTS)
def test_it_runs_what_is_installed_and_starts_it_at_a_sessions_start(
    host: str, built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    script, hook = built / SCRIPTS[host], tmp_path / ".recollect" / "bin" / "recollect-hook"
    makes_hook = (
        f'mkdir -p {hook.parent}; printf "#!/bin/sh\\necho \\$@; cat" > {hook}; chmod +x {hook}'
    )
    program(
        tmp_path / "path" / "recollect", f'[ "$1" = up ] && {{ {makes_hook}; }} || echo "ran $1"'
    )
    assert run(script, tmp_path, host, "Stop", said="{}") == "" and not hook.exists()
    assert run(script, tmp_path, host, "SessionStart", said="in") == f"{host} SessionStart\nin"
    assert run(script, tmp_path, host, "Stop", said="in") == f"{host} Stop\nin"
    assert run(script, tmp_path, "mcp") == "ran mcp\n"


@pytest.mark.parametrize("host", SCRIPTS)
def test_what_install_connected_is_not_connected_twice(
    host: str, built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    program(tmp_path / ".recollect" / "bin" / "recollect-hook", "echo twice")
    program(tmp_path / "path" / "recollect", "echo twice")
    own = tmp_path / OWN[host]
    own.parent.mkdir()
    own.write_text('{"command": "/x/recollect-hook"}')
    script = built / SCRIPTS[host]
    for event in ("SessionStart", "UserPromptSubmit"):
        assert run(script, tmp_path, host, event, said="{}") == ""
    assert "twice" not in run(script, tmp_path, "mcp", said=asked("tools/list", id=1))


def test_a_program_that_is_not_on_the_path_is_found_by_its_launcher(
    built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Agents with a window do not have the PATH of a shell."""
    program(tmp_path / "tool" / "bin" / "recollect", 'echo "ran $1"')
    (tmp_path / ".recollect").mkdir()
    (tmp_path / ".recollect" / "launcher").write_text(f"{tmp_path}/tool/bin/python\nx\ny\n")
    assert run(built / SCRIPTS["claude-code"], tmp_path, "mcp") == "ran mcp\n"


# --- as the agents keep a plugin that they installed, seen with the real ones ---------------------

KEPT = {
    "claude-code": ".claude/plugins/cache/recollect/recollect/0.1.0",
    "codex": ".codex/plugins/cache/recollect/recollect/0.1.0",
    "gemini": ".gemini/extensions/recollect",
}
LISTED = {
    "claude-code": (".claude/settings.json", '{"enabledPlugins": {"recollect@recollect": true}}'),
    "codex": (".codex/config.toml", '[plugins."recollect@recollect"]\nenabled = true\n'),
    "gemini": (
        ".gemini/extensions/extension-enablement.json",
        '{"recollect": {"overrides": ["@home@/*"]}}',
    ),
}
SWITCHED_OFF = {
    "claude-code": ("true", "false"),
    "codex": ("true", "false"),
    "gemini": ('"@home@/*"', '"@home@/*", "!@home@/*"'),
}


def agent_installs(
    host: str, built: pathlib.Path, home: pathlib.Path, old: str = "", new: str = ""
) -> str:
    folder = home / KEPT[host]
    shutil.copytree((built / SCRIPTS[host]).parent, folder)
    name, text = LISTED[host]
    text = text.replace(old, new) if old else text
    (home / name).write_text(text.replace("@home@", str(home)))
    installed = {"plugins": {"recollect@recollect": [{"installPath": str(folder)}]}}
    if host == "claude-code":
        kept = home / ".claude" / "plugins" / "installed_plugins.json"
        kept.write_text(json.dumps(installed))
    return str(folder)


@pytest.mark.parametrize("host", SCRIPTS)
def test_a_plugin_that_the_agent_installed_is_seen(
    host: str, built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    where, known = context(tmp_path), installer(host)
    assert known.plugin(where, str(tmp_path)) == ""
    folder = agent_installs(host, built, tmp_path)
    assert known.plugin(where, str(tmp_path)) == folder
    event = known.prompt_call("", "", "").event
    command = known.hook_command(where, event)
    assert command == ("/bin/sh", "-c", f'"{folder}/recollect-hook.sh" {host} {event}')


@pytest.mark.parametrize("host", SCRIPTS)
def test_a_plugin_that_is_switched_off_is_not(
    host: str, built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    agent_installs(host, built, tmp_path, *SWITCHED_OFF[host])
    assert installer(host).plugin(context(tmp_path), str(tmp_path)) == ""


@pytest.mark.parametrize(("status", "trusted"), [("trusted", True), ("untrusted", False)])
def test_codex_says_whether_it_trusts_the_plugin(
    status: str, trusted: bool, built: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    agent_installs("codex", built, tmp_path)
    hook = {"pluginId": "recollect@recollect", "trustStatus": status}
    answer = json.dumps({"id": 2, "result": {"data": [{"hooks": [hook]}]}})
    program(tmp_path / "path" / "codex", "")
    (tmp_path / "path" / "codex").write_text(f"#!{sys.executable} -I\nprint({answer!r})\n")
    where = replace(context(tmp_path), env={"PATH": f"{tmp_path}/path"})
    found = installer("codex").off_switches(where, str(tmp_path))
    assert ("the hooks of Recollect's plugin" in str(found)) == (not trusted) == bool(found)
