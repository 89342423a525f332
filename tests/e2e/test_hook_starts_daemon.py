"""A session start, and a prompt, bring up a daemon that is down: once and never in a storm. Only a
session start waits for it."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.capture import frames, launcher
from recollect.cli import process
from recollect.core.clock import SystemClock
from tests.e2e.conditions import wait_for_spool
from tests.fakes import frame_server
from tests.fakes.daemons import real_daemon
from tests.fakes.frame_server import ANSWER, FrameServer
from tests.fakes.hooks import (
    KINDS,
    ROOT,
    Hook,
    install,
    may_start,
    run_instead,
    start_nothing,
    starts,
)
from tests.fakes.waiting import PATIENCE_S

DAEMON = """
import sys, time
sys.path.append({root!r})
from tests.fakes.frame_server import FrameServer
def write():
    with open({taken!r}, "w") as file:
        print(*(frame.argv[-1].decode() for frame in list(server.taken)), file=file)
with FrameServer({socket!r}) as server:
    for _ in range(80):
        time.sleep(0.05)
        write()
write()  # also what came while it was closing
"""


def install_with(kind: str, directory: Path, up: str) -> Hook:
    """A hook whose python notes each `python -m recollect up` and does `up` then."""
    hook = install(kind, directory)
    run_instead(hook, up)
    return hook


def install_with_daemon(kind: str, directory: Path) -> Hook:
    directory.mkdir()
    (directory / "daemon.py").write_text(
        DAEMON.format(
            root=str(ROOT), socket=str(directory / "hook.sock"), taken=str(directory / "taken")
        )
    )
    return install_with(kind, directory, f"exec {sys.executable} {directory}/daemon.py")


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
            pool.submit(hook.call, "codex", "SessionStart", str(index), timeout=PATIENCE_S)
            for index in range(100)
        ]
        results = [call.result() for call in calls]
    assert len(starts(hook)) == 1
    assert all((result.code, result.stderr) == (0, b"") for result in results)
    assert any(result.stdout == ANSWER for result in results)
    until = time.monotonic() + PATIENCE_S
    kept: set[str] = set()
    while len(kept) < 100 and time.monotonic() < until:
        time.sleep(0.05)
        kept = set((hook.directory / "taken").read_text().split())
        kept |= {frame.argv[-1].decode() for frame in hook.spooled()}
    assert kept == {str(index) for index in range(100)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "SessionEnd", ""])
def test_no_other_event_starts_anything(tmp_path: Path, kind: str, event: str) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    assert hook.call("claude-code", event).code == 0
    assert starts(hook) == []
    assert not (hook.directory / "start.lock").exists()
    assert len(wait_for_spool(hook, 1)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_starts_the_daemon_and_does_not_wait_for_it(tmp_path: Path, kind: str) -> None:
    directory = tmp_path / "data"
    # It listens once the hook is gone, not before: so nothing can have waited for it.
    hook = install_with(kind, directory, f"while [ ! -e {directory}/gone ]; do sleep 0.05; done")
    result = hook.call("claude-code", "UserPromptSubmit", stdin=b"{}")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")
    assert [frame.stdin for frame in wait_for_spool(hook, 1)] == [b"{}"]
    wait_for_starts(hook, 1)
    (directory / "gone").touch()
    assert starts(hook) == [
        f"-m recollect up --quiet home={hook.directory} internal=unset path=unset /"
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_100_prompts_at_once_start_one_daemon(tmp_path: Path, kind: str) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    with ThreadPoolExecutor(20) as pool:
        calls = [
            pool.submit(hook.call, "codex", "UserPromptSubmit", str(index), timeout=PATIENCE_S)
            for index in range(100)
        ]
        assert all(call.result().code == 0 for call in calls)
    assert len(wait_for_spool(hook, 100)) == 100
    # A loaded machine may take longer than ten seconds for all; then there may be another.
    attempts = int((hook.directory / "start.lock").read_text().split()[2])
    assert 1 <= len(starts(hook)) <= attempts <= 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_that_hangs_is_not_started_again(tmp_path: Path, kind: str) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    with FrameServer(hook.socket, frame_server.hanging):
        assert hook.call("codex", "UserPromptSubmit").code == 0
        assert len(wait_for_spool(hook, 1)) == 1
    assert starts(hook) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_that_was_killed_is_back_after_the_next_prompt(tmp_path: Path, kind: str) -> None:
    with real_daemon(tmp_path / "home") as daemon:
        if kind == "python":
            launcher.install_hook(str(daemon.home), compiled="/nonexistent")
        daemon.run_hook("claude-code", "UserPromptSubmit", prompt("before"))
        daemon.events("/", expected=1)
        daemon.kill()
        may_start(daemon.home)
        daemon.run_hook("claude-code", "UserPromptSubmit", prompt("it died"))
        try:
            until = time.monotonic() + PATIENCE_S
            while not daemon.client.alive():
                assert time.monotonic() < until, daemon.log()
                time.sleep(0.05)
            events = daemon.events("/", expected=2)
            assert [event["body"]["content"] for event in events] == ["before", "it died"]
            # It said itself that it listens: the next time is a first time again.
            assert (daemon.home / "start.lock").read_text().split()[2] == "0"
        finally:
            process.stop(daemon.settings)


def prompt(text: str) -> dict[str, str]:
    return {"session_id": "s", "cwd": "/", "prompt": text}


def wait_for_starts(hook: Hook, count: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while len(starts(hook)) < count and time.monotonic() < until:
        time.sleep(0.02)
    assert len(starts(hook)) == count


@pytest.mark.parametrize("kind", KINDS)
def test_every_hosts_session_start_is_known(tmp_path: Path, kind: str) -> None:
    for index, event in enumerate(frames.SESSION_STARTS):
        hook = install_with_daemon(kind, tmp_path / str(index))
        assert hook.call("host", event.decode().upper()).stdout == ANSWER


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_that_does_not_come_up_costs_no_event_and_no_second_start(
    tmp_path: Path, kind: str
) -> None:
    hook = install_with(kind, tmp_path / "data", "exit 1")
    for stdin in (b"1", b"2"):
        result = hook.call("codex", "SessionStart", stdin=stdin)
        assert (result.code, result.stdout, result.stderr) == (0, b"", b"")
    assert len(starts(hook)) == 1
    assert [frame.stdin for frame in wait_for_spool(hook, 2)] == [b"1", b"2"]
    assert (hook.directory / "start.lock").read_text().split()[2] == "1"


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
    start_nothing(hook.directory)
    result = hook.call("codex", "SessionStart", stdin=b"1")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")
    assert len(wait_for_spool(hook, 1)) == 1
