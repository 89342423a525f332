"""The work of the projects that were asked about last, in memory.

In: rows of the store, and new ones as turns are written. Out: answers about one project at a time,
and the graph of its work, without what was forgotten or refused. A project is loaded when it is
first asked for; one whose rows were taken away, or in which something was forgotten, is dropped,
and loaded again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence, Set
from datetime import datetime
from typing import TypeVar

from recollect.core.values import TurnWork
from recollect.store.interface import Store
from recollect.work.graph import WorkGraph
from recollect.work.index import ProjectWork

T = TypeVar("T")

MOST_PROJECTS = 8
MOST_GRAPHS = 16


class WorkCache:
    def __init__(
        self, store: Store, visible: Callable[[TurnWork], TurnWork | None] = lambda one: one
    ) -> None:
        """`visible` gives what may be shown of a turn."""
        self._store = store
        self._visible = visible
        self._lock = threading.Lock()
        self._projects: OrderedDict[str, ProjectWork] = OrderedDict()
        self._graphs: OrderedDict[str, tuple[int, WorkGraph]] = OrderedDict()
        self._changes: dict[str, int] = {}  # of each namespace, since the start
        self._drops = 0  # and of all of them

    def put(self, works: Sequence[TurnWork]) -> None:
        """Store the work of turns, and answer with it from now on."""
        self._store.turn_works.put(works)
        with self._lock:
            for one in works:
                self._changed(one.namespace)
                project = self._projects.get(one.namespace)
                if project is not None:
                    self._add(project, one)

    def delete(self, namespace: str, session_id: str, event_ids: Set[str]) -> None:
        """Turns that began with these events are part of other turns."""
        stored = self._store.turn_works.all(namespace, session_id)
        stale = [one.turn_id for one in stored if one.turn_id in event_ids]
        if stale:
            self._store.turn_works.delete(namespace, stale)
            self.drop(namespace)

    def ask(self, namespace: str, question: Callable[[ProjectWork], T]) -> T:
        """Let `question` look at a project. Others wait meanwhile."""
        with self._lock:
            return question(self._of(namespace))

    def drop(self, namespace: str) -> None:
        """Something was taken away there."""
        with self._lock:
            self._changed(namespace)
            self._projects.pop(namespace, None)

    def follow(self, namespace: str, record_ids: Sequence[str]) -> None:
        """Another daemon stored or removed these memories; what was done came before them."""
        with self._lock:
            project = self._projects.get(namespace)
        if project is None:
            self.drop(namespace)  # there may be a graph of it
            return
        there = self._store.records.get(namespace, record_ids)
        if len(there) < len(set(record_ids)):
            self.drop(namespace)
            return
        for session_id in {one.session_id for one in there if one.is_whole_turn}:
            works = self._store.turn_works.all(namespace, session_id)
            with self._lock:
                self._changed(namespace)
                for one in works:
                    self._add(project, one)

    def drop_all(self) -> None:
        """Other things may be shown now."""
        with self._lock:
            self._drops += 1
            self._projects.clear()
            self._graphs.clear()

    def graph(self, namespace: str, until: datetime | None = None) -> WorkGraph:
        """The graph of the work, or of what was done of it by a moment. It is built outside the
        lock, so that no prompt waits for it."""
        with self._lock:
            now = self._drops + self._changes.get(namespace, 0)
            held = self._graphs.get(namespace)
            if until is None and held is not None and held[0] == now:
                self._graphs.move_to_end(namespace)
                return held[1]
            loaded = self._projects.get(namespace)
            turns = loaded.latest_turns() if loaded is not None else None
        if turns is None:
            turns = self._stored(namespace)
        if until is not None:
            return WorkGraph(namespace, (one for one in turns if one.at <= until))
        graph = WorkGraph(namespace, turns)
        with self._lock:
            self._graphs[namespace] = now, graph
            while len(self._graphs) > MOST_GRAPHS:
                self._graphs.popitem(last=False)
        return graph

    def _changed(self, namespace: str) -> None:
        self._changes[namespace] = self._changes.get(namespace, 0) + 1

    def _stored(self, namespace: str) -> list[TurnWork]:
        found = map(self._visible, self._store.turn_works.all(namespace))
        return [one for one in found if one is not None]

    def _add(self, project: ProjectWork, work: TurnWork) -> None:
        visible = self._visible(work)
        if visible is not None:
            project.add(visible)

    def _of(self, namespace: str) -> ProjectWork:
        found = self._projects.get(namespace)
        if found is None:
            found = ProjectWork()
            for one in self._stored(namespace):
                found.add(one)
            self._projects[namespace] = found
            while len(self._projects) > MOST_PROJECTS:
                self._projects.popitem(last=False)
        self._projects.move_to_end(namespace)
        return found
