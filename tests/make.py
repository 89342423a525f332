"""Small makers of values, so that a test says only what matters to it."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from recollect.core import ids
from recollect.core.values import Arrival, Event, EventSource, Record, TextBody, Vector
from recollect.core.vector_bytes import DIMENSIONS

NAMESPACE = "/actor/ada/project/engine/"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def event(content: str = "hello", **fields: Any) -> Event:
    base = Event(
        event_id=ids.new_ulid(),
        session_id="session-1",
        actor_id="ada",
        namespace=NAMESPACE,
        kind="prompt",
        body=TextBody(content=content),
        valid_time=NOON,
        source=EventSource(surface="test"),
    )
    return msgspec.structs.replace(base, **fields)


def arrival(content: str = "hello", *, digest: str = "", **fields: Any) -> Arrival:
    clocked = {name: fields.pop(name) for name in ("boot_id", "mono_ns") if name in fields}
    return Arrival(event=event(content, **fields), digest=digest, **clocked)


def record(title: str = "A memory", **fields: Any) -> Record:
    base = Record(
        record_id=ids.new_id(ids.RECORD),
        namespace=NAMESPACE,
        kind="observation",
        title=title,
        strategy="rules",
        author="tool",
        valid_from=NOON,
    )
    return msgspec.structs.replace(base, **fields)


def vector(owner: Record, fill: bytes = b"\x00\x00\x80\x3f", **fields: Any) -> Vector:
    base = Vector(
        namespace=owner.namespace,
        source_kind="record",
        source_id=owner.record_id,
        model="test-model",
        dim=DIMENSIONS,
        vector=fill * DIMENSIONS,
    )
    return msgspec.structs.replace(base, **fields)
