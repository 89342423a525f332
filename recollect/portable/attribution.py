"""Finds the project of imported events, which happened earlier and perhaps on another machine.

In: recorded directories. Out: places. A directory that exists is looked up as capture does it. One
that is gone belongs to the project that is known to have been there or above it, else to a project
of its own, named after the highest of such directories. When only a project's name is recorded, a
project of that name is made, which can be moved later.
"""

import os
from collections.abc import Iterable

from recollect import privacy
from recollect.core import ids, projects
from recollect.core.projects import ProjectPlace
from recollect.store.interface import Store, known_project


class Attribution:
    def __init__(
        self,
        store: Store,
        actor: str,
        directories: Iterable[str] = (),
        home: str | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        self._store = store
        self._actor = actor
        self._dry_run = dry_run
        self._home = home or os.path.expanduser("~")
        self._roots = sorted(
            (value for one in store.projects.all() for kind, value in one.identities
             if kind == "root"),
            key=len,
        )  # fmt: skip
        gone = sorted({projects.canonical(one) for one in directories if _usable(one)}, key=len)
        self._gone = [one for one in gone if not os.path.isdir(one) and self._below_home(one)]
        self._known: dict[str, str] = {}
        self._unknown: dict[ProjectPlace, str] = {}

    def namespace(self, directory: str) -> str:
        """The namespace of a recorded directory."""
        if directory not in self._known:
            project = self._project(self.place(directory))
            self._known[directory] = projects.namespace(self._actor, project)
        return self._known[directory]

    def _project(self, place: ProjectPlace) -> str:
        """Its id. A dry run makes no project: one that is not known has an id that nobody has."""
        if not self._dry_run:
            return self._store.projects.resolve(place)
        found = known_project(self._store.projects, place)
        if found is None:
            found = self._unknown.setdefault(place, ids.new_id(ids.PROJECT))
        return found

    def of_name(self, program: str, name: str) -> str:
        """The namespace of a project of which another program gives only the name."""
        if os.path.isabs(name):
            return self.namespace(name)
        if not name:
            return projects.namespace(self._actor)
        key = f"{program}:{name}"
        if key not in self._known:
            known = _by_name(self._store).get(name.lower())
            project = known or self._project(ProjectPlace(alias=key))
            self._known[key] = projects.namespace(self._actor, project)
        return self._known[key]

    def place(self, directory: str) -> ProjectPlace:
        if not _usable(directory) or privacy.scrub(directory) != directory:
            return ProjectPlace()
        directory = projects.canonical(directory)
        if os.path.isdir(directory):
            return projects.locate(directory, self._home)
        above = _nearest(directory)
        if above and self._below_home(above):
            place = projects.locate(above, self._home)
            if not place.is_global:
                return place
        for root in (*reversed(self._roots), *self._gone):
            if directory == root or directory.startswith(root + os.sep):
                return ProjectPlace(root=root)
        return ProjectPlace(root=directory) if self._below_home(directory) else ProjectPlace()

    def _below_home(self, directory: str) -> bool:
        """Whether a directory is below the home: neither the home nor anything above it is a
        project."""
        home = os.path.realpath(self._home)
        return directory not in ("/", home) and not home.startswith(directory.rstrip("/") + "/")


def _by_name(store: Store) -> dict[str, str]:
    """Projects by name, without ambiguous names."""
    found: dict[str, set[str]] = {}
    for one in store.projects.all():
        found.setdefault(one.name.lower(), set()).add(one.project_id)
    return {name: ids.pop() for name, ids in found.items() if len(ids) == 1}


def _usable(directory: str) -> bool:
    return os.path.isabs(directory) and len(directory) <= 2048 and "\0" not in directory


def _nearest(directory: str) -> str:
    """The nearest directory above that exists."""
    while not os.path.isdir(directory):
        above = os.path.dirname(directory)
        if above == directory:
            return ""
        directory = above
    return directory
