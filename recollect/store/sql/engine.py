"""What the shared logic asks of an engine: write, read, and the clock.

In: pieces of work. Out: their results, after they were committed. Errors of the database leave as
StoreError.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeVar

from recollect.core.clock import Clock, to_micros
from recollect.core.values import Entity, Fact, Procedure, encode
from recollect.store.interface import Hit
from recollect.store.sql.connection import Connection
from recollect.store.sql.graph_versions import GraphVersions
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
