"""Reading memories: by id, as a list, as a timeline, with earlier versions and source events.

In: ids and filters. Out: memories, pages, versions, events. Vectors are never returned.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.core import ids
from recollect.core.clock import to_micros
from recollect.core.errors import BadCursor, NotFound
from recollect.core.values import (
    Event,
    EventKind,
    Moment,
    Name,
    Operation,
    Receipt,
    Record,
    RecordName,
    StoredEvent,
    Value,
    copied,
)
from recollect.lifecycle.file_freshness import with_freshness
from recollect.service.pagination import (
    Listing,
    cursor,
    event_key,
    happened_key,
    merge_pages,
    operation_key,
    operations,
    receipt_key,
    record_key,
)
from recollect.service.record_ids import resolve, resolve_each
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, all_namespaces, namespaces_to_list
from recollect.service.search import Filters, branch_sessions, shortened
from recollect.service.write import find
from recollect.store.interface import Cursor, Page, RecordFilter, undoable

Before = Annotated[str, Meta(max_length=300)]
Ids = Annotated[tuple[RecordName, ...], Meta(min_length=1, max_length=100)]


class ListQuery(Filters, frozen=True, kw_only=True):
    before: Before | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class TimelineQuery(Filters, frozen=True, kw_only=True):
    """Memories around `anchor` or around the time `at`; without either, the newest."""

    anchor: RecordName | None = None
    at: Moment | None = None
    before: Annotated[int, Meta(ge=0, le=100)] = 5
    after: Annotated[int, Meta(ge=0, le=100)] = 5


class TimelineAnswer(Value, frozen=True, kw_only=True):
    """Oldest first; includes `anchor` when one was given."""

    anchor: str | None
    items: tuple[Record, ...]


class PastVersion(Value, frozen=True, kw_only=True):
    """A memory as it was from `since` to `until`, and the operation that replaced it."""

    record: Record
    since: Moment
    until: Moment
    op_id: str
    ended_by: str
    reason: str


class History(Value, frozen=True, kw_only=True):
    """`record`: the present version, if there is one; `versions`: earlier ones, newest first."""

    record_id: str
    record: Record | None
    versions: tuple[PastVersion, ...]
    operations: tuple[Operation, ...]


class EventRow(Value, frozen=True, kw_only=True):
    event: Event
    transaction_time: Moment
    prompt_number: int | None


class Provenance(Value, frozen=True, kw_only=True):
    """The events that a memory was made from; `missing`: ids that are no longer stored."""

    record_id: str
    events: tuple[EventRow, ...]
    missing: tuple[str, ...]


def get(runtime: ServiceRuntime, record_ids: tuple[str, ...]) -> tuple[Record, ...]:
    """The memories that exist, in the order of their names, each once."""
    record_ids = resolve_each(runtime, record_ids)
    stored = (
        record
        for namespace in all_namespaces(runtime)
        for record in runtime.visible_store.records.get(namespace, record_ids)
    )
    found = {record.record_id: record for record in with_freshness(runtime.store, stored)}
    return tuple(found[one] for one in dict.fromkeys(record_ids) if one in found)


def visible_memory(runtime: ServiceRuntime, record_id: str) -> Record:
    """A memory without what was forgotten. NotFound when there is none or nothing is left of it."""
    for record in get(runtime, (record_id,)):
        return record
    raise NotFound(f"there is no memory {record_id}")


def memories(runtime: ServiceRuntime, asked: ListQuery) -> Listing[Record]:
    place = cursor(asked.before)

    def fetch(namespace: str) -> Page[Record]:
        return runtime.visible_store.records.page(
            namespace, selected(runtime, namespace, asked), before=place, limit=asked.limit,
            as_of=asked.as_of,
        )  # fmt: skip

    found = merge_pages(namespaces_to_list(runtime, asked), fetch, record_key, asked.limit)
    return Listing(
        items=tuple(shortened(record, full=asked.full) for record in found.items), next=found.next
    )


def timeline(runtime: ServiceRuntime, asked: TimelineQuery) -> TimelineAnswer:
    """Memories before and after `anchor` (in its project) or `at`, by when what they tell of
    happened; without either, the newest."""
    if asked.anchor is not None:
        record = visible_memory(runtime, asked.anchor)
        namespaces: tuple[str, ...] = (record.namespace,)
        place = Cursor(*happened_key(record))
        middle = [record]
    else:
        namespaces = namespaces_to_list(runtime, asked)
        place = Cursor(to_micros(asked.at or runtime.clock.now()) + 1, "")
        middle = []
    earlier: list[Record] = []
    later: list[Record] = []
    for namespace in namespaces:
        where = selected(runtime, namespace, asked)
        page = runtime.visible_store.records.page
        if asked.before:
            earlier += page(
                namespace, where, before=place, limit=asked.before, as_of=asked.as_of,
                by_happening=True,
            ).items  # fmt: skip
        if asked.after:
            later += page(namespace, where, after=place, limit=asked.after, by_happening=True).items
    earlier.sort(key=happened_key, reverse=True)
    later.sort(key=happened_key)
    items = [*reversed(earlier[: asked.before]), *middle, *later[: asked.after]]
    return TimelineAnswer(
        anchor=asked.anchor, items=tuple(shortened(record, full=asked.full) for record in items)
    )


def history(runtime: ServiceRuntime, record_id: RecordName) -> History:
    """The versions of a memory and the operations on it, also of one that was deleted."""
    record_id = resolve(runtime, record_id)
    live = get(runtime, (record_id,))
    versions: list[PastVersion] = []
    touched: dict[str, Operation] = {}
    for namespace in all_namespaces(runtime):
        made = runtime.store.log.page(namespace, made=record_id, limit=MOST_CHANGES)
        touched.update((one.op_id, one) for one in made.items)
        for one in runtime.store.log.versions(namespace, record_id):
            ended = runtime.store.log.get(namespace, one.op_id)
            if ended is not None:
                touched[ended.op_id] = ended
            why = {"ended_by": ended.kind, "reason": ended.reason} if ended else {}
            versions.append(copied(PastVersion, one, **{"ended_by": "", "reason": "", **why}))
    if not live and not versions:
        raise NotFound(f"there is no memory {record_id}, and none in the archive")
    versions.sort(key=lambda one: one.until, reverse=True)
    return History(
        record_id=record_id,
        record=live[0] if live else None,
        versions=tuple(versions),
        operations=tuple(
            sorted(touched.values(), key=lambda one: (one.at, one.op_id), reverse=True)
        ),
    )


def provenance(runtime: ServiceRuntime, record_id: RecordName) -> Provenance:
    record = find(runtime, record_id)
    rows: list[EventRow] = []
    missing: list[str] = []
    for event_id in record.source_event_ids:
        row = event(runtime, event_id, record.namespace)
        if row is None:
            missing.append(event_id)
        else:
            rows.append(row)
    return Provenance(record_id=record.record_id, events=tuple(rows), missing=tuple(missing))


def event(runtime: ServiceRuntime, event_id: str, namespace: str) -> EventRow | None:
    """An event of this namespace; if its memory was moved, it may be in another."""
    for one in dict.fromkeys((namespace, *all_namespaces(runtime))):
        stored = runtime.store.events.get(one, event_id)
        if stored is not None:
            return copied(EventRow, stored)
    return None


class EventsQuery(Scope, frozen=True, kw_only=True):
    session_id: Name | None = None
    kind: EventKind | None = None
    before: Before | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


def events(
    runtime: ServiceRuntime, asked: EventsQuery, namespaces: tuple[str, ...]
) -> Listing[EventRow]:
    place = cursor(asked.before)
    if asked.session_id is not None:
        found = _of_session(runtime, asked, asked.session_id, place, namespaces)
    else:
        found = merge_pages(
            namespaces,
            lambda namespace: runtime.store.events.page(
                namespace, kind=asked.kind, before=place, limit=asked.limit
            ),
            event_key,
            asked.limit,
        )
    return Listing(items=tuple(copied(EventRow, one) for one in found.items), next=found.next)


def _of_session(
    runtime: ServiceRuntime,
    asked: EventsQuery,
    session_id: str,
    place: Cursor | None,
    namespaces: tuple[str, ...],
) -> Listing[StoredEvent]:
    """The events of a session, last first. A session in several projects has an order in each, so
    it is listed project by project."""
    found: list[StoredEvent] = []
    for namespace in sorted(namespaces):
        if place is not None and runtime.store.events.get(namespace, place.id) is None:
            continue  # an earlier page had this one
        left = asked.limit + 1 - len(found)
        page = runtime.store.events.page(
            namespace, session_id=session_id, kind=asked.kind, before=place, limit=left
        )
        place = None
        found += page.items
        if len(found) > asked.limit:
            break
    if place is not None:
        raise BadCursor(
            f"event {place.id} does not exist; it may have been deleted",
            hint="Begin with the first page again.",
        )
    items = tuple(found[: asked.limit])
    more = len(found) > asked.limit
    return Listing(items=items, next=str(Cursor(*event_key(items[-1]))) if more else None)


class LogQuery(Scope, frozen=True, kw_only=True):
    session_id: Name | None = None
    before: Before | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


def receipts(
    runtime: ServiceRuntime, asked: LogQuery, namespaces: tuple[str, ...]
) -> Listing[Receipt]:
    place = cursor(asked.before)
    return merge_pages(
        namespaces,
        lambda namespace: runtime.visible_store.receipts.page(
            namespace, session_id=asked.session_id, before=place, limit=asked.limit
        ),
        receipt_key,
        asked.limit,
    )


def receipt(runtime: ServiceRuntime, receipt_id: str) -> Receipt:
    for namespace in all_namespaces(runtime):
        found = runtime.visible_store.receipts.get(namespace, receipt_id)
        if found is not None:
            return found
    raise NotFound(f"there is no receipt {receipt_id}")


MOST_TITLES = 3
MOST_READ = 1000
MOST_CHANGES = 1000  # of one memory


class LoggedOperation(Operation, frozen=True, kw_only=True):
    """A change to memories, and what some of those that it touched are called."""

    titles: tuple[str, ...] = ()


class OperationsQuery(Scope, frozen=True, kw_only=True):
    """`undoable`: only operations that can still be undone."""

    before: Before | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    undoable: bool = False


def log(runtime: ServiceRuntime, asked: OperationsQuery) -> Listing[LoggedOperation]:
    page = _log(runtime, asked)
    items = tuple(with_titles(runtime, one) for one in page.items)
    return Listing(items=items, next=page.next)


def with_titles(runtime: ServiceRuntime, operation: Operation) -> LoggedOperation:
    """With what the memories that it touched are called, or were; at most three."""
    touched = [one for one in dict.fromkeys((*operation.targets, *operation.created))
               if one.startswith(ids.RECORD)][:MOST_TITLES]  # fmt: skip
    visible = runtime.visible_store.records.get(operation.namespace, touched)
    named = {one.record_id: one.title for one in visible}
    for record_id in touched:
        if record_id not in named:
            for archived in runtime.store.log.versions(operation.namespace, record_id)[:1]:
                named[record_id] = archived.record.title
    titles = tuple(named[one] for one in touched if one in named)
    return copied(LoggedOperation, operation, titles=titles)


def _log(runtime: ServiceRuntime, asked: OperationsQuery) -> Listing[Operation]:
    """As many as were asked for, if MOST_READ entries of the log hold them."""
    where = namespaces_to_list(runtime, asked)
    page = Listing[Operation](items=(), next=asked.before)
    found: list[Operation] = []
    for _ in range(0, MOST_READ, asked.limit):
        page = operations(runtime.store, where, cursor(page.next), asked.limit)
        listed = [one for one in page.items if not _goes_along(one)]
        found += _undoable(runtime, listed) if asked.undoable else listed
        if page.next is None or len(found) >= asked.limit:
            break
    if len(found) <= asked.limit:
        return msgspec.structs.replace(page, items=tuple(found))
    shown = tuple(found[: asked.limit])
    return Listing(items=shown, next=str(Cursor(*operation_key(shown[-1]))))


def _undoable(runtime: ServiceRuntime, some: Sequence[Operation]) -> list[Operation]:
    can: set[str] = set()
    for namespace in {one.namespace for one in some}:
        here = [one.op_id for one in some if one.namespace == namespace]
        can |= undoable(runtime.store.log, namespace, here)
    return [one for one in some if one.op_id in can]


def _goes_along(one: Operation) -> bool:
    """Whether this tombstone entry belongs to a delete, an edit or their undo."""
    detail = one.detail if isinstance(one.detail, dict) else {}
    return one.kind == "tombstone" and detail.get("cause") in ("delete", "edit")


# --- parts ---------------------------------------------------------------------------------------


def selected(runtime: ServiceRuntime, namespace: str, asked: Filters) -> RecordFilter:
    """The filters as the store takes them."""
    return RecordFilter(
        kind=asked.kind, session_id=asked.session_id, type=asked.type, concept=asked.concept,
        file=asked.file, since=asked.since, until=asked.until, freshness=asked.freshness,
        used=asked.used, sessions=branch_sessions(runtime, (namespace,), asked.branch),
    )  # fmt: skip
