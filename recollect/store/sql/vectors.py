"""Vectors beside their sources, in one table.

In: vectors as bytes. Out: the same bytes. A blob that is not as long as its model's vectors raises
DamagedRow that names its owner; one that is stored nevertheless is left out when vectors are read.
A vector whose source is gone is passed over.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.core import kinds
from recollect.core import vector_bytes as layout
from recollect.core.values import Record, SourceKind, Vector
from recollect.store.sql import rows
from recollect.store.sql.engine import (
    Connection,
    Engine,
    Statement,
    both,
    column_list,
    each,
    ids_json,
)

_LONGEST = 8192  # as the table has it
_RECORD_R = column_list(rows.RECORD.columns, "r.")


def _put_vector(table: str, key: str) -> Statement:
    """Of something that exists. The server keeps it twice: as it came, and for its own index."""
    owner = f"SELECT 1 FROM {table} WHERE namespace = $namespace AND {key} = $source_id"
    return each(
        sqlite=f"""
INSERT INTO embeddings (namespace, source_kind, source_id, part, model, dim, vector)
SELECT $namespace, $source_kind, $source_id, $part, $model, $dim, $vector
 WHERE EXISTS ({owner})
ON CONFLICT (namespace, source_kind, source_id, part) DO UPDATE
   SET model = excluded.model, dim = excluded.dim, vector = excluded.vector
""",
        postgres=f"""
INSERT INTO embeddings (namespace, source_kind, source_id, part, model, dim, vector, near)
SELECT $namespace, $source_kind, $source_id, $part, $model, $dim, $vector, $near
 WHERE EXISTS ({owner})
ON CONFLICT (namespace, source_kind, source_id, part) DO UPDATE
   SET model = excluded.model, dim = excluded.dim, vector = excluded.vector, near = excluded.near
""",
    )


PUT_VECTOR = {
    "record": _put_vector("memory_records", "record_id"),
    "entity": _put_vector("entities", "entity_id"),
    "fact": _put_vector("facts", "fact_id"),
    "procedure": _put_vector("procedures", "procedure_id"),
}
_FITS = "dim BETWEEN $least AND $most"
KNOWLEDGE_VECTORS = both(f"""
SELECT e.source_id, e.vector FROM embeddings AS e
  JOIN memory_records AS r ON r.record_id = e.source_id AND r.namespace = e.namespace
 WHERE e.namespace = $namespace AND e.model = $model AND e.source_kind = 'record' AND e.part = 0
   AND e.{_FITS} AND r.kind <> '{kinds.TURN.name}' ORDER BY e.source_id
""")
VECTORS_OF = both(f"""
SELECT {column_list(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = $namespace AND source_kind = $source_kind AND source_id = $source_id
 ORDER BY part
""")
VECTORS_OF_RECORDS = both(f"""
SELECT {column_list(rows.VECTOR.columns)} FROM embeddings
 WHERE namespace = $namespace AND model = $model AND source_kind = 'record'
   AND {_FITS} AND source_id IN {{texts[record_ids]}}
 ORDER BY source_id, part
""")
MISSING_VECTORS = both(f"""
SELECT {_RECORD_R} FROM memory_records AS r
 WHERE r.namespace = $namespace AND NOT EXISTS (
       SELECT 1 FROM embeddings AS e
        WHERE e.namespace = $namespace AND e.model = $model
          AND e.source_kind = 'record' AND e.source_id = r.record_id)
 ORDER BY r.created_at, r.record_id LIMIT $limit
""")
COUNT_VECTORS = both("""
SELECT count(DISTINCT source_id) FROM embeddings
 WHERE namespace = $namespace AND model = $model AND source_kind = 'record'
""")
MISFITS = both(f"""
SELECT DISTINCT source_id FROM embeddings
 WHERE namespace = $namespace AND model = $model AND source_kind = 'record' AND NOT {_FITS}
 ORDER BY source_id
""")
# With what fits of the same memory: otherwise a part would be missing, and not seen to be.
DELETE_MISFITS = both("""
DELETE FROM embeddings
 WHERE namespace = $namespace AND model = $model AND source_kind = 'record'
   AND source_id IN {texts[record_ids]}
""")
DELETE_VECTORS = both("""
DELETE FROM embeddings
 WHERE namespace = $namespace AND source_kind = $source_kind AND source_id = $source_id
""")


class SqlVectors:
    indexed = False  # the daemon's own index is on the same machine and filled in a moment

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, vectors: Sequence[Vector]) -> int:
        return self._engine.write(lambda db: sum(put_vector(db, vector) for vector in vectors))

    def knowledge(self, namespace: str, model: str) -> Iterator[tuple[str, bytes]]:
        with self._engine.reader() as db:
            yield from db.run(KNOWLEDGE_VECTORS, _place(namespace, model))

    def of(self, namespace: str, model: str, record_ids: Sequence[str]) -> list[Vector]:
        values = {**_place(namespace, model), "record_ids": ids_json(record_ids)}
        found = self._engine.rows(VECTORS_OF_RECORDS, values)
        return [_checked(rows.VECTOR.decode(row)) for row in found]

    def nearest(
        self, namespace: str, model: str, vector: bytes, limit: int
    ) -> list[tuple[str, float]]:
        return []

    def count(self, namespace: str, model: str) -> int:
        ((found,),) = self._engine.rows(COUNT_VECTORS, {"namespace": namespace, "model": model})
        return int(found)

    def misfits(self, namespace: str, model: str, *, drop: bool = False) -> list[str]:
        place = _place(namespace, model)
        found = [one for (one,) in self._engine.rows(MISFITS, place)]
        if found and drop:
            values = {"namespace": namespace, "model": model, "record_ids": ids_json(found)}
            self._engine.write(lambda db: db.run(DELETE_MISFITS, values))
        return found

    def missing(self, namespace: str, model: str, limit: int) -> list[Record]:
        values = {"namespace": namespace, "model": model, "limit": limit}
        return [rows.RECORD.decode(row) for row in self._engine.rows(MISSING_VECTORS, values)]


def put_vector(db: Connection, vector: Vector) -> int:
    _checked(vector)
    db.run(PUT_VECTOR[vector.source_kind], db.vector_row(rows.VECTOR.encode(vector)))
    return db.changes()


def vectors_of(
    db: Connection, namespace: str, source_kind: SourceKind, source_id: str
) -> list[Vector]:
    """Those that fit their model: they may be stored again."""
    values = {"namespace": namespace, "source_kind": source_kind, "source_id": source_id}
    return [one for row in db.run(VECTORS_OF, values) if fits(one := rows.VECTOR.decode(row))]


def fits(vector: Vector) -> bool:
    """Whether it is as long as its model's vectors."""
    return vector.dim == (layout.dimensions_of(vector.model) or vector.dim)


def _checked(vector: Vector) -> Vector:
    due = layout.dimensions_of(vector.model) or vector.dim
    layout.check(vector.vector, owner=vector.source_id, dimensions=due)
    return vector


def _place(namespace: str, model: str) -> dict[str, Any]:
    """A model's vectors in a namespace, of whatever length where the model's is not known."""
    due = layout.dimensions_of(model)
    return {"namespace": namespace, "model": model, "least": due or 1, "most": due or _LONGEST}
