"""`/api/projects`, `/api/embeddings`, `/api/settings`: list them, and change projects."""

from typing import Annotated, Any

from msgspec import Meta

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime
from recollect.service import administration, analytics, project_page
from recollect.service.administration import EmbeddingStats, ProjectChange, ProjectLine
from recollect.service.analytics import StatsAnswer
from recollect.service.project_page import ProjectFiles, ProjectFilesQuery, ProjectPage
from recollect.service.scope import Scope


class AllProjects(Value, frozen=True, kw_only=True):
    items: tuple[ProjectLine, ...]


class OneProject(Value, frozen=True, kw_only=True):
    project: Name


class OneSetting(Value, frozen=True, kw_only=True):
    name: Name


class NewValue(Value, frozen=True, kw_only=True):
    """As it is written after `recollect settings set NAME`; null for the default."""

    value: Annotated[str, Meta(max_length=4000)] | None


class AllSettings(Value, frozen=True, kw_only=True):
    items: list[dict[str, Any]]


def projects(runtime: ServerRuntime, asked: NoParameters) -> AllProjects:
    return AllProjects(items=administration.all_projects(runtime))


def change(runtime: ServerRuntime, asked: OneProject, wanted: ProjectChange) -> ProjectLine:
    return administration.change_project(runtime, asked.project, wanted)


def stats(runtime: ServerRuntime, asked: OneProject) -> StatsAnswer:
    return analytics.stats(runtime, Scope(project=asked.project))


def page(runtime: ServerRuntime, asked: OneProject) -> ProjectPage:
    return project_page.page(runtime, asked.project)


def files(runtime: ServerRuntime, asked: ProjectFilesQuery) -> ProjectFiles:
    return project_page.files(runtime, asked)


def embedding(runtime: ServerRuntime, asked: NoParameters) -> EmbeddingStats:
    return administration.embedding_stats(runtime)


def backfill(runtime: ServerRuntime, asked: NoParameters) -> EmbeddingStats:
    return administration.backfill(runtime)


def settings(runtime: ServerRuntime, asked: NoParameters) -> AllSettings:
    return AllSettings(items=administration.all_settings(runtime))


def change_setting(runtime: ServerRuntime, asked: OneSetting, wanted: NewValue) -> dict[str, Any]:
    return administration.change_setting(runtime, asked.name, wanted.value)


ENDPOINTS = (
    Endpoint("GET", "/api/projects", "Every project, most recent first.", projects, AllProjects),
    Endpoint(
        "PATCH", "/api/projects/{project}", "Rename a project, or give it another path or remote.",
        change, ProjectLine, OneProject, ProjectChange,
    ),
    Endpoint(
        "GET", "/api/projects/{project}", "A project: branches, files, commands, open ends.",
        page, ProjectPage, OneProject,
    ),
    Endpoint(
        "GET", "/api/projects/{project}/files", "Its files: who touched them, what is known.",
        files, ProjectFiles, ProjectFilesQuery,
    ),
    Endpoint(
        "GET", "/api/projects/{project}/stats", "Counts of a project.",
        stats, StatsAnswer, OneProject,
    ),
    Endpoint(
        "GET", "/api/embeddings/stats", "How many memories have vectors.",
        embedding, EmbeddingStats,
    ),
    Endpoint(
        "POST", "/api/embeddings/backfill", "Make missing vectors now.",
        backfill, EmbeddingStats,
    ),
    Endpoint("GET", "/api/settings", "Every setting with its value.", settings, AllSettings),
    Endpoint(
        "PUT", "/api/settings/{name}", "Change a setting, from the next start on.",
        change_setting, dict[str, Any], OneSetting, NewValue,
    ),
)  # fmt: skip
