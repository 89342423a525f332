"""What the shared logic asks of an engine: statements, connections that run them, reads and writes.

In: SQL with `$name` for values and `{word}` where the engines' words differ, and pieces of work.
Out: what the drivers take; rows; results, after they were committed. Where the engines agree there
is one text (`both`); where they do not, there are two (`each`). A word that no dialect has is an
error at import (docs/decisions/statements.md says why). A row that breaks a rule of its table
raises ConstraintFailed, a value that a column cannot hold BadValue; all other errors of the
database leave as another StoreError.
"""

import threading
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from string import Template
from types import TracebackType
from typing import Any, Protocol, TypeVar

from recollect.core.clock import Clock, to_micros
from recollect.core.errors import StoreError
from recollect.core.values import Entity, Fact, Procedure, encode
from recollect.store.interface import GraphChanges, Hit

# --- statements: the text that each engine is given, written side by side -------------------------


class _Word(dict[str, str]):
    """A word around a name: `{texts[ids]}`."""

    def __init__(self, form: str) -> None:
        self._form = form

    def __missing__(self, name: str) -> str:
        return self._form.replace("NAME", name)


Dialect = Mapping[str, str | _Word]

# In this order:
# unfold       a table function: the elements of a JSON array, one row each, in the column `value`
# texts        the elements of a bound JSON array of texts
# numbers      the elements of a bound JSON array of whole numbers
# by_key       before a column: no index may be used for it. SQLite would walk all of a namespace
#              instead of looking rows up by their keys, which it takes for the better plan
# like         LIKE whatever the case
# unlimited    after LIMIT: all rows
# limit        a bound limit of which -1 means all
# key          the columns of a key that ends with this one; the server's tables can be sharded
SQLITE: Dialect = {
    "unfold": "json_each",
    "texts": _Word("(SELECT value FROM json_each($NAME))"),
    "numbers": _Word("(SELECT value FROM json_each($NAME))"),
    "by_key": "+",
    "like": "LIKE",
    "unlimited": "-1",
    "limit": _Word("LIMIT $NAME"),
    "key": _Word("NAME"),
}
POSTGRES: Dialect = {
    "unfold": "unfold",
    "texts": _Word("(SELECT value FROM unfold($NAME))"),
    "numbers": _Word("(SELECT value::bigint FROM unfold($NAME))"),
    "by_key": "",
    "like": "ILIKE",
    "unlimited": "ALL",
    "limit": _Word("LIMIT nullif($NAME, -1)"),
    "key": _Word("namespace, NAME"),
}


@dataclass(frozen=True)
class Filtered:
    """A text with conditions that are left out when their value is None. They are not asked in SQL
    (`$kind IS NULL OR ...`): both engines plan before they see values, and could use no index."""

    head: str
    filters: Mapping[str, str]
    tail: str
    _made: dict[tuple[str, ...], str] = field(default_factory=dict)

    def given(self, values: Mapping[str, Any]) -> str:
        names = tuple([name for name in self.filters if values.get(name) is not None])
        text = self._made.get(names)
        if text is None:
            conditions = "".join(f" AND {self.filters[name]}" for name in names)
            text = self._made[names] = f"{self.head}{conditions}\n{self.tail}"
        return text


@dataclass(frozen=True)
class Statement:
    """What each driver is given; empty where an engine has no such statement. `across` is the
    reason why it may look across namespaces; on the server, row-level security narrows it to the
    actor all the same."""

    sqlite: str | Filtered
    postgres: str | Filtered
    across: str = ""


# For functions that make a statement for a table and its columns as the schema really has them.
cached = lru_cache(maxsize=512)


def both(text: str, *, across: str = "") -> Statement:
    """One text for both engines."""
    return each(sqlite=text, postgres=text, across=across)


def each(*, sqlite: str, postgres: str, across: str = "") -> Statement:
    """A text for each engine."""
    return Statement(for_sqlite(sqlite), for_postgres(postgres), across)


def filtered(head: str, filters: Mapping[str, str], tail: str = "") -> Statement:
    """One text for both engines, whose WHERE goes on with those filters whose value is given."""

    def made(driver: Callable[[str], str]) -> Filtered:
        conditions = {name: driver(text) for name, text in filters.items()}
        return Filtered(driver(head), conditions, driver(tail))

    return Statement(made(for_sqlite), made(for_postgres))


# The filter of a statement that is asked of one namespace or of all.
IF_NAMESPACE = {"namespace": "namespace = $namespace"}


def column_list(names: tuple[str, ...], prefix: str = "") -> str:
    return ", ".join(prefix + name for name in names)


def insert_into(table: str, names: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({column_list(names)}) VALUES ({column_list(names, '$')})"


def insert_or_replace(table: str, key: str, names: tuple[str, ...]) -> Statement:
    """Insert, or overwrite the row of the same id, but only within its own namespace."""
    kept = {key, "namespace", "created_at"}
    changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in kept)
    return both(
        f"{insert_into(table, names)} ON CONFLICT ({{key[{key}]}}) DO UPDATE SET {changes} "
        f"WHERE {table}.namespace = $namespace"
    )


def for_sqlite(text: str) -> str:
    """SQLite takes `$name` as it stands."""
    return text.format_map(SQLITE)


def for_postgres(text: str) -> str:
    """The same text with psycopg's placeholders."""
    return Template(text.format_map(POSTGRES).replace("%", "%%")).substitute(_PLACEHOLDERS)


class _Placeholders(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return f"%({name})s"


_PLACEHOLDERS = _Placeholders()


# --- connections, whichever engine they belong to -------------------------------------------------

NO_VALUES: Mapping[str, Any] = {}


class StatementRefused(StoreError):
    """The database did not take a statement as it was given."""

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(f"The store cannot do this now. ({engine}: {reason})")
        self.reason = reason


class BadValue(StatementRefused):
    """A value that its column cannot hold, or a search expression that the index cannot read."""


class ConstraintFailed(StatementRefused):
    """A row that breaks a rule of its table."""


class AlreadyThere(ConstraintFailed):
    """A row whose key is taken."""


class Rows(Protocol):
    """What a statement gave. Rows may be read only once."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...
    def fetchone(self) -> tuple[Any, ...] | None: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    @property
    def get(self) -> Any:
        """The first row, or its only column; None when there is none."""


class Connection(Protocol):
    """Inside a transaction. `with connection:` is a savepoint."""

    row_number: str
    """The column that numbers the rows of a table without a key of its own."""

    @staticmethod
    def one_text(columns: Sequence[str]) -> str:
        """An expression: the values of these columns as one JSON text."""

    def run(self, statement: Statement, values: Mapping[str, Any] = NO_VALUES) -> Rows: ...
    def changes(self) -> int:
        """How many rows the last statement inserted, changed or deleted."""

    def has_table(self, name: str) -> bool: ...
    def vector_row(self, row: dict[str, Any]) -> dict[str, Any]:
        """The columns of a vector, with those that the engine's own index needs."""

    def __enter__(self) -> Any: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Any: ...


# --- the engine -----------------------------------------------------------------------------------

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
