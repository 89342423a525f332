"""Plans changes of facts: which hold, which ended, and by what.

In: facts that claims made, and the graph's facts of an entity. Out: steps in a `PlanBuilder`. Of
facts that exclude each other one holds, by the order in `contradict.py`.
"""

from collections.abc import Sequence

import msgspec

from recollect.core import ids
from recollect.core.entity_keys import names_object, same_object
from recollect.core.values import Entity, Fact
from recollect.extract.interface import FactClaim
from recollect.reconcile.contradict import (
    MOST_EVENTS,
    EndedFact,
    cardinality,
    confirmed,
    ended,
    order,
    predicate,
    resolve,
)
from recollect.reconcile.plan import PlanBuilder
from recollect.store.interface import Graph

# Predicates whose object is a thing with a name of its own.
_OF_THINGS = (
    "uses", "depends_on", "owned_by", "deployed_on", "written_in", "calls", "message_broker",
    "package_manager", "framework", "test_framework", "cache", "ci", "repository", "located_in",
    "replaced_by", "build_tool", "formatter", "linter", "part_of", "runs_on", "built_with",
)  # fmt: skip

_TYPES = {
    "owned_by": "person", "deployed_on": "platform", "runs_on": "platform", "calls": "service",
    "depends_on": "service", "written_in": "language", "message_broker": "service",
    "cache": "service", "ci": "service", "uses_database": "database", "package_manager": "package",
    "framework": "package", "test_framework": "package", "build_tool": "package",
    "formatter": "package", "linter": "package", "built_with": "package",
}  # fmt: skip


def type_of_object(name: str) -> str:
    """What kind of thing the object of a predicate is; empty when it has no name of its own."""
    has_name = name in _OF_THINGS or name.startswith("uses_")
    return _TYPES.get(name, "thing") if has_name else ""


class FactPlanner:
    def __init__(self, graph: Graph, book: PlanBuilder) -> None:
        self._graph = graph
        self._book = book
        self._held: dict[str, dict[str, Fact]] = {}  # entity: fact id: fact

    def begin(self, entity_id: str) -> None:
        """A new entity, which has no facts yet."""
        self._held[entity_id] = {}

    def forget(self, entity_id: str) -> None:
        self._held.pop(entity_id, None)

    def of(self, entity_id: str) -> dict[str, Fact]:
        if entity_id not in self._held:
            history = self._graph.facts(self._book.namespace, [entity_id], ended=True)
            self._held[entity_id] = {fact.fact_id: fact for fact in history}
        return self._held[entity_id]

    def remember(self, fact: Fact) -> None:
        self.of(fact.entity_id or "")[fact.fact_id] = fact

    def _put(self, fact: Fact) -> None:
        self.remember(fact)
        self._book.put(fact)

    def hold(self, entity_id: str, fact: Fact) -> None:
        kind = cardinality(fact.predicate)
        held = [f for f in self.of(entity_id).values() if f.predicate == fact.predicate]
        same = [f for f in held if same_object(f.object, fact.object)]
        live = [f for f in held if f.valid_until is None]
        if any(
            fact.source_event_ids and set(fact.source_event_ids) <= set(f.source_event_ids)
            for f in same
        ):
            return  # heard already
        again = next((f for f in same if f.valid_until is None), None)
        if again is None and same and kind != "multi":
            before = max(same, key=lambda f: (order(f, kind), f.fact_id))
            stands = max((order(f, kind) for f in live), default=None)
            back = stands is not None and order(fact, kind) > stands
            if not (kind == "temporal" and (back or stands is None)):
                again = before  # it lost, and this does not change it, or changes what it weighs
        if again is None:
            self.settle(entity_id, fact.predicate, live, fact)
            return
        surer = confirmed(again, fact, kind)
        if again.valid_until is None:
            self._put(surer)
            return
        free = msgspec.structs.replace(surer, valid_until=None, superseded_by=None)
        standing, _ = resolve([*live, free], kind)
        if standing is not None and standing.fact_id == free.fact_id:
            self.settle(entity_id, fact.predicate, live, free)
        else:
            self._put(surer)

    def settle(self, entity_id: str, name: str, live: list[Fact], new: Fact | None) -> None:
        """Add a fact to the current ones of its predicate, and end those that lose."""
        facts = [*live, new] if new is not None else live
        standing, losers = resolve(facts, cardinality(name))
        if not losers:
            if new is not None:
                self._put(new)
            return
        assert standing is not None
        after = [
            ended(fact, losers[fact.fact_id]) if fact.fact_id in losers else fact for fact in facts
        ]
        known = self.of(entity_id)
        changed = [fact for fact in after if known.get(fact.fact_id) != fact]
        displaced = tuple(fact.fact_id for fact in changed if fact.fact_id in known)
        created = tuple(fact.fact_id for fact in changed if fact.fact_id not in known)
        for fact in changed:
            self.remember(fact)
        old = [fact.object for fact in after if fact.fact_id in losers]
        self._book.decide(
            "supersede",
            displaced,
            tuple(changed),
            created,
            f"{standing.subject} {name}: {standing.object}, not {', '.join(old)}",
            {
                "subject": standing.subject,
                "predicate": name,
                "stands": standing.fact_id,
                "object": standing.object,
                "ended": old,
                "by": _why(standing, [f for f in after if f.fact_id in losers]),
            },
        )

    def ended(self, subject: Entity, name: str, claim: FactClaim) -> None:
        """End a fact that somebody says no longer holds."""
        name = {"using": "uses"}.get(name, predicate(name))
        over = [
            fact
            for fact in self.of(subject.entity_id).values()
            if fact.valid_until is None
            and fact.valid_from <= claim.at
            and (fact.predicate == name or fact.predicate.startswith(f"{name}_"))
            and names_object(claim.object, fact.object)
        ]
        if not over:
            return
        gone = [msgspec.structs.replace(fact, valid_until=claim.at) for fact in over]
        for fact in gone:
            self.remember(fact)
        self._book.decide(
            "supersede",
            tuple(fact.fact_id for fact in gone),
            tuple(gone),
            (),
            f"{subject.name} no longer {name} {claim.object}",
            {"ended": [fact.object for fact in gone], "by": "said to be over"},
        )

    def replaced(self, claim: FactClaim) -> None:
        """X was replaced by Y: everything that used X uses Y."""
        for fact in self._graph.facts(self._book.namespace):
            holder = self.of(fact.entity_id or "")
            fact = holder.get(fact.fact_id, fact)
            if (
                fact.valid_until is None
                and fact.entity_id is not None
                and fact.valid_from <= claim.at
                and (fact.predicate.startswith("uses") or fact.predicate in _OF_THINGS)
                and fact.predicate != "replaced_by"
                and same_object(fact.object, claim.subject)
            ):
                new = msgspec.structs.replace(
                    fact,
                    fact_id=ids.new_id(ids.FACT),
                    object=claim.object,
                    source_type=claim.source_type,
                    author=claim.author,
                    confidence=claim.confidence,
                    valid_from=claim.at,
                    confirmed_at=None,
                    source_event_ids=claim.event_ids[-MOST_EVENTS:],
                    created_at=None,
                )
                over = ended(fact, EndedFact(claim.at, new.fact_id))
                self.remember(over)
                self.remember(new)
                self._book.decide(
                    "supersede",
                    (fact.fact_id,),
                    (over, new),
                    (new.fact_id,),
                    f"{claim.subject} was replaced by {claim.object}",
                    {"subject": fact.subject, "predicate": fact.predicate, "object": new.object,
                     "ended": [fact.object], "stands": new.fact_id, "by": "replaced"},
                )  # fmt: skip

    def renamed(self, entity: Entity) -> None:
        """Use the current name in facts that hold."""
        for fact in list(self.of(entity.entity_id).values()):
            if fact.valid_until is None:
                self._put(msgspec.structs.replace(fact, subject=entity.name))


def _why(standing: Fact, losers: Sequence[Fact]) -> str:
    """Why one fact won, for the log."""
    kind = cardinality(standing.predicate)
    best = max((order(one, kind) for one in losers), default=None)
    if best is None:
        return ""
    won = order(standing, kind)
    if won[0] != best[0]:
        return "source"
    if won[1] != best[1]:
        return "recency"
    return "confidence" if won[2] != best[2] else "order"
