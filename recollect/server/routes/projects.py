"""`/api/projects`, `/api/embeddings`, `/api/settings`: what there is, and looking after it."""

from typing import Any

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.services import Services
from recollect.service import analytics, upkeep
from recollect.service.analytics import StatsAnswer
from recollect.service.desk import Scope
from recollect.service.upkeep import EmbeddingStats, ProjectChange, ProjectLine


class AllProjects(Value, frozen=True, kw_only=True):
    items: tuple[ProjectLine, ...]


class OneProject(Value, frozen=True, kw_only=True):
    project: Name


class AllSettings(Value, frozen=True, kw_only=True):
    items: list[dict[str, Any]]


def projects(services: Services, asked: Nothing) -> AllProjects:
    return AllProjects(items=upkeep.all_projects(services.desk))


def change(services: Services, asked: OneProject, wanted: ProjectChange) -> ProjectLine:
    return upkeep.change_project(services.desk, asked.project, wanted)


def stats(services: Services, asked: OneProject) -> StatsAnswer:
    return analytics.stats(services.desk, Scope(project=asked.project))


def embedding(services: Services, asked: Nothing) -> EmbeddingStats:
    return upkeep.embedding_stats(services.desk)


def backfill(services: Services, asked: Nothing) -> EmbeddingStats:
    return upkeep.backfill(services.desk)


def settings(services: Services, asked: Nothing) -> AllSettings:
    return AllSettings(items=upkeep.all_settings(services.desk))


ENDPOINTS = (
    Endpoint("GET", "/api/projects", "Every project, most recent first.", projects, AllProjects),
    Endpoint(
        "PATCH", "/api/projects/{project}", "Rename a project, or give it another path or remote.",
        change, ProjectLine, OneProject, ProjectChange,
    ),
    Endpoint(
        "GET", "/api/projects/{project}/stats", "Counts of a project.",
        stats, StatsAnswer, OneProject,
    ),
    Endpoint(
        "GET", "/api/embeddings/stats", "How many memories have their vectors.",
        embedding, EmbeddingStats,
    ),
    Endpoint(
        "POST", "/api/embeddings/backfill", "Give vectors to what has none, now.",
        backfill, EmbeddingStats,
    ),
    Endpoint("GET", "/api/settings", "Every setting with its value.", settings, AllSettings),
)  # fmt: skip
