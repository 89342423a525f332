"""`/api/entities`, `/api/graph`: what is known of things, and how they hang together."""

from typing import Annotated

from msgspec import Meta

from recollect.core.values import Entity, Name, Value
from recollect.server.endpoints import Endpoint
from recollect.server.services import Services
from recollect.service import graph, things
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
from recollect.service.pages import Listing
from recollect.service.things import Mended, Mending


class OneThing(Value, frozen=True, kw_only=True):
    thing_id: Name


class RemoveThing(OneThing, frozen=True, kw_only=True):
    reason: Annotated[str, Meta(max_length=1000)] = ""


def entities(services: Services, asked: EntitiesQuery) -> Listing[Entity]:
    return graph.entities(services.desk, asked)


def entity(services: Services, asked: EntityQuery) -> EntityDetail:
    return graph.entity(services.desk, asked)


def neighbours(services: Services, asked: NeighboursQuery) -> Neighbourhood:
    return graph.neighbours(services.desk, asked)


def paths(services: Services, asked: PathsQuery) -> Paths:
    return graph.paths(services.desk, asked)


def facts(services: Services, asked: FactsQuery) -> KnownThings:
    return graph.known_things(services.desk, asked)


def mend(services: Services, asked: OneThing, wanted: Mending) -> Mended:
    return things.mend(services.desk, asked.thing_id, wanted)


def remove(services: Services, asked: RemoveThing) -> Mended:
    return things.remove(services.desk, asked.thing_id, asked.reason)


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
