"""The graph leg: from the things that a prompt names to what is known around them.

In: the graph of a namespace, held in memory and kept in step with writes, and a prompt. Out: facts
that a walk of depth 2 reaches, how far each is and how well it fits the prompt, and the memories
they came from, each with a bonus between 0 and 1. A prompt that names nothing reaches nothing.

The caps are the seed's: 10 facts a thing, relationships of a confidence above 0.3, 10 a thing, both
directions, each thing once. A fact whose object is a thing is a way to it, too.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from recollect.core.errors import StoreError
from recollect.core.values import Entity, Fact, Preference, Procedure, Relationship
from recollect.reconcile.entity_names import key
from recollect.retrieve import porter
from recollect.retrieve.entity_index import EntityIndex
from recollect.retrieve.inverted_list import InvertedList
from recollect.retrieve.tokens import STOP_WORDS, words
from recollect.store.interface import Store

log = logging.getLogger(__name__)

DEPTH = 2
FACTS = 10
RELATIONS = 10
CONFIDENCE = 0.3
REACHED = 40  # facts that may lend their memories a bonus
LARGE = 200  # things and facts: a graph larger than that is never read in a prompt's way
SHARING = 20  # things that share words with a prompt, of each kind
SECONDS = 300.0  # after which a graph is read anew whether or not it changed here
RIVALS = 20  # of one thing: what is not so of it
EVENTS = 4  # of one fact, the newest
BASE = 0.05  # what a fact is worth that shares no word with the prompt
PENALTY = 0.15  # by step; the seed has 0.5, which is kept for its own fusion

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
    """A fact on the walk: how many steps away, and what share of the prompt's words it has."""

    fact: Fact
    depth: int
    overlap: float
    path: tuple[str, ...]  # names of the things passed

    @property
    def worth(self) -> float:
        near = 1 / (1 + self.depth * PENALTY)
        return near * self.fact.confidence * (BASE + (1 - BASE) * self.overlap)


@dataclass(frozen=True, slots=True)
class Rival:
    """Something that is not so of a thing, or no longer, and what is."""

    names: tuple[str, ...]  # of the thing, folded
    over: str  # what is not so, folded
    stands: Fact

    def told_in(self, text: str) -> bool:
        """Whether a folded text speaks of the thing and of what is not so, and leaves out what
        is."""
        return (
            self.over in text
            and self.stands.object.casefold() not in text
            and any(name in text for name in self.names)
            and re.search(rf"(?<![\w.]){re.escape(self.over)}(?!\w)", text) is not None
        )


@dataclass
class GraphWalk:
    """What a prompt reaches in one namespace."""

    named: dict[str, str] = field(default_factory=dict)  # entity id: the words that name it
    entities: dict[str, tuple[Entity, int]] = field(default_factory=dict)  # id: entity, depth
    facts: list[Reached] = field(default_factory=list)  # the worthiest first
    rivals: list[Rival] = field(default_factory=list)  # of the things named
    events: dict[str, float] = field(default_factory=dict)  # event id: bonus


class NamespaceGraph:
    """The live graph of one namespace. Not thread-safe by itself."""

    def __init__(self) -> None:
        self.index = EntityIndex()
        self.entities: dict[str, Entity] = {}
        self._facts: dict[str, Fact] = {}
        self._of: dict[str, set[str]] = {}  # entity: its facts
        self._about: dict[str, set[str]] = {}  # words of an object: facts that have it
        self._relations: dict[str, Relationship] = {}
        self._ends: dict[str, set[str]] = {}  # entity: its relationships
        self._stems: dict[str, frozenset[str]] = {}  # fact: its words
        self._object: dict[str, str] = {}  # fact: the key of its object
        self._called: dict[str, tuple[str, ...]] = {}  # entity: the keys of its names
        self.procedures: dict[str, Procedure] = {}
        self.preferences: dict[str, Preference] = {}
        self.fact_words: InvertedList[Fact] = InvertedList()
        self.procedure_words: InvertedList[Procedure] = InvertedList()
        self.entity_words: InvertedList[Entity] = InvertedList()  # those that are described
        self._over: dict[str, set[str]] = {}  # event: facts that it gave and that ended
        self._ended: dict[str, Fact] = {}  # facts whose place was taken
        self._over_of: dict[str, set[str]] = {}  # entity: its facts whose place was taken

    def put(self, thing: Thing) -> None:
        """A thing as it is now; what no longer holds leaves."""
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
                        self._ends.setdefault(end, set()).add(thing.relationship_id)
            case Procedure():
                self.procedures[thing.procedure_id] = thing
                said = telling(f"{thing.name} {thing.trigger}")
                self.procedure_words.put(thing.procedure_id, thing, said)
            case Preference():
                self.preferences[thing.preference_id] = thing

    def drop(self, thing_id: str) -> None:
        """A thing that is gone, and what hung on it: relationships go with it, and its facts are
        nobody's."""
        entity = self.entities.get(thing_id)
        if entity is not None:
            self._forget_stems(entity)
            for fact_id in list(self._of.pop(thing_id, ())):
                self._drop_fact(fact_id)
            for relation_id in list(self._ends.pop(thing_id, ())):
                self._drop_relation(relation_id)
            self.index.remove(thing_id)
            self.entity_words.drop(thing_id)
            del self.entities[thing_id], self._called[thing_id]
        self._drop_fact(thing_id)
        self._drop_relation(thing_id)
        if self.procedures.pop(thing_id, None) is not None:
            self.procedure_words.drop(thing_id)
        self.preferences.pop(thing_id, None)

    def follow(self, changed: Iterable[str], there: Iterable[Thing]) -> None:
        """The same graph after these ids changed; `there` are those of them that exist."""
        now = list(there)
        kept = {_identity(thing) for thing in now}
        for thing_id in changed:
            if thing_id not in kept:
                self.drop(thing_id)
        for thing in now:
            self.put(thing)

    def __len__(self) -> int:
        return len(self.entities)

    def facts_of(self, entity_id: str) -> list[Fact]:
        found = [self._facts[one] for one in self._of.get(entity_id, ())]
        return sorted(found, key=lambda fact: (-fact.confidence, fact.fact_id))

    def over(self, event_ids: Iterable[str]) -> list[Fact]:
        """What stands now in place of facts that these events gave and that no longer hold."""
        found: dict[str, Fact] = {}
        for event_id in event_ids:
            for fact_id in sorted(self._over.get(event_id, ())):
                now = self._in_place_of(fact_id)
                if now is not None:
                    found[now.fact_id] = now
        return [fact for fact in found.values() if not fact.sensitive]

    def _in_place_of(self, fact_id: str) -> Fact | None:
        """What stands now where a fact stood that ended."""
        seen = set()
        while fact_id in self._ended and fact_id not in seen:
            seen.add(fact_id)
            fact_id = self._ended[fact_id].superseded_by or ""
        return self._facts.get(fact_id) if seen else None

    def _rivals(self, entity_id: str) -> list[Rival]:
        entity = self.entities[entity_id]
        names = tuple(name.casefold() for name in (entity.name, *entity.aliases))
        found = []
        for fact_id in sorted(self._over_of.get(entity_id, ())):
            now = self._in_place_of(fact_id)
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
        """The shortest ways from one thing to another, as entity ids."""
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
        """Things one step away, in both directions."""
        return self._next(entity_id, self._near(entity_id, frozenset()))

    # --- one thing ---

    def _facts_at(self, entity_id: str) -> list[Fact]:
        """Facts of a thing, and facts whose object it is."""
        about: set[str] = set(self._of.get(entity_id, ()))
        for name in self._called[entity_id]:
            about |= self._about.get(name, set())
        return [self._facts[one] for one in about]

    def _near(self, entity_id: str, asked: frozenset[str]) -> list[_Near]:
        """What is known at a thing, the worthiest first: how far it is is the same for all."""
        enough = max(2.0, 0.6 * len(asked))
        found = []
        for fact in self._facts_at(entity_id):
            stems = self._stems.get(fact.fact_id) or self._stems_of(fact)
            overlap = 0.0 if asked.isdisjoint(stems) else min(1.0, len(asked & stems) / enough)
            worth = fact.confidence * (BASE + (1 - BASE) * overlap)
            found.append((-worth, fact.fact_id, overlap, fact))
        found.sort()  # no two have the same id, so facts are never compared
        return found

    def _next(self, entity_id: str, near: Sequence[_Near]) -> list[str]:
        ways: list[tuple[float, str, str]] = []
        for relation_id in self._ends.get(entity_id, ()):
            relation = self._relations[relation_id]
            if relation.confidence > CONFIDENCE:
                ends = (relation.source_id, relation.target_id)
                other = ends[1] if ends[0] == entity_id else ends[0]
                ways.append((relation.confidence, relation_id, other))
        for _, fact_id, overlap, fact in near:
            if fact.confidence > CONFIDENCE:
                other_end = (
                    self.index.owner_of(self._object[fact_id])
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
        """The words of a fact, with those by which people ask for it; made when first needed."""
        known = frozenset(map(_stem, words(_spelt(fact)))) | _asked_by(fact.predicate)
        for entity_id in (fact.entity_id, self.index.owner_of(self._object[fact.fact_id])):
            if entity_id is not None and entity_id in self.entities:
                known |= frozenset(map(_stem, words(self.entities[entity_id].type)))
        self._stems[fact.fact_id] = known
        return known

    def _put_entity(self, entity: Entity) -> None:
        before = self.entities.get(entity.entity_id)
        self.entities[entity.entity_id] = entity
        if before is not None and _called(before) == _called(entity):
            if entity.description:
                self.entity_words.same_words(entity.entity_id, entity)
            return  # met once more: nothing that is looked for changed
        self.entity_words.drop(entity.entity_id)
        if entity.description:
            said = " ".join((entity.name, *entity.aliases, entity.description))
            self.entity_words.put(entity.entity_id, entity, telling(said))
        if before is not None:
            self._forget_stems(before)
        self.index.add(entity)
        self._called[entity.entity_id] = tuple(map(key, (entity.name, *entity.aliases)))
        self._forget_stems(entity)

    def _put_fact(self, fact: Fact) -> None:
        before = self._facts.get(fact.fact_id)
        holds = fact.valid_until is None and fact.entity_id is not None
        if before is not None and holds and _says(before) == _says(fact):
            self._facts[fact.fact_id] = fact
            self.fact_words.same_words(fact.fact_id, fact)
            return
        self._drop_fact(fact.fact_id)
        if fact.superseded_by is not None:
            self._ended[fact.fact_id] = fact
            self._over_of.setdefault(fact.entity_id or "", set()).add(fact.fact_id)
            for event_id in fact.source_event_ids[-EVENTS:]:
                self._over.setdefault(event_id, set()).add(fact.fact_id)
        if holds:
            self._facts[fact.fact_id] = fact
            self._of.setdefault(fact.entity_id or "", set()).add(fact.fact_id)
            said = self._object[fact.fact_id] = key(fact.object)
            self._about.setdefault(said, set()).add(fact.fact_id)
            self.fact_words.put(fact.fact_id, fact, telling(_spelt(fact)))

    def _drop_fact(self, fact_id: str) -> None:
        before = self._facts.pop(fact_id, None)
        self._stems.pop(fact_id, None)
        self.fact_words.drop(fact_id)
        if before is not None:
            _discard(self._of, before.entity_id or "", fact_id)
            _discard(self._about, self._object.pop(fact_id), fact_id)
        ended = self._ended.pop(fact_id, None)
        if ended is not None:
            _discard(self._over_of, ended.entity_id or "", fact_id)
            for event_id in ended.source_event_ids[-EVENTS:]:
                _discard(self._over, event_id, fact_id)

    def _drop_relation(self, relation_id: str) -> None:
        before = self._relations.pop(relation_id, None)
        if before is not None:
            for end in (before.source_id, before.target_id):
                _discard(self._ends, end, relation_id)

    def _forget_stems(self, entity: Entity) -> None:
        """Of facts that have it as subject or object: its type is among their words."""
        for fact_id in self._of.get(entity.entity_id, ()):
            self._stems.pop(fact_id, None)
        for name in (entity.name, *entity.aliases):
            for fact_id in self._about.get(key(name), ()):
                self._stems.pop(fact_id, None)


@dataclass
class _Held:
    """A graph in memory: which state of the store it has, and when that was last looked at."""

    version: int
    at: float
    graph: NamespaceGraph


class GraphCache:
    """The graphs of all namespaces, each read when it is first needed, and from then on only what
    changed. A large one is read in a thread, as is a large change: until it is there, whoever asks
    is answered without it, or with the graph as it was."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._graphs: dict[str, _Held] = {}
        self._reading: set[str] = set()
        self._epoch = 0
        self._clock = clock

    def version(self, namespaces: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._store.graph.version(namespace) for namespace in namespaces)

    def of(self, namespace: str) -> NamespaceGraph:
        """The graph as it is; a large one of which much changed a moment ago as it was, or empty,
        while it is read behind."""
        version = self._store.graph.version(namespace)
        with self._lock:
            known = self._graphs.get(namespace)
            young = known is not None and self._clock() - known.at < SECONDS
            if known is not None and young and self._followed(namespace, known, version):
                return known.graph
            if self._store.graph.size(namespace, LARGE + 1) > LARGE:
                if namespace not in self._reading:
                    self._reading.add(namespace)
                    threading.Thread(target=self._again, args=(namespace,), daemon=True).start()
                return known.graph if known is not None else NamespaceGraph()
            graph = self._read(namespace)
            self._graphs[namespace] = _Held(version, self._clock(), graph)
            return graph

    def _followed(self, namespace: str, known: _Held, version: int) -> bool:
        """Whether it has this state of the store: read what changed since, if that is little."""
        if known.version == version:
            return True
        changed = self._store.graph.changed(namespace, known.version)
        if changed is None or len(changed) > LARGE:
            return False
        known.graph.follow(changed, self._store.graph.things(namespace, sorted(changed)))
        known.version = version
        return True

    def sharing(
        self, namespace: str, stems: frozenset[str], facts: float, procedures: float
    ) -> tuple[list[tuple[Fact, int]], list[tuple[Entity, int]], list[tuple[Procedure, int]]]:
        """Facts, described things and procedures that hold at least so many of these stems, and how
        many."""
        graph = self.of(namespace)
        with self._lock:
            return (
                graph.fact_words.sharing(stems, facts, SHARING),
                graph.entity_words.sharing(stems, facts, SHARING),
                graph.procedure_words.sharing(stems, procedures, SHARING),
            )

    def fill(self, namespaces: Iterable[str]) -> None:
        """Read graphs here and now, whatever their size."""
        for namespace in namespaces:
            self._again(namespace)

    def drop_all(self) -> None:
        """What may be told of them has changed: they are read anew when needed."""
        with self._lock:
            self._graphs = {}
            self._epoch += 1

    def preferences(self, namespace: str) -> list[Preference]:
        """They are few and must not wait for a large graph."""
        graph = self.of(namespace)
        if len(graph) or namespace in self._graphs:
            return list(graph.preferences.values())
        return self._store.graph.preferences(namespace)

    def _again(self, namespace: str) -> None:
        version, epoch = self._store.graph.version(namespace), self._epoch
        try:
            graph = self._read(namespace)
            with self._lock:
                if epoch == self._epoch:  # else it may hold what is not told any more
                    self._graphs[namespace] = _Held(version, self._clock(), graph)
        except StoreError as error:
            log.warning("the graph of %s could not be read: %s", namespace, error)
        finally:
            self._reading.discard(namespace)

    def walk(
        self, text: str, namespaces: Sequence[str]
    ) -> tuple[list[GraphWalk], dict[str, float]]:
        """What a prompt reaches in each namespace, and the memories it came from with their
        bonus."""
        walks: list[GraphWalk] = []
        bonus: dict[str, float] = {}
        for namespace in namespaces:
            graph = self.of(namespace)
            if not len(graph):
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
        entities = store.entities(namespace)
        things: list[Thing] = [*entities]
        things += store.fact_history(namespace, [entity.entity_id for entity in entities])
        things += store.relationships(namespace)
        things += store.procedures(namespace)
        things += store.preferences(namespace)
        for thing in things:
            graph.put(thing)
        return graph


def _discard(sets: dict[str, set[str]], name: str, member: str) -> None:
    """Out of its set; a set that is empty goes."""
    if name in sets:
        sets[name].discard(member)
        if not sets[name]:
            del sets[name]


def _identity(thing: Thing) -> str:
    return str(getattr(thing, thing.__struct_fields__[0]))


def _called(entity: Entity) -> tuple[str, str, tuple[str, ...], str]:
    return entity.name, entity.type, entity.aliases, entity.description


def _says(fact: Fact) -> tuple[str | None, str, str, str]:
    return fact.entity_id, fact.subject, fact.predicate, fact.object


def _spelt(fact: Fact) -> str:
    return f"{fact.subject} {fact.predicate} {fact.object}".replace("_", " ")


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    return porter.stem(word)


@lru_cache(maxsize=1024)
def _asked_by(predicate: str) -> frozenset[str]:
    return frozenset(map(_stem, words(_ASKED_BY.get(predicate, ""))))


def telling(text: str) -> frozenset[str]:
    """The stems of a text that carry meaning."""
    return frozenset(_stem(word) for word in words(text) if word not in STOP_WORDS)


def _asked(text: str, named: Iterable[str]) -> frozenset[str]:
    """What the prompt asks, without the names it asks about. Question words count: they say
    which kind of fact is wanted."""
    names = {_stem(word) for name in named for word in words(name)}
    asking = {"who", "where", "when", "why", "how", "many", "long"}
    kept = (word for word in words(text[:4000]) if word not in STOP_WORDS or word in asking)
    return frozenset(map(_stem, kept)) - names
