"""What a file needs beyond erasing rows: that no bytes of them are left in it.

In: nothing. Out: nothing. StoreBusy when a reader keeps the write-ahead log from being emptied.
"""

import time

import apsw

from recollect.core.errors import StoreBusy
from recollect.store.sql.bulk import SqlBulk
from recollect.store.sql.projects import SqlProjects
from recollect.store.sqlite import statements as own
from recollect.store.sqlite.connect import SqliteConnection
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.events import SqliteEvents

SWEEP_WAIT_S = 10.0


class SqliteBulk(SqlBulk):
    def __init__(self, engine: SqliteEngine, events: SqliteEvents, projects: SqlProjects) -> None:
        super().__init__(engine, events, projects)
        self._engine: SqliteEngine = engine

    def sweep(self) -> None:
        def tidy(db: SqliteConnection) -> None:
            for statement in own.OPTIMIZE:
                db.run(statement)

        def fold(db: SqliteConnection) -> None:
            deadline = time.monotonic() + SWEEP_WAIT_S
            while True:
                try:
                    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                    return
                except apsw.BusyError as error:  # somebody still reads what was
                    if time.monotonic() >= deadline:
                        raise StoreBusy(
                            "somebody reads the database without end; what was erased is gone, "
                            "but the log still holds its bytes"
                        ) from error
                time.sleep(0.05)

        self._engine.write(tidy, when_full=True)
        self._engine.writer.run(fold, when_full=True, alone=True)
