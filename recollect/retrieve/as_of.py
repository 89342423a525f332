"""Search in the memories and the graph as they were at a time in the past.

In: the store, namespaces, a time. Out: an engine for one question, filled with the versions of that
time, and the store as it was then. Versions that were replaced since come from the archive with
their vectors. How confident or how often used something was is not archived: that is as it is now.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from recollect.core.values import Fact, Record, Vector
from recollect.embedding.embedder import model_of
from recollect.retrieve.engine import QueryEmbedder, SearchEngine
from recollect.retrieve.index import Document
from recollect.retrieve.index_cache import by_owner, document
from recollect.store.interface import Cursor, GraphChanges, Page, Store

_PAGE = 500


def engine_as_of(
    store: Store, namespaces: Sequence[str], moment: datetime, embedder: QueryEmbedder | None
) -> tuple[SearchEngine, dict[str, Record]]:
    """The engine, and the memories in it as they were then."""
    engine = SearchEngine(embedder)
    known: dict[str, Record] = {}
    for namespace in namespaces:
        engine.add(namespace, _documents(store, namespace, moment, known, model_of(embedder)))
    return engine, known


def _documents(
    store: Store, namespace: str, moment: datetime, known: dict[str, Record], model: str
) -> Iterator[Document]:
    cursor: Cursor | None = None
    while True:
        page = store.records.page(namespace, before=cursor, limit=_PAGE, as_of=moment)
        ids = [record.record_id for record in page.items]
        now = {record.record_id: record for record in store.records.get(namespace, ids)}
        vectors = by_owner(store.vectors.of(namespace, model, ids))
        for record in page.items:
            known[record.record_id] = record
            # Not by its version: an undo brings a number back, and the next edit may use it again.
            same = now.get(record.record_id) == record
            then = vectors if same else by_owner(_archived(store, record, moment, model))
            yield document(record, then.get(record.record_id))
        if page.next is None:
            return
        cursor = page.next


def _archived(store: Store, record: Record, moment: datetime, model: str) -> list[Vector]:
    """The vectors of the version that was live then."""
    for version in store.log.versions(record.namespace, record.record_id):
        if version.since <= moment < version.until:
            return [one for one in version.vectors if one.model == model]
    return []


class StoreAsOf:
    """What recall and search read of a store, as it was; everything else is passed on."""

    def __init__(self, store: Store, moment: datetime, known: dict[str, Record]) -> None:
        self._store = store
        self.records = _Records(store, moment, known)
        self.graph = _Graph(store, moment)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _Records:
    def __init__(self, store: Store, moment: datetime, known: dict[str, Record]) -> None:
        self._store, self._moment, self._known = store, moment, known

    def get(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        found = [self._known[one] for one in record_ids if one in self._known]
        return [one for one in found if one.namespace == namespace]

    def page(self, namespace: str, *, limit: int) -> Page[Record]:
        return self._store.records.page(namespace, limit=limit, as_of=self._moment)

    def of_events(self, namespace: str, event_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        wanted = set(event_ids)
        found: dict[str, tuple[str, ...]] = {}
        for one in self._known.values():
            for event_id in wanted.intersection(one.source_event_ids):
                found[event_id] = (*found.get(event_id, ()), one.record_id)
        return found


class _Graph:
    def __init__(self, store: Store, moment: datetime) -> None:
        self._graph, self._moment = store.graph, moment

    def changes(self, namespace: str, since: int | None = None) -> GraphChanges:
        return GraphChanges(0, frozenset())

    def size(self, namespace: str, most: int) -> int:
        return 0

    def all(self, namespace: str, kind: type[Any]) -> list[Any]:
        return self._graph.all(namespace, kind, as_of=self._moment)

    def facts(self, namespace: str, entity_ids: Sequence[str], *, ended: bool) -> list[Fact]:
        return [
            msgspec.structs.replace(one, valid_until=None, superseded_by=None)
            for one in self._graph.facts(namespace, as_of=self._moment)
            if self._existed(one)
        ]

    def _existed(self, thing: Any) -> bool:
        return thing.created_at is None or thing.created_at <= self._moment
