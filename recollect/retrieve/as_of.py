"""Search in the memories as they were at a time in the past.

In: the store, namespaces, a time. Out: an engine for one question, filled with the versions of that
time. Versions that were replaced since come from the archive with their vectors.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from recollect.core.values import Record, Vector
from recollect.embedding.embedder import MODEL
from recollect.retrieve.engine import QueryEmbedder, SearchEngine
from recollect.retrieve.index import Document
from recollect.retrieve.index_cache import by_owner, document
from recollect.store.interface import Cursor, Store

_PAGE = 500


def engine_as_of(
    store: Store, namespaces: Sequence[str], moment: datetime, embedder: QueryEmbedder | None
) -> tuple[SearchEngine, dict[str, Record]]:
    """The engine, and the memories in it as they were then."""
    engine = SearchEngine(embedder)
    known: dict[str, Record] = {}
    for namespace in namespaces:
        engine.add(namespace, _documents(store, namespace, moment, known))
    return engine, known


def _documents(
    store: Store, namespace: str, moment: datetime, known: dict[str, Record]
) -> Iterator[Document]:
    cursor: Cursor | None = None
    while True:
        page = store.records.page(namespace, before=cursor, limit=_PAGE, as_of=moment)
        ids = [record.record_id for record in page.items]
        now = {record.record_id: record for record in store.records.get(namespace, ids)}
        vectors = by_owner(store.vectors.of(namespace, MODEL, ids))
        for record in page.items:
            known[record.record_id] = record
            # Not by its version: an undo brings a number back, and the next edit may use it again.
            same = now.get(record.record_id) == record
            then = vectors if same else by_owner(_archived(store, record, moment))
            yield document(record, then.get(record.record_id))
        if page.next is None:
            return
        cursor = page.next


def _archived(store: Store, record: Record, moment: datetime) -> list[Vector]:
    """The vectors of the version that was live then."""
    for version in store.log.versions(record.namespace, record.record_id):
        if version.since <= moment < version.until:
            return [one for one in version.vectors if one.model == MODEL]
    return []
