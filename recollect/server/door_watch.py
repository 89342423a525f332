"""Checks that each door (hook socket, HTTP) still answers, by connecting like a client.

In: the addresses of the doors. Out: for each, since when it does not answer, and why. A socket
whose file was removed, for example by a cleaner of temporary directories, is opened again.
"""

import logging
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.capture import frames
from recollect.core import oslayer
from recollect.core.clock import Clock
from recollect.core.periodic import Job, Periodic
from recollect.ingest.counters import Counters

log = logging.getLogger(__name__)

EVERY_S = 5.0
PATIENCE_S = 10.0
# A frame of an unknown version: a worker answers it, and nothing is stored.
_NO_FRAME = frames.REQUEST_MAGIC + bytes(8)


@dataclass(frozen=True)
class Door:
    """`knock` raises OSError unless the door answers; `reopen` listens again."""

    knock: Callable[[], None]
    reopen: Callable[[], None] | None = None


class DoorWatch:
    def __init__(
        self, clock: Clock, counters: Counters, also: Callable[[], object] = lambda: None
    ) -> None:
        """`also`: another check that runs at the same interval."""
        self._clock = clock
        self._counters = counters
        self._doors: dict[str, Door] = {}
        self._problems: dict[str, tuple[datetime, str]] = {}
        self._periodic = Periodic(
            "doors", Job(also, EVERY_S), Job(self.look, EVERY_S), on_error=counters.error
        )

    def start(self, doors: Mapping[str, Door]) -> None:
        self._doors = dict(doors)
        self._periodic.start()

    def close(self) -> None:
        self._periodic.close(0)  # it may be knocking at a door that does not answer

    def status(self) -> dict[str, dict[str, object]]:
        found = dict(self._problems)
        return {
            name: {
                "answers": name not in found,
                "since": found[name][0] if name in found else None,
                "problem": found[name][1] if name in found else "",
            }
            for name in self._doors
        }

    def look(self) -> None:
        """Knock at every door, one after the other."""
        for name, door in self._doors.items():
            try:
                door.knock()
            except (FileNotFoundError, ConnectionRefusedError) as error:
                self._note(name, error)
                if door.reopen is not None and not self._periodic.stop.is_set():
                    door.reopen()
            except OSError as error:
                self._note(name, error)
            else:
                if self._problems.pop(name, None):
                    log.info("the door %s answers again", name)

    def _note(self, name: str, error: OSError) -> None:
        if name in self._problems or self._periodic.stop.is_set():
            return
        why = error.strerror or str(error) or "no answer in time"
        self._problems[name] = (self._clock.now(), why)
        log.error("the door %s does not answer: %s", name, why)
        self._counters.error(f"the door {name} does not answer: {why}")


def hooks(path: str) -> Callable[[], None]:
    def knock() -> None:
        answer = _asked(oslayer.connect_local(path, PATIENCE_S), _NO_FRAME, frames.HEADER_BYTES)
        if answer[: len(frames.ANSWER_MAGIC)] != frames.ANSWER_MAGIC:
            raise OSError("unexpected answer")

    return knock


def http(connect: Callable[[float], socket.socket], host: str) -> Callable[[], None]:
    request = f"GET /static/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()

    def knock() -> None:
        if _asked(connect(PATIENCE_S), request, 9) != b"HTTP/1.1 ":
            raise OSError("unexpected answer")

    return knock


def _asked(connection: socket.socket, request: bytes, most: int) -> bytes:
    """The first bytes of the answer."""
    with connection:
        connection.sendall(request)
        answer = b""
        while len(answer) < most:
            part = connection.recv(most - len(answer))
            if not part:
                raise OSError("it closed the connection")
            answer += part
        return answer
