"""Puts benchmark messages into the product, and asks it questions.

In: messages of one store. Out: ranked message ids. `Ingest` is the interface: `DirectIngest` fills
the search engine itself, `ProductIngest` takes the production path (event, turn, record).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.bench.datasets import BenchMessage
from recollect.bench.vectors import CachedVectors
from recollect.core.settings import Fusion
from recollect.core.tuning import SearchWeights
from recollect.embedding.chunking import parts
from recollect.retrieve.engine import Mode, Ranked, SearchEngine
from recollect.retrieve.index import Document
from recollect.retrieve.score import Signals


@dataclass(frozen=True)
class Variant:
    """How to ask; the default is the product's own way."""

    mode: Mode = "hybrid"
    fusion: Fusion = "linear"
    weights: SearchWeights | None = None
    floor: bool = False


class Ingest(Protocol):
    def fill(self, store: str, messages: Sequence[BenchMessage]) -> None:
        """Load a store, replacing the one of that name."""

    def ask(self, store: str, text: str, limit: int, variant: Variant) -> Ranked:
        """Search it; result ids are those of the messages."""

    def add(self, store: str, messages: Sequence[BenchMessage]) -> None: ...

    def remove(self, store: str, ids: Iterable[str]) -> None: ...

    def forget(self, store: str) -> None: ...


class DirectIngest:
    def __init__(self, vectors: CachedVectors) -> None:
        self._vectors = vectors
        self._engine = SearchEngine(vectors)

    def fill(self, store: str, messages: Sequence[BenchMessage]) -> None:
        self._engine.drop(store)
        self.add(store, messages)

    def add(self, store: str, messages: Sequence[BenchMessage]) -> None:
        self._engine.add(store, map(self._document, messages))

    def remove(self, store: str, ids: Iterable[str]) -> None:
        self._engine.remove(store, ids)

    def ask(self, store: str, text: str, limit: int, variant: Variant) -> Ranked:
        return self._engine.search(
            text,
            [store],
            limit=limit,
            mode=variant.mode,
            fusion=variant.fusion,
            weights=variant.weights,
            floor=variant.floor,
        )

    def signals(self, store: str, text: str) -> tuple[Signals, list[str]]:
        """What ranking knows about the candidates, and their message ids."""
        return self._engine.signals(text, store)

    def forget(self, store: str) -> None:
        self._engine.drop(store)

    def _document(self, message: BenchMessage) -> Document:
        return Document(
            id=message.id,
            text=message.text,
            session=message.session,
            position=message.position,
            author=message.author,
            time=message.time,
            vectors=self._vectors.embed(parts(message.text)),
        )


def texts(messages: Iterable[BenchMessage]) -> list[str]:
    """Every text whose vector `DirectIngest` and the baselines will ask for."""
    return [part for message in messages for part in (message.text, *parts(message.text))]
