"""Protocols for what the operations use of the daemon's Runtime.

`daemon.runtime.Runtime` and `daemon.recall.RecallParts` satisfy them. Every operation takes the
runtime as its first argument.
"""

import threading
from typing import TYPE_CHECKING, Any, Protocol

from recollect.core.clock import Clock
from recollect.core.jobs import Jobs
from recollect.core.settings import Settings
from recollect.extract.tombstones import Tombstones
from recollect.ingest.counters import Counters
from recollect.ingest.keepout import KeepOut
from recollect.ingest.memories import Memories
from recollect.ingest.origins import McpClients, Namespaces
from recollect.ingest.pipeline import Pipeline
from recollect.llm.base import Provider
from recollect.plugins.host import Plugins
from recollect.store.interface import Store
from recollect.work.cache import WorkCache

if TYPE_CHECKING:  # a daemon's start imports this, and hooks must not wait for numpy
    from recollect.embedding.embedder import Embedder
    from recollect.extract.ended_statements import EndedStatements
    from recollect.inject.judge import Feedback
    from recollect.inject.recall import Recall
    from recollect.inject.receipts import ReceiptWriter
    from recollect.retrieve.engine import SearchEngine
    from recollect.retrieve.graph import GraphCache
    from recollect.retrieve.index_cache import IndexCache


class LoadedRecall(Protocol):
    embedder: "Embedder | None"
    engine: "SearchEngine"
    index_cache: "IndexCache"
    graphs: "GraphCache"
    feedback: "Feedback"
    ended: "EndedStatements"
    receipts: "ReceiptWriter"
    recall_now: "Recall"

    def embed_soon(self) -> None:
        """Start making missing vectors now."""

    def embed_again(self) -> None:
        """Start now, also with what was set aside or has a vector of the wrong length."""

    def health(self) -> dict[str, Any]:
        """The state of embedding and the size of the index."""


class ServiceRuntime(Protocol):
    settings: Settings
    clock: Clock
    namespaces: Namespaces
    keep_out: KeepOut
    pipeline: Pipeline
    memories: Memories
    counters: Counters
    tombstones: Tombstones
    work: WorkCache
    plugins: Plugins
    jobs: Jobs
    mcp_clients: McpClients
    add_lock: threading.Lock  # held while a new memory is compared with stored ones, and added

    @property
    def store(self) -> Store: ...

    @property
    def visible_store(self) -> Store:
        """The store for reading, without what was forgotten."""

    @property
    def actor(self) -> str: ...

    @property
    def loaded_recall(self) -> LoadedRecall | None:
        """None until recall is loaded."""

    def recall(self) -> LoadedRecall:
        """Waits until recall is loaded; StoreError when that takes too long."""

    def model(self) -> Provider | None:
        """The language model of the settings, metered; None for rules alone."""

    def extracting(self) -> frozenset[str]:
        """The namespaces whose events are being extracted now."""

    def retry_extraction(self, namespace: str) -> None:
        """Put events that were set aside back in line, and begin at once."""

    def embed_soon(self) -> None:
        """Start making missing vectors; until then a new memory is found by words only."""

    def publish(self, kind: str, data: Any) -> None:
        """Send to the clients of the live feed."""
