"""What would have been injected at a moment that is past: recall over memory as it was then.

In: the store, namespaces, a moment. Out: a Recall that answers previews. Memories come from the
live tables and the archive, as do wishes, procedures and things; facts by the time in which they
held. How sure or how often used something was is not kept: that is told as it is now.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Fact, Record, Relationship
from recollect.ingest.counters import Counters
from recollect.inject.feedback import Feedback
from recollect.inject.recall import Recall
from recollect.inject.receipts import Receipts
from recollect.retrieve.as_of import engine_as_of
from recollect.retrieve.engine import QueryEmbedder
from recollect.retrieve.graph import GraphCache
from recollect.store.interface import GraphChanges, Page, Store


def recall_as_of(
    store: Store,
    namespaces: Sequence[str],
    moment: datetime,
    *,
    embedder: QueryEmbedder | None,
    feedback: Feedback,
    receipts: Receipts,
    counters: Counters,
    settings: Settings,
) -> Recall:
    engine, known = engine_as_of(store, namespaces, moment, embedder)
    then: Any = _Then(store, moment, known)
    graphs = GraphCache(then)
    graphs.fill(namespaces)
    filled: Any = _Filled()
    clock = ManualClock(moment)
    return Recall(then, engine, filled, graphs, feedback, receipts, counters, clock, settings)


class _Filled:
    """Shelves of an engine that was filled for one question."""

    epoch = 0

    def ready(self, namespaces: Sequence[str]) -> bool:
        return True


class _Then:
    """The store as it was; what has no history is what it is."""

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
