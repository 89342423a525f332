"""SQLite's transaction: a disk that fails in the middle ends it for good.

In: what `SqlTransaction` takes. Out: the same. After a failure of the disk, every step raises it.
"""

from collections.abc import Callable
from typing import TypeVar

import apsw

from recollect.core.clock import Clock
from recollect.store.interface import Batch
from recollect.store.sql.engine import StatementRefused
from recollect.store.sql.transaction import SqlTransaction
from recollect.store.sqlite.connect import SqliteConnection, explained
from recollect.store.sqlite.engine import EVERYBODYS
from recollect.store.sqlite.events import finish

T = TypeVar("T")


class SqliteTransaction(SqlTransaction):
    def __init__(self, db: SqliteConnection, clock: Clock) -> None:
        super().__init__(db, clock)
        self._broken: apsw.Error | StatementRefused | None = None
        self.finished: list[Batch] = []

    @property
    def _db(self) -> SqliteConnection:
        self.must_stand()
        connection: SqliteConnection = self._connection
        return connection

    def must_stand(self) -> None:
        """A disk that fails inside a part may end the whole transaction: nothing may follow, not
        even when the caller swallowed the error. Otherwise each later write commits by itself."""
        if self._broken is not None:
            raise self._broken

    def finish(self, batch: Batch) -> None:
        finish(self._db, batch)
        self.finished.append(batch)

    def attempt(self, part: Callable[[], T]) -> T:
        try:
            with self._db:  # apsw nests: inside a transaction this is a savepoint
                try:
                    value = part()
                except EVERYBODYS as error:
                    self._broken = error
                    raise
        except (apsw.Error, StatementRefused) as error:
            if self._broken is None and self._connection.get_autocommit():
                self._broken = error
            reason = self._broken or error
            raise (explained(reason) if isinstance(reason, apsw.Error) else reason) from error
        return value
