"""Starting and stopping the daemon's process.

In: settings. Out: a running daemon, or a clear reason why there is none. At most one runs per data
directory: the kernel's lock decides, the process id is only for telling people and sending signals.
A process that makes progress is waited for, however slow the machine is.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Literal

from recollect.cli.passphrase import unlock
from recollect.client import Client
from recollect.core import daemon_stage, oslayer, store_key
from recollect.core.errors import RecollectError
from recollect.core.oslayer import FileLock, private_directory
from recollect.core.settings import PREFIX, Settings

PATIENCE_S = 60.0  # with a process that makes no progress
STOP_PATIENCE_S = 30.0
LONGEST_S = 600.0
NO_ROOM = 64 << 10

Stopped = Literal["", "stopped", "killed"]


class CannotStart(RecollectError):
    """The daemon did not start."""

    hint = "recollect logs"


def running(settings: Settings) -> int | None:
    """The daemon's process id, if one runs."""
    lock = FileLock(settings.path("lock"))
    if not lock.held():
        return None
    holder = lock.holder()
    return int(holder) if holder.isdecimal() else None


def last_stage(settings: Settings) -> daemon_stage.Stage | None:
    """The stage that a silent daemon last wrote down: starting or stopping; or, when none runs, why
    the last one did not start. None when nothing is known."""
    pid, known = running(settings), daemon_stage.read(settings.directory)
    if known is None:
        return None
    if pid is None:
        return known if known.life == "failed" else None
    return known if known.pid == pid and known.life != "failed" else None


class Watch:
    """Whether a process makes progress: it reported a new stage, or used CPU time."""

    def __init__(self, settings: Settings, *, working: bool) -> None:
        self._settings = settings
        self._working = working
        self._began = self._moved = time.monotonic()
        self._sign: tuple[object, ...] = ()
        self.doing = ""

    def look(self, pid: int) -> float:
        """Seconds since the last sign; infinite when it has all gone on for too long."""
        known = daemon_stage.read(self._settings.directory)
        mine = known if known is not None and known.pid == pid else None
        self.doing = mine.doing if mine is not None else ""
        work = oslayer.cpu_ticks(pid) if self._working else 0
        sign = (pid, mine.since if mine is not None else 0, work)
        now = time.monotonic()
        if sign != self._sign:
            self._sign, self._moved = sign, now
        return float("inf") if now - self._began > LONGEST_S else now - self._moved


def start(
    settings: Settings,
    patience_s: float = PATIENCE_S,
    doing: Callable[[str], None] = lambda what: None,
) -> bool:
    """Start the daemon and wait until it answers; False when one was running already. `doing` is
    called with what it is at."""
    client = Client(settings)
    if client.alive():
        return False
    try:
        private_directory(settings.directory)
    except OSError as error:
        raise CannotStart(
            f"the data directory {settings.directory} cannot be made or used: {error.strerror}",
            hint="RECOLLECT_HOME=DIR names another one, which you can write to.",
        ) from error
    unlock(settings)
    child = _spawn(settings)
    watch = Watch(settings, working=True)
    pid = child.pid
    while not client.alive():
        code = child.poll()
        if code == 3:  # somebody else was faster, and is waited for
            other = running(settings)
            if other is None:
                raise CannotStart(
                    "The data directory was in use by another process, which has ended.",
                    hint="recollect up",
                )
            pid = other
        elif code is not None:
            raise _ended(settings, child.pid, code)
        if watch.look(pid) > patience_s:
            raise CannotStart(
                f"Process {pid} does not answer yet"
                + (f" ({watch.doing})" if watch.doing else "")
                + "; it was not stopped, and may still come up.",
                hint="recollect status; recollect logs",
            )
        doing(watch.doing)
        time.sleep(0.02)
    return True


def _spawn(settings: Settings) -> "subprocess.Popen[bytes]":
    environment = {
        name: value for name, value in os.environ.items() if name != "RECOLLECT_INTERNAL"
    }
    environment[PREFIX + "HOME"] = settings.directory
    # With an arena for each thread glibc holds on to 50 MB more than is used.
    environment.setdefault("MALLOC_ARENA_MAX", "2")
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads wait by spinning
    keys = store_key.handed_over()
    with open(os.devnull, "r+b") as nowhere:
        child = subprocess.Popen(
            [sys.executable, "-m", "recollect.daemon", *(["--keys"] if keys else [])],
            cwd="/",
            env=environment,
            stdin=subprocess.PIPE if keys else nowhere,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )
    if child.stdin is not None:
        with child.stdin:
            child.stdin.write(keys)
    return child


def _ended(settings: Settings, pid: int, code: int) -> CannotStart:
    known = daemon_stage.read(settings.directory)
    if known is not None and known.pid == pid and known.problem:
        return CannotStart(f"The daemon did not start: {known.problem}", hint=known.hint)
    if oslayer.free_bytes(settings.directory) < NO_ROOM:  # not even for saying so
        return CannotStart(
            f"The daemon did not start: there is no room left for {settings.directory}",
            hint="Free some space, then: recollect up",
        )
    return CannotStart(f"The daemon ended at once (exit code {code}): {_last_line(settings)}")


def stop(
    settings: Settings,
    patience_s: float = STOP_PATIENCE_S,
    doing: Callable[[str], None] = lambda what: None,
) -> Stopped:
    """Ask the daemon to stop, wait while it makes progress, then kill it. Empty when none ran."""
    pid = running(settings)
    if pid is None:
        return ""
    for end, outcome in ((oslayer.ask_to_stop, "stopped"), (_kill, "killed")):
        try:
            end(pid)
        except ProcessLookupError:
            return outcome  # type: ignore[return-value]
        # Work alone is no sign of stopping: one that turns in circles works too.
        watch = Watch(settings, working=False)
        while watch.look(pid) <= patience_s:
            if running(settings) != pid and not oslayer.exists(pid):
                return outcome  # type: ignore[return-value]
            doing(watch.doing)
            time.sleep(0.02)
    raise RecollectError(f"Process {pid} does not stop.")


def _kill(pid: int) -> None:
    os.kill(pid, oslayer.KILL)


def on_files(settings: Settings, *arguments: str) -> dict[str, Any]:
    """Let a process of the daemon's program work on the files: only it knows the storage."""
    unlock(settings)
    done = subprocess.run(
        [sys.executable, "-m", "recollect.daemon", "--keys", *arguments],
        input=store_key.handed_over(),
        env={**os.environ, PREFIX + "HOME": settings.directory},
        capture_output=True,
        timeout=LONGEST_S,
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise RecollectError(
            f"The command failed (exit code {done.returncode}); nothing was changed.",
            hint="recollect logs",
        ) from None
    if "error" in answer:
        raise RecollectError(str(answer["error"]), hint=str(answer.get("hint", "")))
    return answer


def _last_line(settings: Settings) -> str:
    try:
        with open(settings.path("logs", "recollect.log"), encoding="utf-8") as file:
            lines = file.read()[-4000:].strip().splitlines()
    except OSError:
        return "there is no log"
    return lines[-1] if lines else "the log is empty"
