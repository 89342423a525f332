"""HTTP doors: so many connections, none for ever, and the oldest idle one makes room."""

import contextlib
import functools
import pathlib
import socket
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest
import uvicorn

from recollect.core import oslayer
from recollect.server import http_protocol
from recollect.server.door_watch import http as knocking
from recollect.server.http_protocol import Connections, DoorProtocol, HttpServer
from tests.fakes.waiting import PATIENCE_S, wait_until

MOST = 4
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads its body, and answers with as much as the path says."""
    while scope["method"] == "POST" and (await receive()).get("more_body"):
        continue
    await send({"type": "http.response.start", "status": 200, "headers": []})
    body = b"x" * (int(scope["path"][1:] or 0) + 1)
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def address(tmp_path: pathlib.Path) -> str:
    return str(tmp_path / "s")


@pytest.fixture
def server(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    for name in ("LOOK_S", "HEAD_S", "BODY_S", "READ_S"):
        monkeypatch.setattr(http_protocol, name, 0.1)
    protocol = functools.partial(DoorProtocol, doors={True: Connections(MOST)})
    config = uvicorn.Config(
        app, http=cast(Any, protocol), ws="none", lifespan="off", log_config=None, backlog=2
    )
    running = HttpServer(config, threads=3)
    listener = oslayer.listen_local(address)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: running.started)
    yield running
    running.should_exit = True
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def connected(address: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE_S)
    connection.connect(address)
    return connection


def closed(connection: socket.socket) -> bool:
    """It is, in the end, whatever was still sent."""
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(1 << 16):
            continue
    return True


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HT",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
        REQUEST,
    ],
    ids=["nothing", "half a head", "half a body", "a request and nothing more"],
)
def test_who_waits_too_long_is_closed(address: str, said: bytes) -> None:
    with connected(address) as connection:
        connection.sendall(said)
        assert closed(connection)


@pytest.mark.usefixtures("server")
def test_who_does_not_read_its_answer_is_closed(address: str) -> None:
    with connected(address) as connection:
        connection.sendall(b"GET /50000000 HTTP/1.1\r\nHost: x\r\n\r\n")

        def is_closed() -> bool:  # without reading anything
            try:
                connection.sendall(b"\r\n")
            except OSError:
                return True
            return False

        wait_until(is_closed)


def test_the_oldest_idle_connection_makes_room(
    server: HttpServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_S", 600.0)
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(connected(address)) for _ in range(MOST * 5)]
        for _ in range(MOST * 2):
            with connected(address) as connection:
                connection.sendall(REQUEST)
                assert connection.recv(8) == b"HTTP/1.1"
        assert all(closed(one) for one in idle[: MOST * 4])
        assert len(server.server_state.connections) <= MOST


def test_a_socket_that_was_removed_is_opened_anew(server: HttpServer, address: str) -> None:
    knock = knocking(functools.partial(oslayer.connect_local, address), "x")
    knock()
    pathlib.Path(address).unlink()
    with pytest.raises(FileNotFoundError):
        knock()
    server.also_serve(oslayer.listen_local(address))
    knock()


def test_it_tells_that_it_ends_while_its_listeners_still_answer(
    server: HttpServer, address: str
) -> None:
    told: list[str] = []

    def ends() -> None:
        connected(address).close()
        told.append("ends")

    server._ends = ends
    server.should_exit = True
    wait_until(lambda: bool(told))
