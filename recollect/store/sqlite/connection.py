"""SQLite's connection, as the shared logic takes it.

In: statements and values. Out: apsw's cursors. What a rule of a table or a column's type refuses
leaves as `StatementRefused`; other errors of SQLite stay apsw's: engine and writer explain them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from recollect.store.sql.connection import NO_VALUES, AlreadyThere, BadValue, ConstraintFailed
from recollect.store.sql.statement import Statement

_KEY_TAKEN = frozenset(
    [apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID]
)


class SqliteConnection(apsw.Connection):
    row_number = "rowid"

    def run(self, statement: Statement, values: Mapping[str, Any] = NO_VALUES) -> apsw.Cursor:
        text = statement.sqlite
        try:
            return self.execute(text if isinstance(text, str) else text.given(values), values)
        except apsw.ConstraintError as error:
            taken = getattr(error, "extendedresult", 0) in _KEY_TAKEN
            kind = AlreadyThere if taken else ConstraintFailed
            raise kind("SQLite", str(error)) from error
        except (apsw.MismatchError, apsw.SQLError) as error:
            raise BadValue("SQLite", str(error)) from error

    def has_table(self, name: str) -> bool:
        return self.table_exists("main", name)

    def vector_row(self, row: dict[str, Any]) -> dict[str, Any]:
        return row

    @staticmethod
    def one_text(columns: Sequence[str]) -> str:
        return f"json_array({', '.join(columns)})"
