"""Turns claims into knowledge: entities, facts, relationships, preferences and procedures.

In: the graph and the claims of one batch. Out: a `LearningPlan`: what to write, what replaces what,
what waits, and what was kept out and why. `learn` reads, `apply` writes inside the transaction of
the run; nothing is written in between.

An entity is made when somebody stated something about it, or when it occurred in two turns; until
then its claims wait in a small table. Every contradiction is an operation of its own in the log, so
that it can be seen and undone by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from recollect.core import ids
from recollect.core.clock import Clock
from recollect.core.entity_keys import key, says_nothing
from recollect.core.values import Entity, Fact, Relationship
from recollect.extract.interface import (
    ChangeClaim,
    Claim,
    Dropped,
    EndClaim,
    EntityClaim,
    FactClaim,
    PreferenceClaim,
    ProcedureClaim,
    RelationClaim,
)
from recollect.privacy.sensitive import fact_is_sensitive
from recollect.reconcile import change_sentences, claim_gate
from recollect.reconcile.contradict import ENDS, INVERSE, MOST_EVENTS, predicate
from recollect.reconcile.entity_names import EntityNames, EntityNamesCache
from recollect.reconcile.facts import FactPlanner, type_of_object
from recollect.reconcile.plan import LearningPlan, PlanBuilder, apply
from recollect.reconcile.preferences_procedures import PreferencePlanner
from recollect.reconcile.push import Learned
from recollect.reconcile.relations import STRONG, RelationPlanner
from recollect.store.interface import Graph, Waiting

MOST_CLAIMS = 500  # of one batch
MOST_ENTITIES = 60
MOST_HELD = 8  # claims that wait with one name
MOST_ALIASES = 12
UNDERSTOOD = 0.8  # how sure a change is that was read by what is known
DOUBTED = 0.6  # ... that may be none
TURNS = 2  # in which a thing must be met, unless somebody states something of it

_RENAMED = ("renamed_to", "is_now_called", "renamed")


def learn(
    graph: Graph,
    namespace: str,
    claims: Sequence[Claim],
    now: datetime,
    turns: Mapping[str, str] | None = None,
    names: EntityNames | None = None,
) -> LearningPlan:
    """What a batch of claims changes. `turns` maps an event to its turn; without it each event
    counts as one. `names` are the graph's names, if they are loaded already."""
    known = names if names is not None else EntityNames(graph.all(namespace, Entity))
    learner = _Learner(graph, namespace, now, turns or {}, known)
    for claim in claims[:MOST_CLAIMS]:
        learner.take(claim)
    for claim in claims[MOST_CLAIMS:]:
        learner.drop(claim, "too many in one batch")
    return learner.plan()


class ClaimLearner:
    """Learning as the push phase calls it: reads and plans first, writes in the given
    transaction."""

    def __init__(self, graph: Graph, clock: Clock, actor: str) -> None:
        self._graph = graph
        self._held = EntityNamesCache(graph)
        self._clock = clock
        self._actor = actor

    def __call__(
        self, namespace: str, claims: Sequence[Claim], turns: Mapping[str, str]
    ) -> Learned:
        names = self._held.names(namespace)
        plan = learn(self._graph, namespace, claims, self._clock.now(), turns, names)
        return Learned(lambda tx: apply(tx, plan, self._actor), plan.dropped)


class _Learner:
    def __init__(
        self,
        graph: Graph,
        namespace: str,
        now: datetime,
        turns: Mapping[str, str],
        known: EntityNames,
    ) -> None:
        self._graph = graph
        self._namespace = namespace
        self._now = now
        self._turns = turns
        self._names = EntityNames(below=known)
        self._waiting: dict[str, Waiting | None] = {}  # those that were asked for
        self._stored_waits: set[str] = set()
        self._touched_waits: set[str] = set()
        self._book = PlanBuilder(namespace)
        self._facts = FactPlanner(graph, self._book)
        self._relations = RelationPlanner(graph, self._book)
        self._habits = PreferencePlanner(graph, self._book)
        self._mentioned: dict[str, set[str]] = {}  # entity: turns of this batch
        self._made = 0

    # --- what comes in ---

    def take(self, claim: Claim) -> None:
        if isinstance(claim, EntityClaim):
            self._entity_claim(claim)
            return
        if isinstance(claim, EndClaim):
            return  # it concerns beliefs, not the graph
        reason = claim_gate.why_not(claim)
        if reason:
            self.drop(claim, reason)
            return
        taken: dict[type[Any], Callable[[Any], None]] = {
            FactClaim: self._fact_claim,
            ChangeClaim: self._change_claim,
            RelationClaim: self._relation_claim,
            PreferenceClaim: self._habits.preference,
            ProcedureClaim: self._habits.procedure,
        }
        taken[type(claim)](claim)

    def drop(self, claim: Claim, reason: str) -> None:
        self._book.dropped.append(Dropped(_title(claim), reason))

    def plan(self) -> LearningPlan:
        waits = {name: one for name, one in self._waiting.items() if one is not None}
        return LearningPlan(
            self._namespace,
            tuple(self._book.steps),
            tuple(waits[name] for name in sorted(self._touched_waits & set(waits))),
            tuple(sorted(self._stored_waits - set(waits))),
            tuple(self._book.dropped),
        )

    # --- entities ---

    def _entity_claim(self, claim: EntityClaim) -> None:
        if says_nothing(claim.name):
            self.drop(claim, "names nothing")
            return
        known = self._entity_named(claim.name, claim)
        for alias in claim.aliases:
            known = known or self._names.find(alias)
        if known is None:
            known = self._new_entity(claim.name, claim.type, claim, strong=False)
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

    def _entity_named(self, name: str, claim: Claim) -> Entity | None:
        """The entity of this name, counted once more; a new spelling becomes an alias."""
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

    def _new_entity(self, name: str, kind: str, claim: Claim, *, strong: bool) -> Entity | None:
        """A new entity, if there is enough evidence; otherwise its claims wait."""
        wanted = key(name)
        held = self._waiting_under(wanted)
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
        # Claims that waited count by the turns they were heard in, not once more by their events.
        waited = {one for packed in (held.claims if held else ()) for one in packed[1]["event_ids"]}
        self._mentioned[entity.entity_id] = set(met) | waited
        self._facts.begin(entity.entity_id)
        self._relations.begin(entity.entity_id)
        self._put_entity(entity)
        self._waiting[wanted] = None
        for packed in held.claims if held else ():
            self.take(_unpacked(packed))
        return self._names.get(entity.entity_id) or self._names.find(name)

    def _waiting_under(self, wanted: str) -> Waiting | None:
        """The claims that wait under a name."""
        if wanted not in self._waiting:
            found = self._graph.waiting(self._namespace, [wanted])
            self._stored_waits.update(one.key for one in found)
            self._waiting[wanted] = found[0] if found else None
        return self._waiting[wanted]

    def _put_entity(self, entity: Entity) -> None:
        self._names.add(entity)
        self._book.put(entity)

    def _turns_of(self, claim: Claim) -> list[str]:
        return [self._turns.get(event_id, event_id) for event_id in claim.event_ids]

    def _merge(self, one: Entity, other: Entity) -> Entity:
        """Merge two entities: what was known of the newer is attached to the older."""
        kept, gone = sorted([one, other], key=lambda e: (-e.mentions, e.entity_id))
        merged = msgspec.structs.replace(
            kept,
            mentions=kept.mentions + gone.mentions,
            description=kept.description or gone.description,
            aliases=_aliases(kept, [gone.name, *gone.aliases]),
        )
        facts = [
            msgspec.structs.replace(fact, entity_id=kept.entity_id)
            for fact in self._facts.of(gone.entity_id).values()
        ]
        moved, loops = [], []
        for relation in self._relations.of(gone.entity_id):
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
        self._book.decide(
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
        held = self._facts.of(kept.entity_id)
        self._facts.forget(gone.entity_id)
        held.update({fact.fact_id: fact for fact in facts})
        self._relations.clear()
        for name in {fact.predicate for fact in held.values()}:
            live = [f for f in held.values() if f.predicate == name and f.valid_until is None]
            if len(live) > 1:
                self._facts.settle(kept.entity_id, name, live, None)
        return merged

    # --- facts ---

    def _change_claim(self, claim: ChangeClaim) -> None:
        """A sentence that can only be interpreted by stored facts. Most change nothing."""
        things = list(change_sentences.named(self._names, claim.text))
        held = [
            (entity, fact)
            for entity in things
            for fact in self._facts.of(entity.entity_id).values()
            if not set(claim.event_ids) & set(fact.source_event_ids)  # what the forms read in it
        ]
        for meant in change_sentences.meanings(claim.text, held, plain=claim.plain):
            self.take(
                FactClaim(
                    meant.entity.name,
                    meant.fact.predicate,
                    meant.value,
                    claim.at,
                    "user",
                    claim.source_type,
                    UNDERSTOOD if meant.sure else DOUBTED,
                    claim.event_ids,
                )
            )

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
        subject = self._entity_named(claim.subject, claim) or self._new_entity(
            claim.subject, "thing", claim, strong=strong or claim.named
        )
        if subject is None:
            return
        if name == "replaced_by":
            self._facts.replaced(claim)
        ending = next((name.removeprefix(one) for one in ENDS if name.startswith(one)), "")
        if ending:
            self._facts.ended(subject, ending, claim)
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
            sensitive=fact_is_sensitive(claim.subject, claim.predicate, claim.object),
            valid_from=claim.at,
            source_event_ids=claim.event_ids[-MOST_EVENTS:],
        )
        self._facts.hold(subject.entity_id, fact)

    def _object_entity(self, name: str, claim: FactClaim, strong: bool) -> None:
        """The entity of a fact's object."""
        type_ = type_of_object(name)
        if not type_ or says_nothing(claim.object) or len(claim.object.split()) > 3:
            return
        mention = EntityClaim(claim.object, type_, event_ids=claim.event_ids)
        if self._entity_named(claim.object, mention) is None:
            self._new_entity(claim.object, type_, mention, strong=strong)

    def _renamed(self, claim: FactClaim) -> None:
        entity = self._entity_named(claim.subject, claim)
        if entity is None:
            entity = self._new_entity(
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
        if renamed == entity:
            return
        self._put_entity(renamed)
        self._facts.renamed(renamed)

    def _relation_claim(self, claim: RelationClaim) -> None:
        strong = claim.source_type in STRONG
        ends = []
        for name in (claim.source, claim.target):
            entity = self._entity_named(name, claim) or self._new_entity(
                name, "thing", claim, strong=strong
            )
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
        self._relations.relate(relation, f"{source.name} {relation.type} {target.name}")


def _aliases(entity: Entity, more: Sequence[str], name: str = "") -> tuple[str, ...]:
    """Other spellings of a name, each key once, without the name's own."""
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


def _title(claim: Claim) -> str:
    match claim:
        case FactClaim():
            return f"{claim.subject} {claim.predicate} {claim.object}"[:200]
        case RelationClaim():
            return f"{claim.source} {claim.type} {claim.target}"[:200]
        case PreferenceClaim():
            return f"{claim.category}.{claim.key}: {claim.value}"[:200]
        case ChangeClaim() | EndClaim():
            return claim.text[:200]
    return claim.name[:200]


_PACKED: dict[str, type[Any]] = {
    "entity": EntityClaim, "fact": FactClaim, "relation": RelationClaim,
}  # fmt: skip


def _packed(claim: Claim) -> Any:
    kind = next(name for name, shape in _PACKED.items() if isinstance(claim, shape))
    return [kind, msgspec.to_builtins(claim)]


def _unpacked(packed: Any) -> Claim:
    kind, fields = packed
    claim: Claim = msgspec.convert(fields, type=_PACKED[kind])
    return claim
