"""The work index of the projects that were used last, in memory.

In: rows of the store, and new ones as turns are written. Out: answers about one project at a time,
and the graph of its work, without what was forgotten or refused. A project is loaded in a thread at
its first event or question. Until its newest turns are read it answers as an empty project; until
all turns are read it answers from the newest ones. When rows are removed or something is forgotten,
the project is dropped and loaded again.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import datetime
from typing import TypeVar

import msgspec

from recollect.core.errors import RecollectError
from recollect.core.values import TurnWork
from recollect.store.interface import Store
from recollect.work import graph as work_graph
from recollect.work.git_ignored import ignored_in
from recollect.work.graph import WorkGraph
from recollect.work.index import ProjectWork

T = TypeVar("T")
log = logging.getLogger(__name__)

MOST_PROJECTS = 8
MOST_GRAPHS = 16
# Of a project, the newest turns are held, in about 75 MB (docs/decisions/work_index.md: even the
# newest 100 of 400 rank only 2 points worse).
MOST_TURNS = 20_000
SLACK = 2_000  # turns more than that, until the oldest are dropped
FIRST = 200  # turns that can be asked about while the others are read
FIRST_WAIT_S = 0.2  # how long the first question waits for them
# A thread that loads keeps others from running; between so many turns it steps aside.
STRIDE = 20
PAUSE_S = 0.002


class _Project:
    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.lock = threading.Lock()  # held while `work` is read or changed
        self.work = ProjectWork()
        self.first_read = threading.Event()
        self.loading = False
        self.complete = False  # `work` holds all that it should
        self.settled = threading.Event()  # loaded, or not to be loaded
        self.new: list[TurnWork] = []  # that were put while it is loaded


class WorkCache:
    def __init__(
        self, store: Store, visible: Callable[[TurnWork], TurnWork | None] = lambda one: one
    ) -> None:
        """`visible` gives what may be shown of a turn."""
        self._store = store
        self._visible = visible
        self._lock = threading.Lock()  # of the table of projects; never held for long
        self.loading_lock = threading.Lock()  # one project at a time
        self._projects: OrderedDict[str, _Project] = OrderedDict()
        self._graphs: OrderedDict[str, tuple[int, WorkGraph]] = OrderedDict()
        self._changes: dict[str, int] = {}  # of each namespace, since the start
        self._drops = 0  # and of all of them

    def put(self, works: Sequence[TurnWork]) -> None:
        """Store the work of turns, and answer with it from now on."""
        self._store.turn_works.put(works)
        for one in works:
            self._add(one)

    def _add(self, one: TurnWork) -> None:
        with self._lock:
            self._changed(one.namespace)
            project = self._projects.get(one.namespace)
        if project is None:
            return
        with project.lock:
            self._add_visible(project.work, one)
            if project.loading:
                project.new.append(one)
        if project.complete and len(project.work.turn) > MOST_TURNS + SLACK:
            self._load_in_thread(project)

    def delete(self, namespace: str, session_id: str, event_ids: Set[str]) -> None:
        """Turns that began with these events are part of other turns."""
        stored = list(self._store.turn_works.stream(namespace, session_id))
        stale = [one.turn_id for one in stored if one.turn_id in event_ids]
        if stale:
            self._store.turn_works.delete(namespace, stale)
            self.drop(namespace)

    def ask(self, namespace: str, question: Callable[[ProjectWork], T]) -> T:
        """Let `question` look at a project. New turns of it wait meanwhile."""
        project = self._of(namespace)
        if not project.complete:
            self._load_in_thread(project)
            project.first_read.wait(FIRST_WAIT_S)
        with project.lock:
            return question(project.work)

    def prepare(self, namespace: str) -> None:
        """Begin to load a project; returns at once."""
        project = self._of(namespace)
        if not project.complete:
            self._load_in_thread(project)

    def fill(self, namespaces: Iterable[str]) -> None:
        """Load projects in this thread, or wait for the one that is at it."""
        for namespace in namespaces:
            project = self._of(namespace)
            if not project.complete and self._begin(project):
                self._load(project, pause_s=0.0)
            project.settled.wait()

    def ready(self, namespace: str) -> bool:
        """Whether all that is held of a project is loaded."""
        with self._lock:
            project = self._projects.get(namespace)
            return project is not None and project.complete

    def drop(self, namespace: str) -> None:
        """Something was taken away there."""
        with self._lock:
            self._changed(namespace)
            self._projects.pop(namespace, None)

    def drop_all(self) -> None:
        """Other things may be shown now."""
        with self._lock:
            self._drops += 1
            self._projects.clear()
            self._graphs.clear()

    def follow(self, namespace: str, record_ids: Sequence[str]) -> None:
        """Another daemon stored or removed these memories; what was done came before them."""
        with self._lock:
            loaded = namespace in self._projects
        there = self._store.records.get(namespace, record_ids) if loaded else []
        if not loaded or len(there) < len(set(record_ids)):
            self.drop(namespace)  # there may be a graph of it
            return
        for session_id in {one.session_id for one in there if one.is_whole_turn}:
            for one in self._store.turn_works.stream(namespace, session_id):
                self._add(one)

    def graph(self, namespace: str, until: datetime | None = None) -> WorkGraph:
        """The graph of the work, or of what was done of it by a moment. It is built outside the
        locks, so that no prompt waits for it."""
        if until is not None:
            turns = (one for one in self._for_graph(namespace) if one.at <= until)
            return WorkGraph(namespace, turns, ignored_in(self._roots(namespace)))
        with self._lock:
            now = self._drops + self._changes.get(namespace, 0)
            held = self._graphs.get(namespace)
            if held is not None and held[0] == now:
                self._graphs.move_to_end(namespace)
                return held[1]
        newest = self._for_graph(namespace, work_graph.MOST_TURNS)
        graph = WorkGraph(namespace, newest, ignored_in(self._roots(namespace)))
        with self._lock:
            self._graphs[namespace] = now, graph
            while len(self._graphs) > MOST_GRAPHS:
                self._graphs.popitem(last=False)
        return graph

    def _for_graph(self, namespace: str, newest: int | None = None) -> Iterator[TurnWork]:
        for stored in self._store.turn_works.stream(namespace, newest=newest):
            one = self._visible(stored)
            if one is not None:
                yield msgspec.structs.replace(one, terms={})  # most of its size

    def _changed(self, namespace: str) -> None:
        self._changes[namespace] = self._changes.get(namespace, 0) + 1

    def _forget(self, project: _Project) -> None:
        with self._lock:
            if self._projects.get(project.namespace) is project:
                del self._projects[project.namespace]

    def _of(self, namespace: str) -> _Project:
        with self._lock:
            project = self._projects.get(namespace)
            if project is None:
                project = self._projects[namespace] = _Project(namespace)
                while len(self._projects) > MOST_PROJECTS:
                    self._projects.popitem(last=False)
            self._projects.move_to_end(namespace)
            return project

    # --- loading ---

    def _load_in_thread(self, project: _Project) -> None:
        if self._begin(project):
            name = "recollect-work"
            threading.Thread(target=self._load, args=(project,), name=name, daemon=True).start()

    def _begin(self, project: _Project) -> bool:
        with project.lock:
            if project.loading:
                return False
            project.loading = True
            project.settled.clear()
            return True

    def _load(self, project: _Project, pause_s: float = PAUSE_S) -> None:
        try:
            self._read_rows(project, pause_s)
        except RecollectError as error:
            log.error("the work done in %s could not be read: %s", project.namespace, error)
        finally:
            if project.loading:  # it failed: the next question tries again
                self._forget(project)
            project.first_read.set()
            project.settled.set()

    def _read_rows(self, project: _Project, pause_s: float) -> None:
        if not project.complete:
            work = self._read(project, FIRST)
            small = len(work.turn) < FIRST
            self._exchange(project, work, complete=small)
            project.first_read.set()
            if small:
                return
        with self.loading_lock:
            self._exchange(project, self._read(project, MOST_TURNS, pause_s), complete=True)

    def _read(self, project: _Project, newest: int, pause_s: float = 0.0) -> ProjectWork:
        work = ProjectWork()
        work.is_ignored = ignored_in(self._roots(project.namespace))
        rows = self._store.turn_works.stream(project.namespace, newest=newest)
        for number, one in enumerate(rows, 1):
            self._add_visible(work, one)
            if pause_s and number % STRIDE == 0:
                time.sleep(pause_s)
        return work

    def _roots(self, namespace: str) -> Sequence[str]:
        """The directories of a project on this machine."""
        own = namespace.partition("/project/")[2].rstrip("/")
        found = (one.roots for one in self._store.projects.all() if own and one.project_id == own)
        return next(found, ())

    def _add_visible(self, work: ProjectWork, one: TurnWork) -> None:
        visible = self._visible(one)
        if visible is not None:
            work.add(visible)

    def _exchange(self, project: _Project, work: ProjectWork, *, complete: bool) -> None:
        """Answer from here on with what was read, and with what was put meanwhile."""
        with project.lock:
            for one in project.new:
                self._add_visible(work, one)
            project.work = work
            if complete:
                project.new.clear()
                project.loading = False
                project.complete = True
