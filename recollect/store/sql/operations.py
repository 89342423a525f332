"""Rows of the operations log: what was decided about memory, by whom and when.

In: the decision. Out: the row, written in the transaction that carries it out.
"""

from collections.abc import Sequence
from typing import Any

from recollect.core import ids
from recollect.core.clock import Clock
from recollect.core.values import Operation, OperationKind
from recollect.store.sql import rows
from recollect.store.sql.engine import Connection, both, column_list, insert_into

PUT_OPERATION = both(insert_into("operations", rows.OPERATION.columns))
GET_OPERATION = both(f"""
SELECT {column_list(rows.OPERATION.columns)} FROM operations
 WHERE namespace = $namespace AND op_id = $op_id
""")
ARCHIVE = both("""
INSERT INTO archive (op_id, namespace, source_kind, source_id, since, until, made_by, payload)
VALUES ($op_id, $namespace, $source_kind, $source_id, $since, $until, $made_by, $payload)
""")


def new_operation(
    clock: Clock,
    kind: OperationKind,
    namespace: str,
    actor: str,
    *,
    targets: Sequence[str] = (),
    created: Sequence[str] = (),
    reason: str = "",
    detail: Any = None,
    undoes: str | None = None,
) -> Operation:
    return Operation(
        op_id=ids.new_id(ids.OPERATION),
        namespace=namespace,
        kind=kind,
        actor=actor,
        at=clock.now(),
        targets=tuple(targets),
        created=tuple(created),
        reason=reason,
        detail=detail,
        undoes=undoes,
    )


def put_operation(db: Connection, operation: Operation) -> None:
    db.run(PUT_OPERATION, rows.OPERATION.encode(operation))


def get_operation(db: Connection, namespace: str, op_id: str) -> Operation | None:
    row = db.run(GET_OPERATION, {"namespace": namespace, "op_id": op_id}).fetchone()
    return rows.OPERATION.decode(row) if row else None
