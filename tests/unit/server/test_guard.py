"""No web page, no stranger and no flood gets past the door."""

import asyncio
import contextlib
import json
import types
from collections.abc import Iterator

import pytest

from recollect.core.ids import new_ulid
from recollect.core.values import REQUEST_BYTES
from recollect.server import guard
from recollect.server.app import ENDPOINTS
from recollect.server.guard import Guard
from recollect.server.live import CLIENTS
from recollect.server.tokens import Tokens, derived
from tests.fakes.runtime import RuntimeHome, asgi_request, http_scope

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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path_factory.mktemp("guard") / "home")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def no_pace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many requests in a moment are what most of these tests are made of."""
    if "flood" not in request.node.name:
        monkeypatch.setattr(guard.Pace, "wait", lambda self, caller: 0)


def test_every_route_refuses_sixty_spellings_of_another_origin(shared: RuntimeHome) -> None:
    """Before a byte of the body is read, and whatever the token."""

    async def nothing(*_: object) -> None:
        raise AssertionError("it came through")

    door = Guard(nothing, Tokens(str(shared.home / "token")), shared.port)
    heads = strange_heads(shared.port)
    assert len(heads) >= 60
    token = ("Authorization", f"Bearer {shared.token}")

    async def ask_all() -> None:
        for method, path in ROUTES:
            for head in heads:
                given = [*head, token, ("Content-Type", "application/json")]
                scope = http_scope(method, path, given, shared.port)
                status, _, raw = await asgi_request(door, scope)
                assert status == 403, (method, path, head, raw)
                assert json.loads(raw)["error"]["code"] in ("bad_host", "bad_origin")

    asyncio.run(ask_all())


def test_every_route_needs_the_token(shared: RuntimeHome) -> None:
    wrong = [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer " + "0" * 64},
        {"Authorization": "Bearer " + shared.token[:-1]},
        {"Authorization": "Basic " + shared.token},
        {"Authorization": shared.token},
        {"X-Token": shared.token},
        {"Cookie": f"token={shared.token}"},
    ]
    for method, path in ROUTES:
        for headers in wrong:
            status, answered, _ = shared.http(method, path, None, headers, token=False)
            assert status == 401, (method, path, headers)
            assert answered["www-authenticate"] == "Bearer"
    assert shared.http("GET", f"/healthz?token={shared.token}", token=False)[0] == 401


def test_two_tokens_are_none(shared: RuntimeHome) -> None:
    head = [("Host", f"127.0.0.1:{shared.port}")] + [
        ("Authorization", f"Bearer {shared.token}") for _ in range(2)
    ]
    assert shared.request("GET", "/healthz", head[:2], port=shared.port)[0] == 200
    assert shared.request("GET", "/healthz", head, port=shared.port)[0] == 401


def test_a_hooks_token_may_only_ingest_and_recall(shared: RuntimeHome) -> None:
    headers = {"Authorization": f"Bearer {derived(shared.token, 'hook')}"}
    for method, path in ROUTES:
        if (method, path) in (("POST", "/v1/events"), ("GET", "/healthz")):
            continue
        assert shared.http(method, path, None, headers, token=False)[0] == 403, (method, path)
    assert shared.http("GET", "/healthz", None, headers, token=False)[0] == 200


def test_the_token_rotates_without_a_restart(runtime_home: RuntimeHome) -> None:
    old = runtime_home.token
    assert runtime_home.http("GET", "/healthz")[0] == 200
    Tokens(str(runtime_home.home / "token")).rotate()
    assert runtime_home.http("GET", "/healthz")[0] == 200
    headers = {"Authorization": f"Bearer {old}"}
    assert runtime_home.http("GET", "/healthz", None, headers, token=False)[0] == 401
    assert oct((runtime_home.home / "token").stat().st_mode & 0o777) == "0o600"


def test_large_bodies_are_refused_before_they_are_read(shared: RuntimeHome) -> None:
    head = [("Host", "x"), ("Content-Type", "application/json")]
    said = [*head, ("Content-Length", str(REQUEST_BYTES + 1))]
    read: list[bytes] = []

    def body() -> Iterator[bytes]:
        """One that does not say how long it is."""
        for _ in range(40):
            read.append(b"x" * 0x10000)
            yield read[-1]

    async def sent(head: list[tuple[str, str]], parts: Iterator[bytes]) -> int:
        return (await asgi_request(shared.app, http_scope("POST", "/v1/events", head), parts))[0]

    assert asyncio.run(sent(said, body())) == 413 and read == []
    assert asyncio.run(sent([*head, ("Transfer-Encoding", "chunked")], body())) == 413
    assert len(read) * 0x10000 <= REQUEST_BYTES + 0x10000
    for length in ("-1", "many", "1.5"):
        assert asyncio.run(sent([*head, ("Content-Length", length)], body())) == 400


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
    shared: RuntimeHome, method: str, path: str, body: bytes | None, status: int, field: str
) -> None:
    got, headers, raw = shared.http(method, path, body)
    assert got == status, raw
    told = json.loads(raw)["error"]
    assert told["message"] and "Traceback" not in raw.decode()
    assert told.get("field", "") == field
    assert headers["x-content-type-options"] == "nosniff"
    if status == 405:
        assert set(headers["allow"].split(", ")) >= {"GET", "POST"}


def test_a_body_that_is_not_json_is_refused(shared: RuntimeHome) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        status, _, _ = shared.http("POST", "/v1/events", b"{}", {"Content-Type": kind})
        assert status == 415


def test_an_event_is_stored_once_and_a_conflict_is_told(shared: RuntimeHome) -> None:
    one = event(event_id=new_ulid())
    first, again = (json.loads(shared.http("POST", "/v1/events", one)[2]) for _ in range(2))
    assert (first["stored"], again["stored"]) == (True, False)
    other = event(event_id=first["event_id"], body={"type": "text", "content": "other"})
    assert shared.http("POST", "/v1/events", other)[0] == 409


def test_a_compressed_body_is_refused(shared: RuntimeHome) -> None:
    status, _, raw = shared.http("POST", "/v1/events", b"{}", {"Content-Encoding": "gzip"})
    assert status == 415 and json.loads(raw)["error"]["code"] == "encoded"


def test_a_flood_is_slowed_on_tcp_and_not_on_the_socket(
    runtime_home: RuntimeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(guard, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    statuses = [runtime_home.http("GET", "/healthz")[0] for _ in range(230)]
    assert statuses == [200] * 200 + [429] * 30
    assert runtime_home.http("GET", "/healthz")[1]["retry-after"] == "1"
    for _ in range(50):
        runtime_home.client.get("/healthz")
    now[0] += 1
    assert [runtime_home.http("GET", "/healthz")[0] for _ in range(4)] == [200] * 3 + [429]


def test_watchers_are_told_and_a_reconnect_misses_nothing(runtime_home: RuntimeHome) -> None:
    def store(session: str) -> None:
        runtime_home.client.ask("POST", "/v1/events", json.loads(event(session_id=session)))

    with runtime_home.watching() as until:
        until(": connected")
        store("one")
        told = until("event: memory")  # of another thread than the event: either may be first
        if "event: event" not in told:
            told += until("event: event")
    last = told.rpartition("id: ")[2].partition("\n")[0]
    store("two")
    with runtime_home.watching(last) as until:
        assert '"one"' not in until('"two"')
    with runtime_home.watching("01ARZ3NDEKTSV4RRFFQ69G5FAV-7") as until:
        until("event: reset")
    assert runtime_home.client.get("/healthz")["status"] == "ok"
    assert not runtime_home.runtime.live._watchers


def test_the_most_watchers_is_told_as_429(runtime_home: RuntimeHome) -> None:
    with contextlib.ExitStack() as watchers:
        for _ in range(CLIENTS):
            watchers.enter_context(runtime_home.watching())(": connected")
        status, _, raw = runtime_home.http("GET", "/api/events")
        assert status == 429 and json.loads(raw)["error"]["hint"] == "Close a dashboard."
