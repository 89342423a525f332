"""Starting the daemon from a hook: one attempt at a time, with a growing pause.

In: the data directory. Out: whether it is worth waiting for the daemon, and, in `wait`, whether it
listens. `start.lock` is locked while one hook decides, and holds the last attempt: boot id,
monotonic ns and the number of attempts in a row that brought up nothing. OSError when the
directory cannot be written to.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without its enums
import os
import sys
from time import sleep, time_ns

from recollect.capture import fallback, launcher_file
from recollect.core import oslayer

# Seconds before the next attempt after none, one, two, three and more that failed.
PAUSES = (10, 10, 30, 60)
# As long as a hook waits at the most; an attempt older than this is not waited for.
FRESH_SECONDS = 3


def start(directory: str) -> bool:
    """Start the daemon if it is time to; True while an attempt, ours or another's, is fresh."""
    lock = os.open(os.path.join(directory, "start.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not oslayer.try_lock(lock):
            return True  # another hook is starting it this very moment
        age, failures = _last_attempt(lock)
        if age is not None and age < PAUSES[min(failures, len(PAUSES) - 1)]:
            return age < FRESH_SECONDS
        _record(lock, failures + 1)
        return _spawn(directory)
    finally:
        os.close(lock)


def wait(directory: str, deadline: "fallback.Deadline") -> bool:
    """Whether the daemon listens in time; leaves a moment to send and to spool."""
    while not deadline.over(fallback.START_STOP_SECONDS - 0.4):
        if fallback.listens(directory):
            succeeded(directory)
            return True
        sleep(0.02)
    return False


def _last_attempt(lock: int) -> tuple[float | None, int]:
    """Seconds since the last attempt of this boot, and how many in a row failed."""
    parts = os.read(lock, 200).split()
    try:
        boot, mono_ns, failures = parts[0].decode("ascii"), int(parts[1]), int(parts[2])
    except (IndexError, ValueError):
        return None, 0
    now_ns = fallback.clock_ns()
    if boot != fallback.boot_id(time_ns(), now_ns) or not 0 <= mono_ns <= now_ns:
        return None, 0
    return (now_ns - mono_ns) / 1e9, max(failures, 0)


def _record(lock: int, failures: int) -> None:
    """Counted as failed until the daemon is seen to listen."""
    mono_ns = fallback.clock_ns()
    _rewrite(lock, f"{fallback.boot_id(time_ns(), mono_ns)} {mono_ns} {failures}\n".encode("ascii"))


def succeeded(directory: str) -> None:
    """A daemon listens, as its hook or it itself has seen: no attempt counts as failed any more."""
    try:
        lock = os.open(os.path.join(directory, "start.lock"), os.O_RDWR)
    except OSError:
        return  # no hook has started one yet
    try:
        parts = os.read(lock, 200).split() if oslayer.try_lock(lock) else []
        if len(parts) == 3 and parts[2] != b"0":
            _rewrite(lock, b" ".join((*parts[:2], b"0\n")))
    except OSError:
        pass  # the disk is full, and it is no matter
    finally:
        os.close(lock)


def _rewrite(lock: int, text: bytes) -> None:
    os.ftruncate(lock, 0)
    oslayer.write_at(lock, text, 0)


def _spawn(directory: str) -> bool:
    """Run `recollect up` as nobody's child, with nothing of the host's open."""
    try:
        python, _, _ = launcher_file.read(directory)
    except (OSError, ValueError):
        python = sys.executable  # the one that a launcher elsewhere named
    if not os.access(python, os.X_OK):
        return False
    command = [python, "-m", "recollect", "up", "--quiet"]
    if sys.platform == "win32":
        oslayer.start_detached(command, _environment(directory))
        return True
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return True
    try:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            for fd in (0, 1):
                os.dup2(2, fd)
            os.closerange(3, 256)
            for number in fallback.STOP_SIGNALS:  # the hook's detached part ignores them
                _signal.signal(number, _signal.SIG_DFL)
            os.execve(python, command, _environment(directory))
    finally:
        os._exit(0)


def _environment(directory: str) -> dict[str, str]:
    """The host's, without what would make the daemon take itself for one of its own LLM calls, or
    run another project's Python."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "RECOLLECT_INTERNAL" and not name.startswith("PYTHON")
    }
    return {**kept, "RECOLLECT_HOME": directory}
