"""The restricted handle: what may happen inside one atomic unit of work.

In: values. Out: the rows that they become, when the whole transaction is committed. Finishing a
batch and a part that fails alone are each engine's own.
"""

from collections.abc import Sequence
from typing import Any

from recollect.core.clock import Clock
from recollect.core.values import (
    Checkpoint,
    Entity,
    Fact,
    Operation,
    OperationKind,
    Preference,
    Procedure,
    Record,
    Relationship,
    Vector,
)
from recollect.store.interface import Waiting
from recollect.store.sql import aging, graph_changes, records
from recollect.store.sql.graph import changed_in, keep_waiting, put_things
from recollect.store.sql.operations import new_operation, put_operation
from recollect.store.sql.sessions import put_checkpoint
from recollect.store.sql.vectors import put_vector


class SqlTransaction:
    """Everything here happens on one connection, inside one transaction."""

    def __init__(self, db: Any, clock: Clock) -> None:
        self._connection = db
        self._clock = clock
        self.graphs: dict[str, set[str]] = {}  # namespace: ids of its graph that changed

    @property
    def _db(self) -> Any:
        return self._connection

    def records(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        return records.read(self._db, namespace, record_ids)

    def put_record(
        self,
        record: Record,
        operation: str | None = None,
        *,
        vectors: Sequence[Vector] = (),
        over: bool = False,
        stands_for: Sequence[str] = (),
    ) -> Record:
        stored = records.put(self._db, record, self._clock, over=over, op_id=operation)
        for vector in vectors:
            put_vector(self._db, vector)
        if stands_for:
            into, now = record.record_id, self._clock.now()
            aging.mark(self._db, record.namespace, stands_for, into, now)
        return stored

    def put_graph(
        self,
        *things: Entity | Relationship | Fact | Procedure | Preference,
        operation: Operation | None = None,
    ) -> None:
        now = self._clock.now()
        if operation is None:
            put_things(self._db, things, now)
        else:
            graph_changes.change(self._db, operation, things, now)
            self.graphs.setdefault(operation.namespace, set()).update(operation.targets)
        for namespace, ids in changed_in(things).items():
            self.graphs.setdefault(namespace, set()).update(ids)

    def keep_waiting(
        self, namespace: str, put: Sequence[Waiting], drop: Sequence[str], most: int
    ) -> None:
        keep_waiting(self._db, namespace, put, drop, most)

    def put_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        return put_checkpoint(self._db, checkpoint, self._clock.now())

    def change_records(self, operation: Operation, changed: Sequence[Record] = ()) -> list[Record]:
        gone = set(operation.targets).difference(one.record_id for one in changed)
        if gone:
            records.displace(self._db, operation.namespace, sorted(gone), operation)
        return records.change(self._db, changed, operation)

    def log(
        self,
        kind: OperationKind,
        namespace: str,
        actor: str,
        *,
        targets: Sequence[str] = (),
        created: Sequence[str] = (),
        reason: str = "",
        detail: Any = None,
    ) -> Operation:
        operation = new_operation(
            self._clock,
            kind,
            namespace,
            actor,
            targets=targets,
            created=created,
            reason=reason,
            detail=detail,
        )
        put_operation(self._db, operation)
        return operation
