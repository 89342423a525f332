"""`/api/entities`, `/api/graph`: what is known of things, and how they hang together."""

from recollect.core.values import Entity
from recollect.server.endpoints import Endpoint
from recollect.server.services import Services
from recollect.service import graph
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
)  # fmt: skip
