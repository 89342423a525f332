"""The guard behind the real parser of HTTP: what of a strange head comes through to it."""

import contextlib
import socket

import pytest

from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S
from tests.unit.server.test_guard import strange_heads


def raw_request(port: int, head: list[tuple[str, str]]) -> bytes:
    """A request written by hand, that announces a body but sends none: a refusal must not wait."""
    lines = ["POST /v1/events HTTP/1.1", *(f"{name}: {value}" for name, value in head)]
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("utf-8"))
        return connection.recv(65536)


def test_sixty_spellings_of_another_origin_are_refused(shared_daemon: RealDaemon) -> None:
    more = [
        ("Authorization", f"Bearer {shared_daemon.token}"),
        ("Content-Type", "application/json"),
        ("Content-Length", "2"),
    ]
    for head in strange_heads(shared_daemon.port):
        answer = raw_request(shared_daemon.port, [*head, *more])
        assert int(answer.split()[1]) in (400, 403), (head, answer)
        assert b"event_id" not in answer and b"pid" not in answer


def test_only_this_machine_can_connect(shared_daemon: RealDaemon) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", shared_daemon.port), timeout=PATIENCE_S)


def test_large_bodies_are_refused_before_they_are_read(shared_daemon: RealDaemon) -> None:
    head = [
        ("Host", f"127.0.0.1:{shared_daemon.port}"),
        ("Authorization", f"Bearer {shared_daemon.token}"),
        ("Content-Length", str(3 << 20)),
        ("Content-Type", "application/json"),
    ]
    assert b" 413 " in raw_request(shared_daemon.port, head)
    # and one that does not say how long it is
    chunked = {"Transfer-Encoding": "chunked"}
    body = b"".join(b"10000\r\n" + b"x" * 0x10000 + b"\r\n" for _ in range(40)) + b"0\r\n\r\n"
    with socket.create_connection(
        ("127.0.0.1", shared_daemon.port), timeout=PATIENCE_S
    ) as connection:
        lines = [
            "POST /v1/events HTTP/1.1",
            *(f"{k}: {v}" for k, v in head if k != "Content-Length"),
        ]
        lines += [f"{k}: {v}" for k, v in chunked.items()]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        assert b" 413 " in connection.recv(65536)
