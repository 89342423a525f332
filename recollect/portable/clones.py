"""Checks whether a folder that claims to be a known project is one.

In: projects as they are used. Out: second clones and moved repositories are joined with the project
whose history they share; any other claim is offered to the user, who decides. Git runs in a thread,
never while a hook waits: until then a folder is a project of its own, and what was captured there
is moved when it is joined.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from recollect.core import projects, safe_git
from recollect.core.clock import Clock
from recollect.core.errors import RecollectError
from recollect.core.periodic import Job, Periodic
from recollect.core.projects import ProjectPlace, Repository, repository_of
from recollect.ingest.messages import Notice
from recollect.store.interface import ProjectInfo, Store

log = logging.getLogger(__name__)

# A project is joined without asking only while it is new; later the user may rely on its memories.
FIRST_USE = timedelta(days=1)
PAUSE_S = 1.0  # projects used within it are checked together
EVERY_S = 60.0  # how often a project is checked while it is used
CLOSE_S = 2.0
SHOWN = 20

Join = Callable[[str, str], object]


@dataclass(frozen=True)
class CloneOffer:
    """A folder that claims to be a known project, and why it was not joined."""

    root: str
    project_id: str
    claims: str
    claims_name: str
    claims_root: str
    why: str


class Clones:
    def __init__(self, store: Store, clock: Clock, actor: str, join: Join) -> None:
        """`join` moves everything of one namespace, with its marks, to another."""
        self._store = store
        self._clock = clock
        self._actor = actor
        self._join = join
        self._lock = threading.Lock()
        self._used: set[str] = set()
        self._looked: dict[str, float] = {}
        self._heads: dict[str, str] = {}
        self._went: dict[str, str] = {}  # old to new namespace of joined projects
        self._offers: dict[str, CloneOffer] = {}
        self._joined: dict[str, str] = {}
        self._started = False
        self._periodic = Periodic("clones", Job(self._look_at_used, PAUSE_S, at_once=True))

    @property
    def offers(self) -> list[CloneOffer]:
        """The open offers, without those that were decided meanwhile."""
        with self._lock:
            offers = list(self._offers.values())[:SHOWN]
        try:
            # Health calls this often, also while the store hangs: read it only when needed.
            known = {one.project_id: one for one in self._store.projects.all()} if offers else {}
        except RecollectError:  # a store that is away
            return []
        return [
            one
            for one in offers
            if one.claims in known
            and one.project_id in known
            and one.root in known[one.project_id].roots
            and one.root not in known[one.project_id].apart
        ]

    @property
    def joined(self) -> dict[str, str]:
        """Roots that were joined since the start and not separated again, with their project."""
        with self._lock:
            joined = list(self._joined.items())[-SHOWN:]
        try:
            known = self._store.projects.all() if joined else []
        except RecollectError:  # a store that is away
            return {}
        apart = {root for one in known for root in one.apart}
        return {root: name for root, name in joined if root not in apart}

    def start(self) -> None:
        self._periodic.start()

    def close(self) -> None:
        self._periodic.stop.set()
        safe_git.end_all()
        self._periodic.close(CLOSE_S)

    def on_event(self, notice: Notice) -> None:
        """An event was stored: its project is checked soon."""
        with self._lock:
            self._used.add(notice.stored.event.namespace)

    def _look_at_used(self) -> None:
        """Check every project once after the start, then those that were used since. If the store
        is down or busy, they are checked at their next use."""
        if not self._started:
            self._started = True
            self.look()
            return
        now = time.monotonic()
        with self._lock:
            used, self._used = self._used, set()
        due = {
            one
            for one in used
            if one in self._went or now - self._looked.get(one, -EVERY_S) >= EVERY_S
        }
        if due:
            self.look(due)
            self._looked |= dict.fromkeys(due, time.monotonic())

    # --- checking ---

    def look(self, used: set[str] | None = None) -> None:
        """Check the projects of these namespaces, or all of them."""
        for namespace in sorted(used or ()):
            self._bring_after(namespace)
        known = {one.project_id: one for one in self._store.projects.all()}
        for info in sorted(known.values(), key=lambda one: one.created_at):
            if self._periodic.stop.is_set():
                return
            if used is None or projects.namespace(self._actor, info.project_id) in used:
                for root in info.roots:
                    self._look_at(info, root, known)

    def _look_at(self, info: ProjectInfo, root: str, known: dict[str, ProjectInfo]) -> None:
        with self._lock:
            self._offers.pop(root, None)
        if info.project_id not in known or not os.path.isdir(root):
            return
        place = projects.place_at(root)
        repository = repository_of(place)
        claimed = self._claimed(info, place, repository, known)
        if claimed is not None and root not in info.apart:
            why = self._doubt(info, repository, claimed)
            if not why:
                self._move(info, root, claimed)
                del known[info.project_id]
                info = claimed
            else:
                name, at = claimed.name, next(iter(claimed.roots), "")
                offer = CloneOffer(root, info.project_id, claimed.project_id, name, at, why)
                with self._lock:
                    self._offers[root] = offer
        self._learn(info, root, repository)

    def _claimed(
        self,
        info: ProjectInfo,
        place: ProjectPlace,
        repository: Repository | None,
        known: dict[str, ProjectInfo],
    ) -> ProjectInfo | None:
        """The project that the folder claims to be; for a folder without a remote, the project that
        was elsewhere, is gone from there, and has the same history."""
        for mark in place.claims:
            for other in known.values():
                if mark in other.identities and other.project_id != info.project_id:
                    return other
        looked_at = self._store.projects.commits(info.project_id)
        hosted = projects.names_host(place.remote)
        if repository is None or hosted or looked_at or not self._is_new(info):
            return None
        for other in known.values():
            marks = other.identities
            cloned = any(kind == "remote" and projects.names_host(mark) for kind, mark in marks)
            gone = bool(other.roots) and not any(map(os.path.exists, other.roots))
            if cloned or not gone or other.project_id == info.project_id:
                continue
            if safe_git.holds(repository, self._store.projects.commits(other.project_id)):
                return other
        return None

    def _doubt(self, info: ProjectInfo, repository: Repository | None, claimed: ProjectInfo) -> str:
        """Why a folder is not joined with the project that it claims to be; empty when its history
        proves it. Each side must hold one of the other's latest commits: the oldest may come from a
        template that anybody has."""
        if repository is None:
            return "its .git points to a repository that does not point back"
        if borrowed := safe_git.borrows(repository):
            return borrowed
        there = {root: repository_of(projects.place_at(root)) for root in claimed.roots}
        for root, one in there.items():
            self._learn(claimed, root, one)
        if not safe_git.holds(repository, self._store.projects.commits(claimed.project_id)):
            return "its history contains none of the known commits of that project"
        latest = safe_git.latest(repository)
        left = [one for one in there.values() if one is not None]
        if left and not any(safe_git.holds(one, latest) for one in left):
            return "the other repository does not contain its latest commits"
        if not self._is_new(info):
            return "it was already used as a project of its own"
        return ""

    def _is_new(self, info: ProjectInfo) -> bool:
        return len(info.roots) == 1 and self._clock.now() - info.created_at < FIRST_USE

    def _learn(self, info: ProjectInfo, root: str, repository: Repository | None) -> None:
        """Store the latest commits, if they changed."""
        if repository is None:
            return
        latest = safe_git.latest(repository)
        if latest and self._heads.get(root) != latest[0]:
            self._store.projects.update(info.project_id, commits=latest)
            self._heads[root] = latest[0]

    # --- joining ---

    def _move(self, info: ProjectInfo, root: str, claimed: ProjectInfo) -> None:
        old = projects.namespace(self._actor, info.project_id)
        new = projects.namespace(self._actor, claimed.project_id)
        self._join(old, new)
        log.info("%s is a clone of %s and belongs to it now", root, claimed.name)
        with self._lock:
            self._went[old] = new
            self._joined[root] = claimed.name

    def _bring_after(self, namespace: str) -> None:
        """Move what a hook stored at the moment when its project was joined."""
        went = self._went.get(namespace)
        if went is not None:
            with contextlib.suppress(RecollectError):
                self._join(namespace, went)
