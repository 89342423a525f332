"""A connection as the shared logic sees it, whichever engine it belongs to.

In: statements and values. Out: rows. A row that breaks a rule of its table raises ConstraintFailed,
a value that a column cannot hold BadValue; everything else leaves as another StoreError.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol

from recollect.core.errors import StoreError
from recollect.store.sql.statement import Statement

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
