"""`/api/search`, `/api/context`, `/api/explain`: search, and see what would be injected and why."""

from typing import Annotated

from msgspec import Meta, structs

from recollect.core.values import Name
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import context, conversation_compaction, graph, search
from recollect.service.scope import Scope
from recollect.service.search import SearchAnswer, SearchQuery


class ProjectContext(context.ContextQuery, frozen=True, kw_only=True):
    project: Name


class EntityName(Scope, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=256)]


def hybrid(runtime: ServerRuntime, asked: SearchQuery) -> SearchAnswer:
    return search.search(runtime, structs.replace(asked, mode="hybrid"))


def semantic(runtime: ServerRuntime, asked: SearchQuery) -> SearchAnswer:
    return search.search(runtime, structs.replace(asked, mode="semantic"))


def in_project(runtime: ServerRuntime, asked: ProjectContext) -> context.ContextAnswer:
    return context.context(runtime, asked)


def about(runtime: ServerRuntime, asked: EntityName) -> graph.EntityRecall:
    return graph.recall_entity(runtime, asked.name, asked)


ENDPOINTS = (
    Endpoint("GET", "/api/search", "Search memories.", search.search),
    Endpoint("GET", "/api/memories/search", "Alias of /api/search.", search.search),
    Endpoint("GET", "/api/hybrid-search", "Search by words and meaning.", hybrid),
    Endpoint("GET", "/api/semantic-search", "Search by meaning.", semantic),
    Endpoint(
        "GET", "/api/context", "What would be injected now; nothing is written.", context.context
    ),
    Endpoint(
        "GET", "/api/context/{project}", "What would be injected now in a project.", in_project
    ),
    Endpoint(
        "GET", "/api/explain", "The candidates for a query, with every part of their scores.",
        context.explain,
    ),
    Endpoint("GET", "/api/recall-entity", "Everything that is known about a name.", about),
    Endpoint(
        "POST", "/api/compact", "Fit a conversation into a token budget: summarise its old part.",
        conversation_compaction.compact,
        as_sent=("turns",),  # they come back to the agent; what is stored of them is scrubbed
    ),
)  # fmt: skip
