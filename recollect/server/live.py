"""Server-sent events for clients that follow along, such as the dashboard.

In: notices from any thread. Out: SSE lines. Each has an id, and the last thousand are kept: a
client that reconnects with `Last-Event-ID` gets what it missed, or `reset` if that was too long
ago.
"""

import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from recollect.core import errors, ids
from recollect.core.values import Body, JsonBody, MessageBody, Receipt, Record, TextBody
from recollect.ingest.messages import Notice

if TYPE_CHECKING:
    import asyncio  # imported when the first client connects, so that hooks do not wait for it

KEEP_ALIVE_S = 15.0
CLIENTS = 50
KEPT = 1000
PREVIEW = 300
_END = b""


class TooManyWatchers(errors.RecollectError):
    """Too many clients follow the live feed."""

    hint = "Close a dashboard."


class Live:
    def __init__(self) -> None:
        self._run = ids.new_ulid()  # tells ids of an earlier run of the daemon apart
        self._lock = threading.Lock()
        self._number = 0
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._watchers: set[_Watcher] = set()

    def publish(self, kind: str, data: Any) -> None:
        """Send to every client, without waiting for any."""
        with self._lock:
            self._number += 1
            line = _event(f"{self._run}-{self._number}", kind, data)
            self._kept.append((self._number, line))
            for watcher in self._watchers:
                watcher.tell(line)

    def close(self) -> None:
        """End every stream, before the server stops."""
        with self._lock:
            for watcher in self._watchers:
                watcher.tell(_END)

    async def stream(self, last_id: str | None) -> AsyncIterator[bytes]:
        """The lines for one client, from `last_id` until it disconnects."""
        import asyncio

        watcher = _Watcher(asyncio.get_running_loop(), asyncio.Queue())
        with self._lock:
            if len(self._watchers) >= CLIENTS:
                raise TooManyWatchers()
            missed = self._missed(last_id)
            self._watchers.add(watcher)
        return self._lines(watcher, missed)

    async def _lines(self, watcher: "_Watcher", missed: list[bytes]) -> AsyncIterator[bytes]:
        import asyncio

        try:
            yield b": connected\n\n"
            for line in missed:
                yield line
            while True:
                try:
                    line = await asyncio.wait_for(watcher.queue.get(), KEEP_ALIVE_S)
                    if line == _END:
                        return
                    yield line
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            with self._lock:
                self._watchers.discard(watcher)

    def _missed(self, last_id: str | None) -> list[bytes]:
        if not last_id:
            return []
        run, _, number = last_id.rpartition("-")
        known = run == self._run and number.isdecimal() and int(number) <= self._number
        oldest = self._kept[0][0] if self._kept else self._number + 1
        if not known or int(number) + 1 < oldest:
            return [_event(f"{self._run}-{self._number}", "reset", {})]
        return [line for at, line in self._kept if at > int(number)]


class _Watcher:
    def __init__(self, loop: "asyncio.AbstractEventLoop", queue: "asyncio.Queue[bytes]") -> None:
        self.queue = queue
        self._loop = loop

    def tell(self, line: bytes) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, line)

    def _put(self, line: bytes) -> None:
        """A client that does not read loses its queue and gets `reset`."""
        if self.queue.qsize() < KEPT:
            self.queue.put_nowait(line)
            return
        while not self.queue.empty():
            self.queue.get_nowait()
        number = line.partition(b"\n")[0].removeprefix(b"id: ").decode()
        self.queue.put_nowait(_event(number, "reset", {}))


class News:
    """Publishes what happens, by kind: event, prompt, session, memory, summary, receipt."""

    def __init__(self, publish: Callable[[str, Any], None]) -> None:
        self._publish = publish

    def on_event(self, notice: Notice) -> None:
        event = notice.stored.event
        data = {
            "event_id": event.event_id,
            "kind": event.kind,
            "session_id": event.session_id,
            "namespace": event.namespace,
            "host": notice.host,
            "signal": notice.signal,
            "valid_time": event.valid_time,
            "preview": _preview(event.body),
        }
        self._publish("event", data)
        if event.kind == "prompt":
            self._publish("prompt", data)
        if notice.signal in ("session-start", "session-end"):
            self._publish("session", data)

    def stored(self, records: Sequence[Record]) -> None:
        for record in records:
            data = {
                "record_id": record.record_id,
                "namespace": record.namespace,
                "kind": record.kind,
                "title": record.title,
                "session_id": record.session_id,
                "version": record.version,
                "removed": False,
                "record": structs.replace(record, detail=""),
            }
            self._publish(record.traits.news, data)

    def removed(self, namespace: str, record_ids: Sequence[str]) -> None:
        for record_id in record_ids:
            self._publish(
                "memory", {"record_id": record_id, "namespace": namespace, "removed": True}
            )

    def receipt(self, receipt: Receipt) -> None:
        self._publish(
            "receipt",
            {
                "receipt_id": receipt.receipt_id,
                "namespace": receipt.namespace,
                "session_id": receipt.session_id,
                "trigger": receipt.trigger,
                "query": receipt.query[:PREVIEW],
                "injected": receipt.injected,
                "tokens": receipt.tokens,
                "latency_us": receipt.latency_us,
                "created_at": receipt.created_at,
            },
        )


def _preview(body: Body) -> str:
    """The beginning of what was said, or the command that was run."""
    match body:
        case TextBody(content=content):
            text = content
        case MessageBody(turns=turns):
            text = turns[-1].content if turns else ""
        case JsonBody(data=data):
            found = data if isinstance(data, dict) else {}
            text = str(found.get("command") or found.get("tool") or "")
    return " ".join(text[: 2 * PREVIEW].split())[:PREVIEW]


def _event(event_id: str, kind: str, data: Any) -> bytes:
    return f"id: {event_id}\nevent: {kind}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"
