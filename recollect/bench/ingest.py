"""How benchmark messages get into the product, and questions out of it.

In: messages of one store. Out: ranked message ids. `Ingest` is the seam: `DirectIngest` fills the
search engine itself; the production path (event, turn, episode) takes its place where it exists.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.bench.data import Message
from recollect.bench.vectors import Vectors
from recollect.embedding.parts import parts
from recollect.retrieve.engine import Engine
from recollect.retrieve.index import Document
from recollect.retrieve.rank import Weights
from recollect.retrieve.results import Mode, Ranked


class Ingest(Protocol):
    def fill(self, store: str, messages: Sequence[Message]) -> None:
        """Take a store in; it replaces what was there under that name."""

    def ask(self, store: str, text: str, limit: int, *, floor: bool) -> Ranked:
        """Search it; result ids are those of the messages."""

    def forget(self, store: str) -> None: ...


class DirectIngest:
    def __init__(
        self, vectors: Vectors, weights: Weights | None = None, mode: Mode = "hybrid"
    ) -> None:
        self._vectors = vectors
        self._mode: Mode = mode
        self._engine = Engine(vectors, weights)

    def fill(self, store: str, messages: Sequence[Message]) -> None:
        self._engine.drop(store)
        self._engine.add(store, (self._document(message) for message in messages))

    def ask(self, store: str, text: str, limit: int, *, floor: bool = False) -> Ranked:
        return self._engine.search(text, [store], limit=limit, mode=self._mode, floor=floor)

    def forget(self, store: str) -> None:
        self._engine.drop(store)

    def _document(self, message: Message) -> Document:
        return Document(
            id=message.id,
            text=message.text,
            session=message.session,
            position=message.position,
            author=message.author,
            time=message.time,
            vectors=self._rows(message.text),
        )

    def _rows(self, text: str) -> NDArray[np.float32]:
        return self._vectors.embed(parts(text))
