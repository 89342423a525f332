"""What is kept out on purpose, through the real hook and the real daemon."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from recollect.capture.fallback import STOP_SECONDS
from recollect.core import private_sessions
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.hooks import KINDS, install
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.torture import keepout as torture

SEED = 15


def test_canaries_of_all_that_is_kept_out_are_nowhere(tmp_path: pathlib.Path) -> None:
    report = torture.attack(random.Random(SEED), 14, tmp_path)
    assert report.failures == [] and report.tries == 14


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["1", "true"])
def test_the_variable_keeps_a_hook_silent(tmp_path: pathlib.Path, kind: str, value: str) -> None:
    """Nothing is sent or spooled, and which session it is is noted under a digest."""
    hook = install(kind, tmp_path / "home")
    bird = "canaryqwertzuiop"
    payload = json.dumps({"session_id": "of-ada", "cwd": str(tmp_path), "prompt": bird}).encode()
    for event in ("SessionStart", "UserPromptSubmit"):
        done = hook.call(
            "claude-code", event, stdin=payload, env=hook.environment(RECOLLECT_PRIVATE=value)
        )
        assert (done.code, done.stdout, done.stderr) == (0, b"", b"")
    assert hook.spooled() == [] and not os.path.exists(hook.socket)
    private = private_sessions.PrivateSessions(str(hook.directory))
    wait_until(lambda: private.open("of-ada") == private_sessions.ENVIRONMENT)
    for folder, _, names in os.walk(hook.directory):
        for name in names:
            assert bird.encode() not in pathlib.Path(folder, name).read_bytes()
    for off in ("", "0", "false"):
        hook.call("claude-code", "Stop", stdin=payload, env=hook.environment(RECOLLECT_PRIVATE=off))
    wait_until(lambda: len(hook.spooled()) == 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_private_session_is_noted_on_a_machine_that_stalls(
    tmp_path: pathlib.Path, kind: str
) -> None:
    """The hook's time is over before it has read its input: the session is noted all the same."""
    hook = install(kind, tmp_path / "home")
    private = private_sessions.PrivateSessions(str(hook.directory))
    environment = hook.environment(RECOLLECT_PRIVATE="1")
    for number in range(6):
        payload = json.dumps({"session_id": f"s{number}", "cwd": str(tmp_path)}).encode()
        with hook.start("claude-code", "SessionStart", env=environment) as process:
            time.sleep(0.01 * number)
            process.send_signal(signal.SIGSTOP)
            assert process.stdin is not None
            process.stdin.write(payload)
            process.stdin.close()
            time.sleep(STOP_SECONDS)
            process.send_signal(signal.SIGCONT)
        wait_until(lambda key=f"s{number}": private.open(key))  # type: ignore[misc]


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_private_by_the_variable_ends_with_its_last_hook(
    tmp_path: pathlib.Path, kind: str
) -> None:
    hook = install(kind, tmp_path / "home")
    payload = json.dumps({"session_id": "of-ada", "cwd": str(tmp_path)}).encode()
    private = private_sessions.PrivateSessions(str(hook.directory))
    environment = hook.environment(RECOLLECT_PRIVATE="1")
    hook.call("claude-code", "SessionStart", stdin=payload, env=environment)
    wait_until(private.running)
    assert private.running() == [
        private_sessions.PrivateSession("claude-code", private_sessions.ENVIRONMENT)
    ]
    hook.call("claude-code", "SessionEnd", stdin=payload, env=environment)
    wait_until(lambda: not private.running())
    assert private.covers("of-ada", int(time.time() * 1000))


def prompt(daemon: RealDaemon, text: str, where: pathlib.Path, session: str = "s") -> bytes:
    payload = {"session_id": session, "cwd": str(where), "prompt": text}
    return daemon.run_hook("claude-code", "UserPromptSubmit", payload, cwd=str(where)).stdout


def run(
    daemon: RealDaemon, where: pathlib.Path, *argv: str, **env: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "recollect", *argv],
        env=daemon.environment | env, cwd=where, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


def cli(daemon: RealDaemon, where: pathlib.Path, *argv: str) -> str:
    done = run(daemon, where, *argv)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_a_private_session_is_seen_and_ends(tmp_path: pathlib.Path) -> None:
    with real_daemon(tmp_path / "home") as daemon:
        assert b"private from here on" in prompt(
            daemon, "recollect: private\nabout my health", tmp_path
        )
        assert prompt(daemon, "and more of it", tmp_path) in (b"", b"{}\n", b"{}")
        health = daemon.client.get("/healthz")
        assert health["private_sessions"] == [{"host": "claude-code", "by": "word"}]
        assert health["counts"]["kept out: private session"] == 2
        told = cli(daemon, tmp_path, "status")
        assert "A private session of claude-code is running" in told
        assert "recollect: public" in told
        alarms = daemon.client.get("/api/alarms")["items"]
        assert ("private_session", "note") in {(one["name"], one["level"]) for one in alarms}
        doctor = json.loads(run(daemon, tmp_path, "doctor", "--json").stdout)
        (finding,) = [one for one in doctor if "is running: nothing" in one["told"]]
        assert (finding["what"], finding["verdict"]) == ("private session", "ok")
        daemon.kill()
        daemon.start()
        prompt(daemon, "still nothing of it", tmp_path)
        assert b"no longer private" in prompt(daemon, "recollect: public", tmp_path)
        prompt(daemon, "an ordinary prompt", tmp_path)
        (stored,) = daemon.events(expected=1)
        assert stored["body"]["content"] == "an ordinary prompt"
        assert daemon.client.get("/healthz")["private_sessions"] == []
