"""`/v1/events`: put one event, list events."""

from typing import Annotated, Literal

from msgspec import Meta

from recollect.capture import frames
from recollect.core import ids, projects, values
from recollect.core.values import (
    Body,
    Event,
    EventKind,
    EventSource,
    Moment,
    Name,
    Namespace,
    Ulid,
    Value,
)
from recollect.ingest.messages import RecallQuestion
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import read
from recollect.service.pagination import Listing
from recollect.service.read import EventRow, EventsQuery
from recollect.service.scope import namespaces_to_list


class NewEvent(Value, frozen=True, kw_only=True):
    """An event as a client sends it; what it leaves out is filled in."""

    event_id: Ulid | None = None
    session_id: Name
    actor_id: Name | None = None
    namespace: Namespace | None = None
    schema_version: int = 1
    kind: EventKind
    body: Body
    valid_time: Moment | None = None
    source: EventSource
    parent_event_id: Ulid | None = None
    content_hash: Annotated[str, Meta(max_length=128)] | None = None


class RetrievalAnswer(Value, frozen=True, kw_only=True):
    """`records`: the notes and beliefs that `context` tells. `lines`: what it tells of earlier work
    here (likely files, the branch, commands)."""

    context: str
    records: tuple[str, ...]
    lines: tuple[str, ...] = ()
    latency_ms: float
    receipt_id: str | None = None


class EventAnswer(Value, frozen=True, kw_only=True):
    event_id: str
    stored: bool
    retrieval: RetrievalAnswer | None = None


def put_event(runtime: ServerRuntime, new: NewEvent, retrieve: bool = False) -> EventAnswer:
    values.convert(Version, {"schema_version": new.schema_version})
    now = runtime.clock.now()
    pipeline = runtime.pipeline
    if not new.namespace and pipeline.kept_out(new.source.project_path):
        runtime.counters.count("kept out: project")
        return EventAnswer(event_id=new.event_id or ids.new_ulid(), stored=False)
    event = Event(
        event_id=new.event_id or ids.new_ulid(),
        session_id=new.session_id,
        actor_id=new.actor_id or runtime.actor,
        namespace=new.namespace or runtime.namespaces.of(new.source.project_path),
        kind=new.kind,
        body=new.body,
        valid_time=new.valid_time or now,
        source=new.source,
        parent_event_id=new.parent_event_id,
        content_hash=new.content_hash,
    )
    outcome = pipeline.event(event, frames.digest(values.encode(new)).hex())
    retrieval = None
    if retrieve and event.kind == "prompt" and outcome.status != "kept out":
        kept = runtime.store.events.get(event.namespace, event.event_id)
        retrieval = _retrieve(runtime, kept.event) if kept is not None else None
    return EventAnswer(
        event_id=event.event_id, stored=outcome.status == "stored", retrieval=retrieval
    )


class Version(Value, frozen=True, kw_only=True):
    schema_version: Literal[1]


def _retrieve(runtime: ServerRuntime, event: Event) -> RetrievalAnswer:
    recalled = runtime.pipeline.recall(
        RecallQuestion(
            trigger="prompt",
            text=values.query_text(event.body),
            namespaces=(event.namespace, projects.namespace(event.actor_id)),
            session_id=event.session_id,
            event_id=event.event_id,
            limit_chars=9_500,
            branch=event.source.branch,
            person=event.actor_id,
        )
    )
    return RetrievalAnswer(
        context=recalled.context,
        records=recalled.records,
        lines=recalled.lines,
        latency_ms=recalled.latency_us / 1000,
        receipt_id=recalled.receipt_id,
    )


def list_events(runtime: ServerRuntime, asked: EventsQuery) -> Listing[EventRow]:
    return read.events(runtime, asked, namespaces_to_list(runtime, asked))


ENDPOINTS = (
    Endpoint(
        "POST", "/v1/events",
        "Store one event; with retrieve=true the answer to a prompt holds the memories to inject.",
        put_event,
        # The pipeline scrubs it, and knows a repeat by what was sent.
        as_sent=tuple(name for name in NewEvent.__struct_fields__ if name != "namespace"),
    ),
    Endpoint(
        "GET", "/v1/events", "Events, newest first, of all projects unless one is named.",
        list_events,
    ),
)  # fmt: skip
