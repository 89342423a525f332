"""Hostile conditions for a hook: what is around it, and what it must do all the same.

In: nothing. Out: `CONDITIONS`, each with the one outcome that is right. `run` makes the calls of
one condition as real processes and fails when a single one misbehaves.
"""

import contextlib
import os
import socket
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from recollect.capture import frames, spool
from tests.fakes import frame_server
from tests.fakes.frame_server import ANSWER, Behave, FrameServer
from tests.fakes.hooks import KINDS, Hook, Result, install
from tests.fakes.waiting import PATIENCE_S

EVENTS = (
    ("claude-code", "UserPromptSubmit"),
    ("codex", "Stop"),
    ("gemini", "BeforeAgent"),
    ("copilot", "postToolUse"),
    ("qwen", "PreCompact"),
    ("opencode", "chat.message"),
    ("kiro-cli", "userPromptSubmit"),
    ("kiro-ide", "promptSubmit"),
    ("cursor", "beforeSubmitPrompt"),
    ("windsurf", "post_write_code"),
    ("cline", "TaskComplete"),
)
# With a daemon there, a session start is a call like any other; without one it starts it, and
# test_hook_starts_daemon.py is about that.
START = ("claude-code", "SessionStart")

# What must become of each call.
ANSWERED = "answered"  # the daemon has it, its bytes are on stdout, nothing is spooled
SPOOLED = "spooled"  # nothing on stdout, exactly one file in the spool
KEPT = "kept"  # one of the two
SILENT = "silent"  # nothing on stdout and nothing in the spool

PROMPT = b'{"session_id": "s", "prompt": "why?"}'
GONE_SECONDS = 5

Prepare = Callable[[Hook], None]


def _nothing(hook: Hook) -> None:
    pass


def _same(hook: Hook) -> dict[str, str]:
    return hook.environment()


@dataclass(frozen=True)
class Condition:
    name: str
    expect: str
    behave: Behave | None = None
    answer: bytes = ANSWER
    stdin: bytes = PROMPT
    hold: bool = False  # never close stdin
    shell: str = ""  # run in a shell before the hook: closes descriptors, sets limits
    more: tuple[bytes, ...] = ()  # further arguments
    env: Callable[[Hook], dict[str, str]] = _same
    prepare: Prepare = _nothing
    flags: int = 0
    kinds: tuple[str, ...] = KINDS
    listener: Callable[[Hook], str] = field(default=lambda hook: hook.socket)

    @property
    def events(self) -> tuple[tuple[str, str], ...]:
        """Three of them, other ones for each condition: the hook treats all alike."""
        first = zlib.crc32(self.name.encode()) % len(EVENTS)
        chosen = (EVENTS + EVENTS)[first : first + 3]
        return (START, *chosen) if self.behave else chosen


def prepare(condition: Condition, kind: str, scratch: Path) -> Hook:
    """Before any thread forks: a program that a fork holds open for writing cannot be run."""
    hook = install(kind, scratch / "data")
    condition.prepare(hook)
    return hook


def run(condition: Condition, hook: Hook) -> None:
    """All calls of one condition."""
    with contextlib.ExitStack() as stack:
        server = None
        if condition.behave:
            server = stack.enter_context(FrameServer(condition.listener(hook), condition.behave))
        pool = stack.enter_context(ThreadPoolExecutor(2))
        calls = [
            pool.submit(_call, condition, hook, (host, event, f"call-{index}"))
            for index, (host, event) in enumerate(condition.events)
        ]
        results = [call.result() for call in calls]
        markers = {b"call-%d" % index for index in range(len(calls))}
        _check(condition, hook, server, results, markers)


def _call(condition: Condition, hook: Hook, argv: tuple[str, ...]) -> Result:
    command: list[str | bytes] = [hook.program, *argv, *condition.more]
    if condition.shell:
        command = ["/bin/sh", "-c", condition.shell + '; exec "$0" "$@"', *command]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=condition.env(hook),
        cwd="/",
    )
    with process:
        try:
            if not condition.hold:
                # The hook may be gone long before its detached part has read all of this.
                writing = 60 if len(condition.stdin) > frames.MAX_STDIN else GONE_SECONDS
                out, err = process.communicate(condition.stdin, writing)
                return Result(process.returncode, out, err)
            assert process.stdin and process.stdout and process.stderr
            process.stdin.write(condition.stdin)
            process.stdin.flush()
            process.wait(GONE_SECONDS)
            return Result(process.returncode, process.stdout.read(), process.stderr.read())
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def _check(
    condition: Condition,
    hook: Hook,
    server: FrameServer | None,
    results: list[Result],
    markers: set[bytes],
) -> None:
    answered = 0
    for result, call in zip(results, condition.events, strict=True):
        # Where the daemon tells nothing, some hosts are told something all the same.
        fixed = frames.fixed_answer([one.encode() for one in call])
        assert result.code == 0, result
        assert result.stderr == b"", result
        assert result.stdout in (b"", fixed, condition.answer), result.stdout[:200]
        answered += result.stdout == (condition.answer or fixed)
    if condition.expect == ANSWERED:
        assert server
        assert answered == len(results)
        found = {frame.argv[2]: frame for frame in server.taken}
        assert not hook.spooled()
    elif condition.expect == SILENT:
        assert answered == 0 or condition.answer == b""
        assert spooled(hook) == []
        return
    elif condition.expect == KEPT:
        # Stored but too late for the host, or both stored and spooled, is as good: the digest
        # tells the daemon that it is a repeat.
        assert server
        found = {frame.argv[2]: frame for frame in wait_for_all(hook, server, markers)}
        _check_digests(hook, server)
    else:
        assert answered == 0
        waiting = wait_for_spool(hook, len(results))
        assert len(waiting) == len(results)
        found = {frame.argv[2]: frame for frame in waiting}
        _check_digests(hook, server)
    assert set(found) == markers
    for frame in found.values():
        assert frame.flags == condition.flags, frame
        assert frame.stdin == condition.stdin[: frames.MAX_STDIN]
        assert frame.argv[3:] == condition.more


def _check_digests(hook: Hook, server: FrameServer | None) -> None:
    """What a daemon took and did not acknowledge is recognised when it comes from the spool."""
    if not server:
        return
    took = {payload[:26]: frames.digest(payload) for payload in server.payloads}
    for _, frame, digest in spool.drain(str(hook.directory)):
        assert took.get(frame.ulid.encode(), digest) == digest


def spooled(hook: Hook) -> list[frames.Frame]:
    if not (hook.directory / "spool").is_dir():
        return []
    return hook.spooled()


def wait_for_spool(hook: Hook, count: int, seconds: float = PATIENCE_S) -> list[frames.Frame]:
    """The spooling process may outlive the hook by a little."""
    until = time.monotonic() + seconds
    while len(found := spooled(hook)) < count and time.monotonic() < until:
        time.sleep(0.02)
    return found


def wait_for_all(
    hook: Hook, server: FrameServer | None, names: AbstractSet[bytes], seconds: float = PATIENCE_S
) -> list[frames.Frame]:
    """What the server took and what was spooled, once all events are there: the detached part of a
    hook may outlive it by a little."""
    until = time.monotonic() + seconds
    while True:
        found = [*(server.taken if server else ()), *spooled(hook)]
        if names <= {frame.argv[2] for frame in found} or time.monotonic() > until:
            return found
        time.sleep(0.02)


def wait_for_frame(server: FrameServer, seconds: float = PATIENCE_S) -> frames.Frame:
    """What was read late is sent after the hook has gone."""
    until = time.monotonic() + seconds
    while not server.taken and time.monotonic() < until:
        time.sleep(0.01)
    (frame,) = server.taken
    return frame


# --- surroundings -------------------------------------------------------------------------------


def _stale_socket(hook: Hook) -> None:
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(hook.socket)


def _never_accepting(server: FrameServer, connection: socket.socket) -> None:
    raise AssertionError("nobody accepts here")


def _file_at(name: str) -> Prepare:
    def prepare(hook: Hook) -> None:
        (hook.directory / name).write_text("in the way")

    return prepare


def _folder_at(name: str) -> Prepare:
    def prepare(hook: Hook) -> None:
        (hook.directory / name).mkdir()

    return prepare


def _loop_at(name: str) -> Prepare:
    def prepare(hook: Hook) -> None:
        (hook.directory / name).symlink_to(name)

    return prepare


def _launcher(text: str) -> Prepare:
    def prepare(hook: Hook) -> None:
        (hook.directory / "launcher").write_text(text)

    return prepare


def _python_is(script: str) -> Prepare:
    """The launcher's python is this shell script."""

    def prepare(hook: Hook) -> None:
        fake = hook.directory / "python"
        fake.write_text("#!/bin/sh\n" + script)
        fake.chmod(0o700)
        (hook.directory / "launcher").write_text(f"{fake}\n/x/hook.py\n/x\n")

    return prepare


def _home(path: str) -> Callable[[Hook], dict[str, str]]:
    return lambda hook: hook.environment(RECOLLECT_HOME=path)


def _with(**more: str) -> Callable[[Hook], dict[str, str]]:
    return lambda hook: hook.environment(**more)


def _without(*names: str) -> Callable[[Hook], dict[str, str]]:
    def env(hook: Hook) -> dict[str, str]:
        return {k: v for k, v in hook.environment().items() if k not in names}

    return env


@contextlib.contextmanager
def dribble(process: "subprocess.Popen[bytes]", data: bytes, pause: float) -> Iterator[None]:
    """Write stdin byte by byte, from a thread."""

    def write() -> None:
        assert process.stdin
        with contextlib.suppress(OSError):
            for index in range(len(data)):
                process.stdin.write(data[index : index + 1])
                process.stdin.flush()
                time.sleep(pause)
            process.stdin.close()

    thread = threading.Thread(target=write)
    thread.start()
    yield
    thread.join()


_GOOD = frames.encode_answer(frames.STORED, ANSWER)
_LONG = b"\xe2\x9c\x93 long" * (frames.MAX_ANSWER // 8)
# As long as one variable may be, or as all of them together may be.
_LONGEST = min(100_000, frames.MAX_ENV_BYTES // len(frames.ENVIRONMENT) - 100)
_FULL_ENV = {name.decode(): "v" * _LONGEST for name in frames.ENVIRONMENT}

answering, sending = frame_server.answering, frame_server.sending

CONDITIONS = [
    # The daemon.
    Condition("no daemon", SPOOLED),
    Condition("a socket that nobody listens on", SPOOLED, prepare=_stale_socket),
    Condition("a file where the socket should be", SPOOLED, prepare=_file_at("hook.sock")),
    Condition("a directory where the socket should be", SPOOLED, prepare=_folder_at("hook.sock")),
    Condition("a daemon that answers", ANSWERED, answering()),
    Condition("a daemon with nothing to say", ANSWERED, answering(b""), answer=b""),
    Condition("a daemon with a long answer", ANSWERED, answering(_LONG), answer=_LONG),
    Condition("a slow daemon", KEPT, answering(after=0.25)),
    Condition("a daemon that answers too late", SPOOLED, answering(after=2)),
    Condition("a hung daemon", SPOOLED, frame_server.hanging),
    Condition("a daemon that reads nothing", SPOOLED, frame_server.deaf, stdin=b"x" * 3_000_000),
    Condition("a daemon that closes at once", SPOOLED, frame_server.closing),
    Condition("a daemon that dies before it answers", SPOOLED, frame_server.closing_after_reading),
    Condition("a daemon that answers garbage", SPOOLED, sending(os.urandom(5000))),
    Condition("something that speaks HTTP", SPOOLED, sending(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    Condition("half a header", SPOOLED, sending(_GOOD[:7])),
    Condition("half an answer", SPOOLED, sending(_GOOD[:-1])),
    Condition("an answer of another version", SPOOLED, sending(b"RCLA\2" + _GOOD[5:])),
    Condition("an answer of unknown status", SPOOLED, sending(b"RCLA\1\7" + _GOOD[6:])),
    Condition("an answer with reserved bytes set", SPOOLED, sending(b"RCLA\1\0\1" + _GOOD[7:])),
    Condition("an endless answer", SPOOLED, sending(_GOOD[:8] + b"\xff" * 4 + b"x" * 9_000_000)),
    Condition("an answer in small pieces", KEPT, frame_server.dripping(_GOOD, 0.001)),
    Condition("an answer that never gets done", SPOOLED, frame_server.dripping(_GOOD, 0.1)),
    Condition("a daemon that refuses", SILENT, answering(b"no", status=frames.REFUSED)),
    Condition("a daemon that says not now", SPOOLED, answering(b"", status=frames.NOT_NOW)),
    # Stdin.
    Condition("empty stdin", SPOOLED, stdin=b""),
    Condition("empty stdin and a daemon", ANSWERED, answering(), stdin=b""),
    Condition("50 MB", SPOOLED, stdin=b"x" * 50_000_000, flags=frames.TRUNCATED),
    Condition(
        "50 MB and a daemon", KEPT, answering(), stdin=b"x" * 50_000_000, flags=frames.TRUNCATED
    ),
    Condition("exactly what fits", KEPT, answering(), stdin=b"y" * frames.MAX_STDIN),
    Condition("invalid UTF-8", SPOOLED, stdin=b'{"prompt": "\xff\xfe\x80"}'),
    Condition("half a JSON text", SPOOLED, stdin=b'{"prompt": "wh'),
    Condition("NUL and control bytes", SPOOLED, stdin=bytes(range(256)) * 20),
    # Its object is whole; test_hook_late_input.py has the others.
    Condition("stdin that never closes", SPOOLED, hold=True),
    Condition("stdin that never closes, and a daemon", KEPT, answering(), hold=True),
    Condition("closed stdin", SPOOLED, stdin=b"", shell="exec 0<&-"),
    Condition("closed stdin and a daemon", ANSWERED, answering(), stdin=b"", shell="exec 0<&-"),
    # Python itself refuses to start with a directory as its stdin.
    Condition("a directory as stdin", SPOOLED, stdin=b"", shell="exec 0</", kinds=("compiled",)),
    Condition("stdin that can only be written", SPOOLED, stdin=b"", shell="exec 0>/dev/null"),
    # Stdout and stderr.
    Condition("closed stdout", SILENT, answering(), shell="exec 1>&-", answer=b""),
    Condition("closed stdout and no daemon", SPOOLED, shell="exec 1>&-"),
    Condition(
        "a full disk under stdout", SILENT, answering(), shell="exec 1>/dev/full", answer=b""
    ),
    Condition("closed stderr", ANSWERED, answering(), shell="exec 2>&-"),
    Condition("closed stderr and no daemon", SPOOLED, shell="exec 2>&-"),
    Condition("everything closed", SPOOLED, stdin=b"", shell="exec 0<&- 1>&- 2>&-"),
    # Environment and arguments.
    Condition("HOME unset", SPOOLED, env=_without("HOME")),
    Condition("an empty environment", SPOOLED, env=lambda hook: {}),
    Condition("an empty environment and a daemon", ANSWERED, answering(), env=lambda hook: {}),
    Condition("our own LLM call", SILENT, env=_with(RECOLLECT_INTERNAL="1")),
    Condition("an empty guard", ANSWERED, answering(), env=_with(RECOLLECT_INTERNAL="")),
    Condition(
        "a hostile Python environment",
        SPOOLED,
        env=_with(PYTHONHOME="/x", PYTHONPATH="/x", PYTHONSTARTUP="/x", PYTHONWARNINGS="error"),
    ),
    Condition("a locale that does not exist", SPOOLED, env=_with(LC_ALL="xx_XX.nope")),
    Condition("every variable at its longest", KEPT, answering(), env=_with(**_FULL_ENV)),
    Condition("arguments that are no text", SPOOLED, more=(b"\xff\xfe", b"", b"--frame", b"\n")),
    Condition("a long argument", KEPT, answering(), more=(b"n" * 120_000,)),
    # The data directory.
    Condition(
        "a data directory that is not there yet",
        SPOOLED,
        env=lambda hook: _without("RECOLLECT_HOME")(hook),
    ),
    Condition("a data directory that is a file", SILENT, env=_home("/etc/passwd")),
    Condition("a data directory that cannot be written", SILENT, env=_home("/proc/self")),
    Condition("a data directory without a parent", SILENT, env=_home("/nonexistent/a/b")),
    Condition("a data directory named in 5,000 bytes", SILENT, env=_home("/x" * 2500)),
    Condition("a file where the spool should be", SILENT, prepare=_file_at("spool")),
    Condition("a link to itself where the spool should be", SILENT, prepare=_loop_at("spool")),
    Condition("a full disk", SILENT, shell="ulimit -f 0"),
    Condition("few descriptors", SPOOLED, shell="ulimit -n 16"),
    Condition("alarms ignored, daemon hung", SPOOLED, frame_server.hanging, shell="trap '' ALRM"),
    Condition("signals ignored", SPOOLED, shell="trap '' PIPE CHLD TERM INT HUP"),
    # What only the compiled hook depends on.
    Condition(
        "no launcher",
        SILENT,
        prepare=lambda hook: os.unlink(hook.directory / "launcher"),
        kinds=("compiled",),
    ),
    Condition("an empty launcher", SILENT, prepare=_launcher(""), kinds=("compiled",)),
    Condition("a binary launcher", SILENT, prepare=_launcher("\x01" * 9000), kinds=("compiled",)),
    Condition(
        "a python that is gone",
        SILENT,
        prepare=_launcher("/no/python\n/x\n/x\n"),
        kinds=("compiled",),
    ),
    Condition(
        "a fallback that hangs", SILENT, prepare=_python_is("exec sleep 12"), kinds=("compiled",)
    ),
    Condition(
        "a fallback that reads nothing",
        SILENT,
        prepare=_python_is("exec sleep 12"),
        stdin=b"x" * 1_000_000,
        kinds=("compiled",),
    ),
    Condition(
        "a fallback that dies", SILENT, prepare=_python_is("kill -9 $$"), kinds=("compiled",)
    ),
    Condition(
        "a fallback that complains",
        SILENT,
        prepare=_python_is("echo no >&2; exit 3"),
        kinds=("compiled",),
    ),
]
