"""The graph leg of retrieval: from the entities that a prompt names to the facts around them.

In: the graph of a namespace, held in memory and kept in step with writes, and a prompt. Out: the
facts that a walk of depth 2 reaches, with distance and overlap with the prompt, and the memories
they came from, each with a bonus between 0 and 1. A prompt that names no entity reaches nothing.

The limits are the seed's: per entity 10 facts and 10 relationships with a confidence above 0.3, in
both directions, each entity once. A fact whose object is an entity leads to that entity, too.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from recollect.core.entity_keys import key
from recollect.core.errors import StoreError
from recollect.core.text_words import STOP_WORDS, stem, words
from recollect.core.tuning import GRAPH
from recollect.core.values import Entity, Fact, Preference, Procedure, Relationship
from recollect.retrieve.graph_index import EntityIndex, InvertedList
from recollect.store.interface import Store

log = logging.getLogger(__name__)

DEPTH = 2
FACTS = 10
RELATIONS = 10
REACHED = 40  # facts that may lend their memories a bonus
LARGE = 200  # rows: a graph with more of them is never read while a prompt waits
SECONDS = 300.0  # after which a graph is read again whether or not it changed here
SHARING = 20  # rows of each kind that share words with a prompt
RIVALS = 20  # superseded facts per entity
EVENTS = 4  # of one fact, the newest

# Words by which people ask for a predicate without naming it.
_ASKED_BY = {
    "owned_by": "owner own owns maintain maintains responsible looks after belongs who ask answers",
    "deployed_on": "deploy deployed deployment host hosted hosting run runs platform where server",
    "uses_database": "database db storage store stores tables rows data",
    "message_broker": "broker queue messages events bus",
    "written_in": "language written program code",
    "depends_on": "calls call talks asks needs feeds fed depends dependency reads service",
    "located_in": "where file path code lives lie located",
    "repository": "repository repo code where git",
    "uses": "uses use used tool library vendor engine through driven",
    "limit": "limit many most much quota share capped how",
    "constraint": "must need needs has have can may rule how",
    "config": "setting configured configuration set which",
    "incident": "happened broke wrong outage failed failure why corrupted trouble",
    "behaviour": "how long often many does when after",
    "version": "version pinned held release",
    "schedule": "when day time",
    "port": "port listen listens",
}

Thing = Entity | Relationship | Fact | Procedure | Preference
_Near = tuple[float, str, float, Fact]  # minus its worth, its id, its overlap, and the fact


@dataclass(frozen=True, slots=True)
class Reached:
    """A fact on the walk: how many steps away, and its share of the prompt's words."""

    fact: Fact
    depth: int
    overlap: float
    path: tuple[str, ...]  # names of the entities passed

    @property
    def worth(self) -> float:
        near = 1 / (1 + self.depth * GRAPH.step_penalty)
        return near * self.fact.confidence * _by_overlap(self.overlap)


@dataclass(frozen=True, slots=True)
class Rival:
    """An entity's fact that no longer holds, and the fact that holds instead."""

    names: tuple[str, ...]  # of the entity, case-folded
    superseded: str  # what is not so, folded
    current: Fact

    def is_stated_in(self, text: str) -> bool:
        """Whether a case-folded text names the entity and the superseded object, but not the
        current one."""
        return (
            self.superseded in text
            and self.current.object.casefold() not in text
            and any(name in text for name in self.names)
            and re.search(rf"(?<![\w.]){re.escape(self.superseded)}(?!\w)", text) is not None
        )


@dataclass
class GraphWalk:
    """What a prompt reaches in one namespace."""

    named: dict[str, str] = field(default_factory=dict)  # entity id: the words that name it
    entities: dict[str, tuple[Entity, int]] = field(default_factory=dict)  # id: entity, depth
    facts: list[Reached] = field(default_factory=list)  # best first
    rivals: list[Rival] = field(default_factory=list)  # of the entities named
    events: dict[str, float] = field(default_factory=dict)  # event id: bonus


class NamespaceGraph:
    """The live graph of one namespace. Not thread-safe by itself."""

    def __init__(self) -> None:
        self.is_empty = True  # until something is put
        self.index = EntityIndex()
        self.entities: dict[str, Entity] = {}
        self._facts: dict[str, Fact] = {}
        self._facts_by_entity: dict[str, set[str]] = {}  # entity: its facts
        self._facts_by_object: dict[str, set[str]] = {}  # words of an object: facts that have it
        self._relations: dict[str, Relationship] = {}
        self._relations_by_entity: dict[str, set[str]] = {}  # entity: its relationships
        self._stems: dict[str, frozenset[str]] = {}  # fact: its words
        self._object_keys: dict[str, str] = {}  # fact: the key of its object
        self._keys_by_entity: dict[str, tuple[str, ...]] = {}  # entity: the keys of its names
        self.procedures: dict[str, Procedure] = {}
        self.preferences: dict[str, Preference] = {}
        self.fact_words: InvertedList[Fact] = InvertedList()
        self.procedure_words: InvertedList[Procedure] = InvertedList()
        self.entity_words: InvertedList[Entity] = InvertedList()  # those that are described
        self._ended_by_event: dict[str, set[str]] = {}  # event: facts that it gave and that ended
        self._ended: dict[str, Fact] = {}  # facts whose place was taken
        self._ended_by_entity: dict[str, set[str]] = {}  # entity: its facts whose place was taken

    def put(self, thing: Thing) -> None:
        """Add or update a row; one that no longer holds is removed."""
        self.is_empty = False
        match thing:
            case Entity():
                self._put_entity(thing)
            case Fact():
                self._put_fact(thing)
            case Relationship():
                self._drop_relation(thing.relationship_id)
                if thing.valid_until is None:
                    self._relations[thing.relationship_id] = thing
                    for end in (thing.source_id, thing.target_id):
                        self._relations_by_entity.setdefault(end, set()).add(thing.relationship_id)
            case Procedure():
                self.procedures[thing.procedure_id] = thing
                said = content_stems(f"{thing.name} {thing.trigger}")
                self.procedure_words.put(thing.procedure_id, thing, said)
            case Preference():
                self.preferences[thing.preference_id] = thing

    def drop(self, thing_id: str) -> None:
        """Remove a row; an entity's relationships and facts go with it."""
        entity = self.entities.get(thing_id)
        if entity is not None:
            self._forget_stems(entity)
            for fact_id in list(self._facts_by_entity.pop(thing_id, ())):
                self._drop_fact(fact_id)
            for relation_id in list(self._relations_by_entity.pop(thing_id, ())):
                self._drop_relation(relation_id)
            self.index.remove(thing_id)
            self.entity_words.drop(thing_id)
            del self.entities[thing_id], self._keys_by_entity[thing_id]
        self._drop_fact(thing_id)
        self._drop_relation(thing_id)
        if self.procedures.pop(thing_id, None) is not None:
            self.procedure_words.drop(thing_id)
        self.preferences.pop(thing_id, None)

    def apply_changes(self, changed: Iterable[str], there: Iterable[Thing]) -> None:
        """Bring the graph up to date after these ids changed; `there` are those that exist."""
        now = list(there)
        kept = {_identity(thing) for thing in now}
        for thing_id in changed:
            if thing_id not in kept:
                self.drop(thing_id)
        for thing in now:
            self.put(thing)

    def __len__(self) -> int:
        return len(self.entities)

    def successors_of_facts(self, event_ids: Iterable[str]) -> list[Fact]:
        """The facts that hold now in place of ended facts that came from these events."""
        found: dict[str, Fact] = {}
        for event_id in event_ids:
            for fact_id in sorted(self._ended_by_event.get(event_id, ())):
                now = self._successor(fact_id)
                if now is not None:
                    found[now.fact_id] = now
        return [fact for fact in found.values() if not fact.sensitive]

    def _successor(self, fact_id: str) -> Fact | None:
        """The fact that holds now in place of one that ended."""
        seen = set()
        while fact_id in self._ended and fact_id not in seen:
            seen.add(fact_id)
            fact_id = self._ended[fact_id].superseded_by or ""
        return self._facts.get(fact_id) if seen else None

    def _rivals(self, entity_id: str) -> list[Rival]:
        entity = self.entities[entity_id]
        names = tuple(name.casefold() for name in (entity.name, *entity.aliases))
        found = []
        for fact_id in sorted(self._ended_by_entity.get(entity_id, ())):
            now = self._successor(fact_id)
            over = self._ended[fact_id].object.casefold()
            if now is not None and not now.sensitive and over != now.object.casefold():
                found.append(Rival(names, over, now))
        return found[:RIVALS]

    def walk(self, text: str, depth: int = DEPTH) -> GraphWalk:
        walk = GraphWalk(self.index.named_in(text))
        if not walk.named:
            return walk
        walk.rivals = [rival for one in walk.named for rival in self._rivals(one)]
        asked = _asked(text, walk.named.values())
        found: dict[str, Reached] = {}
        edge: list[tuple[str, tuple[str, ...]]] = [
            (one, (self.entities[one].name,)) for one in walk.named
        ]
        for step in range(depth + 1):
            beyond: dict[str, tuple[str, ...]] = {}
            for entity_id, path in edge:
                if entity_id in walk.entities:
                    continue
                walk.entities[entity_id] = (self.entities[entity_id], step)
                near = self._near(entity_id, asked)
                for _, fact_id, overlap, fact in near[:FACTS]:
                    if fact_id not in found:
                        found[fact_id] = Reached(fact, step, overlap, path)
                if step < depth:
                    for other in self._next(entity_id, near):
                        beyond.setdefault(other, (*path, self.entities[other].name))
            edge = list(beyond.items())
        walk.facts = sorted(found.values(), key=lambda one: (-one.worth, one.fact.fact_id))
        for reached in walk.facts[:REACHED]:
            for event_id in reached.fact.source_event_ids[-EVENTS:]:
                walk.events[event_id] = max(walk.events.get(event_id, 0.0), reached.worth)
        return walk

    def paths(self, start: str, end: str, depth: int = 4) -> list[list[str]]:
        """The shortest paths from one entity to another, as entity ids."""
        ways, seen = [[start]], {start}
        for _ in range(depth):
            longer = []
            for way in ways:
                for other in self.neighbours(way[-1]):
                    if other == end or other not in seen:
                        longer.append([*way, other])
            found = [way for way in longer if way[-1] == end]
            if found:
                return found
            ways = longer
            seen |= {way[-1] for way in longer}
        return []

    def neighbours(self, entity_id: str) -> list[str]:
        """Entities one step away, in both directions."""
        return self._next(entity_id, self._near(entity_id, frozenset()))

    # --- one row ---

    def _facts_at(self, entity_id: str) -> list[Fact]:
        """The facts of an entity, and the facts whose object it is."""
        about: set[str] = set(self._facts_by_entity.get(entity_id, ()))
        for name in self._keys_by_entity[entity_id]:
            about |= self._facts_by_object.get(name, set())
        return [self._facts[one] for one in about]

    def _near(self, entity_id: str, asked: frozenset[str]) -> list[_Near]:
        """The facts at an entity, best first; their distance is the same."""
        enough = max(2.0, 0.6 * len(asked))
        found = []
        for fact in self._facts_at(entity_id):
            stems = self._stems.get(fact.fact_id) or self._stems_of(fact)
            overlap = 0.0 if asked.isdisjoint(stems) else min(1.0, len(asked & stems) / enough)
            worth = fact.confidence * _by_overlap(overlap)
            found.append((-worth, fact.fact_id, overlap, fact))
        found.sort()  # no two have the same id, so facts are never compared
        return found

    def _next(self, entity_id: str, near: Sequence[_Near]) -> list[str]:
        ways: list[tuple[float, str, str]] = []
        for relation_id in self._relations_by_entity.get(entity_id, ()):
            relation = self._relations[relation_id]
            if relation.confidence > GRAPH.least_confidence:
                ends = (relation.source_id, relation.target_id)
                other = ends[1] if ends[0] == entity_id else ends[0]
                ways.append((relation.confidence, relation_id, other))
        for _, fact_id, overlap, fact in near:
            if fact.confidence > GRAPH.least_confidence:
                other_end = (
                    self.index.owner_of(self._object_keys[fact_id])
                    if fact.entity_id == entity_id
                    else fact.entity_id
                )
                if other_end is not None:
                    ways.append((fact.confidence + overlap, fact_id, other_end))
        ways.sort(key=lambda way: (-way[0], way[1]))
        chosen = dict.fromkeys(other for _, _, other in ways if other in self.entities)
        chosen.pop(entity_id, None)
        return list(chosen)[:RELATIONS]

    def _stems_of(self, fact: Fact) -> frozenset[str]:
        """The stems of a fact and of the words by which people ask for it; made when needed."""
        known = frozenset(map(stem, words(_spelt(fact)))) | _asked_by(fact.predicate)
        for entity_id in (fact.entity_id, self.index.owner_of(self._object_keys[fact.fact_id])):
            if entity_id is not None and entity_id in self.entities:
                known |= frozenset(map(stem, words(self.entities[entity_id].type)))
        self._stems[fact.fact_id] = known
        return known

    def _put_entity(self, entity: Entity) -> None:
        before = self.entities.get(entity.entity_id)
        self.entities[entity.entity_id] = entity
        if before is not None and _named_fields(before) == _named_fields(entity):
            if entity.description:
                self.entity_words.same_words(entity.entity_id, entity)
            return  # only seen again: nothing that is searched changed
        self.entity_words.drop(entity.entity_id)
        if entity.description:
            said = " ".join((entity.name, *entity.aliases, entity.description))
            self.entity_words.put(entity.entity_id, entity, content_stems(said))
        if before is not None:
            self._forget_stems(before)
        self.index.add(entity)
        self._keys_by_entity[entity.entity_id] = tuple(map(key, (entity.name, *entity.aliases)))
        self._forget_stems(entity)

    def _put_fact(self, fact: Fact) -> None:
        before = self._facts.get(fact.fact_id)
        holds = fact.valid_until is None and fact.entity_id is not None
        if before is not None and holds and _statement(before) == _statement(fact):
            self._facts[fact.fact_id] = fact
            self.fact_words.same_words(fact.fact_id, fact)
            return
        self._drop_fact(fact.fact_id)
        if fact.superseded_by is not None:
            self._ended[fact.fact_id] = fact
            self._ended_by_entity.setdefault(fact.entity_id or "", set()).add(fact.fact_id)
            for event_id in fact.source_event_ids[-EVENTS:]:
                self._ended_by_event.setdefault(event_id, set()).add(fact.fact_id)
        if holds:
            self._facts[fact.fact_id] = fact
            self._facts_by_entity.setdefault(fact.entity_id or "", set()).add(fact.fact_id)
            said = self._object_keys[fact.fact_id] = key(fact.object)
            self._facts_by_object.setdefault(said, set()).add(fact.fact_id)
            self.fact_words.put(fact.fact_id, fact, content_stems(_spelt(fact)))

    def _drop_fact(self, fact_id: str) -> None:
        before = self._facts.pop(fact_id, None)
        self._stems.pop(fact_id, None)
        self.fact_words.drop(fact_id)
        if before is not None:
            _discard(self._facts_by_entity, before.entity_id or "", fact_id)
            _discard(self._facts_by_object, self._object_keys.pop(fact_id), fact_id)
        ended = self._ended.pop(fact_id, None)
        if ended is not None:
            _discard(self._ended_by_entity, ended.entity_id or "", fact_id)
            for event_id in ended.source_event_ids[-EVENTS:]:
                _discard(self._ended_by_event, event_id, fact_id)

    def _drop_relation(self, relation_id: str) -> None:
        before = self._relations.pop(relation_id, None)
        if before is not None:
            for end in (before.source_id, before.target_id):
                _discard(self._relations_by_entity, end, relation_id)

    def _forget_stems(self, entity: Entity) -> None:
        """Of facts that have the entity as subject or object: they include its type."""
        for fact_id in self._facts_by_entity.get(entity.entity_id, ()):
            self._stems.pop(fact_id, None)
        for name in (entity.name, *entity.aliases):
            for fact_id in self._facts_by_object.get(key(name), ()):
                self._stems.pop(fact_id, None)


@dataclass
class _CachedGraph:
    """A graph in memory, the store's version that it has, and when it was read."""

    version: int
    at: float
    graph: NamespaceGraph


class GraphCache:
    """The graphs of all namespaces: each is read when it is first needed, after that only its
    changes. A large graph, or a large change, is read in a thread; until that is done, callers get
    the graph as it was, or an empty one."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._graphs: dict[str, _CachedGraph] = {}
        self._reading: dict[str, NamespaceGraph] = {}  # what there is of it until then
        self._epoch = 0
        self._clock = clock

    def of(self, namespace: str) -> NamespaceGraph:
        """The current graph. A large one that changed much is given as it was, or with nothing but
        its preferences, which are few, while a thread reads it."""
        version = self._store.graph.changes(namespace).version
        with self._lock:
            known = self._graphs.get(namespace)
            young = known is not None and self._clock() - known.at < SECONDS
            if (known is not None and young) and (
                known.version == version or self._bring_up_to_date(namespace, known, version)
            ):
                return known.graph
            if self._store.graph.size(namespace, LARGE + 1) > LARGE:
                if namespace not in self._reading:
                    self._reading[namespace] = graph = NamespaceGraph()
                    for preference in self._store.graph.all(namespace, Preference):
                        graph.put(preference)
                    threading.Thread(target=self._reread, args=(namespace,), daemon=True).start()
                return known.graph if known is not None else self._reading[namespace]
            graph = self._read(namespace)
            self._graphs[namespace] = _CachedGraph(version, self._clock(), graph)
            return graph

    def _bring_up_to_date(self, namespace: str, known: _CachedGraph, version: int) -> bool:
        """Read what changed since, if that is little; whether the graph now has this version."""
        changed = self._store.graph.changes(namespace, known.version).ids
        if changed is None or len(changed) > LARGE:
            return False
        known.graph.apply_changes(changed, self._store.graph.things(namespace, sorted(changed)))
        known.version = version
        return True

    def sharing(
        self,
        graphs: Iterable[NamespaceGraph],
        stems: frozenset[str],
        facts: float,
        procedures: float,
        most: int,
    ) -> list[tuple[Fact | Entity | Procedure, int]]:
        """Facts, described entities and procedures of each graph that hold at least so many of
        these stems, each with their number; of each kind the best."""
        found: list[tuple[Fact | Entity | Procedure, int]] = []
        with self._lock:
            for graph in graphs:
                found += graph.fact_words.sharing(stems, facts, SHARING)[:most]
                found += graph.entity_words.sharing(stems, facts, SHARING)[:most]
                found += graph.procedure_words.sharing(stems, procedures, SHARING)[:most]
        return found

    def fill(self, namespaces: Iterable[str]) -> None:
        """Bring graphs up to date in this thread, whatever their size."""
        for namespace in namespaces:
            version = self._store.graph.changes(namespace).version
            with self._lock:
                known = self._graphs.get(namespace)
                current = known is not None and self._bring_up_to_date(namespace, known, version)
            if not current:
                self._reread(namespace)

    def drop_all(self) -> None:
        """Tombstones have changed: graphs are read again when needed."""
        with self._lock:
            self._graphs = {}
            self._reading = {one: NamespaceGraph() for one in self._reading}
            self._epoch += 1

    def _reread(self, namespace: str) -> None:
        version, epoch = self._store.graph.changes(namespace).version, self._epoch
        try:
            graph = self._read(namespace)
            with self._lock:
                if epoch == self._epoch:  # else it may hold what was forgotten meanwhile
                    self._graphs[namespace] = _CachedGraph(version, self._clock(), graph)
        except StoreError as error:
            log.warning("the graph of %s could not be read: %s", namespace, error)
        finally:
            self._reading.pop(namespace, None)

    def walk(
        self, text: str, namespaces: Sequence[str]
    ) -> tuple[list[GraphWalk], dict[str, float]]:
        """What a prompt reaches in each namespace, and the bonus of the memories behind it."""
        walks: list[GraphWalk] = []
        bonus: dict[str, float] = {}
        for namespace in namespaces:
            graph = self.of(namespace)
            if not graph.entities:
                continue
            with self._lock:
                walk = graph.walk(text)
            walks.append(walk)
            if walk.events:
                of_events = self._store.records.of_events(namespace, list(walk.events))
                for event_id, record_ids in of_events.items():
                    for record_id in record_ids:
                        bonus[record_id] = max(bonus.get(record_id, 0.0), walk.events[event_id])
        return walks, bonus

    def _read(self, namespace: str) -> NamespaceGraph:
        graph, store = NamespaceGraph(), self._store.graph
        entities = store.all(namespace, Entity)
        things: list[Thing] = [*entities]
        things += store.facts(namespace, [entity.entity_id for entity in entities], ended=True)
        things += store.all(namespace, Relationship)
        things += store.all(namespace, Procedure)
        things += store.all(namespace, Preference)
        for thing in things:
            graph.put(thing)
        return graph


def preferences(graphs: Iterable[NamespaceGraph]) -> list[Preference]:
    """Their preferences. What the first graph says goes before what the next one does."""
    held: dict[tuple[str, str], Preference] = {}
    for graph in graphs:
        for one in list(graph.preferences.values()):
            held.setdefault((one.category, one.key), one)
    return sorted(held.values(), key=lambda one: (one.category, one.key, one.preference_id))


def _discard(sets: dict[str, set[str]], name: str, member: str) -> None:
    """Remove from a set, and remove the set when it is empty."""
    if name in sets:
        sets[name].discard(member)
        if not sets[name]:
            del sets[name]


def _by_overlap(overlap: float) -> float:
    """What a fact is worth by the share of the prompt's words that it holds."""
    return GRAPH.base + (1 - GRAPH.base) * overlap


def _identity(thing: Thing) -> str:
    return str(getattr(thing, thing.__struct_fields__[0]))


def _named_fields(entity: Entity) -> tuple[str, str, tuple[str, ...], str]:
    return entity.name, entity.type, entity.aliases, entity.description


def _statement(fact: Fact) -> tuple[str | None, str, str, str]:
    return fact.entity_id, fact.subject, fact.predicate, fact.object


def _spelt(fact: Fact) -> str:
    return f"{fact.subject} {fact.predicate} {fact.object}".replace("_", " ")


@lru_cache(maxsize=1024)
def _asked_by(predicate: str) -> frozenset[str]:
    return frozenset(map(stem, words(_ASKED_BY.get(predicate, ""))))


def content_stems(text: str) -> frozenset[str]:
    """The stems of a text that carry meaning."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def _asked(text: str, named: Iterable[str]) -> frozenset[str]:
    """The stems of a prompt without the entities it names. Question words are kept: they tell
    which kind of fact is wanted."""
    names = {stem(word) for name in named for word in words(name)}
    asking = {"who", "where", "when", "why", "how", "many", "long"}
    kept = (word for word in words(text[:4000]) if word not in STOP_WORDS or word in asking)
    return frozenset(map(stem, kept)) - names
