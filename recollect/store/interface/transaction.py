"""What may happen inside one atomic unit of work."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

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
from recollect.store.interface.events import Batch
from recollect.store.interface.graph import Waiting

T = TypeVar("T")


class Transaction(Protocol):
    """The restricted handle: what may happen inside one atomic unit of work."""

    def records(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        """Like `Records.get`, as this transaction sees them."""

    def put_record(
        self,
        record: Record,
        operation: str | None = None,
        *,
        vectors: Sequence[Vector] = (),
        over: bool = False,
        stands_for: Sequence[str] = (),
    ) -> Record:
        """Like `Records.put`, for one memory. `operation` is the one that makes it, if any.
        `stands_for` are marks, or ids of memories, that this one represents from now on
        (`Aging.gone`); writing over a memory takes its mark away."""

    def put_graph(
        self,
        *things: Entity | Relationship | Fact | Procedure | Preference,
        operation: Operation | None = None,
    ) -> None:
        """Store things, each in place of the row of the same id. With an operation, which must have
        been logged in this transaction, its targets go to the archive as they were, and those that
        no thing replaces go from the graph; its `created` are the ids that are new."""

    def keep_waiting(
        self, namespace: str, put: Sequence[Waiting], drop: Sequence[str], most: int
    ) -> None:
        """Store and drop what waits; of more than `most` the longest untouched go."""

    def put_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint: ...
    def change_records(self, operation: Operation, changed: Sequence[Record] = ()) -> list[Record]:
        """Move the memories among the targets of an operation, which must have been logged in this
        transaction, to the archive, with their vectors, and put these new versions in the place of
        those that have one. A memory whose text stays keeps its vectors."""

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
    ) -> Operation: ...
    def finish(self, batch: Batch) -> None:
        """Mark a batch extracted: atomic with the memories it produced."""

    def attempt(self, part: Callable[[], T]) -> T:
        """Run a part that fails alone: its writes are rolled back and its error raised, while
        the rest of the transaction stands."""
