"""Everything behind the doors in this process: a Runtime in a home of its own, and its HTTP app.

In: a directory. Out: `RuntimeHome`, which is asked like a `RealDaemon` (`client`, `http`, `events`)
but opens no socket and starts no process; time is a ManualClock. The fixture `runtime_home` gives
one per test. Use it for what is a route, a tool or an operation; use `RealDaemon` for what needs a
process: hooks, signals, sockets, crashes, limits of the system.
"""

import contextlib
import json
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from starlette.testclient import TestClient

from recollect.client import Client, refused
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Event
from recollect.daemon.runtime import Runtime
from recollect.extract.watcher import RunFollowUp
from tests.fakes.waiting import PATIENCE_S

Answer = tuple[int, dict[str, str], bytes]


class InProcessClient(Client):
    """The client of commands and of `recollect.Memory`, with the app instead of a socket."""

    def __init__(self, home: "RuntimeHome") -> None:
        super().__init__(home.settings)
        self._home = home

    def send(
        self, method: str, path: str, payload: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        given = {name: value for name, value in headers.items() if name != "Host"}
        status, _, body = self._home.http(method, path, payload, given)
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
        self.runtime.episodes.start()
        self.runtime.load_recall()
        self._learning = self.runtime.load_learning()
        self.client = InProcessClient(self)
        self._http = TestClient(
            self.runtime.app(),
            base_url=f"http://127.0.0.1:{self.port}",
            raise_server_exceptions=False,
            follow_redirects=False,
        )
        self._open = contextlib.ExitStack()
        self._open.callback(self.runtime.close)
        self._open.enter_context(self._http)

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
        """One request as it comes over TCP, with the token unless told otherwise."""
        sent = {"authorization": f"Bearer {self.token}"} if token else {}
        if body is not None:
            sent["content-type"] = "application/json"
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        answer = self._http.request(method, path, content=body, headers=sent)
        return answer.status_code, dict(answer.headers), answer.content

    def put(self, events: Sequence[Event]) -> None:
        """Store events as the write path does, and wait for the turns that are made of them."""
        self.runtime.pipeline.events([(one, one.event_id) for one in events])
        assert self.runtime.episodes.wait(PATIENCE_S)

    def extract(self, *namespaces: str) -> None:
        """Extract what waits there, or everywhere, in this thread."""
        for namespace in namespaces or tuple(self.runtime.store.projects.namespaces()):
            after = RunFollowUp(again=True)
            while after.again and not after.wait_s:
                after = self._learning.worker.run(namespace)

    def start_extraction(self) -> None:
        """The threads of extraction, for doors that ask it to run now."""
        self._learning.start()
