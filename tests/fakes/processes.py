"""Processes that tests have started: which are still there, and their end.

In: directories of the tests. Out: processes whose command or environment names one of them.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

# Python's own helper of a process that uses multiprocessing; it ends with that process.
_TRACKER = "multiprocessing.resource_tracker"


def naming(*places: str) -> dict[int, str]:
    """Processes by their ids, each as its command, other than this one and those above it."""
    wanted = [os.fsencode(place) for place in places]
    found = {}
    above = _above(os.getpid())
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) in above:
            continue
        with contextlib.suppress(OSError):  # it has ended meanwhile, or is another user's
            command = Path(entry.path, "cmdline").read_bytes()
            environment = Path(entry.path, "environ").read_bytes()
            if command and any(place in command or place in environment for place in wanted):
                found[int(entry.name)] = _readable(command, environment)
    return {pid: command for pid, command in found.items() if _TRACKER not in command}


def end(pids: Iterable[int]) -> None:
    """Kill them and wait until they are gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        while _runs(pid):
            time.sleep(0.01)


def _above(pid: int) -> set[int]:
    found = {pid}
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        found.add(pid)
    return found


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _readable(command: bytes, environment: bytes) -> str:
    home = [part for part in environment.split(b"\0") if part.startswith(b"RECOLLECT_HOME=")]
    return b" ".join([*home, *command.rstrip(b"\0").split(b"\0")]).decode(errors="replace")
