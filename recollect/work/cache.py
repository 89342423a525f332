"""The work of the projects that were asked about last, in memory.

In: rows of the store, and new ones as turns are written. Out: answers about one project at a time,
without what was forgotten or refused. A project is loaded when it is first asked for; one whose
rows were taken away, or in which something was forgotten, is dropped, and loaded again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence, Set
from typing import TypeVar

from recollect.core.values import TurnWork
from recollect.store.interface import Store
from recollect.work.index import ProjectWork

T = TypeVar("T")

MOST_PROJECTS = 8


class WorkCache:
    def __init__(
        self, store: Store, visible: Callable[[TurnWork], TurnWork | None] = lambda one: one
    ) -> None:
        """`visible` gives what may be shown of a turn."""
        self._store = store
        self._visible = visible
        self._lock = threading.Lock()
        self._projects: OrderedDict[str, ProjectWork] = OrderedDict()

    def put(self, works: Sequence[TurnWork]) -> None:
        """Store the work of turns, and answer with it from now on."""
        self._store.turn_works.put(works)
        with self._lock:
            for one in works:
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
            self._projects.pop(namespace, None)

    def follow(self, namespace: str, record_ids: Sequence[str]) -> None:
        """Another daemon stored or removed these memories; what was done came before them."""
        with self._lock:
            project = self._projects.get(namespace)
        if project is None:
            return
        there = self._store.records.get(namespace, record_ids)
        if len(there) < len(set(record_ids)):
            self.drop(namespace)
            return
        for session_id in {one.session_id for one in there if one.is_whole_turn}:
            works = self._store.turn_works.all(namespace, session_id)
            with self._lock:
                for one in works:
                    self._add(project, one)

    def drop_all(self) -> None:
        """Other things may be shown now."""
        with self._lock:
            self._projects.clear()

    def _add(self, project: ProjectWork, work: TurnWork) -> None:
        visible = self._visible(work)
        if visible is not None:
            project.add(visible)

    def _of(self, namespace: str) -> ProjectWork:
        found = self._projects.get(namespace)
        if found is None:
            found = ProjectWork()
            for one in self._store.turn_works.all(namespace):
                self._add(found, one)
            self._projects[namespace] = found
            while len(self._projects) > MOST_PROJECTS:
                self._projects.popitem(last=False)
        self._projects.move_to_end(namespace)
        return found
