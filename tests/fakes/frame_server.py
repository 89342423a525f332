"""A daemon that is only a socket: takes frames, and answers as it is told to.

In: a path and a way to behave. Out: the frames it took, in `taken`. Closing it ends its threads.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType

from recollect.capture import frames
from tests.fakes.waiting import PATIENCE_S

ANSWER = b'{"hookSpecificOutput": {"additionalContext": "\xc3\xa9\\u0000"}}\n'

Behave = Callable[["FrameServer", socket.socket], None]


def decode_answer(data: bytes) -> tuple[int, bytes]:
    """Status and bytes of a whole answer; hooks read it piece by piece."""
    status, length = frames.answer_header(data[: frames.HEADER_BYTES])
    if len(data) != frames.HEADER_BYTES + length:
        raise frames.FrameError(f"an answer of {len(data)} bytes says that {length} follow")
    return status, data[frames.HEADER_BYTES :]


class FrameServer:
    def __init__(self, path: str, behave: Behave | None = None, backlog: int = 128) -> None:
        self.path = path
        self.behave = behave or answering()
        self.taken: list[frames.Frame] = []
        self.payloads: list[bytes] = []
        self.connections = 0
        self._over = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(backlog)
        self._listener.settimeout(0.1)
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> "FrameServer":
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(10)
        self._listener.close()

    def pause(self, seconds: float) -> None:
        self._over.wait(seconds)

    def take(self, connection: socket.socket) -> None:
        """Read one frame."""
        flags, length = frames.request_header(_exactly(connection, frames.HEADER_BYTES))
        payload = _exactly(connection, length)
        self.taken.append(frames.decode_payload(payload, flags))
        self.payloads.append(payload)

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        # A probe that only connects, and a hook that gave up, are not this server's failure.
        with connection, contextlib.suppress(OSError, EOFError):
            connection.settimeout(5)
            self.behave(self, connection)


def answering(body: bytes = ANSWER, status: int = frames.STORED, after: float = 0) -> Behave:
    """Take the frame, wait, answer."""
    return sending(frames.encode_answer(status, body), after)


def sending(data: bytes, after: float = 0) -> Behave:
    """Take the frame, wait, send these bytes, close."""

    def behave(server: FrameServer, connection: socket.socket) -> None:
        server.take(connection)
        server.pause(after)
        connection.sendall(data)

    return behave


def dripping(data: bytes, pause: float) -> Behave:
    """Take the frame, answer byte by byte."""

    def behave(server: FrameServer, connection: socket.socket) -> None:
        server.take(connection)
        for index in range(len(data)):
            connection.sendall(data[index : index + 1])
            server.pause(pause)

    return behave


def hanging(server: FrameServer, connection: socket.socket) -> None:
    """Take the frame and never answer."""
    server.take(connection)
    server.pause(30)


def deaf(server: FrameServer, connection: socket.socket) -> None:
    """Accept and read nothing."""
    server.pause(30)


def closing(server: FrameServer, connection: socket.socket) -> None:
    """Accept and close at once."""


def closing_after_reading(server: FrameServer, connection: socket.socket) -> None:
    """Take the frame, say nothing, close."""
    server.take(connection)


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    until = time.monotonic() + PATIENCE_S
    while len(data) < length and time.monotonic() < until:
        chunk = connection.recv(length - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)
