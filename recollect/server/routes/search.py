"""`/api/search`, `/api/context`, `/api/explain`: search, and see what would be injected and why."""

from typing import Annotated

from msgspec import Meta, structs

from recollect.core.values import Name
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime
from recollect.service import context, conversation_compaction, search
from recollect.service.context import ContextAnswer, ContextQuery, ExplainQuery, Explanation
from recollect.service.graph import EntityRecall, recall_entity
from recollect.service.scope import Scope
from recollect.service.search import SearchAnswer, SearchQuery


class ProjectContext(ContextQuery, frozen=True, kw_only=True):
    project: Name


class EntityName(Scope, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=256)]


def find(runtime: ServerRuntime, asked: SearchQuery) -> SearchAnswer:
    return search.search(runtime, asked)


def hybrid(runtime: ServerRuntime, asked: SearchQuery) -> SearchAnswer:
    return search.search(runtime, structs.replace(asked, mode="hybrid"))


def semantic(runtime: ServerRuntime, asked: SearchQuery) -> SearchAnswer:
    return search.search(runtime, structs.replace(asked, mode="semantic"))


def would_inject(runtime: ServerRuntime, asked: ContextQuery) -> ContextAnswer:
    return context.context(runtime, asked)


def explain(runtime: ServerRuntime, asked: ExplainQuery) -> Explanation:
    return context.explain(runtime, asked)


def about(runtime: ServerRuntime, asked: EntityName) -> EntityRecall:
    return recall_entity(runtime, asked.name, asked)


def fit(
    runtime: ServerRuntime, asked: NoParameters, given: conversation_compaction.CompactRequest
) -> conversation_compaction.CompactAnswer:
    return conversation_compaction.compact(runtime, given)


ENDPOINTS = (
    Endpoint("GET", "/api/search", "Search memories.", find, SearchAnswer, SearchQuery),
    Endpoint(
        "GET", "/api/memories/search", "Alias of /api/search.", find, SearchAnswer, SearchQuery
    ),
    Endpoint(
        "GET", "/api/hybrid-search", "Search by words and meaning.",
        hybrid, SearchAnswer, SearchQuery,
    ),
    Endpoint(
        "GET", "/api/semantic-search", "Search by meaning.", semantic, SearchAnswer, SearchQuery
    ),
    Endpoint(
        "GET", "/api/context", "What would be injected now; nothing is written.",
        would_inject, ContextAnswer, ContextQuery,
    ),
    Endpoint(
        "GET", "/api/context/{project}", "What would be injected now in a project.",
        would_inject, ContextAnswer, ProjectContext,
    ),
    Endpoint(
        "GET", "/api/explain", "The candidates for a query, with every part of their scores.",
        explain, Explanation, ExplainQuery,
    ),
    Endpoint(
        "GET", "/api/recall-entity", "Everything that is known about a name.",
        about, EntityRecall, EntityName,
    ),
    Endpoint(
        "POST", "/api/compact", "Fit a conversation into a token budget: summarise its old part.",
        fit, conversation_compaction.CompactAnswer, body=conversation_compaction.CompactRequest,
    ),
)  # fmt: skip
