"""`/api/queue`: events that wait for extraction or were set aside; run and retry."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, convert

from recollect.core.values import ExtractionRun, Namespace, Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service.scope import project_id, project_names

_REASONS = 20


class SetAsideEvent(Value, frozen=True, kw_only=True):
    event_id: str
    kind: str
    at: datetime
    failures: int
    reason: str


class ProjectQueue(Value, frozen=True, kw_only=True):
    namespace: str
    project: str
    events: int
    bytes: int
    quarantined: int
    newest: datetime | None
    set_aside: tuple[SetAsideEvent, ...]
    last_run: ExtractionRun | None


class QueueState(Value, frozen=True, kw_only=True):
    items: tuple[ProjectQueue, ...]
    extraction: Any


class QueueRunRequest(Value, frozen=True, kw_only=True):
    namespace: Namespace | None = None
    wait_s: Annotated[float, Meta(ge=0, le=25)] = 20.0


class QueueRunResult(Value, frozen=True, kw_only=True):
    done: bool
    waiting: int
    runs: tuple[ExtractionRun, ...]


class QueueRetryRequest(Value, frozen=True, kw_only=True):
    namespace: Namespace | None = None


class QueueRetryResult(Value, frozen=True, kw_only=True):
    events: int


def show(runtime: ServerRuntime) -> QueueState:
    runs = {run.namespace: run for run in runtime.store.runs.latest()}
    backlog = {one.namespace: one for one in runtime.store.events.backlog(reasons=_REASONS)}
    names = project_names(runtime)
    items = []
    for namespace in sorted({*runs, *backlog}):
        waits = backlog.get(namespace)
        aside = waits.set_aside if waits else ()
        items.append(
            ProjectQueue(
                namespace=namespace,
                project=names.get(project_id(namespace), project_id(namespace)) or "(everywhere)",
                events=waits.count if waits else 0,
                bytes=waits.bytes if waits else 0,
                quarantined=waits.quarantined if waits else 0,
                newest=waits.newest if waits else None,
                set_aside=tuple(convert(one, SetAsideEvent, from_attributes=True) for one in aside),
                last_run=runs.get(namespace),
            )
        )
    learning = runtime.loaded_learning
    return QueueState(items=tuple(items), extraction=learning.status() if learning else {})


def run(runtime: ServerRuntime, body: QueueRunRequest) -> QueueRunResult:
    learning = runtime.learning()
    backlog = runtime.store.events.backlog()
    chosen = [one.namespace for one in backlog if body.namespace in (None, one.namespace)]
    done = learning.run_now(chosen, body.wait_s)
    left = [one for one in runtime.store.events.backlog() if one.namespace in chosen]
    return QueueRunResult(
        done=done,
        waiting=sum(one.count for one in left),
        runs=tuple(one for one in runtime.store.runs.latest() if one.namespace in chosen),
    )


def retry(runtime: ServerRuntime, body: QueueRetryRequest) -> QueueRetryResult:
    learning = runtime.learning()
    backlog = runtime.store.events.backlog()
    chosen = [one.namespace for one in backlog if body.namespace in (None, one.namespace)]
    return QueueRetryResult(events=sum(learning.retry(namespace) for namespace in chosen))


ENDPOINTS = (
    Endpoint("GET", "/api/queue", "Events that wait or were set aside, and the last runs.", show),
    Endpoint("POST", "/api/queue/run", "Extract waiting events now.", run),
    Endpoint("POST", "/api/queue/retry", "Put events that were set aside back in line.", retry),
)
