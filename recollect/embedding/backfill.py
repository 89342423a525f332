"""Gives memories their vectors, a few at a time, whenever there are some without.

In: the store and an embedder. Out: vectors. It can be killed at any moment and does nothing twice.
Five failures in a row open a breaker for a minute; search goes by words meanwhile.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

from recollect.core import vectors
from recollect.core.errors import ModelUnavailable, RecollectError
from recollect.core.values import Record, Vector
from recollect.embedding.model import MODEL, Embedder, text_of
from recollect.embedding.parts import parts
from recollect.store.interface import Store

log = logging.getLogger(__name__)

BATCH = 32
PAUSE_S = 1.0
FAILURES = 5
OPEN_S = 60.0
RECORD_S = 20.0  # a long turn has up to nine parts; nobody waits for them

State = Literal["off", "loading", "working", "idle", "open"]


class Backfill:
    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        embedded: Callable[[Sequence[Record], dict[str, Any]], None],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._embedded = embedded
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._failures = 0
        self.state: State = "loading"
        self.done = 0
        self.problem = ""
        self._thread = threading.Thread(target=self._loop, name="recollect-embed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def wake(self) -> None:
        """There is something new."""
        self._wake.set()

    def step(self) -> int:
        """One batch; how many memories got their vectors."""
        for namespace in self._store.projects.namespaces():
            missing = self._store.vectors.missing(namespace, MODEL, BATCH)
            if missing:
                self._embed(missing)
                return len(missing)
        return 0

    # --- the thread ---

    def _loop(self) -> None:
        while not self._stop.is_set():
            try:
                if not self._embedder.ready:
                    self._embedder.load()
                worked = self.step()
            except RecollectError as error:
                self._failed(error)
                continue
            self._failures = 0
            self.problem = ""
            if worked:
                self.state = "working"
                self._stop.wait(0.01)  # between batches, ingest goes first
            else:
                self.state = "idle"
                self._wake.wait(PAUSE_S * 30)
                self._wake.clear()

    def _failed(self, error: RecollectError) -> None:
        self._failures += 1
        if self.problem != str(error):
            self.problem = str(error)
            log.warning("embedding: %s", error)
        unavailable = isinstance(error, ModelUnavailable)
        if self._failures >= FAILURES or unavailable:
            self.state = "off" if unavailable else "open"
            self._stop.wait(OPEN_S)
            self._failures = 0
        else:
            self._stop.wait(PAUSE_S)

    def _embed(self, records: Sequence[Record]) -> None:
        rows: dict[str, Any] = {}
        fresh: list[Vector] = []
        for record in records:
            matrix = self._embedder.embed(parts(searchable(record)), timeout=RECORD_S)
            rows[record.record_id] = matrix
            fresh += [
                Vector(
                    namespace=record.namespace,
                    source_kind="record",
                    source_id=record.record_id,
                    part=part,
                    model=MODEL,
                    dim=vectors.DIMENSIONS,
                    vector=vectors.encode(row),
                )
                for part, row in enumerate(matrix)
            ]
        self._store.vectors.put(fresh)
        self.done += len(records)
        self._embedded(records, rows)


def searchable(record: Record) -> str:
    """What of a memory search reads: an episode is its turn, anything else its fields."""
    if record.kind == "episode":
        return record.detail or record.title
    return "\n".join(text for text in (text_of(record), record.detail) if text)
