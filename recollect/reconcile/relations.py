"""Plans changes of relationships, which are judged like facts with the target as object.

In: relationships that claims made. Out: steps in a `PlanBuilder`.
"""

import msgspec

from recollect.core.values import Fact, Relationship
from recollect.reconcile.contradict import AGAIN, INVERSE, MOST_EVENTS, cardinality, resolve
from recollect.reconcile.plan import PlanBuilder
from recollect.store.interface import Graph

STRONG = ("stated", "corrected")


class RelationPlanner:
    def __init__(self, graph: Graph, book: PlanBuilder) -> None:
        self._graph = graph
        self._book = book
        self._held: dict[str, list[Relationship]] = {}

    def begin(self, entity_id: str) -> None:
        """A new entity, which has no relationships yet."""
        self._held[entity_id] = []

    def clear(self) -> None:
        """Two entities were merged: read their relationships again."""
        self._held.clear()

    def of(self, entity_id: str) -> list[Relationship]:
        if entity_id not in self._held:
            self._held[entity_id] = self._graph.all(
                self._book.namespace, Relationship, of=entity_id
            )
        return self._held[entity_id]

    def relate(self, new: Relationship, reason: str) -> None:
        inverse = INVERSE.get(new.type)
        hub = new.target_id if inverse else new.source_id
        held = self.of(hub)
        known = next((one for one in held if _same_relation(one, new)), None)
        if known is not None:
            if set(new.source_event_ids) <= set(known.source_event_ids) and new.source_event_ids:
                return
            surer = msgspec.structs.replace(
                known,
                confidence=round(min(1.0, max(known.confidence, new.confidence) + AGAIN), 4),
                source_event_ids=tuple(
                    dict.fromkeys([*known.source_event_ids, *new.source_event_ids])
                )[-MOST_EVENTS:],
            )
            held[held.index(known)] = surer
            self._book.put(surer)
            return
        rivals = [
            one
            for one in held
            if one.valid_until is None
            and one.type == new.type
            and (one.target_id if inverse else one.source_id) == hub
        ]
        held.append(new)
        other = new.source_id if inverse else new.target_id
        if other in self._held:
            self._held[other].append(new)
        if cardinality(inverse or new.type) == "multi" or not rivals:
            self._book.put(new)
            return
        # Judged as facts are: the far end is the object.
        kind = cardinality(inverse or new.type)
        judged = {one.relationship_id: one for one in (*rivals, new)}
        _, losers = resolve([_as_fact(one) for one in judged.values()], kind)
        after = [
            msgspec.structs.replace(judged[one], valid_until=end.valid_until)
            for one, end in losers.items()
        ]
        for one in after:
            if one.relationship_id != new.relationship_id:
                held[held.index(judged[one.relationship_id])] = one
        fresh = next((one for one in after if one.relationship_id == new.relationship_id), new)
        old = [one for one in after if one.relationship_id != new.relationship_id]
        self._book.decide(
            "supersede",
            tuple(one.relationship_id for one in old),
            (*old, fresh),
            (new.relationship_id,),
            reason,
            {"by": "relationship"},
        )


def _same_relation(one: Relationship, new: Relationship) -> bool:
    ends = (one.source_id, one.target_id, one.type)
    return one.valid_until is None and ends == (new.source_id, new.target_id, new.type)


def _as_fact(relation: Relationship) -> Fact:
    return Fact(
        fact_id=relation.relationship_id,
        namespace=relation.namespace,
        subject=relation.source_id,
        predicate=relation.type,
        object=f"{relation.source_id} {relation.target_id}",
        confidence=relation.confidence,
        source_type=relation.source_type,
        author="user" if relation.source_type in STRONG else "tool",
        valid_from=relation.valid_from,
    )
