"""Where an operation looks: namespaces for a project as people name it.

In: its id, its name, a path, `global` or `all`. Out: namespaces. A project that nobody knows raises
NotFound.
"""

import os
from typing import Annotated

from msgspec import Meta

from recollect.core import projects
from recollect.core.errors import BadInput, Conflict, NotFound
from recollect.core.values import Namespace, Value
from recollect.service.runtime import ServiceRuntime
from recollect.store.interface import ProjectInfo

ALL = "all"
GLOBAL = "global"
NAMED = 12  # projects that a message lists


class Scope(Value, frozen=True, kw_only=True):
    """Where to look: one namespace, or a project by id, name, path, `global` or `all`."""

    project: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None
    namespace: Namespace | None = None
    project_path: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None


def reading(runtime: ServiceRuntime, scope: Scope) -> tuple[str, ...]:
    """Where a question looks: in a project also at what holds everywhere; by default, in all."""
    one = _one(runtime, scope)
    if one is None:
        return everywhere(runtime) or (projects.namespace(runtime.actor),)
    if scope.namespace:
        return (one,)
    return tuple(dict.fromkeys((one, projects.namespace(runtime.actor))))


def listing(runtime: ServiceRuntime, scope: Scope) -> tuple[str, ...]:
    """Where a listing looks: in one project, or in all."""
    one = _one(runtime, scope)
    return everywhere(runtime) if one is None else (one,)


def writing(runtime: ServiceRuntime, scope: Scope) -> str:
    """Where something new goes: into a project, or to what holds everywhere."""
    if scope.project == ALL:
        raise BadInput("something new belongs to one project, not to all", field="project")
    path = scope.project_path or scope.project or ""
    if path.startswith("/"):
        refuse_kept_out(runtime, path)
    return _one(runtime, scope) or projects.namespace(runtime.actor)


def refuse_kept_out(runtime: ServiceRuntime, directory: str) -> None:
    """Nothing is remembered of a project that is kept out, nor told in it."""
    if why := runtime.keep_out.rules_for(directory).off:
        raise Conflict(f"this project is kept out of memory: {why}", hint="recollect ignore list")


def everywhere(runtime: ServiceRuntime) -> tuple[str, ...]:
    return tuple(runtime.store.projects.namespaces())


def _one(runtime: ServiceRuntime, scope: Scope) -> str | None:
    if scope.namespace:
        return scope.namespace
    if scope.project_path:
        return _at(runtime, scope.project_path)
    if scope.project is None or scope.project == ALL:
        return None
    if scope.project == GLOBAL:
        return projects.namespace(runtime.actor)
    if scope.project.startswith("/"):
        return _at(runtime, scope.project)
    return projects.namespace(runtime.actor, project(runtime, scope.project).project_id)


def _at(runtime: ServiceRuntime, path: str) -> str:
    """The namespace of a directory. One that is gone still stands for the project that was there;
    one that never was is refused, because what is told of it would end up with no project."""
    if os.path.exists(path):
        return runtime.namespaces.of(path)
    whole = "" if "\0" in path else projects.canonical(path)
    known = [
        (mark, one.project_id)
        for one in runtime.store.projects.all()
        for kind, mark in one.identities
        if kind == "root" and f"{whole}/".startswith(f"{mark}/")
    ]
    if known:
        return projects.namespace(runtime.actor, max(known, key=lambda one: len(one[0]))[1])
    if whole and not projects.locate(whole).is_global:
        return runtime.namespaces.of(whole)
    raise NotFound(
        f"there is no directory {path!r}, and no project is known that was there",
        hint="Check the path, or name a project. " + _known(runtime),
    )


def _known(runtime: ServiceRuntime) -> str:
    """The projects that can be named, the latest first."""
    latest = sorted(runtime.store.projects.all(), key=lambda one: one.last_seen, reverse=True)
    names = list(dict.fromkeys(one.name for one in latest))
    if not names:
        return "No project is known yet; global is what belongs to none."
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"Known: {', '.join(names[:NAMED])}{more}; also global and all."


def project(runtime: ServiceRuntime, named: str) -> ProjectInfo:
    """A project by its id or its name."""
    found = [one for one in runtime.store.projects.all() if named in (one.project_id, one.name)]
    if not found:
        raise NotFound(
            f"there is no project {named!r}",
            hint=_known(runtime),
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
