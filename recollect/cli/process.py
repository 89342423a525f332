"""Starting and stopping the daemon's process.

In: settings. Out: a running daemon, or a clear reason why there is none. At most one runs per data
directory: the kernel's lock decides, the process id is only for telling people and sending signals.
"""

import os
import signal
import subprocess
import sys
import time

from recollect.cli.client import Client
from recollect.core.errors import RecollectError
from recollect.core.oslayer import FileLock, private_directory
from recollect.core.settings import PREFIX, Settings

START_S = 15.0
STOP_S = 5.0


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


def start(settings: Settings, wait_s: float = START_S) -> bool:
    """Start the daemon and wait until it answers; False when one was running already."""
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
    environment = {
        name: value for name, value in os.environ.items() if name != "RECOLLECT_INTERNAL"
    }
    environment[PREFIX + "HOME"] = settings.directory
    # With an arena for each thread glibc holds on to 50 MB more than is used.
    environment.setdefault("MALLOC_ARENA_MAX", "2")
    with open(os.devnull, "r+b") as nowhere:
        child = subprocess.Popen(
            [sys.executable, "-m", "recollect.daemon"],
            cwd="/",
            env=environment,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline:
        if client.alive():
            return True
        code = child.poll()
        if code == 3:  # somebody else was faster
            code = None
        if code is not None:
            raise CannotStart(
                f"The daemon ended at once (exit code {code}): {_last_line(settings)}"
            )
        time.sleep(0.02)
    raise CannotStart(f"The daemon did not answer within {wait_s:g} s.")


def stop(settings: Settings, wait_s: float = STOP_S) -> bool:
    """Ask the daemon to stop, then insist; False when none was running."""
    pid = running(settings)
    if pid is None:
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return True
        deadline = time.monotonic() + wait_s
        while time.monotonic() < deadline:
            if running(settings) != pid and not _exists(pid):
                return True
            time.sleep(0.02)
    raise RecollectError(f"Process {pid} does not stop.")


def _exists(pid: int) -> bool:
    """Whether the process is still there; one that is dead and not yet collected is not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _last_line(settings: Settings) -> str:
    try:
        with open(settings.path("logs", "recollect.log"), encoding="utf-8") as file:
            lines = file.read()[-4000:].strip().splitlines()
    except OSError:
        return "there is no log"
    return lines[-1] if lines else "the log is empty"
