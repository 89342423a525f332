"""`/api/entities`, `/api/graph`: entities, and how they are related."""

from recollect.server.endpoints import Endpoint
from recollect.service import graph, graph_edit

ENDPOINTS = (
    Endpoint("GET", "/api/entities", "Entities, most mentioned first.", graph.entities),
    Endpoint(
        "GET", "/api/entities/{entity_id}", "An entity with facts, relations and memories.",
        graph.entity,
    ),
    Endpoint(
        "GET", "/api/entities/{entity_id}/neighbours", "Entities related to an entity.",
        graph.neighbours,
    ),
    Endpoint(
        "GET", "/api/graph/paths", "The shortest paths from one entity to another.", graph.paths
    ),
    Endpoint(
        "GET", "/api/facts", "Facts, preferences and procedures of a project.",
        graph.project_beliefs,
    ),
    Endpoint(
        "PATCH", "/api/known/{thing_id}", "Correct a fact, preference, procedure or entity.",
        graph_edit.edit,
    ),
    Endpoint(
        "DELETE", "/api/known/{thing_id}",
        "Remove a fact, preference, procedure or entity; undo brings it back.", graph_edit.remove,
    ),
)  # fmt: skip
