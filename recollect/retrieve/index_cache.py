"""Keeps the search engine in step with the store: one index per namespace, loaded when needed.

In: writes as they happen, and the store's rows when an index is first needed. Out: an engine that
holds exactly what the store holds. An index is filled in a thread; until it is complete, `ready`
says so and callers search the store by words. The least used indexes are dropped when memory is
short. An index with many removed documents is rebuilt beside the old one, which serves meanwhile.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core import oslayer
from recollect.core.clock import to_micros
from recollect.core.errors import RecollectError
from recollect.core.values import Record, Vector
from recollect.embedding.backfill import searchable
from recollect.embedding.embedder import MODEL
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index import Document
from recollect.store.interface import Cursor, Store

log = logging.getLogger(__name__)

_PAGE = 500
SMALL = 500  # memories that are read in a fraction of `SOON_S`
SOON_S = 0.2  # of the 500 ms of a prompt
_LOOK_S = 0.005
_TOGETHER = 2  # a prompt searches its project and the global one: neither may evict the other
Rows = NDArray[np.float32]


class IndexCache:
    def __init__(
        self, store: Store, engine: SearchEngine, cache_mb: int, model: str = MODEL
    ) -> None:
        self._store = store
        self._engine = engine
        self._limit = cache_mb << 20
        self.model = model  # only its vectors are read
        self._lock = threading.Lock()
        self._full: OrderedDict[str, None] = OrderedDict()
        self._filling: dict[str, set[str]] = {}  # namespace: records that changed meanwhile
        self._rebuilding: dict[str, set[str]] = {}  # likewise
        self._restart: set[str] = set()  # names of indexes under way that must be read once more
        self.epoch = 0  # grows with every change, so that answers cached before it are not used

    def ready(self, namespaces: Sequence[str]) -> bool:
        """Whether all of them can be searched."""
        with self._lock:
            for namespace in namespaces:
                if namespace in self._full:
                    self._full.move_to_end(namespace)
            return all(namespace in self._full for namespace in namespaces)

    def prepare(self, namespaces: Sequence[str]) -> None:
        """Begin to fill those that are not complete, in threads; returns at once."""
        missing = []
        with self._lock:
            for namespace in namespaces:
                if namespace not in self._full and namespace not in self._filling:
                    self._filling[namespace] = set()
                    missing.append(namespace)
        for namespace in missing:
            threading.Thread(target=self._fill, args=(namespace,), daemon=True).start()

    def soon_ready(self, namespaces: Sequence[str], seconds: float = SOON_S) -> bool:
        """Wait for indexes that are not complete, if they are small: a prompt has time for these,
        and for no more. Whether all of them can be searched now."""
        counts = [one.count for name in namespaces for one in self._store.records.counts(name)]
        if sum(counts) > SMALL:
            return False
        self.prepare(namespaces)
        deadline = time.monotonic() + seconds
        while self.filling(namespaces) and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        return self.ready(namespaces)

    def filling(self, namespaces: Sequence[str]) -> bool:
        """Whether any of them is being filled just now."""
        with self._lock:
            return any(namespace in self._filling for namespace in namespaces)

    def fill(self, namespaces: Iterable[str]) -> None:
        """Fill indexes in this thread."""
        for namespace in namespaces:
            with self._lock:
                if namespace in self._full or namespace in self._filling:
                    continue
                self._filling[namespace] = set()
            self._fill(namespace)

    def drop(self, namespace: str) -> None:
        """Drop an index; it is filled again when it is needed."""
        with self._lock:
            self._full.pop(namespace, None)
        self._engine.drop(namespace)

    def drop_all(self) -> None:
        """Drop all indexes, because anything may have changed without notice. Those that are being
        built are read again from the beginning."""
        with self._lock:
            self.epoch += 1
            self._restart.update(self._filling, map(_rebuild_name, self._rebuilding))
            full = list(self._full)
        for namespace in full:
            self.drop(namespace)

    # --- listening to writes ---

    def stored(self, records: Sequence[Record]) -> None:
        for namespace, mine in _by_namespace(records):
            if self._is_searchable(namespace, [record.record_id for record in mine]):
                self._put(namespace, mine)
                self._changed(namespace)

    def removed(self, namespace: str, record_ids: Sequence[str]) -> None:
        if self._is_searchable(namespace, record_ids):
            self._engine.remove(namespace, record_ids)
            self._changed(namespace)

    def embedded(self, records: Sequence[Record], rows: dict[str, Any]) -> None:
        """Memories have got their vectors."""
        for namespace, mine in _by_namespace(records):
            if self._is_searchable(namespace, [record.record_id for record in mine]):
                self._engine.add(
                    namespace, [document(record, rows[record.record_id]) for record in mine]
                )
                self._changed(namespace)

    def _is_searchable(self, namespace: str, record_ids: Sequence[str]) -> bool:
        with self._lock:
            if namespace in self._rebuilding:
                self._rebuilding[namespace].update(record_ids)
            if namespace in self._filling:
                self._filling[namespace].update(record_ids)
                return False
            return namespace in self._full

    def _changed(self, namespace: str) -> None:
        with self._lock:
            self.epoch += 1
        self._rebuild_if_needed(namespace)

    # --- filling ---

    def _fill(self, namespace: str) -> None:
        try:
            self._build(namespace, namespace, self._filling)
        except RecollectError as error:
            log.error("the search index of %s could not be filled: %s", namespace, error)
            with self._lock:
                self._filling.pop(namespace, None)
                self._restart.discard(namespace)
            self._engine.drop(namespace)
            return
        self._make_room(namespace)
        oslayer.give_memory_back()  # filling leaves as much behind as a third of the index

    def _rebuild_if_needed(self, namespace: str) -> None:
        """A memory that changes leaves its old words and vectors in the index; when these are many,
        the index is rebuilt in a thread."""
        if not self._engine.needs_rebuild(namespace):
            return
        with self._lock:
            if namespace in self._rebuilding or namespace not in self._full:
                return
            self._rebuilding[namespace] = set()
        threading.Thread(target=self._rebuild, args=(namespace,), daemon=True).start()

    def _rebuild(self, namespace: str) -> None:
        fresh = _rebuild_name(namespace)
        try:
            self._build(namespace, fresh, self._rebuilding)
        except RecollectError as error:
            log.error("the search index of %s could not be rebuilt: %s", namespace, error)
            with self._lock:
                self._rebuilding.pop(namespace, None)
                self._restart.discard(fresh)
        self._engine.drop(fresh)
        oslayer.give_memory_back()

    def _build(self, namespace: str, name: str, changes: dict[str, set[str]]) -> None:
        """Read a namespace into the engine under a name, again until nothing changed meanwhile."""
        anew, changed = True, set[str]()
        while True:
            if anew:
                self._engine.drop(name)
                self._engine.add(name, self._documents(namespace))
            else:
                self._reread(namespace, name, sorted(changed))
            with self._lock:
                anew, changed = name in self._restart, changes[namespace]
                if not anew and not changed:
                    del changes[namespace]
                    self.epoch += 1
                    if name == namespace:
                        self._full[namespace] = None
                    elif namespace in self._full:
                        self._engine.replace(namespace, name)
                    return
                self._restart.discard(name)
                changes[namespace] = set()

    def _documents(self, namespace: str) -> Iterator[Document]:
        """Page by page, so that no more than one page is in memory twice."""
        cursor: Cursor | None = None
        while True:
            page = self._store.records.page(namespace, before=cursor, limit=_PAGE)
            ids = [record.record_id for record in page.items]
            vectors = by_owner(self._store.vectors.of(namespace, self.model, ids))
            for record in page.items:
                yield document(record, vectors.get(record.record_id))
            if page.next is None:
                return
            cursor = page.next

    def _reread(self, namespace: str, name: str, record_ids: Sequence[str]) -> None:
        """Read once more what changed while the index was filled."""
        there = self._store.records.get(namespace, record_ids)
        self._engine.remove(name, record_ids)
        self._put(namespace, there, name)

    def _put(self, namespace: str, records: Sequence[Record], name: str = "") -> None:
        """Add memories with their vectors; a new memory has none yet."""
        ids = [record.record_id for record in records]
        vectors = by_owner(self._store.vectors.of(namespace, self.model, ids))
        self._engine.add(
            name or namespace,
            [document(record, vectors.get(record.record_id)) for record in records],
        )

    def _make_room(self, keep: str) -> None:
        """Drop the least used indexes while their total size is over the limit."""
        sizes = {name: sum(parts.values()) for name, parts in self._engine.memory().items()}
        while sum(sizes.values()) > self._limit:
            with self._lock:
                oldest = next(
                    (name for name in list(self._full)[:-_TOGETHER] if name != keep), None
                )
                if oldest is None:
                    return
                del self._full[oldest]
            self._engine.drop(oldest)
            sizes.pop(oldest, None)


def _rebuild_name(namespace: str) -> str:
    """The name of an index that is being rebuilt; no namespace can have it."""
    return f"{namespace}\0fresh"


def document(record: Record, vectors: Rows | None = None) -> Document:
    """A memory as search sees it."""
    assert record.created_at is not None
    traits = record.traits
    text = searchable(record)
    if record.files:
        text = f"{text}\n" + "\n".join(record.files)
    return Document(
        id=record.record_id,
        text=text,
        title="" if traits.text_in_detail else record.title,
        # A compressed turn is no evidence for the turns it was made from, nor they for it.
        session=record.session_id if record.session_id and record.level == "raw" else "",
        position=record.position or 0,
        author=record.author,
        time=to_micros(record.valid_from),
        created=to_micros(record.created_at),
        importance=record.importance,
        confidence=record.confidence,
        freshness=record.freshness if record.stands else "ended",
        derived=not traits.is_turn,
        access_count=record.access_count,
        vectors=vectors,
    )


def by_owner(vectors: Iterable[Vector]) -> dict[str, Rows]:
    parts: dict[str, list[bytes]] = {}
    for vector in vectors:
        if vector.source_kind == "record":
            parts.setdefault(vector.source_id, []).append(vector.vector)
    return {owner: _matrix(blobs) for owner, blobs in parts.items()}


def _matrix(blobs: Sequence[bytes]) -> Rows:
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1).astype(np.float32)


def _by_namespace(records: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.namespace, []).append(record)
    yield from found.items()
