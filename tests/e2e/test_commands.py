"""The command line as a person uses it, against a real daemon and a home with agents in it."""

import json
import os
import pathlib
import resource
import subprocess
import sys

import pytest

from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S

RECOLLECT = pathlib.Path(sys.executable).parent / "recollect"


@pytest.fixture
def person(tmp_path: pathlib.Path) -> RealDaemon:
    """A home with Claude Code and Gemini in it, and a data directory that is not there yet."""
    for folder in (".claude", ".gemini"):
        (tmp_path / folder).mkdir()
    daemon = RealDaemon(tmp_path / ".recollect")
    daemon.environment |= {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    return daemon


def run(
    daemon: RealDaemon, *arguments: str, typed: str | None = None
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [str(RECOLLECT), *arguments], env=daemon.environment, cwd="/", input=typed,
        capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    return done


def files(home: pathlib.Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and ".recollect" not in path.parts
    }


def test_install_prove_and_uninstall(person: RealDaemon, tmp_path: pathlib.Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.write_text('{\n  // mine\n  "model": "opus",\n}\n')
    before = files(tmp_path)
    shown = run(person, "install", "--dry-run")
    assert shown.returncode == 0 and files(tmp_path) == before
    declined = run(person, "install", typed="n\nn\n")
    assert "declined" in declined.stdout and files(tmp_path) == before
    assert "doctor --prove" not in declined.stdout
    done = run(person, "install", "--yes")
    assert done.returncode == 0, done.stderr
    assert "claude-code: connected" in done.stdout and "gemini: connected" in done.stdout
    assert "// mine" in settings.read_text()
    again = run(person, "install", "--yes")
    assert "claude-code: was connected already" in again.stdout
    assert run(person, "up").returncode == 0
    try:
        proof = run(person, "doctor", "--prove")
        assert "prove claude-code: a marker came through" in proof.stdout, proof.stdout
        assert "prove gemini: a marker came through" in proof.stdout
        assert proof.returncode == 0
        left = json.loads(run(person, "doctor", "--json").stdout)
        assert "0 events, 0 memories, intact" in {one["told"] for one in left}
        switched = tmp_path / ".gemini" / "settings.json"
        kept = switched.read_text()
        switched.write_text(kept.replace("{", '{"hooksConfig": {"enabled": false},', 1))
        proof = run(person, "doctor", "--prove")
        off = f"hooksConfig.enabled is false in {switched}"
        assert f"gemini: connected, but it runs no hooks of Recollect: {off}" in proof.stdout
        assert f"prove gemini: Gemini CLI does not run hooks: {off}" in proof.stdout
        assert proof.returncode == 1
        switched.write_text(kept)
        told = json.loads(run(person, "doctor", "--json").stdout)
        assert {one["what"] for one in told} >= {"daemon", "database", "permissions", "claude-code"}
        removed = run(person, "uninstall", "--yes")
        assert removed.returncode == 0
        assert files(tmp_path) == before
        assert (tmp_path / ".recollect" / "recollect.db").exists()
    finally:
        run(person, "down")
    gone = run(person, "uninstall", "--yes", "--delete-data")
    assert gone.returncode == 0 and not (tmp_path / ".recollect").exists()


# What Claude Code does with a prompt, as far as hooks go; its model reads what they said.
AGENT = """#!{python} -I
import json, os, subprocess, sys
assert sys.argv[1] == "-p" and "RECOLLECT_INTERNAL" not in os.environ
settings = json.load(open(os.path.expanduser("~/.claude/settings.json")))
payload = dict(session_id="s1", cwd=os.getcwd(), hook_event_name="UserPromptSubmit",
               prompt=sys.argv[2])
if not settings.get("deaf"):
    line = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    hook = subprocess.run(line, shell=True, input=json.dumps(payload), text=True,
                          stdout=subprocess.PIPE)
    said = json.loads(hook.stdout)["hookSpecificOutput"]["additionalContext"]
    if not settings.get("forgetful"):
        print(said)
"""


def test_the_doctor_runs_the_agent_itself(person: RealDaemon, tmp_path: pathlib.Path) -> None:
    """Hooks that do not run, and a model that does not read what they say, are told apart."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(AGENT.format(python=sys.executable))
    program.chmod(0o755)
    person.environment["PATH"] = f"{program.parent}:/usr/bin:/bin"
    assert run(person, "install", "--yes", "claude-code").returncode == 0
    assert run(person, "up").returncode == 0
    try:
        declined = run(person, "doctor", "--live", "claude", typed="n\n")
        assert "may cost a few tokens" in declined.stdout and "live claude" not in declined.stdout
        lived = run(person, "doctor", "--live", "claude", "--yes")
        assert "its model answered from memory" in lived.stdout, lived.stdout
        settings = tmp_path / ".claude" / "settings.json"
        for name, told in (("forgetful", "its answer lacks it"),
                           ("deaf", "no prompt of it arrived")):  # fmt: skip
            settings.write_text(json.dumps({**json.loads(settings.read_text()), name: True}))
            lived = run(person, "doctor", "--live", "claude", "--yes")
            assert told in lived.stdout and lived.returncode == 1, lived.stdout
    finally:
        run(person, "down")


def test_the_doctor_finds_and_mends(person: RealDaemon) -> None:
    ill = run(person, "doctor")
    assert ill.returncode == 1 and "recollect up" in ill.stdout
    run(person, "install", "--yes", "claude-code")
    ill = run(person, "doctor")
    assert "daemon: it is not running" in ill.stdout, ill.stdout
    assert "claude-code: connected" in ill.stdout and "gemini: found, but not" in ill.stdout
    assert run(person, "up").returncode == 0
    try:
        os.chmod(person.home / "recollect.db", 0o644)
        (person.home / "bin" / "recollect-hook").unlink()
        assert run(person, "doctor").returncode == 1
        mended = run(person, "doctor", "--fix")
        assert "repaired" in mended.stdout
        assert run(person, "doctor").returncode == 0
        assert oct((person.home / "recollect.db").stat().st_mode & 0o777) == "0o600"
    finally:
        run(person, "down")


def test_the_foreground_daemon_is_the_process_itself(person: RealDaemon) -> None:
    process = subprocess.Popen(
        [str(RECOLLECT), "up", "--foreground"], env=person.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        while not person.client.alive():
            assert process.poll() is None
        assert person.client.get("/healthz")["pid"] == process.pid
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr is not None
        process.stderr.close()


def test_help_costs_at_most_twice_a_bare_python(person: RealDaemon) -> None:
    def cpu(command: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=person.environment, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    pairs = [
        (cpu([str(RECOLLECT), "--help"]), cpu([sys.executable, "-c", "pass"])) for _ in range(15)
    ]
    ours, bare = (sorted(column)[7] for column in zip(*pairs, strict=True))
    assert ours <= 2 * bare, f"{ours * 1000:.1f} ms against {bare * 1000:.1f} ms"


def test_logs_say_where_they_are_when_there_are_none(
    person: RealDaemon, tmp_path: pathlib.Path
) -> None:
    assert "no log yet" in run(person, "logs").stdout
    with real_daemon(tmp_path / "other") as daemon:
        assert "ready for hooks" in run(daemon, "logs", "-n", "5").stdout


def test_a_bad_setting_does_not_keep_a_daemon_running(person: RealDaemon) -> None:
    assert run(person, "up").returncode == 0
    (person.home / "settings.toml").write_text('backup_days = "x"')
    assert run(person, "status").returncode == 1
    assert "is down" in run(person, "down").stdout


@pytest.mark.parametrize(("ci", "opened"), [("", True), ("1", False)])
def test_the_dashboard_opens_after_an_installation_at_a_terminal(
    person: RealDaemon, tmp_path: pathlib.Path, ci: str, opened: bool
) -> None:
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n')
    browser.chmod(0o755)
    person.environment |= {"BROWSER": str(browser), "CI": ci, "TERM": "xterm"}
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [str(RECOLLECT), "install", "--yes", "claude-code"], env=person.environment, cwd="/",
            stdin=theirs, stdout=theirs, stderr=theirs, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0
        assert seen.exists() == opened
        assert not opened or "/open?code=" in seen.read_text()
    finally:
        os.close(ours)
        os.close(theirs)
        run(person, "down")


def test_a_reader_that_goes_away_is_no_failure(shared_daemon: RealDaemon) -> None:
    """Like `| head -1`: its end of the pipe is closed before anything is written."""
    run(shared_daemon, "add", "-p", "global", "somebody reads only the first line")
    for arguments in (
        ["search", "-p", "global"],
        ["settings", "list"],
        ["settings", "list", "--json"],
    ):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen(
            [str(RECOLLECT), *arguments], env=shared_daemon.environment, cwd="/",
            stdout=write, stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(write)
        _, told = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, told) == (0, b""), arguments
