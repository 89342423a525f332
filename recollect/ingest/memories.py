"""Writes memories to the store and notifies listeners.

In: records. Out: stored records. Whoever derives something from them (the search index, the
embedder) listens here, so that no write is missed.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from recollect.core.values import Checkpoint, Operation, Record
from recollect.store.interface import Store, Transaction


class MemoryListener(Protocol):
    def stored(self, records: Sequence[Record]) -> None: ...
    def removed(self, namespace: str, record_ids: Sequence[str]) -> None: ...


class BeliefListener:
    """Calls `changed` when a belief was written, or any memory removed: for what is read anew
    then."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def stored(self, records: Sequence[Record]) -> None:
        if any(record.traits.is_belief for record in records):
            self._changed()

    def removed(self, namespace: str, record_ids: Sequence[str]) -> None:
        self._changed()


class Memories:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.listeners: list[MemoryListener] = []

    def add(self, records: Sequence[Record]) -> list[Record]:
        """New memories."""
        return self._notify_stored(self._store.records.put(records))

    def remember(
        self, record: Record, actor: str, reason: str = "", checkpoint: Checkpoint | None = None
    ) -> tuple[Record, Operation]:
        """Add one memory that somebody asked for; it is logged, so that it can be undone."""

        def work(tx: Transaction) -> tuple[Record, Operation]:
            made = [record.record_id]
            operation = tx.log("add", record.namespace, actor, created=made, reason=reason)
            if checkpoint is not None:
                tx.put_checkpoint(checkpoint)
            return tx.put_record(record, operation.op_id), operation

        stored, operation = self._store.transaction(work)
        self._notify_stored([stored])
        return stored, operation

    def move(
        self, record: Record, namespace: str, actor: str, reason: str = ""
    ) -> tuple[Operation, Operation]:
        """Move to another namespace under the same id, in one transaction. Each namespace has its
        own log entry, and each entry names the other."""

        def work(tx: Transaction) -> tuple[Operation, Operation]:
            which = [record.record_id]
            left = tx.log(
                "move", record.namespace, actor, targets=which, reason=reason,
                detail={"to": namespace},
            )  # fmt: skip
            tx.change_records(left)
            came = tx.log(
                "move", namespace, actor, created=which, reason=reason,
                detail={"from": record.namespace, "left_by": left.op_id},
            )  # fmt: skip
            there = msgspec.structs.replace(
                record, namespace=namespace, version=record.version + 1, updated_at=None
            )
            tx.put_record(there, came.op_id)
            return left, came

        left, came = self._store.transaction(work)
        self.changed(record.namespace, [record.record_id])
        self.changed(namespace, [record.record_id])
        return left, came

    def replace(self, records: Sequence[Record]) -> list[Record]:
        """Write memories that are derived from events over their earlier versions."""
        return self._notify_stored(self._store.records.put(records, over=True))

    def edit(
        self, record: Record, actor: str, reason: str = "", stone: dict[str, Any] | None = None
    ) -> Operation:
        """Write a new version of a memory; NotFound when there is none. `stone` is a log entry that
        hides statements of the old one."""

        def work(tx: Transaction) -> Operation:
            which = [record.record_id]
            operation = tx.log("edit", record.namespace, actor, targets=which, reason=reason)
            tx.change_records(operation, [record])
            if stone is not None:
                made = {**stone, "by": operation.op_id}
                tx.log("tombstone", record.namespace, actor, detail=made)
            return operation

        operation = self._store.transaction(work)
        self.changed(record.namespace, operation.targets)
        return operation

    def delete(
        self,
        namespace: str,
        record_ids: Sequence[str],
        actor: str,
        reason: str = "",
        stone: Callable[[Record], Any] | None = None,
    ) -> Operation | None:
        """Move memories to the archive; None when there is none of them. `stone` makes a log entry
        for each that hides its statements, written in the same transaction."""

        def work(tx: Transaction) -> Operation | None:
            there = tx.records(namespace, record_ids)
            if not there:
                return None
            which = [one.record_id for one in there]
            operation = tx.log("delete", namespace, actor, targets=which, reason=reason)
            tx.change_records(operation)
            if stone is not None:
                for one in there:
                    tx.log("tombstone", namespace, actor, detail=stone(one))
            return operation

        # Deleting makes room, so it is allowed on a full disk.
        operation = self._store.transaction(work, when_full=True)
        if operation is not None:
            self.changed(namespace, operation.targets)
        return operation

    def undo(
        self,
        namespace: str,
        op_id: str,
        actor: str,
        *,
        before_telling: Callable[[Operation], None] | None = None,
    ) -> Operation:
        operation = self._store.log.undo(namespace, op_id, actor)
        if before_telling is not None:
            before_telling(operation)
        self.changed(namespace, (*operation.targets, *operation.created))
        return operation

    def changed(self, namespace: str, record_ids: Sequence[str]) -> None:
        """Notify listeners of these memories as they are now: stored or removed."""
        there = self._store.records.get(namespace, record_ids)
        gone = set(record_ids) - {record.record_id for record in there}
        for listener in self.listeners:
            if gone:
                listener.removed(namespace, sorted(gone))
            if there:
                listener.stored(there)

    def reloaded(self, namespace: str) -> None:
        """Memories came into this namespace in another way: notify listeners of all of them."""
        cursor = None
        while True:
            page = self._store.records.page(namespace, before=cursor, limit=500)
            self._notify_stored(list(page.items))
            cursor = page.next
            if cursor is None:
                return

    def _notify_stored(self, records: list[Record]) -> list[Record]:
        for listener in self.listeners:
            listener.stored(records)
        return records
