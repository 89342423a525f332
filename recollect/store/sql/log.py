"""The log of decisions, and undo from the archive.

In: operation ids. Out: operations and versions. An undo that would trample on a later change, or
whose versions the archive no longer holds, raises CannotUndo and changes nothing.
"""

import msgspec

from recollect.core.errors import CannotUndo, NotFound
from recollect.core.values import ArchivedVersion, Operation, OperationKind
from recollect.store.interface import Cursor, Page
from recollect.store.sql import graph_changes, records, rows
from recollect.store.sql.engine import Connection, Engine, both, column_list, filtered, ids_json
from recollect.store.sql.graph import decoded, identity
from recollect.store.sql.operations import get_operation, new_operation, put_operation
from recollect.store.sql.records import RECORD_STATE, VERSIONS
from recollect.store.sql.vectors import fits, put_vector

LIST_OPERATIONS = filtered(
    f"""
SELECT seq, {column_list(rows.OPERATION.columns)} FROM operations
 WHERE namespace = $namespace AND seq < $before
""",
    {
        "kind": "kind = $kind",
        "made": """op_id IN (
       SELECT op_id FROM memory_records WHERE namespace = $namespace AND record_id = $made
       UNION SELECT made_by FROM archive
        WHERE namespace = $namespace AND source_kind = 'record' AND source_id = $made)""",
    },
    "ORDER BY seq DESC LIMIT $limit",
)
UNDONE_BY = both("SELECT op_id FROM operations WHERE namespace = $namespace AND undoes = $op_id")
ARCHIVED_BY = both("""
SELECT source_kind, payload FROM archive
 WHERE namespace = $namespace AND op_id = $op_id ORDER BY row_id
""")
LAST_DISPLACED_BY = both("""
SELECT op_id FROM archive WHERE namespace = $namespace AND source_id = $source_id
 ORDER BY row_id DESC LIMIT 1
""")
DISPLACED_STATE = both("""
SELECT made_by FROM archive
 WHERE namespace = $namespace AND op_id = $op_id AND source_id = $source_id
""")


class SqlLog:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, namespace: str, op_id: str) -> Operation | None:
        with self._engine.reader() as db:
            return get_operation(db, namespace, op_id)

    def page(
        self,
        namespace: str,
        *,
        kind: OperationKind | None = None,
        made: str | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Operation]:
        edge = before.number if before else 2**63 - 1
        values = {
            "namespace": namespace,
            "kind": kind,
            "made": made,
            "before": edge,
            "limit": limit + 1,
        }
        found = self._engine.rows(LIST_OPERATIONS, values)
        items = tuple(rows.OPERATION.decode(row[1:]) for row in found[:limit])
        more = len(found) > limit and items
        return Page(items, Cursor(found[limit - 1][0], items[-1].op_id) if more else None)

    def versions(self, namespace: str, source_id: str) -> list[ArchivedVersion]:
        values = {"namespace": namespace, "source_id": source_id}
        found = self._engine.rows(VERSIONS, values)
        return [msgspec.json.decode(payload, type=ArchivedVersion) for (payload,) in found]

    def undo(self, namespace: str, op_id: str, actor: str, *, apply: bool = True) -> Operation:
        def known(db: Connection) -> Operation:
            operation = get_operation(db, namespace, op_id)
            if operation is None:
                raise NotFound(f"there is no change {op_id}")
            return operation

        if not apply:
            with self._engine.reader() as db:
                operation = known(db)
                _displaced(db, operation)
                return operation
        undone = self._engine.write(
            lambda db: _undo(db, known(db), actor, self._engine), when_full=True
        )
        self._engine.graph_versions.note(namespace, [*undone.targets, *undone.created])
        return undone


def _displaced(
    db: Connection, operation: Operation
) -> tuple[list[ArchivedVersion], list[tuple[str, str]], list[str]]:
    """What comes back when it is undone: memories, other things, and the ids of both. CannotUndo
    when that cannot be."""
    op_id = operation.op_id
    key = {"namespace": operation.namespace, "op_id": op_id}
    if earlier := db.run(UNDONE_BY, key).get:
        raise CannotUndo(f"{op_id} was undone already, by {earlier}")
    kept = [(str(kind), str(payload)) for kind, payload in db.run(ARCHIVED_BY, key)]
    displaced = [
        msgspec.json.decode(payload, type=ArchivedVersion)
        for kind, payload in kept
        if kind == "record"
    ]
    things = [(kind, payload) for kind, payload in kept if kind != "record"]
    returning = [version.source_id for version in displaced]
    returning += [identity(decoded(kind, payload).thing) for kind, payload in things]
    if set(returning) != set(operation.targets):
        raise CannotUndo(f"the archive no longer holds what {op_id} displaced")
    if not returning and not operation.created:
        raise CannotUndo(f"{op_id} ({operation.kind}) displaced nothing that could come back")
    _refuse_if_changed_since(db, operation)
    return displaced, things, returning


def _undo(db: Connection, operation: Operation, actor: str, engine: Engine) -> Operation:
    namespace, op_id = operation.namespace, operation.op_id
    displaced, things, returning = _displaced(db, operation)
    undo = new_operation(
        engine.clock,
        "undo",
        namespace,
        actor,
        targets=_live(db, operation),
        created=returning,
        undoes=op_id,
    )
    put_operation(db, undo)
    records.displace(db, namespace, undo.targets, undo)
    graph_changes.restore(db, undo, undo.targets, things)
    for version in displaced:
        # The row comes back as it was; only the store's own "live since" is new.
        records.insert(db, version.record, since=undo.at, op_id=undo.op_id)
        for vector in filter(fits, version.vectors):  # another is made anew
            put_vector(db, vector)
    return undo


def _live(db: Connection, operation: Operation) -> list[str]:
    """What an operation left alive: that which it made, and that which it edited."""
    touched = [*operation.created, *operation.targets]
    found = records.read(db, operation.namespace, touched)
    things = graph_changes.states(db, operation.namespace, touched)
    return [*(record.record_id for record in found), *things]


def _refuse_if_changed_since(db: Connection, operation: Operation) -> None:
    """Undo only what still stands as the operation left it, or was brought back to that."""
    touched = [*operation.created, *operation.targets]
    values = {"namespace": operation.namespace, "record_ids": ids_json(touched)}
    states = {record_id: made_by for record_id, _, made_by in db.run(RECORD_STATE, values)}
    states |= graph_changes.states(db, operation.namespace, touched)
    for record_id, made_by in states.items():
        if not _stands_as_left(db, operation, record_id, made_by):
            raise CannotUndo(
                f"{record_id} was changed since {operation.op_id}, by {made_by}",
                hint=f"recollect undo {made_by}" if made_by else "",
            )
    for record_id in touched:
        key = {"namespace": operation.namespace, "source_id": record_id}
        gone_by = None if record_id in states else db.run(LAST_DISPLACED_BY, key).get
        if gone_by not in (None, operation.op_id):
            raise CannotUndo(
                f"{record_id} is gone since {operation.op_id}, by {gone_by}",
                hint=f"recollect undo {gone_by}",
            )
    for record_id in operation.created:
        if record_id not in states:
            raise CannotUndo(f"{record_id}, which {operation.op_id} made, is gone since")


def _stands_as_left(
    db: Connection, operation: Operation, record_id: str, made_by: str | None
) -> bool:
    """Whether a row is what the operation made of it, or later changes were undone again: an undo
    puts back the state that the undone operation displaced, which an earlier one had made."""
    while made_by is not None and made_by != operation.op_id:
        by = get_operation(db, operation.namespace, made_by)
        if by is None or by.undoes is None:
            return False
        key = {"namespace": by.namespace, "op_id": by.undoes, "source_id": record_id}
        made_by = db.run(DISPLACED_STATE, key).get
    return made_by is not None
