"""Scopes: the namespaces of a project as the user names it.

In: a project's id, name or path, `global` or `all`. Out: namespaces. An unknown project raises
NotFound.
"""

import os
from collections import Counter
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from recollect.core import projects
from recollect.core.errors import BadInput, Conflict, NotFound
from recollect.core.values import Namespace, Value
from recollect.service.runtime import ServiceRuntime
from recollect.store.interface import ProjectInfo

ALL = "all"
GLOBAL = "global"
ProjectName = Annotated[str, Meta(min_length=1, max_length=2048)]
NAMED = 12  # projects that a message lists


class Scope(Value, frozen=True, kw_only=True):
    """Where to look: one namespace, or a project by id, name, path, `global` or `all`."""

    project: ProjectName | None = None
    namespace: Namespace | None = None
    project_path: ProjectName | None = None


def namespaces_to_search(runtime: ServiceRuntime, scope: Scope) -> tuple[str, ...]:
    """For searches: the project and the global namespace; by default, all."""
    one = _namespace(runtime, scope, runtime.namespaces.asked_for)
    if one is None:
        return worked_namespaces(runtime) or (projects.namespace(runtime.actor),)
    if scope.namespace:
        return (one,)
    return tuple(dict.fromkeys((one, projects.namespace(runtime.actor))))


def namespaces_to_list(runtime: ServiceRuntime, scope: Scope) -> tuple[str, ...]:
    """For listings: one project, or all."""
    one = _namespace(runtime, scope, runtime.namespaces.asked_for)
    return worked_namespaces(runtime) if one is None else (one,)


def namespace_of(runtime: ServiceRuntime, project: str) -> str:
    """Of one project by its directory, its id or its name; `global` is what belongs to none."""
    if project == ALL:
        raise BadInput("name one project, not all", field="project")
    (found,) = namespaces_to_list(runtime, Scope(project=project))
    return found


def namespace_to_write(runtime: ServiceRuntime, scope: Scope) -> str:
    """For a new memory: one project, or the global namespace."""
    if scope.project == ALL:
        raise BadInput("a new memory belongs to one project, not to all", field="project")
    path = scope.project_path or scope.project or ""
    if os.path.isabs(path):
        refuse_kept_out(runtime, path)
    named = _namespace(runtime, scope, runtime.namespaces.of)
    return named or projects.namespace(runtime.actor)


def refuse_kept_out(runtime: ServiceRuntime, directory: str) -> None:
    """Conflict for a directory that is kept out of memory."""
    if why := runtime.keep_out.rules_for(directory).off:
        raise Conflict(f"this project is kept out of memory: {why}", hint="recollect ignore list")


def checked_out_branch(runtime: ServiceRuntime, scope: Scope) -> str:
    """The branch in the directory that is asked about, or in that of the project; empty if there is
    none, or if the project has several directories on different branches."""
    path = "" if scope.namespace else scope.project_path or scope.project or ""
    if os.path.isabs(path):
        return runtime.namespaces.branch_in(path)
    own = project_id(_namespace(runtime, scope, runtime.namespaces.asked_for) or "")
    known = (one for one in runtime.store.projects.all() if own and one.project_id == own)
    found = {runtime.namespaces.branch_in(root) for one in known for root in one.roots}
    return found.pop() if len(found) == 1 else ""


def all_namespaces(runtime: ServiceRuntime) -> tuple[str, ...]:
    return tuple(runtime.store.projects.namespaces())


def worked_namespaces(runtime: ServiceRuntime) -> tuple[str, ...]:
    """What `all` means: every namespace but those of `make run` and of the proofs."""
    staged = {
        projects.namespace(runtime.actor, one.project_id)
        for one in runtime.store.projects.all()
        if is_staged(runtime, one)
    }
    return tuple(one for one in all_namespaces(runtime) if one not in staged)


def is_staged(runtime: ServiceRuntime, one: ProjectInfo) -> bool:
    return any(projects.is_staged(root, runtime.settings.directory) for root in one.roots)


def _namespace(
    runtime: ServiceRuntime, scope: Scope, of_directory: Callable[[str], str]
) -> str | None:
    if scope.namespace:
        return scope.namespace
    if scope.project_path:
        return _namespace_of_directory(runtime, scope.project_path, of_directory)
    if scope.project is None or scope.project == ALL:
        return None
    if scope.project == GLOBAL:
        return projects.namespace(runtime.actor)
    if os.path.isabs(scope.project):
        return _namespace_of_directory(runtime, scope.project, of_directory)
    return projects.namespace(runtime.actor, project(runtime, scope.project).project_id)


def _namespace_of_directory(
    runtime: ServiceRuntime, path: str, of_directory: Callable[[str], str]
) -> str:
    """The namespace of a directory. If the directory is gone, that of the project that was there;
    a directory that never existed is refused, because the memory would belong to no project."""
    if os.path.exists(path):
        return of_directory(path)
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
        return of_directory(whole)
    raise NotFound(
        f"there is no directory {path!r}, and no known project was there",
        hint="Check the path, or name a project. " + _known_projects(runtime),
    )


def _known_projects(runtime: ServiceRuntime) -> str:
    """A hint that lists the known projects, latest first."""
    latest = sorted(runtime.store.projects.all(), key=lambda one: one.last_seen, reverse=True)
    called = project_names(runtime)
    names = [called[one.project_id] for one in latest]
    if not names:
        return "There are no projects yet; `global` is for what belongs to none."
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"Known: {', '.join(names[:NAMED])}{more}; also global and all."


def project_names(runtime: ServiceRuntime) -> dict[str, str]:
    """What each project is called, by its id. Those with the same name are called by the shortest
    end of their directory, or of their remote, that no other has."""
    known = runtime.store.projects.all()
    shared = {name for name, times in Counter(one.name for one in known).items() if times > 1}
    names = {one.project_id: one.name for one in known if one.name not in shared}
    for name in shared:
        same = [one for one in known if one.name == name]
        places = {one.project_id: _place(one) for one in same}
        for one in same:
            others = [place for other, place in places.items() if other != one.project_id]
            end = _unique_end(places[one.project_id], others) or one.project_id
            names[one.project_id] = end if end.endswith(name) else f"{name} ({end})"
    return names


def _place(one: ProjectInfo) -> list[str]:
    """The parts of its directory, whose first is empty, or else of its remote."""
    remotes = [value for kind, value in one.identities if kind == "remote"]
    return (*one.roots, *remotes, one.project_id)[0].split("/")


def _unique_end(place: list[str], others: list[list[str]]) -> str:
    for length in range(1, len(place) + 1):
        if all(other[-length:] != place[-length:] for other in others):
            return "/".join(place[-length:])
    return ""


def project(runtime: ServiceRuntime, named: str) -> ProjectInfo:
    """A project by its id or its name."""
    known = runtime.store.projects.all()
    names = project_names(runtime)
    found = [one for one in known if named in (one.project_id, one.name)] or [
        one for one in known if names[one.project_id] == named
    ]
    if not found:
        raise NotFound(
            f"there is no project {named!r}",
            hint=_known_projects(runtime),
        )
    if len(found) > 1:
        raise BadInput(
            f"several projects are called {named!r}: {', '.join(map(_with_root, found))}",
            field="project",
            hint="Name it by its id, or by its directory.",
        )
    return found[0]


def _with_root(one: ProjectInfo) -> str:
    """The project's id with its root directory, if that is known."""
    root = next((value for kind, value in one.identities if kind == "root"), "")
    return f"{one.project_id} ({root})" if root else one.project_id


def project_id(namespace: str) -> str:
    """The project in a namespace; empty for the global one."""
    return namespace.partition("/project/")[2].rstrip("/")
