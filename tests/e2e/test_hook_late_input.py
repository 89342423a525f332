"""The deadline of a hook may cut its answer, never its event."""

import contextlib
import json
import random
import signal
import time
from pathlib import Path

import pytest

from recollect.capture import frames
from tests.e2e.conditions import wait_for_frame, wait_for_spool
from tests.fakes import frame_server
from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.frame_server import ANSWER, FrameServer
from tests.fakes.hooks import KINDS, impatient, install
from tests.fakes.waiting import PATIENCE_S
from tests.torture import hook as attacks


def test_a_payload_that_comes_late_is_neither_lost_nor_cut_nor_refused(tmp_path: Path) -> None:
    report = attacks.late_input(random.Random(15), 12, tmp_path)
    assert report.tries == 12
    assert report.failures == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_hook_leaves_in_time_and_its_reader_stays(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    with FrameServer(hook.socket) as server, hook.start("codex", "Stop") as process:
        assert process.stdin and process.stdout and process.stderr
        assert process.wait(PATIENCE_S) == 0
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
        process.stdin.write(b'{"a": 1}')  # nobody's pipe would raise here
        process.stdin.flush()
        assert server.taken == []
        process.stdin.write(b"\n")
        process.stdin.close()
        frame = wait_for_frame(server)
    assert (frame.stdin, frame.flags) == (b'{"a": 1}\n', 0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_is_there_before_the_stop_is_still_given(tmp_path: Path, kind: str) -> None:
    """Not at each try: on a loaded machine half a second may be over before it began."""
    hook = install(kind, tmp_path / "data")
    answers = []
    with FrameServer(hook.socket):
        for _ in range(8):
            with hook.start("codex", "UserPromptSubmit") as process:
                assert process.stdin and process.stdout
                time.sleep(0.5)
                process.stdin.write(b"{}")
                process.stdin.close()
                assert process.wait(PATIENCE_S) == 0
                answers.append(process.stdout.read())
            if ANSWER in answers:
                return
    raise AssertionError(answers)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [b'{"a": "}\\""}', b' {"a": [{}, "{"]}\n'])
def test_a_host_that_never_closes_gets_its_answer_when_its_object_is_whole(
    tmp_path: Path, kind: str, whole: bytes
) -> None:
    hook = install(kind, tmp_path / "data")
    with FrameServer(hook.socket) as server, hook.start("codex", "Stop") as process:
        assert process.stdin and process.stdout
        process.stdin.write(whole)
        process.stdin.flush()
        assert process.wait(PATIENCE_S) == 0
        frame = wait_for_frame(server)
        assert (frame.stdin, frame.flags) == (whole, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_in_the_environment_needs_no_stdin(tmp_path: Path, kind: str) -> None:
    """Kiro's IDE says all in USER_PROMPT; nobody knows what it does with stdin."""
    hook = install(kind, tmp_path / "data")
    env = hook.environment(USER_PROMPT="why?")
    with FrameServer(hook.socket) as server, hook.start("kiro-ide", "p", env=env) as process:
        assert process.wait(PATIENCE_S) == 0
        frame = wait_for_frame(server)
    assert (frame.stdin, frame.env, frame.flags) == (b"", (b"USER_PROMPT=why?",), 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("listening", [True, False])
def test_input_that_never_ends_is_kept_as_far_as_it_came_and_says_so(
    tmp_path: Path, kind: str, listening: bool
) -> None:
    hook = impatient(kind, tmp_path / "data", seconds=1)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(FrameServer(hook.socket)) if listening else None
        process = stack.enter_context(hook.start("codex", "Stop"))
        assert process.stdin
        process.stdin.write(b'{"prompt": "never')
        process.stdin.flush()
        assert process.wait(PATIENCE_S) == 0
        frame = wait_for_frame(server) if server else wait_for_spool(hook, 1)[0]
        assert (frame.stdin, frame.flags) == (b'{"prompt": "never', frames.LATE)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_writer_without_end_is_cut_off(tmp_path: Path, kind: str) -> None:
    hook = impatient(kind, tmp_path / "data", seconds=60)
    with open("/dev/zero", "rb") as endless, FrameServer(hook.socket) as server:
        with hook.start("codex", "Stop", stdin=endless) as process:
            assert process.wait(PATIENCE_S) == 0
        frame = wait_for_frame(server)
    assert len(frame.stdin) == frames.MAX_STDIN
    assert frame.flags == frames.TRUNCATED


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_host_that_ends_its_hook_before_it_writes_loses_nothing(
    tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    hook = install(kind, tmp_path / "data")
    with hook.start("codex", "Stop") as process:
        assert process.stdin and process.stderr
        process.stdin.write(b'{"half": ')
        process.stdin.flush()
        wait_until_it_sleeps(process.pid)
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 0
        process.stdin.write(b"1}")
        process.stdin.close()
        assert process.stderr.read() == b""
    assert [frame.stdin for frame in wait_for_spool(hook, 1)] == [b'{"half": 1}']


def wait_until_it_sleeps(pid: int) -> None:
    """Then the hook has its handlers and waits for its stdin; where the kernel does not tell, a few
    seconds are enough."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with open(f"/proc/{pid}/wchan") as file:
            if file.read() in ("poll_schedule_timeout", "do_sys_poll", "do_select"):
                return
        time.sleep(0.005)


def test_the_reader_ends_with_its_host(tmp_path: Path) -> None:
    for kind in KINDS:
        hook = install(kind, tmp_path / kind)
        with hook.start("codex", "Stop") as process:
            assert process.wait(PATIENCE_S) == 0
            assert process.stdin
            process.stdin.close()
        assert [frame.stdin for frame in wait_for_spool(hook, 1)] == [b""]


def test_a_daemon_that_is_slow_to_start_costs_no_session_start(tmp_path: Path) -> None:
    report = attacks.slow_start(random.Random(3), 6, tmp_path)
    assert report.tries == 6
    assert report.failures == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_whose_signals_are_blocked_stops_all_the_same(tmp_path: Path, kind: str) -> None:
    """Only the alarm ends a hook whose answer nobody reads."""
    hook = install(kind, tmp_path / "data")
    blocked = {signal.SIGALRM, signal.SIGTERM, signal.SIGVTALRM, signal.SIGCHLD}
    with FrameServer(hook.socket, frame_server.answering(b"x" * frames.MAX_ANSWER)):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        try:
            process = hook.start("codex", "Stop")
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with process:
            assert process.stdin and process.stderr
            process.stdin.close()
            assert process.wait(PATIENCE_S) == 0
            assert process.stderr.read() == b""


def test_doctor_and_health_tell_of_payloads_that_were_cut(tmp_path: Path) -> None:
    with real_daemon(tmp_path / "home") as daemon:
        huge = json.dumps({"session_id": "s", "cwd": "/", "prompt": "x" * frames.MAX_STDIN})
        daemon.run_hook("claude-code", "UserPromptSubmit", huge.encode())
        daemon.events("/", expected=1)
        until = time.monotonic() + PATIENCE_S
        while not (counts := daemon.client.get("/healthz")["counts"]).get("payloads cut"):
            assert time.monotonic() < until, counts
            time.sleep(0.1)
        assert counts["payloads cut"] == 1
        assert "was cut" in daemon.log()
        assert doctor(daemon)["hooks"] == "warn"


def doctor(daemon: RealDaemon) -> dict[str, str]:
    import subprocess
    import sys

    run = subprocess.run(
        [sys.executable, "-m", "recollect", "doctor", "--json"],
        env=daemon.environment,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    return {finding["what"]: finding["verdict"] for finding in json.loads(run.stdout)}
