"""Projects, and the marks by which they are known again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.core.projects import GLOBAL_PROJECT, IdentityKind, ProjectPlace


@dataclass(frozen=True)
class ProjectInfo:
    project_id: str
    name: str
    identities: tuple[tuple[str, str], ...]
    created_at: datetime
    last_seen: datetime
    apart: tuple[str, ...] = ()  # roots that somebody wants kept apart from what they claim to be

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(value for kind, value in self.identities if kind == "root")


class Projects(Protocol):
    def resolve(self, place: ProjectPlace, *, apart: bool = False) -> str:
        """The lasting id of a place: the project that any of its marks is known to belong to,
        strongest mark first, else a new one. Marks not seen before are added. What a place claims
        never decides; a remote that nobody has becomes its mark. The global place has the empty
        id. With `apart` the place is a project of its own from now on, which is never joined
        unasked; what is stored stays where it is."""

    def all(self) -> list[ProjectInfo]: ...
    def update(
        self,
        project_id: str,
        *,
        name: str | None = None,
        mark: tuple[IdentityKind, str] | None = None,
        unmark: Sequence[tuple[str, str]] = (),
        commits: Sequence[str] = (),
    ) -> None:
        """Give it a name, let a mark stand for it from now on, or no longer, remember commits of
        its history (newest first; the latest few are kept): all or none of it. NotFound when there
        is no such project; Conflict when the mark belongs to another one."""

    def commits(self, project_id: str) -> tuple[str, ...]:
        """The commits that stand for the project's history, as far as it was seen."""

    def namespaces(self) -> list[str]:
        """Every namespace that holds anything."""


def known_project(projects: Projects, place: ProjectPlace) -> str | None:
    """The id that `resolve` gives a place which is known already; nothing is stored."""
    if place.is_global:
        return GLOBAL_PROJECT
    owners = {mark: info.project_id for info in projects.all() for mark in info.identities}
    return next((owners[mark] for mark in place.identities if mark in owners), None)
