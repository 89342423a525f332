"""`/api/projects`, `/api/embeddings`, `/api/settings`: list them, and change projects."""

from typing import Annotated, Any

from msgspec import Meta

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import administration, analytics, project_page
from recollect.service.scope import Scope


class NewValue(Value, frozen=True, kw_only=True):
    """As it is written after `recollect settings set NAME`; null for the default."""

    value: Annotated[str, Meta(max_length=4000)] | None


class AllSettings(Value, frozen=True, kw_only=True):
    items: list[dict[str, Any]]


def settings(runtime: ServerRuntime) -> AllSettings:
    return AllSettings(items=administration.all_settings(runtime))


def stats(runtime: ServerRuntime, project: Name) -> analytics.StatsAnswer:
    return analytics.stats(runtime, Scope(project=project))


def change_setting(runtime: ServerRuntime, name: Name, wanted: NewValue) -> dict[str, Any]:
    return administration.change_setting(runtime, name, wanted.value)


ENDPOINTS = (
    Endpoint(
        "GET", "/api/projects", "Every project, most recent first.", administration.all_projects
    ),
    Endpoint(
        "PATCH", "/api/projects/{project}", "Rename a project, or give it another path or remote.",
        administration.change_project,
    ),
    Endpoint(
        "GET", "/api/projects/{project}", "A project: branches, files, commands, open ends.",
        project_page.page,
    ),
    Endpoint(
        "GET", "/api/projects/{project}/files", "Its files: who touched them, what is known.",
        project_page.files,
    ),
    Endpoint("GET", "/api/projects/{project}/stats", "Counts of a project.", stats),
    Endpoint(
        "GET", "/api/embeddings/stats", "How many memories have vectors.",
        administration.embedding_stats,
    ),
    Endpoint(
        "POST", "/api/embeddings/backfill", "Make missing vectors now.", administration.backfill
    ),
    Endpoint("GET", "/api/settings", "Every setting with its value.", settings),
    Endpoint(
        "PUT", "/api/settings/{name}", "Change a setting, from the next start on.", change_setting,
        as_sent=("value",),  # the user's own configuration: an address may hold a key
    ),
)  # fmt: skip
