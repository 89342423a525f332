"""Editing the graph by hand: facts, preferences, procedures and entities, changed or removed.

In: the id of an item and the change. Out: the operation, which can be undone. A change by a person
is stored as a correction, which nothing merely observed replaces later.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recollect.core.errors import BadInput, NotFound
from recollect.core.values import (
    Entity,
    Fact,
    FactText,
    Name,
    Preference,
    Procedure,
    Relationship,
    Unit,
    Value,
    check,
)
from recollect.extract.tombstone_entry import tombstone_of_belief
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import all_namespaces
from recollect.store.interface import Transaction
from recollect.work.graph import is_from_work

Reason = Annotated[str, Meta(max_length=1000)]
GraphItem = Entity | Relationship | Fact | Procedure | Preference
_IDS = {
    Entity: "entity_id",
    Relationship: "relationship_id",
    Fact: "fact_id",
    Procedure: "procedure_id",
    Preference: "preference_id",
}
# The field that `value` and `confidence` stand for in each kind of item.
_VALUE: dict[type[Any], str] = {Fact: "object", Preference: "value", Entity: "description"}
_SURE: dict[type[Any], str] = {Fact: "confidence", Procedure: "confidence", Preference: "strength"}


class GraphItemChange(Value, frozen=True, kw_only=True):
    """`value`: a fact's object, a preference's value or an entity's description."""

    value: FactText | None = None
    confidence: Unit | None = None
    reason: Reason = ""


class GraphItemChanged(Value, frozen=True, kw_only=True):
    thing_id: str
    op_id: str


def edit(runtime: ServiceRuntime, thing_id: Name, wanted: GraphItemChange) -> GraphItemChanged:
    thing = find(runtime, thing_id)
    changes: dict[str, Any] = {}
    for given, names in ((wanted.value, _VALUE), (wanted.confidence, _SURE)):
        if given is None:
            continue
        if type(thing) not in names:
            raise BadInput(f"this field of {thing_id} cannot be changed")
        changes[names[type(thing)]] = given
    if not changes:
        raise BadInput("no change was given", hint="value, confidence")
    if isinstance(thing, (Fact, Preference)):
        changes["source_type"] = "corrected"
    return _changed(
        runtime, "edit", thing, wanted.reason, check(msgspec.structs.replace(thing, **changes))
    )


def remove(runtime: ServiceRuntime, thing_id: Name, reason: Reason = "") -> GraphItemChanged:
    """Remove from the graph, and so from what is injected; undo brings it back."""
    return _changed(runtime, "delete", find(runtime, thing_id), reason)


def find(runtime: ServiceRuntime, thing_id: str) -> GraphItem:
    if is_from_work(thing_id):
        raise BadInput(
            f"{thing_id} is made from what sessions did and cannot be changed by itself",
            hint="recollect forget --session, for the sessions it comes from",
        )
    for namespace in all_namespaces(runtime):
        graph = runtime.store.graph
        some: list[GraphItem] = [
            *graph.facts(namespace),
            *graph.all(namespace, Preference),
            *graph.all(namespace, Procedure),
            *graph.all(namespace, Entity),
        ]
        for one in some:
            if getattr(one, _IDS[type(one)]) == thing_id:
                return one
    raise NotFound(
        f"there is no fact, preference, procedure or entity {thing_id}", hint="GET /api/facts"
    )


def _changed(
    runtime: ServiceRuntime, kind: Any, thing: GraphItem, reason: str, now: GraphItem | None = None
) -> GraphItemChanged:
    thing_id = getattr(thing, _IDS[type(thing)])

    stated = thing if now is None and isinstance(thing, (Fact, Preference, Procedure)) else None
    sessions = runtime.tombstones.sessions_of(stated) if stated is not None else set()

    def work(tx: Transaction) -> str:
        operation = tx.log(kind, thing.namespace, runtime.actor, targets=(thing_id,), reason=reason)
        tx.put_graph(*(() if now is None else (now,)), operation=operation)
        if stated is not None:
            stone = tombstone_of_belief(stated, "delete", sessions, runtime.clock.now())
            tx.log("tombstone", thing.namespace, runtime.actor, detail=stone)
        return operation.op_id

    op_id = runtime.store.transaction(work)
    runtime.tombstones.reload()
    runtime.publish("memory", {"namespace": thing.namespace, "thing_id": thing_id})
    return GraphItemChanged(thing_id=thing_id, op_id=op_id)
