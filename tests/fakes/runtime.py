"""Everything behind the doors in this process: a Runtime in a home of its own, and its HTTP app.

In: a directory. Out: `RuntimeHome`, which is asked like a `RealDaemon` (`client`, `http`,
`run_hook`) but opens no socket and starts no process; time is a ManualClock. The fixture
`runtime_home` gives one per test. Use it for what is a route, a tool, a command or an operation;
use `RealDaemon` for what needs a process: the hook program, signals, sockets, crashes, limits.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from anyio.from_thread import start_blocking_portal
from starlette.types import ASGIApp, Message, Scope

from recollect.capture import frames
from recollect.client import Client, refused
from recollect.core.clock import ManualClock
from recollect.core.ids import new_ulid
from recollect.core.settings import Settings
from recollect.core.values import Event
from recollect.daemon.runtime import Runtime
from recollect.extract.watcher import RunFollowUp
from recollect.ingest.messages import Reply
from tests.fakes.waiting import PATIENCE_S

Answer = tuple[int, dict[str, str], bytes]
Head = Sequence[tuple[str, str]]


def http_scope(method: str, target: str, head: Head, port: int = 0) -> Scope:
    """A request as a parser of HTTP hands it over: nothing in it is put right. With a port it came
    over TCP, without one over the unix socket."""
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in head],
        "client": ("127.0.0.1", 1) if port else None,
        "server": ("127.0.0.1", port) if port else ("/recollect.sock", None),
    }


async def asgi_request(app: ASGIApp, scope: Scope, body: Iterable[bytes] = ()) -> Answer:
    """Ask, and wait for the whole answer; the body comes in these parts."""
    parts = iter(body)
    sent = False
    answered = asyncio.Event()
    told: list[Message] = []

    async def receive() -> Message:
        nonlocal sent
        if not sent:
            part = next(parts, b"")
            sent = not part
            return {"type": "http.request", "body": part, "more_body": not sent}
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        told.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            answered.set()

    try:
        await app(scope, receive, send)
    except Exception:
        if not answered.is_set():  # else it is in the log, and its answer is a 500
            raise
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in told[0]["headers"]}
    content = b"".join(message.get("body", b"") for message in told[1:])
    return told[0]["status"], headers, content


class InProcessClient(Client):
    """The client of commands and of `recollect.Memory`, with the app instead of a socket."""

    def __init__(self, home: "RuntimeHome") -> None:
        super().__init__(home.settings)
        self._home = home

    def send(
        self, method: str, path: str, payload: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        status, _, body = self._home.request(method, path, list(headers.items()), payload)
        return status, body

    def stream(self, path: str) -> Iterator[bytes]:
        status, body = self.send("GET", path, None, {})
        if status >= 400:
            raise refused(json.loads(body), status)
        yield body


class RuntimeHome:
    def __init__(
        self, home: pathlib.Path, clock: ManualClock | None = None, **settings: Any
    ) -> None:
        """`settings` as in `Settings`; without `embedding=True` search is by words alone."""
        chosen = {
            "actor": "ada",
            "reserve_mb": 0,
            "embedding": False,
            "model_dir": os.environ["RECOLLECT_MODEL_DIR"],
            **settings,
        }
        self.home = home
        self.clock = clock or ManualClock()
        self.settings = Settings(home=str(home), **chosen)
        self.runtime = Runtime(self.settings, self.clock)
        self.runtime.turn_writer.start()
        self.runtime.load_recall()
        self._learning = self.runtime.load_learning()
        self.client = InProcessClient(self)
        self.app = self.runtime.app()
        self._open = contextlib.ExitStack()
        self._open.callback(self.runtime.close)
        self._loop = self._open.enter_context(start_blocking_portal())

    def close(self) -> None:
        self._open.close()

    @property
    def port(self) -> int:
        return self.runtime.port

    @property
    def token(self) -> str:
        return self.runtime.tokens.current()

    def http(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        *,
        token: bool = True,
    ) -> Answer:
        """One request over TCP, with the token unless told otherwise."""
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if token:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        return self.request(method, path, list(sent.items()), body, port=self.port)

    def request(
        self, method: str, path: str, head: Head, body: bytes | None = None, port: int = 0
    ) -> Answer:
        """One request with exactly this head, and the length of its body."""
        if body is not None or method in ("POST", "PUT", "PATCH"):
            head = [*head, ("Content-Length", str(len(body or b"")))]
        parts = [body] if body else []
        return self._loop.call(asgi_request, self.app, http_scope(method, path, head, port), parts)

    @contextlib.contextmanager
    def watching(self, last: str = "") -> Iterator[Callable[[str], str]]:
        """Somebody who reads `/api/events`: a call returns what came up to the given words."""
        told: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        leaves = asyncio.Event()

        async def receive() -> Message:
            await leaves.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            told.put(message.get("body", b""))

        def until(words: str) -> str:
            text = ""
            while words not in text:
                text += told.get(timeout=PATIENCE_S).decode()
            return text

        scope = http_scope("GET", "/api/events", [("Last-Event-ID", last)] if last else [])
        watcher = self._loop.start_task_soon(self.app, scope, receive, send)
        try:
            yield until
        finally:
            self._loop.call(leaves.set)
            watcher.result(PATIENCE_S)

    def run_hook(
        self, host: str, event: str, payload: dict[str, Any], cwd: str | None = None
    ) -> Reply:
        """What the daemon answers to a hook's frame, once turns are made of it; takes a second."""
        frame = frames.Frame(
            ulid=new_ulid(),
            boot_id=self.clock.boot_id(),
            mono_ns=self.clock.mono_ns(),
            wall_ns=int(self.clock.now().timestamp() * 1e9),
            argv=(host.encode(), event.encode()),
            cwd=(cwd or payload.get("cwd") or "/").encode(),
            env=(),
            stdin=json.dumps(payload).encode(),
        )
        digest = frames.digest(frames.encode_payload(frame))
        reply = self.runtime.pipeline.frame(frame, digest)
        self.clock.advance(seconds=1)
        assert self.runtime.turn_writer.wait(PATIENCE_S)
        return reply

    def put(self, events: Sequence[Event]) -> None:
        """Store events as the write path does, and wait for the turns that are made of them."""
        self.runtime.pipeline.events([(one, one.event_id) for one in events])
        assert self.runtime.turn_writer.wait(PATIENCE_S)

    def extract(self, *namespaces: str) -> None:
        """Extract what waits there, or everywhere, in this thread."""
        for namespace in namespaces or tuple(self.runtime.store.projects.namespaces()):
            after = RunFollowUp(again=True)
            while after.again and not after.wait_s:
                after = self._learning.worker.run(namespace)

    def embed(self) -> None:
        """Give every memory its vector, in this thread."""
        backfill = self.runtime.recall()._backfill
        while backfill is not None and backfill.step():
            pass

    def start_extraction(self) -> None:
        """The threads of extraction, for doors that ask it to run now."""
        self._learning.start()
