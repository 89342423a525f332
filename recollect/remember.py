"""Recall put together: engine, shelves, embedder, feedback and receipts, as one thing.

In: the store and what else the daemon has. Out: `recall`. It is apart from the daemon only because
it imports numpy, which hooks must not wait for.
"""

from typing import Any

from recollect.core import oslayer
from recollect.core.clock import Clock
from recollect.core.settings import Settings
from recollect.embedding.backfill import Backfill
from recollect.embedding.embedder import MODEL, Embedder
from recollect.extract.tombstones import Tombstones
from recollect.extract.visible_store import visible_store
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Notice, Recalled, RecallQuestion
from recollect.inject.feedback import Feedback
from recollect.inject.recall import Recall
from recollect.inject.receipts import Receipts
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.graph import GraphCache
from recollect.retrieve.index_cache import IndexCache
from recollect.store.interface import Store


class Recollection:
    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        store: Store,
        memories: Memories,
        counters: Counters,
        tombstones: Tombstones | None = None,
    ) -> None:
        oslayer.keep_large_blocks_apart()
        self._store = store
        self.embedder = Embedder(settings.models) if settings.embedding else None
        self.engine = SearchEngine(self.embedder)
        self.shelves = IndexCache(store, self.engine, settings.cache_mb)
        self.tombstones = tombstones or Tombstones(store)
        self.feedback = Feedback(store, clock, self.tombstones)
        self.graphs = GraphCache(visible_store(store, self.tombstones))
        self.tombstones.listeners.append(self.graphs.drop_all)
        self.receipts = Receipts(store, counters)
        self.recall_now = Recall(
            store,
            self.engine,
            self.shelves,
            self.graphs,
            self.feedback,
            self.receipts,
            counters,
            clock,
            settings,
        )
        self._backfill = (
            Backfill(store, self.embedder, self.shelves.embedded) if self.embedder else None
        )
        memories.listeners.append(self.shelves)

    def start(self) -> None:
        self.receipts.start()
        if self._backfill is not None:
            self._backfill.start()

    def close(self) -> None:
        self.recall_now.close()
        if self._backfill is not None:
            self._backfill.close()
        self.receipts.close()

    def recall(self, question: RecallQuestion) -> Recalled:
        return self.recall_now(question)

    def heard(self, notice: Notice) -> None:
        self.recall_now.heard(notice)
        if self._backfill is not None:
            self._backfill.wake()

    def backfill(self) -> None:
        """Give vectors to what has none, now and not at the next occasion."""
        if self._backfill is not None:
            self._backfill.wake()

    def health(self) -> dict[str, Any]:
        stats = self._store.upkeep.stats()
        return {
            "state": self._backfill.state if self._backfill else "off",
            "model": MODEL,
            "problem": self._backfill.problem if self._backfill else "",
            "set_aside": dict(self._backfill.aside) if self._backfill else {},
            "memories": stats.records,
            "embedded": stats.embedded,
            "cache_bytes": sum(sum(parts.values()) for parts in self.engine.memory().values()),
        }
