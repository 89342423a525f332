"""uvicorn's HTTP protocol with limits on who connects, how many, and for how long.

In: connections. Out: the same connections, except those of other users on the unix socket. Each
listener holds a limited number of them; when it is full, the oldest idle one is closed for a new
one, so that nobody can block others by connecting. Idle and stuck connections are closed.
"""

import asyncio
import hmac
import logging
import socket
from collections.abc import Callable
from typing import Any

import anyio.to_thread
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.core import oslayer

log = logging.getLogger(__name__)

LOOK_S = 5.0
# How long a connection may wait for its client to send the head of a request, to send its body,
# and to read the answer. Clients are on this machine, so this is generous.
HEAD_S = 10.0
BODY_S = 60.0
READ_S = 60.0
BACKLOG = 512


class Connections:
    """The connections of one listener, oldest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[DoorProtocol, None] = {}

    def enter(self, one: "DoorProtocol") -> None:
        self._open[one] = None
        if len(self._open) > self._most:
            idle = next((other for other in self._open if other.waits_for_request), one)
            self.leave(idle)
            idle.transport.abort()

    def leave(self, one: "DoorProtocol") -> None:
        self._open.pop(one, None)


class DoorProtocol(H11Protocol):
    def __init__(self, *arguments: Any, doors: dict[bool, Connections], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._doors = doors
        self._door: Connections | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waits: tuple[object, ...] = ()
        self._waits_since = 0.0
        self._resumed = 0
        self._token = b""  # what is still to come of it
        self._given = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        peer: socket.socket = transport.get_extra_info("socket")
        self._token = oslayer.expected_token(peer)
        is_local = bool(self._token) or peer.family != socket.AF_INET
        if is_local and not oslayer.is_owner(peer):
            log.warning("a process of another user tried the socket")
            transport.abort()
            return
        super().connection_made(transport)
        if self._token:
            self.server = ("loopback", None)  # what the guard takes for a local socket
        self._door = self._doors[is_local]
        self._waits_since = self.loop.time()
        self._timer = self.loop.call_later(LOOK_S, self._look)
        self._door.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._door is None:
            return  # refused in connection_made
        self._door.leave(self)
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._token:  # nothing is read as HTTP before it
            self._given += data
            if len(self._given) < len(self._token):
                return
            given, data = self._given[: len(self._token)], self._given[len(self._token) :]
            if not hmac.compare_digest(given, self._token):
                log.warning("a process that does not know the token tried the socket")
                self.transport.abort()
                return
            self._token = self._given = b""
        if data:
            super().data_received(data)

    def resume_writing(self) -> None:
        self._resumed += 1
        super().resume_writing()

    @property
    def waits_for_request(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        """Close the connection if it has waited too long for the same action of its client."""
        patience, waits = self._waiting()
        now = self.loop.time()
        if waits != self._waits:
            self._waits, self._waits_since = waits, now - LOOK_S
        if patience and now - self._waits_since >= patience:
            self.transport.abort()
            return
        self._timer = self.loop.call_later(LOOK_S, self._look)

    def _waiting(self) -> tuple[float, tuple[object, ...]]:
        """How long the connection may wait in its present state, and a key for that state; 0 when
        it does not wait for its client."""
        if self.waits_for_request:
            return HEAD_S, ("head", self.cycle)
        if self.flow.write_paused:
            return READ_S, ("reader", self.cycle, self._resumed)
        if self.cycle.more_body:
            return BODY_S, ("body", self.cycle)
        return 0.0, ()


class HttpServer(uvicorn.Server):
    """uvicorn with a given number of threads, which can add a listener while it runs. `ends` is
    called before the listeners are closed."""

    def __init__(
        self, config: uvicorn.Config, threads: int, ends: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__(config)
        self._threads = threads
        self._ends = ends
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # Each thread that answers a request may open its own connection to the store.
        anyio.to_thread.current_default_thread_limiter().total_tokens = self._threads
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._lengthen(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ends()
        await super().shutdown(sockets)

    def also_serve(self, listener: socket.socket) -> None:
        """Serve one more listener. Called from another thread."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._also_serve(listener), self._loop)

    async def _also_serve(self, listener: socket.socket) -> None:
        before = self.servers
        await super().startup([listener])
        self.servers += before
        self._lengthen([listener])

    @staticmethod
    def _lengthen(sockets: list[socket.socket] | None) -> None:
        """Set the system's backlog. uvicorn was given a short one, because it accepts that many
        connections at once before `Connections` can count them."""
        for one in sockets or ():
            one.listen(BACKLOG)
