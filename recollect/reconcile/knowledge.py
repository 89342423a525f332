"""Claims become knowledge: entities, facts, relationships, preferences and procedures.

In: the graph as it is and the claims of one batch. Out: a `Plan` that says what to put, what takes
the place of what, what waits and what was kept out and why. `learn` reads, `apply` writes inside
the transaction of the run; in between nothing has happened.

An entity is made when somebody stated something of it, or when it was met in two turns; until then
what was heard waits in a small table. Every contradiction is an operation of its own in the log,
so that it can be seen and undone by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

import msgspec

from recollect.core import ids
from recollect.core.clock import Clock
from recollect.core.values import (
    Entity,
    Fact,
    Operation,
    OperationKind,
    Preference,
    Procedure,
    Relationship,
)
from recollect.extract.interface import (
    Claim,
    Dropped,
    EntityClaim,
    FactClaim,
    PreferenceClaim,
    ProcedureClaim,
    RelationClaim,
)
from recollect.reconcile import gate
from recollect.reconcile.contradict import (
    AGAIN,
    ENDS,
    INVERSE,
    MOST_EVENTS,
    Ended,
    cardinality,
    confirmed,
    ended,
    order,
    predicate,
    resolve,
)
from recollect.reconcile.entities import Names, key, same_object, says_nothing
from recollect.store.interface import Transaction, Waiting

MOST_CLAIMS = 500  # of one batch
MOST_ENTITIES = 60
MOST_WAITING = 2000  # of one namespace
MOST_HELD = 8  # claims that wait with one name
MOST_ALIASES = 12
TURNS = 2  # in which a thing must be met, unless somebody states something of it
STRONG = ("stated", "corrected")

# Predicates whose object is a thing with a name of its own.
_OF_THINGS = (
    "uses", "depends_on", "owned_by", "deployed_on", "written_in", "calls", "message_broker",
    "package_manager", "framework", "test_framework", "cache", "ci", "repository", "located_in",
    "replaced_by", "build_tool", "formatter", "linter", "part_of", "runs_on", "built_with",
)  # fmt: skip
_RENAMED = ("renamed_to", "is_now_called", "renamed")

Thing = Entity | Relationship | Fact | Procedure | Preference


class Reads(Protocol):
    """What learning reads of the graph; the store's own graph has it."""

    def entities(self, namespace: str) -> list[Entity]: ...
    def facts(
        self, namespace: str, *, entity_id: str | None = None, as_of: datetime | None = None
    ) -> list[Fact]: ...
    def fact_history(self, namespace: str, entity_ids: Sequence[str]) -> list[Fact]: ...
    def relationships(self, namespace: str, entity_id: str | None = None) -> list[Relationship]: ...
    def procedures(self, namespace: str) -> list[Procedure]: ...
    def preferences(self, namespace: str) -> list[Preference]: ...
    def waiting(self, namespace: str) -> list[Waiting]: ...


@dataclass(frozen=True)
class Put:
    """Things that are new, or the same and surer."""

    things: tuple[Thing, ...]


@dataclass(frozen=True)
class Decision:
    """One thing took the place of another, or two turned out to be one."""

    kind: OperationKind
    namespace: str
    displaced: tuple[str, ...]
    things: tuple[Thing, ...]
    created: tuple[str, ...]
    reason: str
    detail: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    namespace: str
    steps: tuple[Put | Decision, ...] = ()
    wait: tuple[Waiting, ...] = ()
    no_longer_waits: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()

    @property
    def things(self) -> list[Thing]:
        """What is put, in order; of things put twice the last counts."""
        return [thing for step in self.steps for thing in step.things]

    @property
    def decisions(self) -> list[Decision]:
        return [step for step in self.steps if isinstance(step, Decision)]


def learn(
    graph: Reads,
    namespace: str,
    claims: Sequence[Claim],
    now: datetime,
    turns: Mapping[str, str] | None = None,
) -> Plan:
    """What a batch of claims changes. `turns` says of an event to which turn it belongs; without
    it each event counts as one."""
    learner = _Learner(graph, namespace, now, turns or {})
    for claim in claims[:MOST_CLAIMS]:
        learner.take(claim)
    for claim in claims[MOST_CLAIMS:]:
        learner.drop(claim, "too many in one batch")
    return learner.plan()


def apply(tx: Transaction, plan: Plan, actor: str) -> list[Operation]:
    """Carry a plan out inside a transaction; returns the decisions as they were logged."""
    operations = []
    for step in plan.steps:
        if isinstance(step, Put):
            tx.put_graph(*step.things)
            continue
        operation = tx.log(
            step.kind,
            step.namespace,
            actor,
            targets=step.displaced,
            created=step.created,
            reason=step.reason,
            detail=step.detail,
        )
        tx.change_graph(step.namespace, operation.op_id, step.displaced, step.things)
        operations.append(operation)
    if plan.wait or plan.no_longer_waits:
        tx.keep_waiting(plan.namespace, plan.wait, plan.no_longer_waits, MOST_WAITING)
    return operations


class Learning:
    """Learning as the push phase calls it: reads and decides first, writes when it is handed the
    transaction."""

    def __init__(self, graph: Reads, clock: Clock, actor: str) -> None:
        self._graph = graph
        self._clock = clock
        self._actor = actor

    def __call__(
        self, namespace: str, claims: Sequence[Claim]
    ) -> Callable[[Transaction], list[Operation]]:
        plan = learn(self._graph, namespace, claims, self._clock.now())
        return lambda tx: apply(tx, plan, self._actor)


def everywhere(namespace: str) -> str:
    """The actor's global namespace."""
    return "/".join(namespace.split("/")[:3]) + "/"


class _Learner:
    def __init__(
        self, graph: Reads, namespace: str, now: datetime, turns: Mapping[str, str]
    ) -> None:
        self._graph = graph
        self._namespace = namespace
        self._now = now
        self._turns = turns
        self._names = Names(graph.entities(namespace))
        self._waiting = {one.key: one for one in graph.waiting(namespace)}
        self._stored_waits = set(self._waiting)
        self._touched_waits: set[str] = set()
        self._facts: dict[str, dict[str, Fact]] = {}  # entity: fact id: fact
        self._relations: dict[str, list[Relationship]] = {}
        self._preferences: dict[str, list[Preference]] = {}
        self._procedures: list[Procedure] | None = None
        self._mentioned: dict[str, set[str]] = {}  # entity: turns of this batch
        self._steps: list[Put | Decision] = []
        self._dropped: list[Dropped] = []
        self._made = 0

    # --- what comes in ---

    def take(self, claim: Claim) -> None:
        if isinstance(claim, EntityClaim):
            self._entity_claim(claim)
            return
        reason = gate.why_not(claim)
        if reason:
            self.drop(claim, reason)
            return
        taken: dict[type[Any], Callable[[Any], None]] = {
            FactClaim: self._fact_claim,
            RelationClaim: self._relation_claim,
            PreferenceClaim: self._preference_claim,
            ProcedureClaim: self._procedure_claim,
        }
        taken[type(claim)](claim)

    def drop(self, claim: Claim, reason: str) -> None:
        self._dropped.append(Dropped(_title(claim), reason))

    def plan(self) -> Plan:
        return Plan(
            self._namespace,
            tuple(self._steps),
            tuple(self._waiting[one] for one in sorted(self._touched_waits & set(self._waiting))),
            tuple(sorted(self._stored_waits - set(self._waiting))),
            tuple(self._dropped),
        )

    # --- entities ---

    def _entity_claim(self, claim: EntityClaim) -> None:
        if says_nothing(claim.name):
            self.drop(claim, "names nothing")
            return
        known = self._known(claim.name, claim)
        for alias in claim.aliases:
            known = known or self._names.find(alias)
        if known is None:
            known = self._worth_it(claim.name, claim.type, claim, strong=False)
        if known is not None:
            self._describe(known, claim)

    def _describe(self, entity: Entity, claim: EntityClaim) -> None:
        aliases = [one for one in claim.aliases if not says_nothing(one)]
        for alias in aliases:
            other = self._names.find(alias)
            if other is not None and other.entity_id != entity.entity_id:
                entity = self._merge(entity, other)
        if key(claim.name) != key(entity.name):
            aliases.append(claim.name)
        better = msgspec.structs.replace(
            entity,
            type=claim.type if entity.type == "thing" and claim.type else entity.type,
            description=claim.description or entity.description,
            aliases=_aliases(entity, aliases),
        )
        if better != entity:
            self._put_entity(better)

    def _known(self, name: str, claim: Claim) -> Entity | None:
        """The entity of this name, met once more; a new way to write it is remembered."""
        entity = self._names.find(name)
        if entity is None:
            return None
        turns = self._mentioned.setdefault(entity.entity_id, set())
        met = set(self._turns_of(claim)) - turns
        turns |= met
        aliases = entity.aliases
        if key(name) not in {key(one) for one in (entity.name, *entity.aliases)}:
            aliases = _aliases(entity, [name])
        if met or aliases != entity.aliases:
            entity = msgspec.structs.replace(
                entity, mentions=entity.mentions + len(met), aliases=aliases
            )
            self._put_entity(entity)
        return entity

    def _worth_it(self, name: str, kind: str, claim: Claim, *, strong: bool) -> Entity | None:
        """A new entity, if it is worth one; else what was heard of it waits."""
        wanted = key(name)
        held = self._waiting.get(wanted)
        met = tuple(dict.fromkeys([*(held.turns if held else ()), *self._turns_of(claim)]))
        if not strong and len(met) < TURNS:
            claims = [*(held.claims if held else ()), _packed(claim)]
            unique = [one for at, one in enumerate(claims) if one not in claims[:at]]
            self._waiting[wanted] = Waiting(
                wanted, held.name if held else name, met, tuple(unique[-MOST_HELD:]), self._now
            )
            self._touched_waits.add(wanted)
            return None
        if self._made >= MOST_ENTITIES:
            self.drop(claim, "too many new things in one batch")
            return None
        self._made += 1
        entity = Entity(
            entity_id=ids.new_id(ids.ENTITY),
            namespace=self._namespace,
            name=_tidy(name),
            type=(kind or "thing")[:64],
            mentions=max(1, len(met)),
        )
        self._mentioned[entity.entity_id] = set(met)
        self._facts[entity.entity_id] = {}
        self._relations[entity.entity_id] = []
        self._put_entity(entity)
        self._waiting.pop(wanted, None)
        for packed in held.claims if held else ():
            self.take(_unpacked(packed))
        return self._names.by_id.get(entity.entity_id) or self._names.find(name)

    def _put_entity(self, entity: Entity) -> None:
        self._names.add(entity)
        self._steps.append(Put((entity,)))

    def _turns_of(self, claim: Claim) -> list[str]:
        return [self._turns.get(event_id, event_id) for event_id in claim.event_ids]

    def _merge(self, one: Entity, other: Entity) -> Entity:
        """Two entities are one: what was known of the younger hangs on the older."""
        kept, gone = sorted([one, other], key=lambda e: (-e.mentions, e.entity_id))
        merged = msgspec.structs.replace(
            kept,
            mentions=kept.mentions + gone.mentions,
            description=kept.description or gone.description,
            aliases=_aliases(kept, [gone.name, *gone.aliases]),
        )
        facts = [
            msgspec.structs.replace(fact, entity_id=kept.entity_id)
            for fact in self._facts_of(gone.entity_id).values()
        ]
        moved, loops = [], []
        for relation in self._relations_of(gone.entity_id):
            source, target = (
                kept.entity_id if end == gone.entity_id else end
                for end in (relation.source_id, relation.target_id)
            )
            if source == target:
                loops.append(relation.relationship_id)
            else:
                moved.append(msgspec.structs.replace(relation, source_id=source, target_id=target))
        displaced = (
            kept.entity_id,
            *(fact.fact_id for fact in facts),
            *(relation.relationship_id for relation in moved),
            *loops,
            gone.entity_id,
        )
        self._decide(
            "merge",
            displaced,
            (merged, *facts, *moved),
            (),
            f"{gone.name} is {kept.name}",
            {"kept": kept.name, "gone": gone.name},
        )
        self._names.drop(gone.entity_id)
        self._names.drop(kept.entity_id)
        self._names.add(merged)
        held = self._facts_of(kept.entity_id)
        self._facts.pop(gone.entity_id, None)
        held.update({fact.fact_id: fact for fact in facts})
        self._relations.clear()
        for name in {fact.predicate for fact in held.values()}:
            live = [f for f in held.values() if f.predicate == name and f.valid_until is None]
            if len(live) > 1:
                self._settle(kept.entity_id, name, live, None)
        return merged

    # --- facts ---

    def _fact_claim(self, claim: FactClaim) -> None:
        name = predicate(claim.predicate)
        strong = claim.source_type in STRONG
        if name in INVERSE and not says_nothing(claim.object):
            # "Ada owns ledger" is a fact of ledger, which has one owner.
            claim = replace(
                claim, subject=claim.object, predicate=INVERSE[name], object=claim.subject
            )
            name = claim.predicate
        if name in _RENAMED:
            self._renamed(claim)
            return
        subject = self._known(claim.subject, claim) or self._worth_it(
            claim.subject, "thing", claim, strong=strong
        )
        if subject is None:
            return
        if name == "replaced_by":
            self._replaced(claim)
        ending = next((name.removeprefix(one) for one in ENDS if name.startswith(one)), "")
        if ending:
            self._ended(subject, ending, claim)
            return
        self._object_entity(name, claim, strong)
        fact = Fact(
            fact_id=ids.new_id(ids.FACT),
            namespace=self._namespace,
            entity_id=subject.entity_id,
            subject=subject.name,
            predicate=name,
            object=" ".join(claim.object.split()),
            confidence=min(1.0, max(0.0, claim.confidence)),
            source_type=claim.source_type,
            author=claim.author,
            sensitive=gate.sensitive(claim.subject, claim.predicate, claim.object),
            valid_from=claim.at,
            source_event_ids=claim.event_ids[-MOST_EVENTS:],
        )
        self._hold(subject.entity_id, fact)

    def _object_entity(self, name: str, claim: FactClaim, strong: bool) -> None:
        """Things that facts lead to are things too."""
        if name not in _OF_THINGS and not name.startswith("uses_"):
            return
        if says_nothing(claim.object) or len(claim.object.split()) > 3:
            return
        mention = EntityClaim(claim.object, "thing", event_ids=claim.event_ids)
        if self._known(claim.object, mention) is None:
            self._worth_it(claim.object, "thing", mention, strong=strong)

    def _hold(self, entity_id: str, fact: Fact) -> None:
        kind = cardinality(fact.predicate)
        held = [f for f in self._facts_of(entity_id).values() if f.predicate == fact.predicate]
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
            self._settle(entity_id, fact.predicate, live, fact)
            return
        surer = confirmed(again, fact, kind)
        if again.valid_until is None:
            self._remember(surer)
            self._steps.append(Put((surer,)))
            return
        free = msgspec.structs.replace(surer, valid_until=None, superseded_by=None)
        standing, _ = resolve([*live, free], kind)
        if standing is not None and standing.fact_id == free.fact_id:
            self._settle(entity_id, fact.predicate, live, free)
        else:
            self._remember(surer)
            self._steps.append(Put((surer,)))

    def _settle(self, entity_id: str, name: str, live: list[Fact], new: Fact | None) -> None:
        """Put a fact among the live ones of its predicate, and end those that lose."""
        facts = [*live, new] if new is not None else live
        standing, losers = resolve(facts, cardinality(name))
        if not losers:
            if new is not None:
                self._remember(new)
                self._steps.append(Put((new,)))
            return
        assert standing is not None
        after = [
            ended(fact, losers[fact.fact_id]) if fact.fact_id in losers else fact for fact in facts
        ]
        known = self._facts_of(entity_id)
        changed = [fact for fact in after if known.get(fact.fact_id) != fact]
        displaced = tuple(fact.fact_id for fact in changed if fact.fact_id in known)
        created = tuple(fact.fact_id for fact in changed if fact.fact_id not in known)
        for fact in changed:
            self._remember(fact)
        old = [fact.object for fact in after if fact.fact_id in losers]
        self._decide(
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

    def _ended(self, subject: Entity, name: str, claim: FactClaim) -> None:
        """Somebody says that a fact no longer holds."""
        name = {"using": "uses"}.get(name, predicate(name))
        over = [
            fact
            for fact in self._facts_of(subject.entity_id).values()
            if fact.valid_until is None
            and fact.valid_from <= claim.at
            and (fact.predicate == name or fact.predicate.startswith(f"{name}_"))
            and same_object(fact.object, claim.object)
        ]
        self._end(over, claim.at, f"{subject.name} no longer {name} {claim.object}")

    def _replaced(self, claim: FactClaim) -> None:
        """X was replaced by Y: whoever used X uses Y."""
        for fact in self._graph.facts(self._namespace):
            holder = self._facts_of(fact.entity_id or "")
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
                over = ended(fact, Ended(claim.at, new.fact_id))
                self._remember(over)
                self._remember(new)
                self._decide(
                    "supersede",
                    (fact.fact_id,),
                    (over, new),
                    (new.fact_id,),
                    f"{claim.subject} was replaced by {claim.object}",
                    {"subject": fact.subject, "predicate": fact.predicate, "object": new.object,
                     "ended": [fact.object], "stands": new.fact_id, "by": "replaced"},
                )  # fmt: skip

    def _renamed(self, claim: FactClaim) -> None:
        entity = self._known(claim.subject, claim)
        if entity is None:
            entity = self._worth_it(
                claim.object, "thing", claim, strong=claim.source_type in STRONG
            )
            if entity is None:
                return
        other = self._names.find(claim.object)
        if other is not None and other.entity_id != entity.entity_id:
            entity = self._merge(entity, other)
        renamed = msgspec.structs.replace(
            entity,
            name=_tidy(claim.object),
            aliases=_aliases(entity, [entity.name, claim.subject], name=claim.object),
        )
        if renamed != entity:
            self._put_entity(renamed)

    def _end(self, facts: Sequence[Fact], at: datetime, reason: str) -> None:
        if not facts:
            return
        over = [msgspec.structs.replace(fact, valid_until=at) for fact in facts]
        for fact in over:
            self._remember(fact)
        detail = {"ended": [fact.object for fact in facts], "by": "said to be over"}
        self._decide(
            "supersede", tuple(fact.fact_id for fact in over), tuple(over), (), reason, detail
        )

    def _facts_of(self, entity_id: str) -> dict[str, Fact]:
        if entity_id not in self._facts:
            history = self._graph.fact_history(self._namespace, [entity_id])
            self._facts[entity_id] = {fact.fact_id: fact for fact in history}
        return self._facts[entity_id]

    def _remember(self, fact: Fact) -> None:
        self._facts_of(fact.entity_id or "")[fact.fact_id] = fact

    # --- relationships ---

    def _relation_claim(self, claim: RelationClaim) -> None:
        strong = claim.source_type in STRONG
        ends = []
        for name in (claim.source, claim.target):
            entity = self._known(name, claim) or self._worth_it(name, "thing", claim, strong=strong)
            if entity is None:
                return  # it waits with the claim
            ends.append(entity)
        source, target = ends
        if source.entity_id == target.entity_id:
            self.drop(claim, "of itself")
            return
        relation = Relationship(
            relationship_id=ids.new_id(ids.RELATIONSHIP),
            namespace=self._namespace,
            source_id=source.entity_id,
            target_id=target.entity_id,
            type=predicate(claim.type)[:64],
            confidence=min(1.0, max(0.0, claim.confidence)),
            source_type=claim.source_type,
            source_event_ids=claim.event_ids[-MOST_EVENTS:],
            valid_from=claim.at,
        )
        self._relate(relation, f"{source.name} {relation.type} {target.name}")

    def _relate(self, new: Relationship, reason: str) -> None:
        inverse = INVERSE.get(new.type)
        hub = new.target_id if inverse else new.source_id
        held = self._relations_of(hub)
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
            self._steps.append(Put((surer,)))
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
        if other in self._relations:
            self._relations[other].append(new)
        if cardinality(inverse or new.type) == "multi" or not rivals:
            self._steps.append(Put((new,)))
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
        self._decide(
            "supersede",
            tuple(one.relationship_id for one in old),
            (*old, fresh),
            (new.relationship_id,),
            reason,
            {"by": "relationship"},
        )

    def _relations_of(self, entity_id: str) -> list[Relationship]:
        if entity_id not in self._relations:
            self._relations[entity_id] = self._graph.relationships(self._namespace, entity_id)
        return self._relations[entity_id]

    # --- preferences and procedures ---

    def _preference_claim(self, claim: PreferenceClaim) -> None:
        namespace = everywhere(self._namespace) if claim.everywhere else self._namespace
        if namespace not in self._preferences:
            self._preferences[namespace] = self._graph.preferences(namespace)
        held = self._preferences[namespace]
        new = Preference(
            preference_id=ids.new_id(ids.PREFERENCE),
            namespace=namespace,
            category=_slug(claim.category)[:64],
            key=_slug(claim.key)[:128],
            value=" ".join(claim.value.split())[:MOST_VALUE],
            strength=min(1.0, max(0.0, claim.strength)),
            source_type=claim.source_type,
            source_event_ids=claim.event_ids[-MOST_EVENTS:],
            created_at=claim.at,
        )
        known = next(
            (one for one in held if (one.category, one.key) == (new.category, new.key)), None
        )
        if known is None:
            held.append(new)
            self._steps.append(Put((new,)))
        elif same_object(known.value, new.value):
            if not set(new.source_event_ids) <= set(known.source_event_ids):
                surer = msgspec.structs.replace(
                    known,
                    strength=round(min(1.0, max(known.strength, new.strength) + AGAIN), 4),
                    source_event_ids=(*known.source_event_ids, *new.source_event_ids)[
                        -MOST_EVENTS:
                    ],
                )
                held[held.index(known)] = surer
                self._steps.append(Put((surer,)))
        elif known.created_at is not None and claim.at < known.created_at:
            self.drop(claim, "older than what is held")
        else:
            held[held.index(known)] = new
            self._decide(
                "supersede",
                (known.preference_id,),
                (new,),
                (new.preference_id,),
                f"{new.category}.{new.key}: {new.value}, not {known.value}",
                {"preference": f"{new.category}.{new.key}", "object": new.value,
                 "ended": [known.value], "by": "newer"},
                namespace,
            )  # fmt: skip

    def _procedure_claim(self, claim: ProcedureClaim) -> None:
        if self._procedures is None:
            self._procedures = self._graph.procedures(self._namespace)
        steps = tuple(" ".join(step.split())[:1000] for step in claim.steps if step.strip())
        wanted = tuple(step.casefold() for step in steps)
        known = next(
            (p for p in self._procedures if tuple(s.casefold() for s in p.steps) == wanted), None
        )
        if known is None:
            known = Procedure(
                procedure_id=ids.new_id(ids.PROCEDURE),
                namespace=self._namespace,
                name=" ".join(claim.name.split())[:200],
                trigger=" ".join(claim.trigger.split())[:1000],
                steps=steps,
                confidence=claim.confidence,
            )
            self._procedures.append(known)
        elif claim.event_ids and set(claim.event_ids) <= set(known.source_event_ids):
            return
        successes = known.successes + claim.successes
        failures = known.failures + claim.failures
        tried = successes + failures
        after = msgspec.structs.replace(
            known,
            successes=successes,
            failures=failures,
            confidence=round((successes + 1) / (tried + 2), 4) if tried else known.confidence,
            last_used=max(filter(None, (known.last_used, claim.at))),
            source_event_ids=(*known.source_event_ids, *claim.event_ids)[-MOST_EVENTS:],
        )
        self._procedures[self._procedures.index(known)] = after
        self._steps.append(Put((after,)))

    def _decide(
        self,
        kind: OperationKind,
        displaced: tuple[str, ...],
        things: tuple[Thing, ...],
        created: tuple[str, ...],
        reason: str,
        detail: dict[str, Any],
        namespace: str = "",
    ) -> None:
        self._steps.append(
            Decision(
                kind,
                namespace or self._namespace,
                displaced,
                things,
                created,
                reason[:1000],
                detail,
            )
        )


MOST_VALUE = 1000


def _same_relation(one: Relationship, new: Relationship) -> bool:
    return (one.source_id, one.target_id, one.type, one.valid_until) == (
        new.source_id,
        new.target_id,
        new.type,
        None,
    )


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


def _why(standing: Fact, losers: Sequence[Fact]) -> str:
    """By what the standing one won, for the log."""
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


def _aliases(entity: Entity, more: Sequence[str], name: str = "") -> tuple[str, ...]:
    """Other ways to write a name, each key once, the name's own left out."""
    seen = {key(name or entity.name)}
    found = []
    for alias in (*entity.aliases, *map(_tidy, more)):
        if (folded := key(alias)) and folded not in seen:
            seen.add(folded)
            found.append(alias)
    return tuple(found[:MOST_ALIASES])


def _tidy(name: str) -> str:
    text = " ".join(name.strip().strip("`\"'“”").rstrip(".,;:!?").split())
    for article in ("the ", "The ", "our ", "Our ", "my ", "My "):
        text = text.removeprefix(article)
    return text[:200] or name[:200]


def _slug(text: str) -> str:
    return "_".join(text.casefold().replace("-", " ").split())


def _title(claim: Claim) -> str:
    match claim:
        case FactClaim():
            return f"{claim.subject} {claim.predicate} {claim.object}"[:200]
        case RelationClaim():
            return f"{claim.source} {claim.type} {claim.target}"[:200]
        case PreferenceClaim():
            return f"{claim.category}.{claim.key}: {claim.value}"[:200]
    return claim.name[:200]


_PACKED: dict[str, type[Any]] = {
    "entity": EntityClaim,
    "fact": FactClaim,
    "relation": RelationClaim,
}


def _packed(claim: Claim) -> Any:
    kind = next(name for name, shape in _PACKED.items() if isinstance(claim, shape))
    return [kind, msgspec.to_builtins(claim)]


def _unpacked(packed: Any) -> Claim:
    kind, fields = packed
    claim: Claim = msgspec.convert(fields, type=_PACKED[kind])
    return claim
