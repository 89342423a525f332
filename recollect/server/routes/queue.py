"""`/api/queue`: what waits for extraction, what was set aside and why, and doing it now."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from recollect.core.values import ExtractionRun, Namespace, Value
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.runtime import ServerRuntime

_REASONS = 20


class Aside(Value, frozen=True, kw_only=True):
    event_id: str
    kind: str
    at: datetime
    failures: int
    reason: str


class WaitingEvents(Value, frozen=True, kw_only=True):
    namespace: str
    project: str
    events: int
    bytes: int
    quarantined: int
    newest: datetime | None
    set_aside: tuple[Aside, ...]
    last_run: ExtractionRun | None


class Queue(Value, frozen=True, kw_only=True):
    items: tuple[WaitingEvents, ...]
    extraction: Any


class Now(Value, frozen=True, kw_only=True):
    namespace: Namespace | None = None
    wait_s: Annotated[float, Meta(ge=0, le=25)] = 20.0


class Ran(Value, frozen=True, kw_only=True):
    done: bool
    waiting: int
    runs: tuple[ExtractionRun, ...]


class Where(Value, frozen=True, kw_only=True):
    namespace: Namespace | None = None


class Retried(Value, frozen=True, kw_only=True):
    events: int


def show(runtime: ServerRuntime, parameters: Nothing) -> Queue:
    runs = {run.namespace: run for run in runtime.store.runs.latest()}
    backlog = {one.namespace: one for one in runtime.store.events.backlog()}
    names = {one.project_id: one.name for one in runtime.store.projects.all()}
    items = []
    for namespace in sorted({*runs, *backlog}):
        waits = backlog.get(namespace)
        aside = runtime.store.events.set_aside(namespace, _REASONS)
        items.append(
            WaitingEvents(
                namespace=namespace,
                project=_project(namespace, names),
                events=waits.count if waits else 0,
                bytes=waits.bytes if waits else 0,
                quarantined=waits.quarantined if waits else 0,
                newest=waits.newest if waits else None,
                set_aside=tuple(
                    Aside(
                        event_id=one.event_id,
                        kind=one.kind,
                        at=one.at,
                        failures=one.failures,
                        reason=one.reason,
                    )
                    for one in aside
                ),
                last_run=runs.get(namespace),
            )
        )
    learning = runtime.loaded_learning
    return Queue(items=tuple(items), extraction=learning.status() if learning else {})


def run(runtime: ServerRuntime, parameters: Nothing, body: Now) -> Ran:
    learning = runtime.learning()
    backlog = runtime.store.events.backlog()
    chosen = [one.namespace for one in backlog if body.namespace in (None, one.namespace)]
    done = learning.run_now(chosen, body.wait_s)
    left = [one for one in runtime.store.events.backlog() if one.namespace in chosen]
    return Ran(
        done=done,
        waiting=sum(one.count for one in left),
        runs=tuple(one for one in runtime.store.runs.latest() if one.namespace in chosen),
    )


def retry(runtime: ServerRuntime, parameters: Nothing, body: Where) -> Retried:
    learning = runtime.learning()
    backlog = runtime.store.events.backlog()
    chosen = [one.namespace for one in backlog if body.namespace in (None, one.namespace)]
    return Retried(events=sum(learning.retry(namespace) for namespace in chosen))


def _project(namespace: str, names: dict[str, str]) -> str:
    parts = namespace.strip("/").split("/")
    return names.get(parts[3], parts[3]) if len(parts) > 3 else "(everywhere)"


ENDPOINTS = (
    Endpoint("GET", "/api/queue", "What waits for extraction, and how it went.", show, Queue),
    Endpoint("POST", "/api/queue/run", "Extract what waits, now.", run, Ran, body=Now),
    Endpoint(
        "POST", "/api/queue/retry", "Put what was set aside back.", retry, Retried, body=Where
    ),
)
