"""Recall over memory as it was at a past moment: what would have been injected then.

In: the store, namespaces, a moment. Out: a Recall that answers previews. Memories, preferences,
procedures and entities come from the live tables and the archive; facts are chosen by the time in
which they held. Confidence and access counts have no history: their current values are used.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.embedding.embedder import MODEL
from recollect.ingest.counters import Counters
from recollect.inject.draft import Sources
from recollect.inject.judge import Feedback
from recollect.inject.recall import Recall
from recollect.inject.receipts import ReceiptWriter
from recollect.retrieve.as_of import StoreAsOf, engine_as_of
from recollect.retrieve.engine import QueryEmbedder
from recollect.retrieve.graph import GraphCache
from recollect.store.interface import Store
from recollect.work.cache import WorkCache


def recall_as_of(
    store: Store,
    namespaces: Sequence[str],
    moment: datetime,
    *,
    embedder: QueryEmbedder | None,
    feedback: Feedback,
    receipts: ReceiptWriter,
    counters: Counters,
    settings: Settings,
) -> Recall:
    engine, known = engine_as_of(store, namespaces, moment, embedder)
    then: Any = StoreAsOf(store, moment, known)
    graphs = GraphCache(then)
    graphs.fill(namespaces)
    filled: Any = _Filled()
    clock = ManualClock(moment)
    sources = Sources(
        then,
        engine,
        filled,
        graphs,
        WorkCache(then),
        feedback,
        clock,
        settings,
        has_full_text=False,
    )
    return Recall(sources, receipts, counters)


class _Filled:
    """Shelves of an engine that was filled for one question."""

    epoch = 0
    model = MODEL

    def ready(self, namespaces: Sequence[str]) -> bool:
        return True
