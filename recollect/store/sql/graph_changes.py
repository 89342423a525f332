"""Changes of the graph that can be taken back: what they displace goes to the archive.

In: things to put and ids to displace, on behalf of an operation. Out: the graph as decided, and
versions from which `undo` puts back exactly the rows that were.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from recollect.core.clock import to_micros
from recollect.core.values import Operation, SourceKind, encode
from recollect.store.sql.engine import Connection, both
from recollect.store.sql.graph import (
    GRAPH_TABLES,
    PUT,
    TABLES,
    Kept,
    Thing,
    decoded,
    delete_thing,
    identity,
    live,
    put_things,
)
from recollect.store.sql.operations import ARCHIVE
from recollect.store.sql.vectors import put_vector, vectors_of

GRAPH_MADE_BY = {
    table: both(f"UPDATE {table} SET op_id = $op_id WHERE namespace = $namespace AND {key} = $id")
    for table, key in GRAPH_TABLES
}

_EMBEDDED: dict[str, SourceKind] = {"entity": "entity", "fact": "fact", "procedure": "procedure"}
_KIND = {kind: name for name, (_, kind) in TABLES.items()}


def change(
    db: Connection,
    operation: Operation,
    things: Sequence[Thing],
    now: datetime,
) -> None:
    """Archive the operation's targets, put things in their place, and take away what nothing
    replaces."""
    archive(db, operation, operation.targets)
    put_things(db, things, now)
    staying = {identity(thing) for thing in things}
    _made_by(db, operation, things)
    for thing_id in operation.targets:
        if thing_id not in staying:
            delete_thing(db, operation.namespace, thing_id)


def restore(
    db: Connection, undo: Operation, there: Sequence[str], kept: Iterable[tuple[str, str]]
) -> None:
    """Undo: archive what is live, put back what was kept exactly as it was."""
    archive(db, undo, there)
    was = [decoded(kind, payload) for kind, payload in kept]
    order = list(TABLES)
    was.sort(key=lambda one: order.index(_KIND[type(one.thing)]))
    for one in was:
        statement, codec = PUT[type(one.thing)]
        db.run(statement, codec.encode(one.thing))
    _made_by(db, undo, [one.thing for one in was])
    staying = {identity(one.thing) for one in was}
    for thing_id in there:
        if thing_id not in staying:
            delete_thing(db, undo.namespace, thing_id)
    for one in was:
        for vector in one.vectors:
            put_vector(db, vector)


def archive(db: Connection, operation: Operation, ids: Sequence[str]) -> None:
    until = to_micros(operation.at)
    for kind, thing, made_by in live(db, operation.namespace, ids):
        since = to_micros(thing.updated_at or operation.at)
        owner = _EMBEDDED.get(kind)
        vectors = vectors_of(db, operation.namespace, owner, identity(thing)) if owner else []
        db.run(
            ARCHIVE,
            {
                "op_id": operation.op_id,
                "namespace": operation.namespace,
                "source_kind": kind,
                "source_id": identity(thing),
                "since": since,
                "until": max(since, until),
                "made_by": made_by,
                "payload": encode(Kept(thing, tuple(vectors))).decode(),
            },
        )


def states(db: Connection, namespace: str, ids: Sequence[str]) -> dict[str, str | None]:
    """Of those that are live: the operation that made each what it is."""
    return {identity(thing): made_by for _, thing, made_by in live(db, namespace, ids)}


def _made_by(db: Connection, operation: Operation, things: Sequence[Any]) -> None:
    for thing in things:
        table = TABLES[_KIND[type(thing)]][0]
        values = {
            "namespace": operation.namespace,
            "id": identity(thing),
            "op_id": operation.op_id,
        }
        db.run(GRAPH_MADE_BY[table], values)
