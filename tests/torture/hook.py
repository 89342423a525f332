"""Attacks on the hook: late input, daemons that are slow to start, daemons that die.

In: a seed and how many calls. Out: each call whose event was lost or cut, or whose host was hurt
(a broken pipe, an exit status, something on stderr).
"""

import contextlib
import json
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recollect.capture import frames
from tests.e2e.conditions import wait_for_all, wait_for_spool
from tests.fakes.canaries import Canaries, found_on_disk
from tests.fakes.frame_server import ANSWER, FrameServer
from tests.fakes.hooks import KINDS, ROOT, Hook, install, run_instead
from tests.fakes.waiting import PATIENCE_S
from tests.torture.case import Case, Report

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
# How long an event may take from the hook's end to the daemon or the spool on a loaded machine.
SETTLE_SECONDS = 60
AT_ONCE = 8

# Takes longer to scrub than what is left of a hook's three seconds.
_LONG = json.dumps({"prompt": "why does the retry storm follow the deployment " * 30_000}).encode()
_SLOW_DAEMON = """
import sys, time
sys.path.append({root!r})
from tests.fakes.frame_server import FrameServer, {behave}
time.sleep({before})
with FrameServer({socket!r}, {behave}):
    time.sleep(8)
"""


def late_input(chance: random.Random, tries: int, scratch: Path) -> Report:
    """The host writes its payload long after it started the hook."""
    report = Report()
    with contextlib.ExitStack() as stack:
        homes: list[tuple[Hook, FrameServer | None]] = []
        for kind in KINDS:
            for listening in (True, False):
                hook = install(kind, scratch / f"{kind}-{listening}")
                if not listening:
                    run_instead(hook, "exit 1")
                server = stack.enter_context(FrameServer(hook.socket)) if listening else None
                homes.append((hook, server))
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        sent: list[dict[bytes, bytes]] = [{} for _ in homes]
        calls = []
        for index in range(tries):
            home = index % len(homes)
            name = b"call-%d" % index
            size = chance.choice((0, 100, 5_000, 300_000, 3_000_000))
            sent[home][name] = json.dumps({"prompt": "p" * size}).encode()
            pieces = chance.choice((1, 1, 3))
            delay = chance.uniform(0.45, 2.5) / pieces
            argv = ("claude-code", chance.choice(EVENTS), name)
            payload = sent[home][name]
            calls.append(pool.submit(_write_late, homes[home][0], argv, payload, delay, pieces))
        for call in calls:
            report.tries += 1
            for complaint in call.result():
                report.failed("wrong", complaint)
        for (hook, server), expected in zip(homes, sent, strict=True):
            _compare(report, hook, server, expected)
    return report


def slow_start(chance: random.Random, tries: int, scratch: Path) -> Report:
    """A session start finds no daemon, and the one that it starts answers late or not at all."""
    report = Report()

    def one(index: int, before: float, behave: str) -> None:
        hook = install(KINDS[index % 2], scratch / f"start-{index}")
        script = hook.directory / "daemon.py"
        script.write_text(
            _SLOW_DAEMON.format(root=str(ROOT), socket=hook.socket, before=before, behave=behave)
        )
        run_instead(hook, f"exec {sys.executable} {script}")
        result = hook.call("claude-code", "SessionStart", "call", stdin=_LONG, timeout=PATIENCE_S)
        what = f"{hook.kind}: {behave} after {before:.2f} s"
        if result.code or result.stderr or result.stdout:
            report.failed("wrong", f"{what}: {result}")
        _compare(report, hook, None, {b"call": _LONG}, what)

    with ThreadPoolExecutor(4) as pool:
        # Both kinds of hook meet both kinds of daemon, however few tries there are.
        behaviours = ("hanging", "closing")
        chosen = [
            (index, chance.uniform(0, 2.4), behaviours[index // 2 % 2]) for index in range(tries)
        ]
        for done in [pool.submit(one, *each) for each in chosen]:
            done.result()
            report.tries += 1
    return report


def plant_everywhere(hook: Hook, birds: Canaries, work: Path) -> int:
    """Call the hook with a canary in one field after another; how many calls that were."""
    calls = 0

    def call(
        *argv: str, cwd: Path = work, stdin: str = "{}", env: dict[str, str] | None = None
    ) -> None:
        nonlocal calls
        calls += 1
        cwd.mkdir(parents=True, exist_ok=True)
        hook.call(*argv, stdin=stdin.encode(), env=hook.environment(**env or {}), cwd=cwd)

    for canary in (birds.private, birds.secret):
        for tree in ("{}", "half", ""):
            named = work / canary().replace("</", "<").replace("/", "")
            call("claude-code", "Stop", cwd=named / tree)
        call(canary(), "Stop")
        call("claude-code", canary())
        call("claude-code", "Stop", canary(), f"--token={canary()}")
        call("kiro-ide", "Stop", env={name.decode(): canary() for name in frames.ENVIRONMENT})
        for stdin in (canary(), json.dumps({"prompt": canary(), canary(): [canary()]})):
            call("claude-code", "Stop", stdin=stdin)
            call("claude-code", "Stop", stdin=stdin[:-1])
    return calls


def leaks(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Secrets in every field of a call, while no daemon is there."""
    report = Report()
    while report.tries < tries:
        birds = Canaries(chance.randrange(1 << 30))
        hook = install(chance.choice(KINDS), scratch / f"leaks-{report.tries}")
        calls = plant_everywhere(hook, birds, scratch / "work")
        report.tries += calls
        if len(wait_for_spool(hook, calls, SETTLE_SECONDS)) < calls:
            report.failed("lost", f"{hook.kind}: fewer than {calls} calls were spooled")
        for path, bird in found_on_disk(hook.directory, birds.planted):
            report.failed("leaked", f"{hook.kind}: {bird} in {path}")
    return report


def _write_late(
    hook: Hook, argv: tuple[str | bytes, ...], payload: bytes, delay: float, pieces: int
) -> list[str]:
    """What went wrong for the host."""
    what = f"{hook.kind} {argv}: {len(payload)} bytes in {pieces} pieces after {delay:.2f} s"
    complaints = []
    with hook.start(*argv) as process:
        assert process.stdin and process.stdout and process.stderr
        step = -(-len(payload) // pieces)
        try:
            for at in range(0, len(payload), step):
                time.sleep(delay)
                process.stdin.write(payload[at : at + step])
                process.stdin.flush()
            process.stdin.close()
        except BrokenPipeError:
            complaints.append(f"{what}: the host got EPIPE")
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            complaints.append(f"{what}: the hook did not end")
        told = process.stdout.read(), process.stderr.read()
        if process.returncode or told[1] or told[0] not in (b"", ANSWER):
            complaints.append(f"{what}: {process.returncode} {told}")
    return complaints


def _compare(
    report: Report,
    hook: Hook,
    server: FrameServer | None,
    expected: dict[bytes, bytes],
    what: str = "",
) -> None:
    """Every event is with the daemon or in the spool, whole."""
    found = wait_for_all(hook, server, expected.keys(), SETTLE_SECONDS)
    for name in expected.keys() - {frame.argv[2] for frame in found}:
        report.failed("lost", f"{what or hook.kind}: {name.decode()}")
    for frame in found:
        cut = frame.flags & (frames.LATE | frames.TRUNCATED)
        if cut or frame.stdin != expected[frame.argv[2]]:
            report.failed("lost", f"{what or hook.kind}: {frame} came in part")


CASES = [
    Case("hook: the payload comes late", late_input, 80),
    Case("hook: the daemon is slow to start", slow_start, 24),
    Case("hook: a secret in every field of a call", leaks, 60),
]
