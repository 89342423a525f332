"""Search over what memory held at a moment.

In: a moment, a question. Out: what search would have found then, exactly: an index is built of the
memories that were live at that moment, with the vectors they had. It costs as much as filling a
shelf, so the last moments asked for are kept.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import datetime

from recollect.core.clock import to_micros
from recollect.core.values import Record, Vector
from recollect.embedding.model import MODEL
from recollect.retrieve.engine import Embeds, Engine
from recollect.retrieve.index import Document
from recollect.retrieve.results import Mode, Ranked
from recollect.retrieve.shelves import document, rows_by_owner
from recollect.store.interface import Cursor, Store

_PAGE = 500
_KEPT = 2


class TimeMachine:
    def __init__(self, store: Store, embedder: Embeds | None = None) -> None:
        self._store = store
        self._embedder = embedder
        self._engines: OrderedDict[tuple[datetime, tuple[str, ...]], Engine] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self,
        text: str,
        namespaces: Sequence[str],
        as_of: datetime,
        *,
        limit: int = 10,
        mode: Mode = "hybrid",
        floor: bool = True,
    ) -> tuple[Ranked, list[Record]]:
        """What would have been found, and those memories as they were, in the same order."""
        engine = self._engine(tuple(namespaces), as_of)
        ranked = engine.search(
            text, namespaces, limit=limit, mode=mode, floor=floor, now=to_micros(as_of)
        )
        wanted = {one.id for one in ranked.results}
        there = {
            record.record_id: record
            for namespace in namespaces
            for record in self.memories(namespace, as_of)
            if record.record_id in wanted
        }
        return ranked, [there[one.id] for one in ranked.results]

    def memories(self, namespace: str, as_of: datetime) -> Iterator[Record]:
        """Everything that was live then, newest first."""
        cursor: Cursor | None = None
        while True:
            page = self._store.records.page(namespace, before=cursor, limit=_PAGE, as_of=as_of)
            yield from page.items
            if page.next is None:
                return
            cursor = page.next

    def forget(self) -> None:
        """The archive changed under us (an undo, a purge): build anew."""
        with self._lock:
            self._engines.clear()

    def _engine(self, namespaces: tuple[str, ...], as_of: datetime) -> Engine:
        with self._lock:
            key = (as_of, namespaces)
            if key not in self._engines:
                engine = Engine(self._embedder)
                for namespace in namespaces:
                    engine.add(namespace, self._documents(namespace, as_of))
                self._engines[key] = engine
                while len(self._engines) > _KEPT:
                    self._engines.popitem(last=False)
            return self._engines[key]

    def _documents(self, namespace: str, as_of: datetime) -> Iterator[Document]:
        for record in self.memories(namespace, as_of):
            vectors = self._vectors(namespace, record, as_of)
            yield document(record, rows_by_owner(vectors).get(record.record_id))

    def _vectors(self, namespace: str, record: Record, as_of: datetime) -> list[Vector]:
        """Those of the version that was live then; a version that is live still has its own."""
        for version in self._store.log.versions(namespace, record.record_id):
            if version.since <= as_of < version.until:
                return [one for one in version.vectors if one.model == MODEL]
        return self._store.vectors.of(namespace, MODEL, [record.record_id])
