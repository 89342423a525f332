"""What the daemon is doing, in `daemon.json`, for commands that cannot reach it.

In: a few words as it starts and stops, or why it did not start. Out: the same, read by commands.
Written in place, so that it needs no sync and no room on a full disk; a partial line reads as
nothing. Whether a daemon runs is told by the lock, never by this file.
"""

import contextlib
import json
import logging
import os
import time
from dataclasses import asdict, dataclass
from typing import Literal

from recollect.core import oslayer

log = logging.getLogger("recollect.daemon")

NAME = "daemon.json"
_BYTES = 16 << 10
_LONGEST = 1200  # characters of a reason; six bytes each at the most

Life = Literal["starting", "ready", "stopping", "stopped", "failed"]


@dataclass(frozen=True)
class Stage:
    """`doing` in words, since when, and for a failed start why and what to do."""

    life: Life
    doing: str = ""
    pid: int = 0
    port: int = 0
    version: str = ""
    started_at: str = ""
    since: float = 0.0
    problem: str = ""
    hint: str = ""

    @property
    def seconds(self) -> float:
        """How long it has been doing this."""
        return max(0.0, time.time() - self.since)


def write(directory: str, stage: Stage) -> None:
    """Raises OSError when it cannot be written; then only commands know less."""
    known = asdict(stage) | {
        "since": time.time(),
        "problem": stage.problem[:_LONGEST],
        "hint": stage.hint[:_LONGEST],
    }
    raw = json.dumps(known).encode()[:_BYTES].ljust(_BYTES)
    fd = os.open(os.path.join(directory, NAME), os.O_WRONLY | os.O_CREAT, oslayer.FILE_MODE)
    try:
        oslayer.write_at(fd, raw, 0)
        os.ftruncate(fd, _BYTES)
    finally:
        os.close(fd)


@dataclass
class Announcer:
    """Writes the stages of the daemon in this process. Only commands would miss one that cannot be
    written."""

    directory: str
    port: int
    version: str
    started_at: str

    def __call__(self, life: Life, doing: str = "") -> None:
        now = Stage(life, doing, os.getpid(), self.port, self.version, self.started_at)
        try:
            write(self.directory, now)
        except OSError as error:
            log.warning("%s cannot be written: %s", NAME, error)

    def withdraw(self) -> None:
        with contextlib.suppress(OSError):  # on Windows while a command reads it
            os.unlink(os.path.join(self.directory, NAME))


def clear(directory: str) -> None:
    """Remove why the last start failed, once the reason is gone."""
    if read(directory) is not None:
        write(directory, Stage("stopped"))


def read(directory: str) -> Stage | None:
    try:
        with open(os.path.join(directory, NAME), "rb") as file:
            return Stage(**json.loads(file.read(2 * _BYTES)))
    except (OSError, ValueError, TypeError):
        return None
