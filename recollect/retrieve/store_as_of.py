"""The store as it was at a time in the past, for those who read memories and the graph.

In: the store, a moment, the memories of that moment. Out: the same methods, answered as they would
have been then. How confident or how often used something was is not archived: that is as it is now.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from recollect.core.values import Fact, Record, Relationship
from recollect.store.interface import GraphChanges, Page, Store


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

    def relationships(self, namespace: str) -> list[Relationship]:
        return self.all(namespace, Relationship)

    def _existed(self, thing: Any) -> bool:
        return thing.created_at is None or thing.created_at <= self._moment
