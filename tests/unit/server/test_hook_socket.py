"""The hooks' door: nobody who is slow holds up another, and no error closes it."""

import contextlib
import errno
import os
import pathlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from recollect.capture import frames
from recollect.core.clock import ManualClock
from recollect.ingest.counters import Counters
from recollect.ingest.messages import Reply, Send
from recollect.server import hook_socket
from recollect.server.door_watch import hooks
from recollect.server.hook_socket import HookServer
from tests.crash.postgres import frame
from tests.fakes.frame_server import decode_answer
from tests.fakes.waiting import PATIENCE_S, wait_until

Take = Callable[[frames.Frame, bytes], Reply]


def stored(one: frames.Frame, digest: bytes) -> Reply:
    return Reply(frames.STORED, one.stdin)


def sending(take: Take) -> Callable[[frames.Frame, bytes, Send], Reply]:
    """Sends what `take` returns."""

    def sends(one: frames.Frame, digest: bytes, send: Send) -> Reply:
        reply = take(one, digest)
        send(reply)
        return reply

    return sends


@contextlib.contextmanager
def serving(
    place: pathlib.Path, take: Take = stored, *, connections: int = 64, workers: int = 2
) -> Iterator[HookServer]:
    server = HookServer(
        str(place / "s"),
        sending(take),
        Counters(ManualClock()),
        connections=connections,
        workers=workers,
    )
    server.start()
    try:
        yield server
    finally:
        server.close()


def connected(place: pathlib.Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE_S)
    connection.connect(str(place / "s"))
    return connection


def received(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(1 << 20):
        parts.append(part)
    return b"".join(parts)


def asked(place: pathlib.Path, text: str = "hello") -> tuple[int, bytes]:
    with connected(place) as connection:
        connection.sendall(frames.encode(frame(text, "s")))
        return decode_answer(received(connection))


def answers(place: pathlib.Path) -> bool:
    status, body = asked(place)
    return status == frames.STORED and b"hello" in body


def test_frames_are_answered_also_when_they_come_byte_by_byte(tmp_path: pathlib.Path) -> None:
    with serving(tmp_path):
        assert answers(tmp_path)
        with connected(tmp_path) as connection:
            for byte in frames.encode(frame("slow", "s")):
                connection.sendall(bytes([byte]))
            assert decode_answer(received(connection))[0] == frames.STORED


@pytest.mark.parametrize(
    "garbage",
    [b"x" * 12, b"GET / HTTP/1.1\r\n\r\n", frames.REQUEST_MAGIC + b"\x01\0\0\0" + b"\xff" * 4],
)
def test_garbage_is_closed_and_the_door_stays(tmp_path: pathlib.Path, garbage: bytes) -> None:
    with serving(tmp_path):
        with connected(tmp_path) as connection:
            connection.sendall(garbage)
            with contextlib.suppress(ConnectionResetError):
                assert received(connection) == b""
        assert answers(tmp_path)


def test_more_half_open_connections_than_it_takes_keep_nobody_out(tmp_path: pathlib.Path) -> None:
    with serving(tmp_path, connections=8, workers=1), contextlib.ExitStack() as stack:
        half = [stack.enter_context(connected(tmp_path)) for _ in range(40)]
        for number, one in enumerate(half):
            with contextlib.suppress(OSError):  # the oldest were closed
                one.sendall(frames.encode(frame("half", "s"))[: number % 60])
        assert all(answers(tmp_path) for _ in range(5))


def test_who_does_not_take_its_answer_occupies_no_worker(tmp_path: pathlib.Path) -> None:
    large = bytes(frames.MAX_ANSWER)

    def take(one: frames.Frame, digest: bytes) -> Reply:
        return Reply(frames.STORED, large if b"large" in one.stdin else one.stdin)

    with serving(tmp_path, take, workers=1), contextlib.ExitStack() as stack:
        deaf = [stack.enter_context(connected(tmp_path)) for _ in range(3)]
        for one in deaf:
            one.sendall(frames.encode(frame("large", "s")))
        assert answers(tmp_path)
        assert asked(tmp_path, "large") == (frames.STORED, large), "one that reads gets it all"


def test_a_connection_that_says_nothing_is_closed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_socket, "PATIENCE_S", 0.05)
    with serving(tmp_path), connected(tmp_path) as connection:
        assert connection.recv(1) == b""


def test_frames_that_are_read_at_once_have_a_limit(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_socket, "HELD_BYTES", 1 << 20)
    begun = frames.request(bytes(2 << 20))[: 1 << 19]
    with serving(tmp_path), contextlib.ExitStack() as stack:
        many = [stack.enter_context(connected(tmp_path)) for _ in range(8)]
        for one in many:
            with contextlib.suppress(OSError):
                one.sendall(begun)
        with contextlib.suppress(ConnectionResetError):
            assert many[0].recv(1) == b"", "the oldest gives way"
        assert answers(tmp_path)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EPROTO])
def test_accepting_goes_on_after_every_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    failures = iter([OSError(number, os.strerror(number))] * 3)
    accept = socket.socket.accept

    def failing(listener: socket.socket) -> object:
        for error in failures:
            raise error
        return accept(listener)

    with serving(tmp_path) as server:
        monkeypatch.setattr(socket.socket, "accept", failing)
        assert answers(tmp_path)
        assert server._thread.is_alive()
        assert len(server._counters.errors_last_hour()) == 1, "told once a minute"


def test_a_defect_in_the_doors_own_thread_does_not_close_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as server:
        expire, once = server._expire, iter([ZeroDivisionError()])

        def failing() -> None:
            for error in once:
                raise error
            expire()

        monkeypatch.setattr(server, "_expire", failing)
        assert answers(tmp_path)
        assert answers(tmp_path)


def test_a_socket_that_was_removed_is_opened_anew(tmp_path: pathlib.Path) -> None:
    with serving(tmp_path) as server:
        os.unlink(tmp_path / "s")
        server.reopen()
        wait_until((tmp_path / "s").exists)
        assert answers(tmp_path)
    assert not (tmp_path / "s").exists()


def test_knocking_is_answered_by_a_worker_and_stores_nothing(tmp_path: pathlib.Path) -> None:
    taken: list[frames.Frame] = []

    def take(one: frames.Frame, digest: bytes) -> Reply:
        taken.append(one)
        return Reply(frames.STORED)

    with serving(tmp_path, take):
        hooks(str(tmp_path / "s"))()
    assert taken == []


def test_frames_that_were_taken_in_are_answered_at_the_end(tmp_path: pathlib.Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def take(one: frames.Frame, digest: bytes) -> Reply:
        begun.set()
        go_on.wait(PATIENCE_S)
        return Reply(frames.STORED)

    with connected_to(tmp_path, take) as (server, connection):
        connection.sendall(frames.encode(frame("late", "s")))
        assert begun.wait(PATIENCE_S)
        closing = threading.Thread(target=server.close)
        closing.start()
        go_on.set()
        assert decode_answer(received(connection))[0] == frames.STORED
        closing.join()


def test_a_worker_that_hangs_does_not_keep_it_from_closing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_socket, "CLOSE_S", 0.1)
    begun, never = threading.Event(), threading.Event()

    def take(one: frames.Frame, digest: bytes) -> Reply:
        begun.set()
        never.wait(600)
        return Reply(frames.STORED)

    with connected_to(tmp_path, take) as (server, connection):
        connection.sendall(frames.encode(frame("hangs", "s")))
        assert begun.wait(PATIENCE_S)
        closing = threading.Thread(target=server.close, daemon=True)
        closing.start()
        closing.join(PATIENCE_S)
        assert not closing.is_alive()
        never.set()


@contextlib.contextmanager
def connected_to(place: pathlib.Path, take: Take) -> Iterator[tuple[HookServer, socket.socket]]:
    server = HookServer(str(place / "s"), sending(take), Counters(ManualClock()), workers=1)
    server.start()
    with connected(place) as connection:
        yield server, connection


def test_a_hook_has_its_answer_although_what_follows_hangs_and_fails(
    tmp_path: pathlib.Path,
) -> None:
    answered = threading.Event()

    def take(one: frames.Frame, digest: bytes, send: Send) -> Reply:
        send(Reply(frames.STORED, b"first"))
        assert answered.wait(PATIENCE_S)
        raise RuntimeError("a listener failed")

    counters = Counters(ManualClock())
    server = HookServer(str(tmp_path / "s"), take, counters, workers=1)
    server.start()
    with connected(tmp_path) as connection:
        connection.sendall(frames.encode(frame("hello", "s")))
        first = decode_answer(connection.recv(1 << 20))
        answered.set()
        assert first == (frames.STORED, b"first")
        assert received(connection) == b""
    server.close()
    assert len(counters.errors_last_hour()) == 1
