"""A session start brings up a daemon that is down: once, in time, and never in a storm."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.capture import frames
from recollect.core.clock import SystemClock
from tests.e2e.conditions import wait_for_spool
from tests.fakes.frame_server import ANSWER, FrameServer
from tests.fakes.hooks import KINDS, ROOT, Hook, install

DAEMON = """
import sys, time
sys.path.append({root!r})
from tests.fakes.frame_server import FrameServer
with FrameServer({socket!r}) as server:
    for _ in range(80):
        time.sleep(0.05)
        with open({taken!r}, "w") as file:
            print(*(frame.argv[-1].decode() for frame in list(server.taken)), file=file)
"""


def install_with(kind: str, directory: Path, up: str) -> Hook:
    """A hook whose python notes each `python -m recollect up` and does `up` then."""
    hook = install(kind, directory)
    fake = directory / "python"
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] || exec {sys.executable} "$@"\n'
        f'echo "$@ home=$RECOLLECT_HOME internal=${{RECOLLECT_INTERNAL-unset}}'
        f' path=${{PYTHONPATH-unset}} $(pwd)" >> {directory}/started\n{up}\n'
    )
    fake.chmod(0o700)
    lines = (directory / "launcher").read_text().split("\n")
    (directory / "launcher").write_text("\n".join([str(fake), *lines[1:]]))
    return hook


def install_with_daemon(kind: str, directory: Path) -> Hook:
    directory.mkdir()
    (directory / "daemon.py").write_text(
        DAEMON.format(
            root=str(ROOT), socket=str(directory / "hook.sock"), taken=str(directory / "taken")
        )
    )
    return install_with(kind, directory, f"exec {sys.executable} {directory}/daemon.py")


def starts(hook: Hook) -> list[str]:
    path = hook.directory / "started"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_start_starts_the_daemon_and_gets_its_answer(tmp_path: Path, kind: str) -> None:
    hook = install_with_daemon(kind, tmp_path / "data")
    env = hook.environment(PYTHONPATH="/evil")
    result = hook.call("claude-code", "SessionStart", stdin=b"in", env=env)
    assert (result.code, result.stdout, result.stderr) == (0, ANSWER, b"")
    assert starts(hook) == [
        f"-m recollect up --quiet home={hook.directory} internal=unset path=unset /"
    ]
    assert hook.spooled() == []
    assert (hook.directory / "start.lock").read_text().split()[2] == "0"


@pytest.mark.parametrize("kind", KINDS)
def test_100_session_starts_at_once_start_one_daemon(tmp_path: Path, kind: str) -> None:
    hook = install_with_daemon(kind, tmp_path / "data")
    with ThreadPoolExecutor(100) as pool:
        calls = [
            pool.submit(hook.call, "codex", "SessionStart", str(index), timeout=20)
            for index in range(100)
        ]
        results = [call.result() for call in calls]
    assert len(starts(hook)) == 1
    assert all((result.code, result.stderr) == (0, b"") for result in results)
    assert any(result.stdout == ANSWER for result in results)
    until = time.monotonic() + 10
    kept: set[str] = set()
    while len(kept) < 100 and time.monotonic() < until:
        time.sleep(0.05)
        kept = set((hook.directory / "taken").read_text().split())
        kept |= {frame.argv[-1].decode() for frame in hook.spooled()}
    assert kept == {str(index) for index in range(100)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "PostToolUse", ""])
def test_no_other_event_starts_anything(tmp_path: Path, kind: str, event: str) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    assert hook.call("claude-code", event).code == 0
    assert starts(hook) == []
    assert not (hook.directory / "start.lock").exists()
    assert len(wait_for_spool(hook, 1)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_hosts_session_start_is_known(tmp_path: Path, kind: str) -> None:
    for index, event in enumerate(frames.SESSION_STARTS):
        hook = install_with_daemon(kind, tmp_path / str(index))
        assert hook.call("host", event.decode().upper()).stdout == ANSWER


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_that_does_not_come_up_costs_three_seconds_and_no_event(
    tmp_path: Path, kind: str
) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    before = time.monotonic()
    assert hook.call("codex", "SessionStart", stdin=b"1").code == 0
    assert time.monotonic() - before < 4.5
    again = time.monotonic()
    time.sleep(max(0.0, before + 3.1 - again))  # until nobody would wait for that attempt
    quick = time.monotonic()
    assert hook.call("codex", "SessionStart", stdin=b"2").code == 0
    assert time.monotonic() - quick < 2
    assert len(starts(hook)) == 1
    assert [frame.stdin for frame in wait_for_spool(hook, 2)] == [b"1", b"2"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("failures", "age", "starts_again"),
    [(0, 9, False), (1, 11, True), (2, 29, False), (2, 31, True), (3, 59, False), (9, 61, True)],
)
def test_attempts_that_fail_are_further_and_further_apart(
    tmp_path: Path, kind: str, failures: int, age: int, starts_again: bool
) -> None:
    hook = install_with_daemon(kind, tmp_path / "data")
    clock = SystemClock()
    last = clock.mono_ns() - age * 10**9
    (hook.directory / "start.lock").write_text(f"{clock.boot_id()} {last} {failures}\n")
    result = hook.call("codex", "SessionStart")
    assert (result.stdout == ANSWER) == starts_again
    assert len(starts(hook)) == starts_again


@pytest.mark.parametrize(
    "text", ["", "nonsense", "other-boot 5 9", "x y z", "a 99999999999999999 1"]
)
def test_a_start_lock_that_says_nothing_useful_does_not_hinder(tmp_path: Path, text: str) -> None:
    hook = install_with_daemon("compiled", tmp_path / "data")
    (hook.directory / "start.lock").write_text(text)
    assert hook.call("codex", "SessionStart").stdout == ANSWER


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_start_with_a_daemon_starts_nothing(tmp_path: Path, kind: str) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    with FrameServer(hook.socket):
        assert hook.call("codex", "SessionStart").stdout == ANSWER
    assert starts(hook) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_directory_that_cannot_hold_the_lock_costs_nothing(tmp_path: Path, kind: str) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    os.mkdir(hook.directory / "start.lock")
    result = hook.call("codex", "SessionStart", stdin=b"1")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")
    assert len(wait_for_spool(hook, 1)) == 1
