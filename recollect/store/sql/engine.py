"""What the shared logic asks of an engine: write, read, and the clock.

In: pieces of work. Out: their results, after they were committed. Errors of the database leave as
StoreError.
"""

import threading
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from recollect.core.clock import Clock, to_micros
from recollect.core.values import Entity, Fact, Procedure, encode
from recollect.store.interface import GraphChanges, Hit
from recollect.store.sql.connection import Connection
from recollect.store.sql.statement import Statement

T = TypeVar("T")

END = {"before_number": 2**63 - 1, "before_id": "\U0010ffff"}  # before everything: the first page


class FullText(Protocol):
    """Search by words, as an engine's own index does it."""

    def records(
        self,
        db: Any,
        namespaces: Sequence[str],
        query: str,
        limit: int,
        *,
        raw: bool,
        most_terms: int,
    ) -> list[Hit]:
        """`Records.search`."""

    def graph(
        self, db: Any, namespace: str, query: str, limit: int
    ) -> list[Entity | Fact | Procedure]:
        """`Graph.search`."""


class Engine(ABC):
    """One database. Its methods may be called from any thread."""

    full_text: FullText

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.graph_versions = GraphVersions()

    @abstractmethod
    def write(self, work: Callable[[Connection], T], *, when_full: bool = False) -> T:
        """Run a piece of work in a transaction; returns after it is durable. `when_full`: worth
        trying on a full disk, because it frees space."""

    @abstractmethod
    def reader(self) -> AbstractContextManager[Connection]:
        """A connection that only reads, in one snapshot for as long as it is held."""

    @abstractmethod
    def rows(self, statement: Statement, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of one reading statement."""

    def one(self, statement: Statement, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        found = self.rows(statement, values)
        return found[0] if found else None

    @abstractmethod
    def close(self) -> None: ...


def ids_json(ids: Sequence[Any]) -> str:
    """A list of ids or numbers as one bound value."""
    return encode(list(ids)).decode()


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


KEPT = 256  # changes of one namespace


class GraphVersions:
    """What changed in the graphs of late, so that whoever holds one in memory reads only that: a
    number that grows with every change of a namespace, and the ids that changed since an earlier
    number; None when that is too long ago, or when nobody could say what changed."""

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
                version = self._versions[namespace] + self._everywhere
                changes.append((version, frozenset(ids)))

    def note_all(self) -> None:
        """Anything may have changed anywhere."""
        with self._lock:
            self._everywhere += 1
            self._changes.clear()

    def changes(self, namespace: str, since: int | None = None) -> GraphChanges:
        with self._lock:
            version = self._versions[namespace] + self._everywhere
            if since is None:
                return GraphChanges(version, None)
            later = [ids for at, ids in self._changes.get(namespace, ()) if at > since]
        # Each change counts one: fewer than were counted means that some are not known.
        known = len(later) == version - since
        return GraphChanges(version, frozenset().union(*later) if known else None)
