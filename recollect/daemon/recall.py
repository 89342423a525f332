"""The parts of recall: engine, index, embedder, graph, feedback and receipts, put together.

In: the runtime. Out: `recall_now`, which answers a question, and the parts for operations that need
one of them. It is a module of its own because it imports numpy, which hooks must not wait for.
"""

from typing import TYPE_CHECKING, Any

from recollect.core import oslayer, vector_bytes
from recollect.embedding.backfill import Backfill
from recollect.embedding.embedder import Embedder, model_of
from recollect.extract.ended_statements import EndedStatements
from recollect.ingest.memories import BeliefListener
from recollect.ingest.messages import Notice
from recollect.inject.draft import RuleCache, Sources
from recollect.inject.hints import Hints
from recollect.inject.judge import Feedback
from recollect.inject.recall import Recall
from recollect.inject.receipts import ReceiptWriter
from recollect.inject.summary_request import SummaryRequest
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.graph import GraphCache
from recollect.retrieve.index_cache import IndexCache

if TYPE_CHECKING:
    from recollect.daemon.runtime import Runtime


class RecallParts:
    def __init__(self, runtime: "Runtime", embedder: Embedder | None = None) -> None:
        """`embedder`: another one than the product's, as the benchmarks have."""
        oslayer.keep_large_blocks_apart()
        settings, clock, store = runtime.settings, runtime.clock, runtime.store
        self._store = store
        chosen = embedder or Embedder(settings.models, settings.embedding_model)
        self.embedder = chosen if settings.embedding or embedder else None
        self.engine = SearchEngine(self.embedder)
        self.index_cache = IndexCache(store, self.engine, settings.cache_mb, model_of(chosen))
        self.feedback = Feedback(store, runtime.tombstones)
        self.graphs = GraphCache(runtime.visible_store)
        runtime.tombstones.listeners.append(self.graphs.drop_all)
        self.rules = RuleCache(runtime.visible_store)
        runtime.tombstones.listeners.append(self.rules.drop_all)
        runtime.memories.listeners.append(BeliefListener(self.rules.drop_all))
        self.ended = EndedStatements(runtime.visible_store)
        runtime.memories.listeners.append(BeliefListener(self.ended.drop_all))
        self.receipts = ReceiptWriter(store, runtime.counters)
        sources = Sources(
            store,
            self.engine,
            self.index_cache,
            self.graphs,
            runtime.work,
            self.feedback,
            clock,
            settings,
            ended=self.ended,
            rules=self.rules,
        )
        self.hints = Hints(runtime.visible_store, settings, clock, runtime.mcp_clients.present)
        self.recall_now = Recall(
            sources,
            self.receipts,
            runtime.counters,
            runtime.plugins,
            self.hints,
            SummaryRequest(store, settings, runtime.mcp_clients.present)
            if settings.summary_request
            else None,
        )
        self._backfill = (
            Backfill(store, self.embedder, self.index_cache.embedded) if self.embedder else None
        )
        runtime.memories.listeners.append(self.index_cache)

    def start(self) -> None:
        self.receipts.start()
        if self._backfill is not None:
            self._backfill.start()

    def close(self) -> None:
        self.recall_now.close()
        if self._backfill is not None:
            self._backfill.close()
        self.receipts.close()

    def on_event(self, notice: Notice) -> None:
        self.recall_now.on_event(notice)
        if self._backfill is not None:
            self._backfill.wake()

    def embed_soon(self) -> None:
        """Start making missing vectors now."""
        if self._backfill is not None:
            self._backfill.wake()

    def embed_again(self) -> None:
        """Start now, also with what was set aside or has a vector of the wrong length."""
        if self._backfill is not None:
            self._backfill.again()

    def embed_now(self) -> None:
        """Give vectors to what has none, in this thread."""
        while self._backfill is not None and self._backfill.step():
            pass

    def _embedded(self) -> int:
        """Memories that have a vector of the model in use."""
        vectors, model = self._store.vectors, self.index_cache.model
        return sum(vectors.count(one, model) for one in self._store.projects.namespaces())

    def health(self) -> dict[str, Any]:
        stats, namespaces = self._store.upkeep.stats, self._store.projects.namespaces()
        return {
            "state": self._backfill.state if self._backfill else "off",
            "model": self.index_cache.model,
            "loaded": self.embedder is not None and self.embedder.ready,
            "dimensions": vector_bytes.dimensions_of(self.index_cache.model),
            "problem": self._backfill.problem if self._backfill else "",
            "set_aside": dict(self._backfill.aside) if self._backfill else {},
            "memories": sum(stats(one, by_kind=False).records for one in namespaces),
            "embedded": self._embedded(),
            "cache_bytes": sum(sum(parts.values()) for parts in self.engine.memory().values()),
        }
