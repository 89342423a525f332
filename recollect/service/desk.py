"""What every operation needs, in one value, and where a question looks.

In: the daemon's parts. Out: `Desk`, and namespaces for a project as people name it: its id, its
name, a path, `global` or `all`. A project that nobody knows raises NotFound.
"""

import functools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from recollect.core import projects
from recollect.core.clock import Clock
from recollect.core.errors import BadInput, Conflict, NotFound, StoreError
from recollect.core.settings import Settings
from recollect.core.values import Namespace, Value
from recollect.extract.tombstones import Tombstones
from recollect.extract.visible_store import visible_store
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Pipeline
from recollect.store.interface import ProjectInfo, Store

if TYPE_CHECKING:
    from recollect.remember import Recollection

ALL = "all"
GLOBAL = "global"
LOADING_S = 10.0
NAMED = 12  # projects that a message lists


class RecallLoading(StoreError):
    """Recall is still being loaded."""

    hint = "Try again in a moment."


@dataclass(frozen=True)
class Desk:
    settings: Settings
    clock: Clock
    store: Store
    memories: Memories
    pipeline: Pipeline
    counters: Counters
    tombstones: Tombstones
    recollection: Callable[[], "Recollection | None"]
    tell: Callable[[str, Any], None] = lambda kind, data: None  # whoever watches
    adding: threading.Lock = field(default_factory=threading.Lock)

    @property
    def actor(self) -> str:
        return self.settings.actor_id

    @functools.cached_property
    def told(self) -> Store:
        """The store for whoever only reads: without what was forgotten."""
        return visible_store(self.store, self.tombstones)

    def recall(self) -> "Recollection":
        """What finds by meaning; it is loaded a moment after the daemon starts."""
        deadline = time.monotonic() + LOADING_S
        while (found := self.recollection()) is None:
            if time.monotonic() > deadline:
                raise RecallLoading()
            time.sleep(0.02)
        return found

    def recall_later(self) -> None:
        """Something new wants its vector; words find it already."""
        found = self.recollection()
        if found is not None:
            found.backfill()


class Scope(Value, frozen=True, kw_only=True):
    """Where to look: one namespace, or a project by id, name, path, `global` or `all`."""

    project: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None
    namespace: Namespace | None = None
    project_path: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None


def reading(desk: Desk, scope: Scope) -> tuple[str, ...]:
    """Where a question looks: in a project also at what holds everywhere; by default, in all."""
    one = _one(desk, scope)
    if one is None:
        return everywhere(desk) or (projects.namespace(desk.actor),)
    if scope.namespace:
        return (one,)
    return tuple(dict.fromkeys((one, projects.namespace(desk.actor))))


def listing(desk: Desk, scope: Scope) -> tuple[str, ...]:
    """Where a listing looks: in one project, or in all."""
    one = _one(desk, scope)
    return everywhere(desk) if one is None else (one,)


def writing(desk: Desk, scope: Scope) -> str:
    """Where something new goes: into a project, or to what holds everywhere."""
    if scope.project == ALL:
        raise BadInput("something new belongs to one project, not to all", field="project")
    path = scope.project_path or scope.project or ""
    if path.startswith("/"):
        refuse_kept_out(desk, path)
    return _one(desk, scope) or projects.namespace(desk.actor)


def refuse_kept_out(desk: Desk, directory: str) -> None:
    """Nothing is remembered of a project that is kept out, nor told in it."""
    if why := desk.pipeline.kept_out(directory):
        raise Conflict(f"this project is kept out of memory: {why}", hint="recollect ignore list")


def everywhere(desk: Desk) -> tuple[str, ...]:
    return tuple(desk.store.projects.namespaces())


def _one(desk: Desk, scope: Scope) -> str | None:
    if scope.namespace:
        return scope.namespace
    if scope.project_path:
        return _at(desk, scope.project_path)
    if scope.project is None or scope.project == ALL:
        return None
    if scope.project == GLOBAL:
        return projects.namespace(desk.actor)
    if scope.project.startswith("/"):
        return _at(desk, scope.project)
    return projects.namespace(desk.actor, project(desk, scope.project).project_id)


def _at(desk: Desk, path: str) -> str:
    """The namespace of a directory. One that is gone still stands for the project that was there;
    one that never was is refused, because what is told of it would end up with no project."""
    if os.path.exists(path):
        return desk.pipeline.namespace_of(path)
    whole = "" if "\0" in path else projects.canonical(path)
    known = [
        (mark, one.project_id)
        for one in desk.store.projects.all()
        for kind, mark in one.identities
        if kind == "root" and f"{whole}/".startswith(f"{mark}/")
    ]
    if known:
        return projects.namespace(desk.actor, max(known, key=lambda one: len(one[0]))[1])
    if whole and not projects.locate(whole).is_global:
        return desk.pipeline.namespace_of(whole)
    raise NotFound(
        f"there is no directory {path!r}, and no project is known that was there",
        hint="Check the path, or name a project. " + _known(desk),
    )


def _known(desk: Desk) -> str:
    """The projects that can be named, the latest first."""
    latest = sorted(desk.store.projects.all(), key=lambda one: one.last_seen, reverse=True)
    names = list(dict.fromkeys(one.name for one in latest))
    if not names:
        return "No project is known yet; global is what belongs to none."
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"Known: {', '.join(names[:NAMED])}{more}; also global and all."


def project(desk: Desk, named: str) -> ProjectInfo:
    """A project by its id or its name."""
    found = [one for one in desk.store.projects.all() if named in (one.project_id, one.name)]
    if not found:
        raise NotFound(
            f"there is no project {named!r}",
            hint=_known(desk),
        )
    if len(found) > 1:
        raise BadInput(
            f"several projects are called {named!r}: {', '.join(map(_placed, found))}",
            field="project",
            hint="Name it by its id, or by its directory.",
        )
    return found[0]


def _placed(one: ProjectInfo) -> str:
    """Its id, and where it lies if that is known."""
    root = next((value for kind, value in one.identities if kind == "root"), "")
    return f"{one.project_id} ({root})" if root else one.project_id


def project_id(namespace: str) -> str:
    """The project in a namespace; empty for the global one."""
    return namespace.partition("/project/")[2].rstrip("/")
