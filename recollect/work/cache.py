"""The work of every project that was asked about, in memory.

In: rows of the store, and new ones as turns are written. Out: answers about one project at a time.
A project is loaded when it is first asked for; one whose rows were taken away is dropped, and
loaded again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

from recollect.core.values import TurnWork
from recollect.store.interface import Store
from recollect.work.index import ProjectWork

T = TypeVar("T")

MOST_PROJECTS = 8


class WorkCache:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._projects: OrderedDict[str, ProjectWork] = OrderedDict()

    def put(self, works: Sequence[TurnWork]) -> None:
        """Store the work of turns, and know it from now on."""
        self._store.turn_works.put(works)
        with self._lock:
            for one in works:
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
            self._projects.pop(namespace, None)

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
