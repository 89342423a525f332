"""Undoing changes of memories: deletes, edits, moves, verdicts, and undos themselves.

In: the id of an operation, or where to look for the newest one. Out: what was restored and removed,
by an operation that can be undone in turn. NotFound when there is nothing to undo; CannotUndo when
something later stands in the way.
"""

from collections.abc import Sequence
from typing import Any

from recollect.core.errors import CannotUndo, NotFound
from recollect.core.values import Operation, Value
from recollect.extract.tombstone_entry import Cause
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, all_namespaces, namespaces_to_list
from recollect.service.write import RATED_WRONG
from recollect.store.interface import undoable


class Undone(Value, frozen=True, kw_only=True):
    """Ids of the memories that came back, and of those that went."""

    op_id: str
    undoes: str
    restored: tuple[str, ...]
    removed: tuple[str, ...]


def undo_operation(
    runtime: ServiceRuntime, op_id: str | None = None, scope: Scope | None = None
) -> Undone:
    """Undo an operation; without an id, the newest in the scope that can be undone."""
    operation = _operation(runtime, op_id) if op_id else newest_undoable(runtime, scope or Scope())
    detail = operation.detail if isinstance(operation.detail, dict) else {}
    if operation.kind == "move" and "to" in detail:
        operation = _arrival_of_move(runtime, operation, detail["to"])
        detail = operation.detail if isinstance(operation.detail, dict) else {}
    if operation.kind == "feedback":
        return _undo_verdict(runtime, operation, detail)

    def lift(done: Operation) -> None:  # before anybody reads what came back
        _update_tombstones(runtime, operation, [*done.created, *done.targets])

    done = runtime.memories.undo(
        operation.namespace, operation.op_id, runtime.actor, before_telling=lift
    )
    runtime.recall().feedback.forget_known()
    restored, removed = list(done.created), set(done.targets)
    if operation.kind == "move" and "left_by" in detail:
        # Out of one namespace, back into the other; in between the archive holds the memory.
        back = runtime.memories.undo(detail["from"], detail["left_by"], runtime.actor)
        restored += back.created
    removed -= set(restored)
    if operation.reason == RATED_WRONG and operation.kind == "supersede":
        feedback, (belief_id, *_) = runtime.recall().feedback, operation.targets
        feedback.give(operation.namespace, belief_id, "none", runtime.actor)
    return Undone(
        op_id=done.op_id,
        undoes=operation.op_id,
        restored=tuple(restored),
        removed=tuple(sorted(removed)),
    )


def _update_tombstones(runtime: ServiceRuntime, undone: Operation, touched: list[str]) -> None:
    """Lift the tombstones of an undone delete or edit; restore them when that undo is undone."""
    first, lifting = undone, True
    while first.undoes:
        earlier = runtime.store.log.get(first.namespace, first.undoes)
        if earlier is None:
            return
        first, lifting = earlier, not lifting
    if first.kind not in ("delete", "edit"):
        return
    cause: Cause = "delete" if first.kind == "delete" else "edit"
    by = first.op_id if cause == "edit" else ""
    change = runtime.tombstones.lift if lifting else runtime.tombstones.restore
    for one in dict.fromkeys(touched):
        change(first.namespace, one, cause, runtime.actor, by)


def _undo_verdict(runtime: ServiceRuntime, given: Operation, detail: dict[str, Any]) -> Undone:
    """Undo a verdict, unless a later one has replaced it."""
    record_id, feedback = str(detail.get("record_id")), runtime.recall().feedback
    if feedback.of(given.namespace).given.get(record_id) != detail.get("verdict"):
        raise CannotUndo(f"another verdict was given on {record_id} since {given.op_id}")
    before = detail.get("before", "none")
    done = feedback.give(given.namespace, record_id, before, runtime.actor)
    return Undone(op_id=done.op_id, undoes=given.op_id, restored=(record_id,), removed=())


def _operation(runtime: ServiceRuntime, op_id: str) -> Operation:
    for namespace in all_namespaces(runtime):
        found = runtime.store.log.get(namespace, op_id)
        if found is not None:
            return found
    raise NotFound(f"there is no change {op_id}", hint="recollect change list -p all")


def _arrival_of_move(runtime: ServiceRuntime, left: Operation, namespace: str) -> Operation:
    """The entry of the arrival: a move logs two, and both are undone, the arrival first."""
    for one in runtime.store.log.page(namespace, limit=200).items:
        if isinstance(one.detail, dict) and one.detail.get("left_by") == left.op_id:
            return one
    return left


def newest_undoable(runtime: ServiceRuntime, scope: Scope) -> Operation:
    """The newest operation that can be undone. An undo is not undone unless it is named; an undo of
    an undo counts as a change of its own."""
    candidates: list[Operation] = []
    for namespace in namespaces_to_list(runtime, scope):
        items = runtime.store.log.page(namespace, limit=50).items
        undos = {one.op_id for one in items if one.undoes}
        wanted = [one for one in items if not one.undoes or one.undoes in undos]
        can = undoable(runtime.store.log, namespace, [one.op_id for one in wanted])
        can |= _undoable_never(runtime, namespace, wanted)
        candidates += [one for one in wanted if one.op_id in can]
    if not candidates:
        raise NotFound(
            "there is nothing to undo here",
            hint="recollect change list shows what can be undone; -p all, in every project.",
        )
    return max(candidates, key=lambda one: (one.at, bool(one.created), one.op_id))


def _undoable_never(
    runtime: ServiceRuntime, namespace: str, items: Sequence[Operation]
) -> set[str]:
    """Verdicts that can be undone: only "never", since the others hide nothing."""
    given = [
        (one.op_id, one.detail["record_id"])
        for one in items
        if one.kind == "feedback" and isinstance(one.detail, dict)
        and one.detail.get("verdict") == "never"
    ]  # fmt: skip
    if not given:
        return set()
    verdicts = runtime.recall().feedback.of(namespace).given
    newest = {record_id: op_id for op_id, record_id in reversed(given)}
    return {op_id for record_id, op_id in newest.items() if verdicts.get(record_id) == "never"}
