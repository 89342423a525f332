"""Entities: what is known of them, how they are related, and the memories that name them.

In: names and ids. Out: entities with facts, relationships and memories; neighbourhoods; paths. An
unknown name raises NotFound.
"""

from collections import deque
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from recollect.core.errors import NotFound
from recollect.core.values import (
    Entity,
    Fact,
    Moment,
    Name,
    Preference,
    Procedure,
    Record,
    Relationship,
    Value,
)
from recollect.service.pagination import Listing, cursor
from recollect.service.project_graph import ProjectGraph
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespaces_to_list, namespaces_to_search
from recollect.service.search import SearchQuery, search
from recollect.store.interface import Cursor
from recollect.work.graph import BOTH_WAYS, is_from_work

MEMORIES = 10
NODES = 300
NAMESAKES = 5  # entities of one name in one project
PATHS = 5


class EntitiesQuery(Scope, frozen=True, kw_only=True):
    query: Annotated[str, Meta(max_length=200)] = ""
    type: Annotated[str, Meta(max_length=64)] | None = None
    before: Annotated[str, Meta(max_length=600)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class EntityQuery(Scope, frozen=True, kw_only=True):
    entity_id: Name
    as_of: Moment | None = None


class Relation(Value, frozen=True, kw_only=True):
    """A relationship with the names of its ends."""

    source: str
    target: str
    relationship: Relationship


class EntityDetail(Value, frozen=True, kw_only=True):
    """`metadata`: what its facts say, by predicate; the surest of several."""

    entity: Entity
    metadata: dict[str, str]
    facts: tuple[Fact, ...]
    relations: tuple[Relation, ...]
    memories: tuple[Record, ...]


class NeighboursQuery(Scope, frozen=True, kw_only=True):
    entity_id: Name
    depth: Annotated[int, Meta(ge=1, le=4)] = 1
    limit: Annotated[int, Meta(ge=1, le=NODES)] = 100


class Neighbourhood(Value, frozen=True, kw_only=True):
    """`whole` is false when the limit cut it off."""

    root: str
    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]
    whole: bool


class PathsQuery(Scope, frozen=True, kw_only=True):
    source: Name
    target: Name
    depth: Annotated[int, Meta(ge=1, le=6)] = 4


class Path(Value, frozen=True, kw_only=True):
    entities: tuple[str, ...]
    relationships: tuple[Relationship, ...]


class Paths(Value, frozen=True, kw_only=True):
    """The shortest paths from `source` to `target`."""

    source: str
    target: str
    paths: tuple[Path, ...]


class ProjectBeliefs(Value, frozen=True, kw_only=True):
    """The facts, preferences and procedures of a project."""

    facts: tuple[Fact, ...]
    preferences: tuple[Preference, ...]
    procedures: tuple[Procedure, ...]


class FactsQuery(Scope, frozen=True, kw_only=True):
    as_of: Moment | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class EntityRecall(Value, frozen=True, kw_only=True):
    """Everything about a name: the entities that bear it, or, when none does, memories alone."""

    name: str
    entities: tuple[EntityDetail, ...]
    memories: tuple[Record, ...]


def entities(runtime: ServiceRuntime, asked: EntitiesQuery) -> Listing[Entity]:
    """Most mentioned first, then by name; with a query, those that match it."""
    found: list[Entity] = []
    for namespace in namespaces_to_list(runtime, asked):
        graph = ProjectGraph(runtime, namespace)
        if asked.query.strip():
            found += graph.search(asked.query, asked.limit)
        else:
            found += graph.entities()
    wanted = [one for one in found if asked.type in (None, one.type)]
    wanted.sort(key=_entity_key)
    place = cursor(asked.before)
    if place is not None:
        wanted = [one for one in wanted if _entity_key(one) > (-place.number, place.id)]
    items = tuple(wanted[: asked.limit])
    more = len(wanted) > asked.limit
    last = Cursor(items[-1].mentions, _entity_key(items[-1])[1]) if items else None
    return Listing(items=items, next=str(last) if more else None)


def entity(runtime: ServiceRuntime, asked: EntityQuery) -> EntityDetail:
    return _detail(runtime, *_entity(runtime, asked, asked.entity_id, asked.as_of), asked.as_of)


def _detail(
    runtime: ServiceRuntime, graph: ProjectGraph, known: Entity, as_of: datetime | None = None
) -> EntityDetail:
    facts = runtime.visible_store.graph.facts(known.namespace, [known.entity_id], as_of=as_of)
    return EntityDetail(
        entity=known,
        metadata={
            one.predicate: one.object
            for one in sorted(facts, key=lambda one: one.confidence)
            if not one.sensitive
        },
        facts=tuple(facts),
        relations=tuple(
            Relation(
                source=graph.name(one.source_id),
                target=graph.name(one.target_id),
                relationship=one,
            )
            for one in graph.relationships(known.entity_id)
        ),
        memories=_memories(runtime, known.name, Scope(namespace=known.namespace)),
    )


def grouped(detail: EntityDetail) -> list[tuple[list[str], str, list[str]]]:
    """The relations of an entity, those of one type and direction together: sources, the type in
    words, targets. Without those that are among its facts."""
    found: dict[tuple[str, bool], tuple[list[str], list[str]]] = {}
    facts = {one.fact_id for one in detail.facts}
    for one in detail.relations:
        if one.relationship.relationship_id in facts:
            continue
        kind, is_source = (
            one.relationship.type,
            one.relationship.source_id == detail.entity.entity_id,
        )
        outward = is_source or kind in BOTH_WAYS
        sources, targets = found.setdefault((kind, outward), ([], []))
        (targets if outward else sources).append(one.target if is_source else one.source)
    own = [detail.entity.name]
    return [
        (sources or own, kind.replace("_", " "), targets or own)
        for (kind, _), (sources, targets) in found.items()
    ]


def neighbours(runtime: ServiceRuntime, asked: NeighboursQuery) -> Neighbourhood:
    graph, root = _entity(runtime, asked, asked.entity_id)
    seen = {root.entity_id: 0}
    edges: dict[str, Relationship] = {}
    whole = True
    waiting = deque([root.entity_id])
    while waiting:
        here = waiting.popleft()
        if seen[here] >= asked.depth:
            continue
        for one in graph.relationships(here):
            other = one.target_id if one.source_id == here else one.source_id
            if other not in seen:
                if len(seen) >= asked.limit:
                    whole = False
                    continue
                seen[other] = seen[here] + 1
                waiting.append(other)
            edges[one.relationship_id] = one
    return Neighbourhood(
        root=root.entity_id,
        entities=tuple(known for one in seen if (known := graph.get(one)) is not None),
        relationships=tuple(
            one for one in edges.values() if one.source_id in seen and one.target_id in seen
        ),
        whole=whole,
    )


def paths(runtime: ServiceRuntime, asked: PathsQuery) -> Paths:
    graph, source = _entity(runtime, asked, asked.source)
    _, target = _entity(runtime, Scope(namespace=source.namespace), asked.target)
    found: list[Path] = []
    best: dict[str, int] = {source.entity_id: 0}
    waiting: deque[tuple[tuple[str, ...], tuple[Relationship, ...]]] = deque(
        [((source.entity_id,), ())]
    )
    looked = 0
    while waiting and len(found) < PATHS and looked < 10 * NODES:
        way, edges = waiting.popleft()
        if way[-1] == target.entity_id:
            found.append(Path(entities=way, relationships=edges))
            continue
        if len(edges) >= asked.depth or (found and len(edges) >= len(found[0].relationships)):
            continue
        looked += 1
        for one in graph.relationships(way[-1]):
            other = one.target_id if one.source_id == way[-1] else one.source_id
            if other not in way and len(way) <= best.get(other, len(way)):
                best[other] = len(way)
                waiting.append(((*way, other), (*edges, one)))
    return Paths(source=source.entity_id, target=target.entity_id, paths=tuple(found))


def project_beliefs(runtime: ServiceRuntime, asked: FactsQuery) -> ProjectBeliefs:
    facts: list[Fact] = []
    preferences: list[Preference] = []
    procedures: list[Procedure] = []
    for namespace in namespaces_to_list(runtime, asked):
        facts += runtime.visible_store.graph.facts(namespace, as_of=asked.as_of)
        preferences += runtime.visible_store.graph.all(namespace, Preference)
        procedures += runtime.visible_store.graph.all(namespace, Procedure)
    facts.sort(key=lambda one: (-one.confidence, one.fact_id))
    return ProjectBeliefs(
        facts=tuple(facts[: asked.limit]),
        preferences=tuple(preferences[: asked.limit]),
        procedures=tuple(procedures[: asked.limit]),
    )


def recall_entity(runtime: ServiceRuntime, name: str, scope: Scope) -> EntityRecall:
    """Everything that is known about a name."""
    details: list[EntityDetail] = []
    for namespace in namespaces_to_search(runtime, scope):
        graph = ProjectGraph(runtime, namespace)
        by_id = graph.get(name.strip())
        named = [by_id] if by_id is not None else graph.named(name)
        named.sort(key=_entity_key)
        details += [_detail(runtime, graph, one) for one in named[:NAMESAKES]]
    found = _memories(runtime, name, scope)
    if not details and not found:
        raise NotFound(f"nothing is known about {name!r}", hint="search_memory with other words")
    return EntityRecall(name=name, entities=tuple(details), memories=found)


def _entity(
    runtime: ServiceRuntime, scope: Scope, named: str, as_of: datetime | None = None
) -> tuple[ProjectGraph, Entity]:
    """By id or by name."""
    namespaces = namespaces_to_list(runtime, scope)
    if is_from_work(named):
        namespaces = tuple(one for one in namespaces if is_from_work(named, one))
    graphs = [ProjectGraph(runtime, namespace, as_of) for namespace in namespaces]
    for graph in graphs:
        found = graph.get(named)
        if found is not None:
            return graph, found
    for graph in graphs:
        for one in sorted(graph.named(named), key=_entity_key):
            return graph, one
    raise NotFound(f"there is no entity {named!r}", hint="GET /api/entities")


def _memories(runtime: ServiceRuntime, name: str, scope: Scope) -> tuple[Record, ...]:
    """Memories whose text contains the name."""
    if not name.strip():
        return ()
    answer = search(
        runtime,
        SearchQuery(
            query=name[:1000],
            mode="keyword",
            limit=3 * MEMORIES,
            project=scope.project,
            namespace=scope.namespace,
            project_path=scope.project_path,
        ),
    )
    wanted = name.casefold()
    naming = [one.record for one in answer.items if wanted in _words(one.record)]
    return tuple(naming[:MEMORIES])


def _words(record: Record) -> str:
    texts = (record.title, record.summary, record.detail)
    return " ".join((*texts, *record.facts, *record.concepts, *record.files)).casefold()


def _entity_key(entity: Entity) -> tuple[int, str]:
    return -entity.mentions, f"{entity.name.casefold()}/{entity.entity_id}"
