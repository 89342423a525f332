"""Other programs' SQLite files, only ever read.

In: a path. Out: tables, columns and rows as dictionaries; None when it is no database. Nothing is
written beside it: a file whose log was left behind by a crash is read as a copy.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import apsw

from recollect.core import safe_files
from recollect.core.errors import BadInput


class Database:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.columns = self._columns()

    @property
    def tables(self) -> frozenset[str]:
        return frozenset(self.columns)

    def has(self, table: str, *columns: str) -> bool:
        return set(columns) <= self.columns.get(table, frozenset())

    def rows(
        self, table: str, where: Mapping[str, Any] | None = None, *, order: str = ""
    ) -> Iterator[dict[str, Any]]:
        """The rows of a table; `where` compares columns for equality."""
        names = sorted(self.columns.get(table, ()))
        if not names:
            return
        shown = ", ".join(_quoted(name) for name in names)
        conditions = " AND ".join(f"{_quoted(name)} = ?" for name in where or ())
        statement = f"SELECT {shown} FROM {_quoted(table)}"
        if conditions:
            statement += f" WHERE {conditions}"
        if order in names:
            statement += f" ORDER BY {_quoted(order)}"
        for cells in self._connection.execute(statement, tuple((where or {}).values())):
            yield dict(zip(names, cells, strict=True))

    def counts(self, table: str, by: str) -> dict[Any, int]:
        if not self.has(table, by):
            return {}
        name = _quoted(by)
        return dict(
            self._connection.execute(f"SELECT {name}, count(*) FROM {_quoted(table)} GROUP BY 1")
        )

    def count(self, table: str) -> int:
        if table not in self.columns:
            return 0
        found = self._connection.execute(f"SELECT count(*) FROM {_quoted(table)}").get
        return int(found)

    def _columns(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        statement = """
            SELECT m.name, c.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
             WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
               AND m.sql NOT LIKE 'CREATE VIRTUAL%'
        """
        for table, column in self._connection.execute(statement):
            found.setdefault(table, set()).add(column)
        return {table: frozenset(columns) for table, columns in found.items()}


@contextlib.contextmanager
def opened(path: str) -> Iterator[Database | None]:
    """A database for as long as it is needed; None when there is none that can be read."""
    with contextlib.ExitStack() as stack:
        try:
            connection = _connect(path, stack)
            database = Database(connection)
        except (apsw.Error, OSError, UnicodeDecodeError):  # a damaged name is no text
            yield None
            return
        try:
            yield database
        except (apsw.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{path} cannot be read: {error}", field="source") from error


def _connect(path: str, stack: contextlib.ExitStack) -> apsw.Connection:
    if safe_files.read_start(path, 16) != b"SQLite format 3\x00":
        raise apsw.NotADBError(path)
    log = f"{path}-wal"
    for beside in (log, f"{path}-shm"):
        if os.path.lexists(beside):
            safe_files.open_plain(beside).close()  # SQLite opens whatever stands there
    how = "mode=ro"
    if not os.path.exists(log) or os.path.getsize(log) == 0:
        how = "mode=ro&immutable=1"  # nobody is writing: no file needs to appear beside it
    elif not os.path.exists(f"{path}-shm"):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="recollect-"))
        copy = os.path.join(folder, "copy.db")
        shutil.copyfile(path, copy)
        shutil.copyfile(log, f"{copy}-wal")
        path = copy
    connection = apsw.Connection(
        f"file:{quote(os.path.abspath(path))}?{how}",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )
    stack.callback(connection.close)
    connection.set_busy_timeout(2000)
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
