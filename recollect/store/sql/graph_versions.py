"""What changed in the graphs of late, so that whoever holds one in memory reads only that.

In: ids of things, after they were committed. Out: a number that grows with every change of a
namespace, and the ids that changed since an earlier number; None when that is too long ago, or when
nobody could say what changed.
"""

import threading
from collections import Counter, deque
from collections.abc import Iterable

from recollect.store.interface import GraphChanges

KEPT = 256  # changes of one namespace


class GraphVersions:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._versions: Counter[str] = Counter()
        self._everywhere = 0
        self._changes: dict[str, deque[tuple[int, frozenset[str]]]] = {}

    def note(self, namespace: str, ids: Iterable[str] | None = None) -> None:
        """These things came, changed or went; without ids anything may have."""
        with self._lock:
            self._versions[namespace] += 1
            changes = self._changes.setdefault(namespace, deque(maxlen=KEPT))
            if ids is None:
                changes.clear()
            else:
                changes.append((self._version(namespace), frozenset(ids)))

    def note_all(self) -> None:
        """Anything may have changed anywhere."""
        with self._lock:
            self._everywhere += 1
            self._changes.clear()

    def changes(self, namespace: str, since: int | None) -> GraphChanges:
        with self._lock:
            version = self._version(namespace)
            if since is None:
                return GraphChanges(version, None)
            later = [ids for at, ids in self._changes.get(namespace, ()) if at > since]
        # Each change counts one: fewer than were counted means that some are not known.
        known = len(later) == version - since
        return GraphChanges(version, frozenset().union(*later) if known else None)

    def _version(self, namespace: str) -> int:
        return self._versions[namespace] + self._everywhere
