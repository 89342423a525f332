"""Vectors beside their sources, in one table.

In: vectors as bytes. Out: the same bytes. A blob of the wrong length raises DamagedRow that names
its owner; a vector whose source is gone is passed over.
"""

from collections.abc import Iterator, Sequence

from recollect.core import vector_bytes as layout
from recollect.core.values import Record, SourceKind, Vector
from recollect.store.sql import rows
from recollect.store.sql import statements as sql
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import Engine, ids_json


class SqlVectors:
    indexed = False  # the daemon's own index is on the same machine and filled in a moment

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, vectors: Sequence[Vector]) -> int:
        return self._engine.write(lambda db: sum(put_vector(db, vector) for vector in vectors))

    def scan(self, namespace: str, model: str) -> Iterator[Vector]:
        with self._engine.reader() as db:
            found = db.run(sql.SCAN_VECTORS, {"namespace": namespace, "model": model})
            for row in found:
                yield _checked(rows.VECTOR.decode(row))

    def knowledge(self, namespace: str, model: str) -> Iterator[tuple[str, bytes]]:
        with self._engine.reader() as db:
            yield from db.run(sql.KNOWLEDGE_VECTORS, {"namespace": namespace, "model": model})

    def of(self, namespace: str, model: str, record_ids: Sequence[str]) -> list[Vector]:
        values = {"namespace": namespace, "model": model, "record_ids": ids_json(record_ids)}
        found = self._engine.rows(sql.VECTORS_OF_RECORDS, values)
        return [_checked(rows.VECTOR.decode(row)) for row in found]

    def nearest(
        self, namespace: str, model: str, vector: bytes, limit: int
    ) -> list[tuple[str, float]]:
        return []

    def missing(self, namespace: str, model: str, limit: int) -> list[Record]:
        values = {"namespace": namespace, "model": model, "limit": limit}
        return [rows.RECORD.decode(row) for row in self._engine.rows(sql.MISSING_VECTORS, values)]

    def clear(self, namespace: str, source_kind: SourceKind, source_ids: Sequence[str]) -> None:
        def work(db: Connection) -> None:
            for source_id in source_ids:
                owner = {"namespace": namespace, "source_kind": source_kind}
                db.run(sql.DELETE_VECTORS, {**owner, "source_id": source_id})

        self._engine.write(work, when_full=True)


def put_vector(db: Connection, vector: Vector) -> int:
    _checked(vector)
    db.run(sql.PUT_VECTOR[vector.source_kind], db.vector_row(rows.VECTOR.encode(vector)))
    return db.changes()


def vectors_of(
    db: Connection, namespace: str, source_kind: SourceKind, source_id: str
) -> list[Vector]:
    values = {"namespace": namespace, "source_kind": source_kind, "source_id": source_id}
    return [rows.VECTOR.decode(row) for row in db.run(sql.VECTORS_OF, values)]


def _checked(vector: Vector) -> Vector:
    layout.check(vector.vector, owner=vector.source_id, dimensions=vector.dim)
    return vector
