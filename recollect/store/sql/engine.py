"""What the shared logic asks of an engine: write, read, and the clock.

In: pieces of work. Out: their results, after they were committed. Errors of the database leave as
StoreError.
"""

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from recollect.core.clock import Clock, to_micros
from recollect.core.values import Entity, Fact, Procedure, encode
from recollect.store.interface import Hit
from recollect.store.sql.graph_versions import GraphVersions

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
    def write(self, work: Callable[[Any], T], *, when_full: bool = False) -> T:
        """Run a piece of work in a transaction; returns after it is durable. `when_full`: worth
        trying on a full disk, because it frees space."""

    @abstractmethod
    def reader(self) -> AbstractContextManager[Any]:
        """A connection that only reads, in one snapshot for as long as it is held."""

    @abstractmethod
    def rows(self, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of one reading statement."""

    def one(self, sql: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    @abstractmethod
    def close(self) -> None: ...


def planned(text: str, values: Mapping[str, Any]) -> str:
    """A statement in which every `:name IS NULL` is answered: SQLite plans before it sees values,
    and would walk a whole namespace for a filter that might not be there."""
    asked = _asked(text)
    if not asked:
        return text
    return _answered(text, frozenset(name for name in asked if values.get(name) is None))


@functools.cache
def _asked(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r":(\w+) IS NULL", text)))


@functools.cache
def _answered(text: str, empty: frozenset[str]) -> str:
    return re.sub(r":(\w+) IS NULL", lambda m: "TRUE" if m[1] in empty else "FALSE", text)


def ids_json(ids: Sequence[Any]) -> str:
    """A list of ids or numbers as one bound value."""
    return encode(list(ids)).decode()


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)
