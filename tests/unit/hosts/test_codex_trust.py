"""Codex's trust: asked of a fake `codex app-server`, written only with consent."""

import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.hosts import toml_edit
from recollect.hosts.apply import apply_install
from recollect.hosts.codex import trust
from recollect.hosts.codex.installer import INSTALLER as CODEX
from recollect.hosts.codex.trust import CannotAsk, trusted
from recollect.hosts.context import Context
from recollect.hosts.install import HostResult, InstallReport, install, uninstall
from tests.unit.hosts.golden import context

FAKE = """#!{python} -I
import hashlib, json, os, sys
assert sys.argv[1:] == ["app-server"] and os.environ["RECOLLECT_INTERNAL"] == "1"
mode, home = {mode!r}, os.environ["HOME"]
path = os.path.join(home, ".codex", "hooks.json")
if mode == "dies":
    sys.exit(3)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    print("not json")
    print(json.dumps({{"method": "some/notification"}}))
    if mode == "hangs":
        continue
    if message["method"] == "initialize":
        result = {{"userAgent": "fake"}}
    elif mode == "refuses":
        print(json.dumps({{"id": message["id"], "error": {{"code": -32601}}}}), flush=True)
        continue
    elif mode == "odd":
        result = {{"data": "?"}}
    else:
        found, hooks = [], json.load(open(path))["hooks"]
        for event, groups in hooks.items():
            snake = "".join("_" + c.lower() if c.isupper() else c for c in event).lstrip("_")
            for g, group in enumerate(groups):
                for h, hook in enumerate(group["hooks"]):
                    digest = hashlib.sha256(json.dumps(hook).encode()).hexdigest()
                    key, command = f"{{path}}:{{snake}}:{{g}}:{{h}}", hook["command"]
                    found.append({{"key": key, "command": command, "trustStatus": "untrusted",
                                  "currentHash": "sha256:" + digest}})
        result = {{"data": [{{"cwd": message["params"]["cwds"][0], "hooks": found}}]}}
    print(json.dumps({{"id": message["id"], "result": result}}), flush=True)
"""


def yes(*_: object) -> bool:
    return True


def prepared(home: Path, mode: str = "") -> Context:
    program = home / "bin" / "codex"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE.format(python=sys.executable, mode=mode))
    program.chmod(0o755)
    where = context(home, env={"PATH": str(program.parent)})
    (home / ".codex").mkdir()
    (home / ".codex/hooks.json").write_bytes(
        b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}'
    )
    (home / ".codex/config.toml").write_bytes(b'model = "x"\n')
    assert install([CODEX], where, yes).ok
    return where


def test_with_consent_our_hooks_and_no_others_are_trusted(tmp_path: Path) -> None:
    where = prepared(tmp_path)
    apply_install(CODEX, where, CODEX.plan_trust(where))
    config = tomllib.loads((tmp_path / ".codex/config.toml").read_text())
    state = config["hooks"]["state"]
    hooks = f"{tmp_path}/.codex/hooks.json"
    assert f"{hooks}:stop:1:0" in state
    assert f"{hooks}:stop:0:0" not in state
    assert f"{hooks}:user_prompt_submit:0:0" in state
    assert len(state) == 6
    assert all(entry["trusted_hash"].startswith("sha256:") for entry in state.values())
    assert trusted(where)
    assert not any("/hooks" in note for note in CODEX.notes(where))
    assert CODEX.plan_trust(where) == []


@pytest.mark.parametrize("touched", [False, True])
def test_uninstall_takes_the_trust_away_too(tmp_path: Path, touched: bool) -> None:
    where = prepared(tmp_path)
    apply_install(CODEX, where, CODEX.plan_trust(where))
    config = tmp_path / ".codex/config.toml"
    if touched:
        config.write_bytes(config.read_bytes() + b"\n[later]\na = 1\n")
    assert uninstall([CODEX], where, yes).ok
    assert config.read_bytes() == b'model = "x"\n' + (b"\n[later]\na = 1\n" if touched else b"")


def test_changed_hooks_lose_their_trust_so_that_we_ask_again(tmp_path: Path) -> None:
    where = prepared(tmp_path)
    apply_install(CODEX, where, CODEX.plan_trust(where))
    moved = replace(where, hook_command=str(tmp_path / "new" / "recollect-hook"))
    result = install([CODEX], moved, yes).results[0]
    assert any("/hooks" in note for note in result.notes)
    assert b"hooks.state" not in (tmp_path / ".codex/config.toml").read_bytes()
    apply_install(CODEX, moved, CODEX.plan_trust(moved))
    assert trusted(moved)
    assert uninstall([CODEX], moved, yes).ok
    assert (tmp_path / ".codex/config.toml").read_bytes() == b'model = "x"\n'


def test_trust_in_a_projects_hooks_is_the_users_and_goes_with_them(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    where = replace(prepared(tmp_path), scope="project", project=str(project))
    install([CODEX], where, yes)
    config, key = tmp_path / ".codex/config.toml", f"{project}/.codex/hooks.json:stop:0:0"
    before = config.read_bytes()
    table = ("hooks", "state", key)
    config.write_bytes(toml_edit.put(before, table, {"trusted_hash": "sha256:1"}, "f"))
    assert uninstall([CODEX], where, yes).ok
    assert config.read_bytes() == before
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("mode", ["dies", "hangs", "refuses", "odd"])
def test_a_codex_that_does_not_answer_is_an_error_with_a_way_out(tmp_path: Path, mode: str) -> None:
    where = prepared(tmp_path, mode)
    before = (tmp_path / ".codex/config.toml").read_bytes()
    with pytest.raises(CannotAsk) as caught:
        trust.planned(where, seconds=0.5 if mode == "hangs" else 10)
    assert "/hooks" in caught.value.hint
    assert (tmp_path / ".codex/config.toml").read_bytes() == before


def test_without_codex_on_the_path_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(CannotAsk, match="PATH"):
        CODEX.plan_trust(context(tmp_path))


def test_what_is_left_to_do_does_not_ask_for_trust_that_was_given(tmp_path: Path) -> None:
    where = prepared(tmp_path)
    assert any("/hooks" in note for note in CODEX.notes(where))
    report = InstallReport((HostResult("codex", "installed", (), tuple(CODEX.notes(where))),))
    apply_install(CODEX, where, CODEX.plan_trust(where))
    told = report.with_notes("codex", CODEX.notes(where)).results[0].notes
    assert told and not any("/hooks" in note for note in told)
