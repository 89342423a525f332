"""Sends benchmark messages through the product: event, pipeline, turn, store, vectors, index.

In: messages of one store. Out: ranked message ids. Nothing here ranks or indexes; it writes events
as a client would, and asks as recall does.
"""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from recollect.bench.datasets import BenchMessage
from recollect.bench.ingest import Variant
from recollect.bench.vectors import CachedVectors
from recollect.core import ids, projects
from recollect.core.clock import from_micros
from recollect.core.settings import Settings
from recollect.core.values import ChatMessage, Event, EventSource, MessageBody
from recollect.daemon.recall import RecallParts
from recollect.daemon.runtime import Runtime
from recollect.embedding.embedder import Embedder
from recollect.retrieve.engine import Ranked

_ACTOR = "bench"
_STEP = 500
_LONG_AGO = datetime(1990, 1, 1, tzinfo=UTC)  # of a message whose time is not known


class CachedEmbedder(Embedder):
    """The cached vectors with the interface of the product's embedder."""

    def __init__(self, vectors: CachedVectors) -> None:
        super().__init__("")
        self._vectors = vectors
        self.ready = True  # what is not cached is embedded when it is asked for

    def load(self) -> None:
        return

    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        rows = self._vectors.embed(texts)
        self.scale = self._vectors.scale  # known once the model has loaded
        return rows


class ProductIngest:
    def __init__(self, vectors: CachedVectors, address: str = "") -> None:
        """In a file of SQLite, or in the PostgreSQL database at this address."""
        self._home = tempfile.mkdtemp(prefix="recollect-bench-")
        settings = Settings(
            home=self._home, actor=_ACTOR, store=address, reserve_mb=0, cache_mb=4096
        )
        self._runtime = Runtime(settings)
        self._recall = RecallParts(self._runtime, CachedEmbedder(vectors))
        self._runtime.turn_writer.start()
        self._message: dict[str, str] = {}

    def fill(self, store: str, messages: Sequence[BenchMessage]) -> None:
        self.forget(store)
        self.add(store, messages)
        self._recall.index_cache.fill([_namespace(store)])

    def add(self, store: str, messages: Sequence[BenchMessage]) -> None:
        for first in range(0, len(messages), _STEP):
            events = [self._event(store, one) for one in messages[first : first + _STEP]]
            self._runtime.pipeline.events([(event, event.event_id) for event in events])
        self._runtime.turn_writer.wait(3600)
        self._recall.embed_now()

    def remove(self, store: str, ids: Iterable[str]) -> None:
        wanted = set(ids)
        records = [record for record, message in self._message.items() if message in wanted]
        self._runtime.memories.delete(_namespace(store), records, _ACTOR)

    def ask(self, store: str, text: str, limit: int, variant: Variant) -> Ranked:
        ranked = self._recall.engine.search(
            text,
            [_namespace(store)],
            limit=limit,
            mode=variant.mode,
            fusion=variant.fusion,
            weights=variant.weights,
            floor=variant.floor,
        )
        results = tuple(replace(one, id=self._message[one.id]) for one in ranked.results)
        return replace(ranked, results=results)

    def forget(self, store: str) -> None:
        """Drop the index. A store is never filled twice in one run, so its rows may stay."""
        self._recall.index_cache.drop(_namespace(store))

    def close(self) -> None:
        self._recall.close()
        self._runtime.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _event(self, store: str, message: BenchMessage) -> Event:
        event_id = ids.new_ulid()
        self._message[ids.RECORD + event_id] = message.id
        return Event(
            event_id=event_id,
            session_id=message.session or f"alone-{event_id}",
            actor_id=_ACTOR,
            namespace=_namespace(store),
            kind="note",
            body=MessageBody(
                turns=(ChatMessage(role=message.author or "other", content=message.text),)
            ),
            valid_time=_LONG_AGO if message.time is None else from_micros(message.time),
            source=EventSource(surface="bench"),
        )


def _namespace(store: str) -> str:
    return projects.namespace(_ACTOR, store)
