"""Projects, embeddings and settings: list them, and change what may be changed.

In: ids and names. Out: what there is. A path that belongs to another project is refused.
"""

import os
from typing import Annotated, Any

from msgspec import Meta

from recollect.core import projects, settings
from recollect.core.errors import BadInput, BadSetting, Conflict, NotFound
from recollect.core.projects import IdentityKind
from recollect.core.values import Moment, Name, Value, copied
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import project as find_project
from recollect.service.scope import project_id, project_names
from recollect.store.interface import ProjectInfo

# Settings that say whose memory it is and where it is kept, that start programs or send text away.
BY_HAND = frozenset(
    {"actor", "store", "encryption_key", "port", "model_dir", "embedding_model", "provider",
     "agent", "llm_model", "llm_base_url", "acp_command", "plugins"}
)  # fmt: skip
SECRET = ("key", "token", "secret", "password")


class ProjectIdentity(Value, frozen=True, kw_only=True):
    """What a project is recognised by: its git directory, root, remote or alias."""

    kind: str
    value: str


class ProjectLine(Value, frozen=True, kw_only=True):
    project_id: str
    name: str
    namespace: str
    marks: tuple[ProjectIdentity, ...]
    created_at: Moment | None
    last_seen: Moment | None
    events: int
    records: int
    sessions: int


class ProjectChange(Value, frozen=True, kw_only=True):
    """A new name, or an alias: another path or remote of the same project."""

    name: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    alias: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None


class EmbeddingStats(Value, frozen=True, kw_only=True):
    """`coverage`: the share of memories that have a vector. `dimensions`: of this model's vectors,
    loaded or not. `set_aside`: ids of memories that could not be embedded, with the reason. They
    count as missing and are tried again after a restart, and by `recollect model backfill`."""

    state: str
    model: str
    problem: str
    memories: int
    embedded: int
    missing: int
    coverage: float
    dimensions: int
    provider: str
    set_aside: dict[str, str]


def all_projects(runtime: ServiceRuntime) -> tuple[ProjectLine, ...]:
    """Every project with its counts, the most recent first; the global one last. The project of
    the proofs is nobody's."""
    names = project_names(runtime)
    proofs = projects.canonical(runtime.settings.path(projects.PROOF))
    known = runtime.store.projects.all()
    lines = [_line(runtime, one, names) for one in known if proofs not in one.roots]
    lines.sort(key=lambda one: str(one.last_seen), reverse=True)
    return (*lines, _global_line(runtime))


def project_line(runtime: ServiceRuntime, namespace: str) -> ProjectLine:
    """The project of a namespace."""
    if not project_id(namespace):
        return _global_line(runtime)
    return _line(runtime, find_project(runtime, project_id(namespace)), project_names(runtime))


def change_project(runtime: ServiceRuntime, project: Name, change: ProjectChange) -> ProjectLine:
    known = find_project(runtime, project)
    if change.name is None and change.alias is None:
        raise BadInput("give a name or an alias")
    mark: tuple[IdentityKind, str] | None = None
    if change.alias is not None:
        if "[REDACTED" in change.alias:
            raise BadInput("the alias holds something private or a secret", field="alias")
        if change.alias.startswith("/"):
            mark = ("root", projects.canonical(change.alias))
        else:
            remote = projects.normalise_remote(change.alias)
            if not remote:
                raise BadInput("an alias is an absolute path or the URL of a remote", field="alias")
            mark = ("remote", remote)
    runtime.store.projects.update(known.project_id, name=change.name, mark=mark)
    return _line(runtime, find_project(runtime, known.project_id), project_names(runtime))


def embedding_stats(runtime: ServiceRuntime) -> EmbeddingStats:
    found = runtime.loaded_recall
    health: dict[str, Any] = found.health() if found is not None else {"state": "loading"}
    memories, embedded = int(health.get("memories", 0)), int(health.get("embedded", 0))
    return EmbeddingStats(
        state=str(health["state"]),
        model=str(health.get("model", "")),
        problem=str(health.get("problem", "")),
        memories=memories,
        embedded=embedded,
        missing=max(0, memories - embedded),
        coverage=round(min(1.0, embedded / memories), 4) if memories else 1.0,
        dimensions=int(health.get("dimensions", 0)),
        provider="local",
        set_aside=dict(health.get("set_aside", {})),
    )


def backfill(runtime: ServiceRuntime) -> EmbeddingStats:
    runtime.recall().embed_again()
    return embedding_stats(runtime)


def all_settings(runtime: ServiceRuntime) -> list[dict[str, Any]]:
    """Every setting with its value; a secret is shown as "(set)". `saved`: the value from the next
    start on; `changeable`: whether `change_setting` takes it."""
    saved = _saved(runtime)
    return [
        {
            **one,
            "value": _without_secret(one["name"], getattr(runtime.settings, one["name"])),
            "saved": _without_secret(one["name"], getattr(saved, one["name"])),
            "changeable": one["name"] not in BY_HAND,
        }
        for one in settings.described()
    ]


def change_setting(runtime: ServiceRuntime, name: str, value: str | None) -> dict[str, Any]:
    """Write a setting, or with None its default, to the settings file; as `all_settings` shows
    it. BadInput when the value does not fit, or the setting is not changed here."""
    known = {one["name"] for one in settings.described()}
    if name not in known:
        raise NotFound(f"there is no setting {name!r}{settings.nearest(name)}")
    if name in BY_HAND:
        raise BadInput(
            f"{name} decides where data is or goes and is changed in a terminal only",
            field="name",
            hint=f"recollect settings set {name} VALUE",
        )
    variable = settings.PREFIX + name.upper()
    if os.environ.get(variable):
        raise Conflict(f"{variable} in the daemon's environment overrides it")
    settings.write(runtime.settings.path("settings.toml"), name, value)
    return next(one for one in all_settings(runtime) if one["name"] == name)


def _saved(runtime: ServiceRuntime) -> settings.Settings:
    try:
        return settings.load(flags={"home": runtime.settings.home})
    except BadSetting:  # somebody broke the file; doctor says so
        return runtime.settings


def _without_secret(name: str, value: Any) -> Any:
    secret = isinstance(value, str) and any(name.endswith(word) for word in SECRET)
    return "(set)" if secret and value else value


def _global_line(runtime: ServiceRuntime) -> ProjectLine:
    everywhere = projects.namespace(runtime.actor)
    stored = runtime.store.upkeep.stats(everywhere, by_kind=False)
    return copied(
        ProjectLine, stored, project_id="", name="global",
        namespace=everywhere, marks=(), created_at=None, last_seen=None,
    )  # fmt: skip


def _line(runtime: ServiceRuntime, info: ProjectInfo, names: dict[str, str]) -> ProjectLine:
    namespace = projects.namespace(runtime.actor, info.project_id)
    marks = tuple(ProjectIdentity(kind=kind, value=value) for kind, value in info.identities)
    # The row of a project says when its directory was last looked up, the events when it was used.
    events = runtime.store.events.page(namespace, limit=1).items
    stored = runtime.store.upkeep.stats(namespace, by_kind=False)
    return copied(
        ProjectLine, stored, project_id=info.project_id,
        name=names[info.project_id], namespace=namespace, marks=marks, created_at=info.created_at,
        last_seen=max([info.last_seen, *(one.transaction_time for one in events)]),
    )  # fmt: skip
