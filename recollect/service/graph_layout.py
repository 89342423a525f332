"""The graph for the dashboard: projects, entities, concepts, memories, and the lines between them.

In: a scope and a limit. Out: nodes and links, the best connected first; the same data gives the
same layout. With a focus, only nodes within two steps of it.
"""

import os
import re
from collections import Counter, defaultdict
from itertools import zip_longest
from typing import Annotated, Literal

from msgspec import Meta

from recollect.core.kinds import KINDS
from recollect.core.values import Entity, Name, Record, Value
from recollect.service.project_graph import ProjectGraph
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespaces_to_list, project_id, project_names
from recollect.store.interface import RecordFilter

MOST = 1000
_ENTITY_SHARE = 0.4
_CONCEPT_SHARE = 0.2
_STEPS = 2
_WORD = re.compile(r"[\w.-]+")


class GraphLayoutQuery(Scope, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=10, le=MOST)] = 300
    focus: Name | None = None


class GraphNode(Value, frozen=True, kw_only=True):
    id: str
    kind: Literal["project", "entity", "concept", "memory"]
    label: str
    type: str = ""
    project_id: str = ""


class GraphLink(Value, frozen=True, kw_only=True):
    source: str
    target: str
    label: str = ""


class GraphLayout(Value, frozen=True, kw_only=True):
    """`more`: the limit left nodes out."""

    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    more: bool


def layout(runtime: ServiceRuntime, asked: GraphLayoutQuery) -> GraphLayout:
    drawing = _LayoutBuilder(MOST if asked.focus else asked.limit)
    namespaces = namespaces_to_list(runtime, asked)
    names = project_names(runtime)
    share = max(10, drawing.most // max(1, len(namespaces)))
    for namespace in namespaces:
        drawing.add(runtime, namespace, names, share)
    nodes, links = drawing.nodes, drawing.links
    if asked.focus:
        kept = _near(asked.focus, links, asked.limit)
        nodes = {one: nodes[one] for one in nodes if one in kept}
        links = {one: links[one] for one in links if one[0] in kept and one[1] in kept}
    return GraphLayout(nodes=tuple(nodes.values()), links=tuple(links.values()), more=drawing.more)


class _LayoutBuilder:
    def __init__(self, most: int) -> None:
        self.most = most
        self.nodes: dict[str, GraphNode] = {}
        self.links: dict[tuple[str, str], GraphLink] = {}
        self.more = False

    def add(
        self, runtime: ServiceRuntime, namespace: str, names: dict[str, str], share: int
    ) -> None:
        graph = ProjectGraph(runtime, namespace)
        entities = _by_turns(graph.entities())
        records = [
            record
            for kind in KINDS.values()
            if not kind.is_turn
            for record in runtime.visible_store.records.page(
                namespace, RecordFilter(kind=kind.name), limit=share
            ).items
        ][:share]
        if not entities and not records:
            return
        root = GraphNode(
            id=f"project:{project_id(namespace) or 'global'}",
            kind="project",
            label=names.get(project_id(namespace), "everywhere"),
            project_id=project_id(namespace) or "global",
        )
        if not self._put(root):
            return
        chosen = entities[: int(share * _ENTITY_SHARE)]
        self.more = self.more or len(chosen) < len(entities)
        for entity in chosen:
            label = min((entity.name, *entity.aliases), key=len) if entity.type == "file" else ""
            self._put(
                GraphNode(
                    id=entity.entity_id,
                    kind="entity",
                    label=label or entity.name,
                    type=entity.type,
                )
            )
        self._relate(graph, root.id, chosen)
        self._concepts(root.id, records, int(share * _CONCEPT_SHARE))
        self._memories(root.id, records, chosen)

    def _relate(self, graph: ProjectGraph, root: str, chosen: list[Entity]) -> None:
        """Draw what is strong at both of its ends: a person edited every file, which says nothing.
        An entity without any such line hangs on its project."""
        seen: set[str] = set()
        joined: set[str] = set()
        for entity in chosen:
            for one in graph.relationships(entity.entity_id):
                ends = one.source_id, one.target_id
                if one.relationship_id in seen and self._join(*ends, one.type):
                    joined.update(ends)
                seen.add(one.relationship_id)
        for entity in chosen:
            if entity.entity_id not in joined:
                self._join(root, entity.entity_id)

    def _concepts(self, root: str, records: list[Record], most: int) -> None:
        counted = Counter(concept for record in records for concept in record.concepts)
        often = [(name, number) for name, number in counted.items() if number > 1]
        for concept, _ in sorted(often, key=lambda one: (-one[1], one[0]))[:most]:
            if self._put(GraphNode(id=f"concept:{concept}", kind="concept", label=concept)):
                self._join(root, f"concept:{concept}")

    def _memories(self, root: str, records: list[Record], entities: list[Entity]) -> None:
        known = {
            name.lower(): entity.entity_id
            for entity in entities
            for name in (entity.name, *entity.aliases)
        }
        for record in records:
            node = GraphNode(
                id=record.record_id,
                kind="memory",
                label=record.title,
                type=record.knowledge_type or record.observation_type or record.kind,
            )
            if not self._put(node):
                return
            said = {word.lower() for word in _WORD.findall(record.title)}
            said |= {concept.lower() for concept in record.concepts}
            said |= {
                path.lower() for file in record.files for path in (file, os.path.basename(file))
            }
            joined = [known[name] for name in sorted(said) if name in known]
            joined += [f"concept:{concept}" for concept in record.concepts]
            found = [other for other in joined if self._join(record.record_id, other)]
            if not found:
                self._join(root, record.record_id)

    def _put(self, node: GraphNode) -> bool:
        if node.id not in self.nodes and len(self.nodes) >= self.most:
            self.more = True
            return False
        self.nodes.setdefault(node.id, node)
        return True

    def _join(self, source: str, target: str, label: str = "") -> bool:
        if source == target or source not in self.nodes or target not in self.nodes:
            return False
        self.links.setdefault(
            (source, target), GraphLink(source=source, target=target, label=label)
        )
        return True


def _by_turns(entities: list[Entity]) -> list[Entity]:
    """The most mentioned of each type in turn, so that no type crowds out the others."""
    by_type: dict[str, list[Entity]] = defaultdict(list)
    for one in sorted(entities, key=lambda one: (-one.mentions, one.name)):
        by_type[one.type].append(one)
    rounds = zip_longest(*by_type.values())
    return [one for each in rounds for one in each if one is not None]


def _near(focus: str, links: dict[tuple[str, str], GraphLink], most: int) -> set[str]:
    near: dict[str, list[str]] = defaultdict(list)
    for source, target in links:
        near[source].append(target)
        near[target].append(source)
    kept, edge = {focus}, [focus]
    for _ in range(_STEPS):
        edge = [other for one in edge for other in near[one] if other not in kept]
        kept |= set(edge[: most - len(kept)])
    return kept
