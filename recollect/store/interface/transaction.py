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
        self, record: Record, operation: str | None = None, *, over: bool = False
    ) -> Record:
        """Like `Records.put`, for one memory. `operation` is the one that makes it, if any."""

    def put_vector(self, vector: Vector) -> None: ...
    def put_graph(self, *things: Entity | Relationship | Fact | Procedure | Preference) -> None:
        """Like `Graph.put`."""

    def change_graph(
        self,
        namespace: str,
        operation: str,
        displaced: Sequence[str],
        things: Sequence[Entity | Relationship | Fact | Procedure | Preference] = (),
    ) -> None:
        """Put things on behalf of an operation that was logged in this transaction. What is
        displaced goes to the archive as it was; what no thing replaces goes from the graph. Its
        targets must be the displaced ids, and its `created` the ids that are new."""

    def keep_waiting(
        self, namespace: str, put: Sequence[Waiting], drop: Sequence[str], most: int
    ) -> None:
        """Store and drop what waits; of more than `most` the longest untouched go."""

    def put_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint: ...
    def delete_records(self, namespace: str, record_ids: Sequence[str], operation: str) -> int: ...
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
    def mark(self, namespace: str, source_ids: Sequence[str], into_id: str) -> None:
        """Say what stands for these from now on. Writing over a memory takes its mark away."""

    def finish(self, batch: Batch) -> None:
        """Mark a batch extracted: atomic with the memories it produced."""

    def attempt(self, part: Callable[[], T]) -> T:
        """Run a part that fails alone: its writes are rolled back and its error raised, while
        the rest of the transaction stands."""
