"""Listings over several namespaces as if they were one.

In: a function that reads a page of one namespace. Out: a page of all, newest first. Following
`next` returns every row that existed at the start exactly once.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import msgspec

from recollect.core.clock import to_micros
from recollect.core.values import Operation, Receipt, Record, Session, StoredEvent
from recollect.store.interface import Cursor, Page, Store

T = TypeVar("T")
Key = tuple[int, str]

_STEP = 200


class Listing(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One page, newest first; pass `next` as `before` to get the next page."""

    items: tuple[T, ...]
    next: str | None = None


def cursor(text: str | None) -> Cursor | None:
    return Cursor.parse(text) if text else None


def merge_pages(
    namespaces: Sequence[str],
    fetch: Callable[[str], Page[T]],
    key: Callable[[T], Key],
    limit: int,
) -> Listing[T]:
    found: list[T] = []
    more = False
    for namespace in namespaces:
        page = fetch(namespace)
        found += page.items
        more = more or page.next is not None
    found.sort(key=key, reverse=True)
    items = tuple(found[:limit])
    if not items or not (more or len(found) > limit):
        return Listing(items=items)
    return Listing(items=items, next=str(Cursor(*key(items[-1]))))


def operations(
    store: Store, namespaces: Sequence[str], before: Cursor | None, limit: int
) -> Listing[Operation]:
    """The log of several namespaces has no common counter to page by, so it is read from its end
    and ordered by time."""
    edge = (before.number, before.id) if before else None

    def fetch(namespace: str) -> Page[Operation]:
        found: list[Operation] = []
        place: Cursor | None = None
        while True:
            page = store.log.page(namespace, before=place, limit=_STEP)
            found += [one for one in page.items if edge is None or operation_key(one) < edge]
            place = page.next
            if place is None or len(found) > limit:
                break
        found.sort(key=operation_key, reverse=True)
        more = len(found) > limit
        return Page(tuple(found[:limit]), Cursor(0, "more") if more else None)

    return merge_pages(namespaces, fetch, operation_key, limit)


def record_key(record: Record) -> Key:
    assert record.created_at is not None
    return to_micros(record.created_at), record.record_id


def happened_key(record: Record) -> Key:
    """When what it tells of happened; for an import that is before it was stored."""
    return to_micros(record.valid_from), record.record_id


def event_key(stored: StoredEvent) -> Key:
    return stored.seq, stored.event.event_id


def session_key(session: Session) -> Key:
    return to_micros(session.started_at), session.session_id


def receipt_key(receipt: Receipt) -> Key:
    assert receipt.created_at is not None
    return to_micros(receipt.created_at), receipt.receipt_id


def operation_key(operation: Operation) -> Key:
    return to_micros(operation.at), operation.op_id
