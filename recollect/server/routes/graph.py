"""`/api/entities`, `/api/graph`: entities, and how they are related."""

from typing import Annotated

from msgspec import Meta

from recollect.core.values import Entity, Name, Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import graph, graph_edit
from recollect.service.graph import (
    EntitiesQuery,
    EntityDetail,
    EntityQuery,
    FactsQuery,
    Neighbourhood,
    NeighboursQuery,
    Paths,
    PathsQuery,
    ProjectBeliefs,
)
from recollect.service.graph_edit import GraphItemChange, GraphItemChanged
from recollect.service.pagination import Listing


class OneGraphItem(Value, frozen=True, kw_only=True):
    thing_id: Name


class RemoveGraphItem(OneGraphItem, frozen=True, kw_only=True):
    reason: Annotated[str, Meta(max_length=1000)] = ""


def entities(runtime: ServerRuntime, asked: EntitiesQuery) -> Listing[Entity]:
    return graph.entities(runtime, asked)


def entity(runtime: ServerRuntime, asked: EntityQuery) -> EntityDetail:
    return graph.entity(runtime, asked)


def neighbours(runtime: ServerRuntime, asked: NeighboursQuery) -> Neighbourhood:
    return graph.neighbours(runtime, asked)


def paths(runtime: ServerRuntime, asked: PathsQuery) -> Paths:
    return graph.paths(runtime, asked)


def facts(runtime: ServerRuntime, asked: FactsQuery) -> ProjectBeliefs:
    return graph.project_beliefs(runtime, asked)


def edit(runtime: ServerRuntime, asked: OneGraphItem, wanted: GraphItemChange) -> GraphItemChanged:
    return graph_edit.edit(runtime, asked.thing_id, wanted)


def remove(runtime: ServerRuntime, asked: RemoveGraphItem) -> GraphItemChanged:
    return graph_edit.remove(runtime, asked.thing_id, asked.reason)


ENDPOINTS = (
    Endpoint(
        "GET", "/api/entities", "Entities, most mentioned first.",
        entities, Listing[Entity], EntitiesQuery,
    ),
    Endpoint(
        "GET", "/api/entities/{entity_id}", "An entity with facts, relations and memories.",
        entity, EntityDetail, EntityQuery,
    ),
    Endpoint(
        "GET", "/api/entities/{entity_id}/neighbours", "Entities related to an entity.",
        neighbours, Neighbourhood, NeighboursQuery,
    ),
    Endpoint(
        "GET", "/api/graph/paths", "The shortest paths from one entity to another.",
        paths, Paths, PathsQuery,
    ),
    Endpoint(
        "GET", "/api/facts", "Facts, preferences and procedures of a project.",
        facts, ProjectBeliefs, FactsQuery,
    ),
    Endpoint(
        "PATCH", "/api/known/{thing_id}", "Correct a fact, preference, procedure or entity.",
        edit, GraphItemChanged, OneGraphItem, GraphItemChange,
    ),
    Endpoint(
        "DELETE", "/api/known/{thing_id}",
        "Remove a fact, preference, procedure or entity; undo brings it back.",
        remove, GraphItemChanged, RemoveGraphItem,
    ),
)  # fmt: skip
