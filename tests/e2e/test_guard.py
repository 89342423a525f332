"""No web page, no stranger and no flood gets past the door."""

import contextlib
import json
import socket
import time

import pytest

from recollect.server.app import ENDPOINTS
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S

ROUTES = sorted(
    {(one.method, one.path) for one in ENDPOINTS}
    | {("GET", "/openapi.json"), ("GET", "/api/events"), ("GET", "/nowhere")}
    | {("OPTIONS", "/v1/events")}
)  # fmt: skip


def strange_heads(port: int) -> list[list[tuple[str, str]]]:
    """Sixty spellings of Host, Origin and Sec-Fetch-Site that a page could bring about."""
    hosts = [
        "", "evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}",
        f"localhost.evil.example:{port}", f"localhost.:{port}", f"LOCALHOST.EVIL:{port}",
        f"0.0.0.0:{port}", f"127.0.0.2:{port}", f"127.1:{port}", f"2130706433:{port}",
        f"0x7f000001:{port}", f"[::]:{port}", f"[::ffff:127.0.0.1]:{port}", f"[::1]evil:{port}",
        f"user@127.0.0.1:{port}", f"127.0.0.1:{port}@evil.example", "127.0.0.1", "localhost",
        f"127.0.0.1:{port + 1}", "127.0.0.1:", f"127.0.0.1 :{port}", f"127.0.0.1:{port}.",
        f"127.0.0.1:0{port}", f"localhost:{port}/", f"localhost:{port}, evil.example",
        f"169.254.169.254:{port}", f"10.0.0.1:{port}", f"host.docker.internal:{port}",
        f"rebind.network:{port}", f"ⅼocalhost:{port}",
    ]  # fmt: skip
    good = f"127.0.0.1:{port}"
    origins = [
        "null", "http://evil.example", f"http://evil.example:{port}", f"https://127.0.0.1:{port}",
        "http://127.0.0.1", f"http://127.0.0.1:{port + 1}", f"http://localhost.evil:{port}",
        f"http://0.0.0.0:{port}", f"HTTP://127.0.0.1:{port}", f"http://127.0.0.1:{port}/",
        f"http://user@127.0.0.1:{port}", f"http://[::]:{port}", "file://", "chrome-extension://x",
        f"http://127.0.0.1:{port} http://evil.example", "", "about:blank", "data:",
    ]  # fmt: skip
    heads = [[("Host", host)] for host in hosts]
    heads += [[("Host", good), ("Origin", origin)] for origin in origins]
    heads += [
        [("Host", good), ("Sec-Fetch-Site", site)]
        for site in ("cross-site", "same-site", "CROSS-SITE", "", "weird")
    ]
    heads += [
        [],
        [("Host", good), ("Host", good)],
        [("Host", good), ("Host", "evil.example")],
        [("Host", good), ("Origin", f"http://{good}"), ("Origin", "http://evil.example")],
        [("Host", good), ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
        [("Host", "evil.example"), ("X-Forwarded-Host", good)],
        [("Host", good), ("Origin", f"http://localhost.{good}")],
    ]
    return heads


def raw_request(port: int, method: str, path: str, head: list[tuple[str, str]], body: str) -> bytes:
    """A request written by hand, that announces a body but sends none: a refusal must not wait."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head)]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("utf-8"))
        return connection.recv(65536)


def test_every_route_refuses_sixty_spellings_of_another_origin(shared_daemon: RealDaemon) -> None:
    heads = strange_heads(shared_daemon.port)
    assert len(heads) >= 60
    token = ("Authorization", f"Bearer {shared_daemon.token}")
    for method, path in ROUTES:
        for head in heads:
            answer = raw_request(shared_daemon.port, method, path, [*head, token], "{}")
            status = int(answer.split()[1])
            assert status in (400, 403), (method, path, head, answer)
            assert b"event_id" not in answer and b"pid" not in answer


def test_every_route_needs_the_token(shared_daemon: RealDaemon) -> None:
    wrong = [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer " + "0" * 64},
        {"Authorization": "Bearer " + shared_daemon.token[:-1]},
        {"Authorization": "Basic " + shared_daemon.token},
        {"Authorization": shared_daemon.token},
        {"X-Token": shared_daemon.token},
        {"Cookie": f"token={shared_daemon.token}"},
    ]
    for method, path in ROUTES:
        for headers in wrong:
            status, answered, _ = shared_daemon.http(method, path, None, headers, token=False)
            assert status == 401, (method, path, headers)
            assert answered["www-authenticate"] == "Bearer"
    status, _, _ = shared_daemon.http("GET", f"/healthz?token={shared_daemon.token}", token=False)
    assert status == 401


def test_a_hooks_token_may_only_ingest_and_recall(shared_daemon: RealDaemon) -> None:
    from recollect.server.tokens import derived

    headers = {"Authorization": f"Bearer {derived(shared_daemon.token, 'hook')}"}
    for method, path in ROUTES:
        if (method, path) in (("POST", "/v1/events"), ("GET", "/healthz")):
            continue
        status, _, _ = shared_daemon.http(method, path, None, headers, token=False)
        assert status == 403, (method, path)
    assert shared_daemon.http("GET", "/healthz", None, headers, token=False)[0] == 200


def test_the_token_rotates_without_a_restart(daemon: RealDaemon) -> None:
    from recollect.server.tokens import Tokens

    old = daemon.token
    assert daemon.http("GET", "/healthz")[0] == 200
    Tokens(str(daemon.home / "token")).rotate()
    assert daemon.http("GET", "/healthz")[0] == 200
    headers = {"Authorization": f"Bearer {old}"}
    assert daemon.http("GET", "/healthz", None, headers, token=False)[0] == 401
    assert oct((daemon.home / "token").stat().st_mode & 0o777) == "0o600"


def test_large_bodies_are_refused_before_they_are_read(shared_daemon: RealDaemon) -> None:
    head = [
        ("Host", f"127.0.0.1:{shared_daemon.port}"),
        ("Authorization", f"Bearer {shared_daemon.token}"),
        ("Content-Length", str(3 << 20)),
        ("Content-Type", "application/json"),
    ]
    assert b" 413 " in raw_request(shared_daemon.port, "POST", "/v1/events", head, "")
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


LONG = "x" * (1 << 20)


def event(**changes: object) -> bytes:
    base: dict[str, object] = {
        "session_id": "s",
        "kind": "note",
        "body": {"type": "text", "content": "x"},
        "source": {"surface": "test"},
    }
    return json.dumps(base | changes).encode()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("POST", "/v1/events", event(kind="bad"), 400, "kind"),
        ("POST", "/v1/events", event(surprise=1), 400, "surprise"),
        ("POST", "/v1/events", event(body={"type": "text"}), 400, "body.content"),
        ("POST", "/v1/events", event(schema_version=2), 400, "schema_version"),
        ("POST", "/v1/events", b"{", 400, ""),
        ("POST", "/v1/events", b"\xff\xfe", 400, ""),
        ("POST", "/v1/events", b"[" * 50_000, 400, ""),
        ("POST", "/v1/events?retrieve=maybe", event(), 400, "retrieve"),
        ("GET", "/v1/events?limit=0", None, 400, "limit"),
        ("GET", "/v1/events?limit=1&limit=2", None, 400, "limit"),
        ("GET", "/v1/events?before=x", None, 400, ""),
        ("GET", "/v1/events?nonsense=1", None, 400, "nonsense"),
        ("GET", "/nowhere", None, 404, ""),
        ("DELETE", "/v1/events", None, 405, ""),
        ("POST", "/v1/events", event(body={"type": "text", "content": LONG}), 413, "body"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_clear_answer(
    shared_daemon: RealDaemon, method: str, path: str, body: bytes | None, status: int, field: str
) -> None:
    got, headers, raw = shared_daemon.http(method, path, body)
    assert got == status, raw
    told = json.loads(raw)["error"]
    assert told["message"] and "Traceback" not in raw.decode()
    assert told.get("field", "") == field
    assert headers["x-content-type-options"] == "nosniff"
    if status == 405:
        assert set(headers["allow"].split(", ")) >= {"GET", "POST"}


def test_a_body_that_is_not_json_is_refused(shared_daemon: RealDaemon) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        status, _, _ = shared_daemon.http("POST", "/v1/events", b"{}", {"Content-Type": kind})
        assert status == 415


def test_an_event_is_stored_once_and_a_conflict_is_told(shared_daemon: RealDaemon) -> None:
    from recollect.core.ids import new_ulid

    one = event(event_id=new_ulid())
    first, again = (json.loads(shared_daemon.http("POST", "/v1/events", one)[2]) for _ in range(2))
    assert (first["stored"], again["stored"]) == (True, False)
    other = event(event_id=first["event_id"], body={"type": "text", "content": "other"})
    assert shared_daemon.http("POST", "/v1/events", other)[0] == 409


def test_a_flood_is_slowed_on_tcp_and_not_on_the_socket(daemon: RealDaemon) -> None:
    statuses = [daemon.http("GET", "/healthz")[0] for _ in range(230)]
    assert set(statuses) == {200, 429}
    status, headers, _ = daemon.http("GET", "/healthz")
    assert status == 429 and int(headers["retry-after"]) >= 1
    for _ in range(50):
        daemon.client.get("/healthz")


def test_watchers_are_told_and_a_reconnect_misses_nothing(daemon: RealDaemon) -> None:
    def watch(last: str = "") -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(str(daemon.home / "recollect.sock"))
        extra = f"Last-Event-ID: {last}\r\n" if last else ""
        connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: x\r\n{extra}\r\n".encode())
        return connection

    def read_until(connection: socket.socket, text: bytes) -> bytes:
        got = b""
        while text not in got:
            part = connection.recv(65536)
            assert part
            got += part
        return got

    first = watch()
    read_until(first, b": connected")
    daemon.client.ask("POST", "/v1/events", json.loads(event(session_id="one")))
    told = read_until(first, b"event: memory")
    last = told.split(b"id: ")[-1].split(b"\n")[0].decode()
    first.close()
    daemon.client.ask("POST", "/v1/events", json.loads(event(session_id="two")))
    second = watch(last)
    missed = read_until(second, b'"two"')
    assert b'"one"' not in missed
    second.close()
    stranger = watch("01ARZ3NDEKTSV4RRFFQ69G5FAV-7")
    assert b"event: reset" in read_until(stranger, b"reset")
    stranger.close()
    deadline = time.monotonic() + PATIENCE_S
    while daemon.client.get("/healthz")["status"] != "ok":
        assert time.monotonic() < deadline
