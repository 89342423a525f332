"""The work of every project that was asked about, in memory.

In: rows of the store, and new ones as turns are written. Out: answers about one project at a time,
and the graph of its work. A project is loaded when it is first asked for; one whose rows were taken
away is dropped, and loaded again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
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
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._projects: OrderedDict[str, ProjectWork] = OrderedDict()
        self._graphs: OrderedDict[str, tuple[int, WorkGraph]] = OrderedDict()
        self._changes: dict[str, int] = {}  # of each namespace, since the start

    def put(self, works: Sequence[TurnWork]) -> None:
        """Store the work of turns, and know it from now on."""
        self._store.turn_works.put(works)
        with self._lock:
            for one in works:
                self._changed(one.namespace)
                known = self._projects.get(one.namespace)
                if known is not None:
                    known.add(one)

    def ask(self, namespace: str, question: Callable[[ProjectWork], T]) -> T:
        """Let `question` look at a project. Others wait meanwhile."""
        with self._lock:
            return question(self._of(namespace))

    def drop(self, namespace: str) -> None:
        """Something was taken away there."""
        with self._lock:
            self._changed(namespace)
            self._projects.pop(namespace, None)

    def graph(self, namespace: str, until: datetime | None = None) -> WorkGraph:
        """The graph of the work, or of what was done of it by a moment. It is built outside the
        lock, so that no prompt waits for it."""
        with self._lock:
            now = self._changes.get(namespace, 0)
            held = self._graphs.get(namespace)
            if until is None and held is not None and held[0] == now:
                self._graphs.move_to_end(namespace)
                return held[1]
            loaded = self._projects.get(namespace)
            turns = loaded.latest_turns() if loaded is not None else None
        if turns is None:
            turns = self._store.turn_works.all(namespace)
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

    def _of(self, namespace: str) -> ProjectWork:
        found = self._projects.get(namespace)
        if found is None:
            found = ProjectWork()
            for one in self._store.turn_works.all(namespace):
                found.add(one)
            self._projects[namespace] = found
            while len(self._projects) > MOST_PROJECTS:
                self._projects.popitem(last=False)
        self._projects.move_to_end(namespace)
        return found
