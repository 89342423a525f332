"""Access control for HTTP, decided from the headers before any of the body is read.

In: ASGI requests. Out: the same requests, or a refusal. A TCP request needs a Host that names this
machine, our own Origin and Sec-Fetch-Site, and a token or a browser's pass, and its rate is
limited. On the unix socket the kernel identifies the user instead. Bodies are limited while read.
"""

import threading
import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.core.errors import TooLarge
from recollect.core.values import REQUEST_BYTES
from recollect.server import responses
from recollect.server.tokens import Tokens

REQUESTS_PER_MINUTE = 200
# A page of the dashboard makes many small requests at once.
BROWSER_REQUESTS_PER_MINUTE = 1200
# Where a browser trades its code for a pass: the only path that needs neither.
OPEN = "/open"
# The routes that a hook's token allows.
HOOK_ROUTES = frozenset({("POST", "/v1/events"), ("GET", "/healthz")})
_LIMIT = f"A request may have {REQUEST_BYTES} bytes."
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Guard:
    def __init__(self, app: ASGIApp, tokens: Tokens, port: int) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._cookie = cookie_name(port)
        self._pace = Pace(REQUESTS_PER_MINUTE)
        self._browser_pace = Pace(BROWSER_REQUESTS_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self._app(scope, _counted(receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if not is_unix(scope):
            refusal = self._stranger(headers) or self._no_token(scope, headers)
            if refusal is not None:
                return refusal
        return _bad_body(scope, headers)

    def _stranger(self, headers: Headers) -> ASGIApp | None:
        """Refuse a request that a foreign web page may have caused."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return responses.problem(403, "bad_host", "The Host header does not name this machine.")
        origins = headers.getlist("origin")
        if len(origins) > 1 or (origins and origins[0] not in self._origins):
            return responses.problem(403, "bad_origin", "Requests from other origins are refused.")
        sites = headers.getlist("sec-fetch-site")
        if len(sites) > 1 or (sites and sites[0] not in ("same-origin", "none")):
            return responses.problem(403, "bad_origin", "Requests from other sites are refused.")
        return None

    def _no_token(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        if (scope["method"], scope["path"]) == ("GET", OPEN):
            return self._too_fast("open")
        allowed = self._allowed(scope, headers)
        if allowed is None and "text/html" in headers.get("accept", ""):
            return responses.page(401, "Not signed in", "To sign in, run: recollect open")
        if allowed is None:
            return responses.problem(
                401,
                "no_token",
                "The request needs the token from the data directory.",
                hint="Authorization: Bearer $(cat ~/.recollect/token)",
                headers={"www-authenticate": "Bearer"},
            )
        if allowed == "hook" and (scope["method"], scope["path"]) not in HOOK_ROUTES:
            return responses.problem(403, "scope", "A hook's token may only ingest and recall.")
        return self._too_fast(allowed)

    def _allowed(self, scope: Scope, headers: Headers) -> str | None:
        """The scope that the request's token, or its browser's pass, gives; None for neither."""
        given = headers.getlist("authorization")
        if given:
            word, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
            return self._tokens.scope(token.strip()) if word.lower() == "bearer" else None
        passes = [
            value.strip()
            for line in headers.getlist("cookie")
            for name, _, value in [part.partition("=") for part in line.split(";")]
            if name.strip() == self._cookie
        ]
        # A request that changes something must come from our own page, by the browser's headers.
        ours = "origin" in headers or headers.get("sec-fetch-site") == "same-origin"
        if len(passes) == 1 and (scope["method"] in ("GET", "HEAD") or ours):
            return "browser" if self._tokens.is_pass(passes[0]) else None
        return None

    def _too_fast(self, caller: str) -> ASGIApp | None:
        wait = (self._browser_pace if caller == "browser" else self._pace).wait(caller)
        if not wait:
            return None
        return responses.problem(
            429,
            "too_many",
            "Too many requests per minute.",
            headers={"retry-after": str(wait)},
        )


def cookie_name(port: int) -> str:
    """Cookies do not distinguish ports, so each daemon uses its own name."""
    return f"recollect_{port}"


class Pace:
    """A token bucket per caller."""

    def __init__(self, per_minute: int) -> None:
        self._rate = per_minute / 60
        self._most = float(per_minute)
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, caller: str) -> int:
        """Seconds until the caller's next request is allowed; 0 when it is allowed now."""
        now = time.monotonic()
        with self._lock:
            left, last = self._buckets.get(caller, (self._most, now))
            left = min(self._most, left + (now - last) * self._rate)
            if left < 1:
                self._buckets[caller] = (left, now)
                return max(1, round((1 - left) / self._rate))
            self._buckets[caller] = (left - 1, now)
        return 0


def is_unix(scope: Scope) -> bool:
    """Whether a request came over the unix socket: its server has a path and no port."""
    server = scope.get("server")
    return server is not None and server[1] is None


def _bad_body(scope: Scope, headers: Headers) -> ASGIApp | None:
    lengths = headers.getlist("content-length")
    if lengths and not lengths[0].isdecimal():
        return responses.problem(400, "bad_input", "The Content-Length is not a number.")
    if lengths and int(lengths[0]) > REQUEST_BYTES:
        return responses.explained(TooLarge(_LIMIT))
    has_body = bool(lengths and int(lengths[0])) or "transfer-encoding" in headers
    if scope["method"] in _BODY_METHODS and has_body:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return responses.problem(
                415, "not_json", "The body must be JSON.", hint="Content-Type: application/json"
            )
        if headers.get("content-encoding", "identity").lower() != "identity":
            return responses.problem(415, "encoded", "Compressed bodies are not accepted.")
    return None


def _counted(receive: Receive) -> Receive:
    """Limits also a body without a Content-Length."""
    size = 0

    async def receiving() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > REQUEST_BYTES:
            raise TooLarge(_LIMIT)
        return message

    return receiving


def _with_headers(send: Send) -> Send:
    extra = [(name.encode(), value.encode()) for name, value in responses.HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", ())}
            message["headers"] = [
                *message.get("headers", ()),
                *((name, value) for name, value in extra if name not in present),
            ]
        await send(message)

    return sending
