"""Entities, relationships, facts, procedures and preferences.

In: graph values. Out: the same. A relationship whose ends do not exist raises BadInput.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from recollect.core.clock import from_micros, to_micros
from recollect.core.errors import BadInput, Conflict
from recollect.core.values import Entity, Fact, Preference, Procedure, Relationship, Vector
from recollect.store.interface import Waiting
from recollect.store.sql import rows
from recollect.store.sql.engine import (
    Connection,
    ConstraintFailed,
    Engine,
    Statement,
    both,
    column_list,
    filtered,
    ids_json,
    insert_or_replace,
    micros,
)
from recollect.store.sql.vectors import DELETE_VECTORS

PUT_ENTITY = insert_or_replace("entities", "entity_id", rows.ENTITY.columns)
PUT_RELATIONSHIP = insert_or_replace("relationships", "relationship_id", rows.RELATIONSHIP.columns)
PUT_FACT = insert_or_replace("facts", "fact_id", rows.FACT.columns)
PUT_PROCEDURE = insert_or_replace("procedures", "procedure_id", rows.PROCEDURE.columns)
PUT_PREFERENCE = insert_or_replace("preferences", "preference_id", rows.PREFERENCE.columns)
LIST_ENTITIES = both(f"""
SELECT {column_list(rows.ENTITY.columns)} FROM entities
 WHERE namespace = $namespace ORDER BY name, entity_id
""")
LIST_RELATIONSHIPS = both(f"""
SELECT {column_list(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = $namespace ORDER BY confidence DESC, relationship_id
""")
RELATIONSHIPS_OF = both(f"""
SELECT {column_list(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = $namespace AND source_id = $entity_id
UNION
SELECT {column_list(rows.RELATIONSHIP.columns)} FROM relationships
 WHERE namespace = $namespace AND target_id = $entity_id
 ORDER BY confidence DESC, relationship_id
""")
_OF_ENTITIES: dict[str, str] = {"entity_ids": "entity_id IN {texts[entity_ids]}"}
CURRENT_FACTS = filtered(
    f"""
SELECT {column_list(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace AND valid_until IS NULL
""",
    _OF_ENTITIES,
    "ORDER BY confidence DESC, fact_id",
)
FACTS_AS_OF = filtered(
    f"""
SELECT {column_list(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace
   AND valid_from <= $as_of AND (valid_until IS NULL OR valid_until > $as_of)
""",
    _OF_ENTITIES,
    "ORDER BY confidence DESC, fact_id",
)
FACT_HISTORY = both(f"""
SELECT {column_list(rows.FACT.columns)} FROM facts
 WHERE namespace = $namespace AND entity_id IN {{texts[entity_ids]}}
 ORDER BY valid_from, fact_id
""")
LIST_PROCEDURES = both(f"""
SELECT {column_list(rows.PROCEDURE.columns)} FROM procedures
 WHERE namespace = $namespace ORDER BY confidence DESC, procedure_id
""")
LIST_PREFERENCES = both(f"""
SELECT {column_list(rows.PREFERENCE.columns)} FROM preferences
 WHERE namespace = $namespace ORDER BY category, key, preference_id
""")
LIST_ALL = {
    "entity": LIST_ENTITIES,
    "relationship": LIST_RELATIONSHIPS,
    "fact": CURRENT_FACTS,
    "procedure": LIST_PROCEDURES,
    "preference": LIST_PREFERENCES,
}
GRAPH_SIZE = both("""
SELECT (SELECT count(*) FROM (SELECT 1 FROM entities WHERE namespace = $namespace LIMIT $most) AS e)
     + (SELECT count(*) FROM (SELECT 1 FROM facts WHERE namespace = $namespace LIMIT $most) AS f)
""")
GRAPH_TABLES = (
    ("entities", "entity_id"),
    ("relationships", "relationship_id"),
    ("facts", "fact_id"),
    ("procedures", "procedure_id"),
    ("preferences", "preference_id"),
)
DELETE_GRAPH = {
    table: both(f"DELETE FROM {table} WHERE namespace = $namespace AND {key} = $id")
    for table, key in GRAPH_TABLES
}
_GRAPH_COLUMNS = (
    rows.ENTITY.columns,
    rows.RELATIONSHIP.columns,
    rows.FACT.columns,
    rows.PROCEDURE.columns,
    rows.PREFERENCE.columns,
)


def _graph_rows(table: str, key: str, columns: tuple[str, ...]) -> Statement:
    return both(f"""
SELECT op_id, {column_list(columns)} FROM {table}
 WHERE {{by_key}}namespace = $namespace AND {key} IN {{texts[ids]}}
""")


GRAPH_ROWS = {
    table: _graph_rows(table, key, columns)
    for (table, key), columns in zip(GRAPH_TABLES, _GRAPH_COLUMNS, strict=True)
}
# A thing as it was: a version that an operation made is what stood from then until another
# operation displaced it. What is only surer since, or met more often, has no version of its own.
THINGS_SINCE = {
    table: both(f"""
SELECT {column_list(columns, "t.")} FROM {table} AS t
  LEFT JOIN operations AS o ON o.op_id = t.op_id AND o.namespace = t.namespace
 WHERE t.namespace = $namespace AND t.created_at <= $as_of AND (o.at IS NULL OR o.at <= $as_of)
""")
    for (table, _), columns in zip(GRAPH_TABLES, _GRAPH_COLUMNS, strict=True)
}
THINGS_THEN = both("""
SELECT a.payload FROM archive AS a
  LEFT JOIN operations AS o ON o.op_id = a.made_by AND o.namespace = a.namespace
 WHERE a.namespace = $namespace AND a.source_kind = $kind AND a.until > $as_of
   AND (o.at IS NULL OR o.at <= $as_of)
""")
LIST_WAITING = filtered(
    "SELECT key, name, turns, claims, at FROM waiting_claims WHERE namespace = $namespace",
    {"keys": "key IN {texts[keys]}"},
    "ORDER BY key",
)
PUT_WAITING = both("""
INSERT INTO waiting_claims (namespace, key, name, turns, claims, at)
VALUES ($namespace, $key, $name, $turns, $claims, $at)
ON CONFLICT (namespace, key) DO UPDATE SET
    name = excluded.name, turns = excluded.turns, claims = excluded.claims, at = excluded.at
""")
DELETE_WAITING = both("""
DELETE FROM waiting_claims
 WHERE namespace = $namespace AND key IN {texts[keys]}
""")
TRIM_WAITING = both("""
DELETE FROM waiting_claims WHERE namespace = $namespace AND key IN (
    SELECT key FROM waiting_claims WHERE namespace = $namespace
     ORDER BY at DESC, key LIMIT {unlimited} OFFSET $most)
""")

Thing = Entity | Relationship | Fact | Procedure | Preference
T = TypeVar("T")
AnyThing = TypeVar("AnyThing", Entity, Relationship, Fact, Procedure, Preference)

PUT: dict[type[Any], tuple[Statement, rows.Codec[Any]]] = {
    Entity: (PUT_ENTITY, rows.ENTITY),
    Relationship: (PUT_RELATIONSHIP, rows.RELATIONSHIP),
    Fact: (PUT_FACT, rows.FACT),
    Procedure: (PUT_PROCEDURE, rows.PROCEDURE),
    Preference: (PUT_PREFERENCE, rows.PREFERENCE),
}
# Entities first: the others stand on them.
TABLES: dict[str, tuple[str, type[Any]]] = {
    "entity": ("entities", Entity),
    "relationship": ("relationships", Relationship),
    "fact": ("facts", Fact),
    "procedure": ("procedures", Procedure),
    "preference": ("preferences", Preference),
}
_KINDS = {shape: kind for kind, (_, shape) in TABLES.items()}
_EMBEDDED = {"entities": "entity", "facts": "fact", "procedures": "procedure"}


class SqlGraph:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.changes = engine.graph_versions.changes

    def things(self, namespace: str, ids: Sequence[str]) -> list[Thing]:
        with self._engine.reader() as db:
            return [thing for _, thing, _ in live(db, namespace, ids)]

    def size(self, namespace: str, most: int) -> int:
        row = self._engine.one(GRAPH_SIZE, {"namespace": namespace, "most": most})
        return int(row[0]) if row else 0

    def all(
        self,
        namespace: str,
        kind: type[AnyThing],
        *,
        of: str | None = None,
        as_of: datetime | None = None,
    ) -> list[AnyThing]:
        codec: rows.Codec[AnyThing] = PUT[kind][1]
        if as_of is None:
            listed = LIST_ALL[_KINDS[kind]] if of is None else RELATIONSHIPS_OF
            found = self._engine.rows(listed, {"namespace": namespace, "entity_id": of})
            return [codec.decode(row) for row in found]
        return self._all_then(namespace, _KINDS[kind], codec, as_of)

    def _all_then(
        self, namespace: str, kind: str, codec: rows.Codec[AnyThing], moment: datetime
    ) -> list[AnyThing]:
        values = {"namespace": namespace, "kind": kind, "as_of": to_micros(moment)}
        with self._engine.reader() as db:
            found = [codec.decode(row) for row in db.run(THINGS_SINCE[TABLES[kind][0]], values)]
            kept = [decoded(kind, text).thing for (text,) in db.run(THINGS_THEN, values)]
        found += [thing for thing in kept if thing.created_at is None or thing.created_at <= moment]
        return sorted({identity(thing): thing for thing in found}.values(), key=identity)

    def facts(
        self,
        namespace: str,
        entity_ids: Sequence[str] | None = None,
        *,
        as_of: datetime | None = None,
        ended: bool = False,
    ) -> list[Fact]:
        listed = FACT_HISTORY if ended else CURRENT_FACTS if as_of is None else FACTS_AS_OF
        wanted = None if entity_ids is None else ids_json(entity_ids)
        values = {"namespace": namespace, "entity_ids": wanted, "as_of": micros(as_of)}
        return [rows.FACT.decode(row) for row in self._engine.rows(listed, values)]

    def waiting(self, namespace: str, keys: Sequence[str] | None = None) -> list[Waiting]:
        values = {"namespace": namespace, "keys": None if keys is None else ids_json(keys)}
        found = self._engine.rows(LIST_WAITING, values)
        return [
            Waiting(key, name, tuple(json.loads(turns)), tuple(json.loads(claims)), from_micros(at))
            for key, name, turns, claims, at in found
        ]

    def search(self, namespace: str, query: str, limit: int) -> list[Entity | Fact | Procedure]:
        with self._engine.reader() as db:
            return self._engine.full_text.graph(db, namespace, query, limit)


class Kept(msgspec.Struct, Generic[T], frozen=True):
    """A thing as it was, with its vectors, as the archive holds it."""

    thing: T
    vectors: tuple[Vector, ...] = ()


def decoded(kind: str, payload: str) -> Kept[Any]:
    shape: Any = Kept[TABLES[kind][1]]  # type: ignore[misc]
    kept: Kept[Any] = msgspec.json.decode(payload, type=shape)
    return kept


def changed_in(things: Sequence[Thing]) -> dict[str, set[str]]:
    """The ids of things by their namespace."""
    found: dict[str, set[str]] = {}
    for thing in things:
        found.setdefault(thing.namespace, set()).add(identity(thing))
    return found


def live(
    db: Connection, namespace: str, ids: Sequence[str]
) -> Iterator[tuple[str, Thing, str | None]]:
    """Those of these things that exist: their kind, the thing, the operation that made it so."""
    values = {"namespace": namespace, "ids": ids_json(list(ids))}
    for kind, (table, shape) in TABLES.items():
        codec: rows.Codec[Any] = PUT[shape][1]
        for made_by, *row in db.run(GRAPH_ROWS[table], values).fetchall():
            yield kind, codec.decode(row), None if made_by is None else str(made_by)


def identity(thing: Any) -> str:
    return str(getattr(thing, thing.__struct_fields__[0]))


def put_things(db: Connection, things: Sequence[Thing], now: datetime) -> None:
    for thing in things:
        _put(db, msgspec.structs.replace(thing, created_at=thing.created_at or now), now)


def _put(db: Connection, thing: Thing, now: datetime) -> None:
    statement, codec = PUT[type(thing)]
    row = codec.encode(msgspec.structs.replace(thing, updated_at=now))
    try:
        db.run(statement, row)
    except ConstraintFailed as error:
        raise BadInput(f"{next(iter(row.values()))} is not valid: {error.reason}") from error
    if db.changes() == 0:
        raise Conflict(f"{next(iter(row.values()))} exists in another namespace")


def delete_thing(db: Connection, namespace: str, thing_id: str) -> int:
    removed = 0
    for table, statement in DELETE_GRAPH.items():
        db.run(statement, {"namespace": namespace, "id": thing_id})
        if db.changes():
            removed += 1
            if kind := _EMBEDDED.get(table):
                owner = {"namespace": namespace, "source_kind": kind, "source_id": thing_id}
                db.run(DELETE_VECTORS, owner)
    return removed


def keep_waiting(
    db: Connection, namespace: str, put: Sequence[Waiting], drop: Sequence[str], most: int
) -> None:
    db.run(DELETE_WAITING, {"namespace": namespace, "keys": ids_json(drop)})
    for one in put:
        values = {
            "namespace": namespace,
            "key": one.key,
            "name": one.name,
            "turns": json.dumps(one.turns),
            "claims": json.dumps(one.claims),
            "at": to_micros(one.at),
        }
        db.run(PUT_WAITING, values)
    if put:
        db.run(TRIM_WAITING, {"namespace": namespace, "most": most})
