"""Embeds memories that have no vectors yet, in small batches.

In: the store and an embedder. Out: vectors. It can be killed at any time and does nothing twice.
Five failures in a row, or a model that cannot be loaded, open a breaker for a minute; search goes
by words meanwhile. A memory on which only the model fails is set aside with the reason until the
next start.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from recollect.core import vector_bytes
from recollect.core.errors import ModelUnavailable
from recollect.core.values import Record, Vector
from recollect.embedding.chunking import parts
from recollect.embedding.embedder import Embedder, model_of, text_of, vector_rows
from recollect.store.interface import Store

log = logging.getLogger(__name__)

BATCH = 32
PAUSE_S = 1.0
FAILURES = 5
OPEN_S = 60.0
RECORD_S = 20.0  # a long turn has up to nine parts; nobody waits for them
MOST_ASIDE = 1000  # more than that, and it is the model and not the texts
_PROBE = "a sentence that every model can read"

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
        self.model = model_of(embedder)
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._one_step = threading.Lock()  # two at a time would embed the same memories
        self._failures = 0
        self.state: State = "loading"
        self.done = 0
        self.problem = ""
        self.aside: dict[str, str] = {}  # memory: why it has no vector
        self._thread = threading.Thread(target=self._loop, name="recollect-embed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def wake(self) -> None:
        """There are new memories."""
        self._wake.set()

    def again(self) -> None:
        """Try also what was set aside, and make vectors of the wrong length anew."""
        with self._one_step:
            self.aside.clear()
            self._drop_misfits()
        self._wake.set()

    def step(self) -> int:
        """One batch; returns how many memories were embedded or set aside."""
        with self._one_step:
            for namespace in self._store.projects.namespaces():
                missing = self._store.vectors.missing(
                    namespace, self.model, BATCH + len(self.aside)
                )
                fresh = [one for one in missing if one.record_id not in self.aside][:BATCH]
                if fresh:
                    self._embed(fresh)
                    return len(fresh)
        return 0

    # --- the thread ---

    def _loop(self) -> None:
        looked = False
        while not self._stop.is_set():
            loaded = self._embedder.ready
            try:
                if not loaded:
                    self._embedder.load()
                    loaded = True
                if not looked:
                    self._drop_misfits()
                    looked = True
                worked = self.step()
            except Exception as error:  # noqa: BLE001 - told; a thread that is dead embeds nothing
                self._failed(error, missing=not loaded and isinstance(error, ModelUnavailable))
                continue
            self._failures = 0
            self.problem = ""
            if worked:
                self.state = "working"
                self._stop.wait(0.01)  # other threads run between two batches
            else:
                self.state = "idle"
                self._wake.wait(PAUSE_S * 30)
                self._wake.clear()

    def _drop_misfits(self) -> None:
        for namespace in self._store.projects.namespaces():
            for record_id in self._store.vectors.misfits(namespace, self.model, drop=True):
                log.warning("embedding: a vector of %s has the wrong length", record_id)

    def _failed(self, error: Exception, *, missing: bool) -> None:
        """One failure more; a model that cannot be loaded is not tried again at once."""
        self._failures += 1
        if self.problem != str(error):
            self.problem = str(error)
            log.warning("embedding: %s", error)
        if self._failures >= FAILURES or missing:
            self.state = "off" if missing else "open"
            self._stop.wait(OPEN_S)
            self._failures = 0
        else:
            self._stop.wait(PAUSE_S)

    def _embed(self, records: Sequence[Record]) -> None:
        rows: dict[str, Any] = {}
        fresh: list[Vector] = []
        for record in records:
            matrix = self._rows(record)
            if matrix is None:
                continue
            rows[record.record_id] = matrix
            fresh += vector_rows(record, map(vector_bytes.encode, matrix), self.model)
        self._store.vectors.put(fresh)
        self.done += len(rows)
        self._embedded([one for one in records if one.record_id in rows], rows)

    def _rows(self, record: Record) -> Any:
        """A memory's vectors; None when it is set aside. A memory without words gets the vector of
        an empty text: otherwise it would be tried again and again."""
        texts = parts(searchable(record)) or [""]
        try:
            return self._finite(texts)
        except ModelUnavailable as error:
            if len(self.aside) >= MOST_ASIDE:
                raise
            first = error
        self._finite([_PROBE])  # raises if it is the model's fault
        try:
            return self._finite(texts)
        except ModelUnavailable:
            self.aside[record.record_id] = str(first)
            log.warning("embedding: %s is set aside: %s", record.record_id, first)
            return None

    def _finite(self, texts: Sequence[str]) -> Any:
        matrix = self._embedder.embed(texts, timeout=RECORD_S)
        if not np.isfinite(matrix).all():
            raise ModelUnavailable("the model gave no numbers")
        return matrix


def searchable(record: Record) -> str:
    """The text of a memory that search reads."""
    if record.traits.text_in_detail:
        return record.detail or record.title
    return "\n".join(text for text in (text_of(record), record.detail) if text)
