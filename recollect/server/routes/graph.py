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
    KnownThings,
    Neighbourhood,
    NeighboursQuery,
    Paths,
    PathsQuery,
)
from recollect.service.graph_edit import Mended, Mending
from recollect.service.pagination import Listing


class OneThing(Value, frozen=True, kw_only=True):
    thing_id: Name


class RemoveThing(OneThing, frozen=True, kw_only=True):
    reason: Annotated[str, Meta(max_length=1000)] = ""


def entities(runtime: ServerRuntime, asked: EntitiesQuery) -> Listing[Entity]:
    return graph.entities(runtime, asked)


def entity(runtime: ServerRuntime, asked: EntityQuery) -> EntityDetail:
    return graph.entity(runtime, asked)


def neighbours(runtime: ServerRuntime, asked: NeighboursQuery) -> Neighbourhood:
    return graph.neighbours(runtime, asked)


def paths(runtime: ServerRuntime, asked: PathsQuery) -> Paths:
    return graph.paths(runtime, asked)


def facts(runtime: ServerRuntime, asked: FactsQuery) -> KnownThings:
    return graph.known_things(runtime, asked)


def mend(runtime: ServerRuntime, asked: OneThing, wanted: Mending) -> Mended:
    return graph_edit.mend(runtime, asked.thing_id, wanted)


def remove(runtime: ServerRuntime, asked: RemoveThing) -> Mended:
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
        "GET", "/api/entities/{entity_id}/neighbours", "What is near an entity.",
        neighbours, Neighbourhood, NeighboursQuery,
    ),
    Endpoint(
        "GET", "/api/graph/paths", "The shortest ways from one entity to another.",
        paths, Paths, PathsQuery,
    ),
    Endpoint(
        "GET", "/api/facts", "Facts, preferences and procedures of a project.",
        facts, KnownThings, FactsQuery,
    ),
    Endpoint(
        "PATCH", "/api/known/{thing_id}", "Correct a fact, preference, procedure or entity.",
        mend, Mended, OneThing, Mending,
    ),
    Endpoint(
        "DELETE", "/api/known/{thing_id}", "Take something known out; undo brings it back.",
        remove, Mended, RemoveThing,
    ),
)  # fmt: skip
