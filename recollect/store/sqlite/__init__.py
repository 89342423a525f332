"""The SQLite backend: one file, one writing connection, many readers.

In: settings and a clock. Out: a `Store`. Opening refuses politely: a file that is not ours, a
newer or drifted schema, a directory that cannot be written, a store that another process holds.
"""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import apsw

from recollect.core import store_key
from recollect.core.clock import Clock, SystemClock
from recollect.core.errors import DamagedDatabase, NotADatabase
from recollect.core.settings import Settings
from recollect.store.directory import hold
from recollect.store.interface import Change, Store, Transaction
from recollect.store.sql.aging import SqlAging
from recollect.store.sql.graph import SqlGraph
from recollect.store.sql.log import SqlLog
from recollect.store.sql.projects import SqlProjects
from recollect.store.sql.records import SqlRecords
from recollect.store.sql.runs import SqlRuns
from recollect.store.sql.sessions import SqlReceipts, SqlSessions
from recollect.store.sql.turn_works import SqlTurnWorks
from recollect.store.sql.usage import SqlUsage
from recollect.store.sql.vectors import SqlVectors
from recollect.store.sqlite.bulk import SqliteBulk
from recollect.store.sqlite.connect import SqliteConnection, open_writer, translated
from recollect.store.sqlite.engine import Reserve, SqliteEngine, Writer
from recollect.store.sqlite.events import SqliteEvents
from recollect.store.sqlite.ledger import NAME, Ledger, Mark, refuse_emptied, refuse_less
from recollect.store.sqlite.migrations import migrate
from recollect.store.sqlite.transaction import SqliteTransaction
from recollect.store.sqlite.upkeep import SqliteUpkeep

T = TypeVar("T")

DATABASE = store_key.DATABASE


class OnlyWriter:
    """There are no other processes: the data directory's lock sees to that."""

    def subscribe(self, told: Callable[[Change], None]) -> None:
        pass


class SqliteStore(Store):
    events: SqliteEvents

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        vfs: str | None = None,
        doing: Callable[[str], None] = lambda what: None,
    ) -> None:
        self._lock = hold(settings)
        doing("opening the database")
        try:
            self._open(settings, clock or SystemClock(), vfs, doing)
        except BaseException:
            self._lock.release()
            raise

    def _open(
        self, settings: Settings, clock: Clock, vfs: str | None, doing: Callable[[str], None]
    ) -> None:
        path = settings.path(DATABASE)
        ledger = Ledger(settings.path(NAME), clock)
        connection = _opened(path, vfs, ledger.mark, settings)
        try:
            doing("bringing the database up to date")
            with translated():
                migrate(connection, clock)
                ledger.open(connection)
            with contextlib.suppress(OSError):  # a full disk; hooks then do without
                store_key.write_public_key(settings.directory, store_key.key_of(path))
        except BaseException:
            with contextlib.suppress(apsw.Error):  # what went wrong before is the reason
                connection.close()
            raise
        self.writer = Writer(
            connection,
            ledger,
            Reserve(settings.path("reserve"), settings.reserve_mb << 20),
        )
        self._engine = engine = SqliteEngine(path, self.writer, clock, vfs)
        self.events = SqliteEvents(engine)
        self.records = SqlRecords(engine)
        self.vectors = SqlVectors(engine)
        self.graph = SqlGraph(engine)
        self.sessions = SqlSessions(engine)
        self.receipts = SqlReceipts(engine)
        self.runs = SqlRuns(engine)
        self.log = SqlLog(engine)
        self.projects = SqlProjects(engine)
        self.aging = SqlAging(engine)
        self.usage = SqlUsage(engine)
        self.turn_works = SqlTurnWorks(engine)
        self.upkeep = SqliteUpkeep(engine)
        self.changes = OnlyWriter()
        self.bulk = SqliteBulk(engine, self.events, self.projects)
        self.aging.purge("archive", clock.now() - timedelta(days=settings.kept_days("archive")))

    def transaction(self, work: Callable[[Transaction], T], *, when_full: bool = False) -> T:
        handle: list[SqliteTransaction] = []

        def run(db: SqliteConnection) -> T:
            handle.append(SqliteTransaction(db, self._engine.clock))
            value = work(handle[0])
            handle[0].must_stand()
            return value

        result = self._engine.write(run, when_full=when_full)
        for batch in handle[0].finished:
            self.events.let_go(batch)
        for namespace, changed in handle[0].graphs.items():
            self._engine.graph_versions.note(namespace, changed)
        return result

    @property
    def engine(self) -> SqliteEngine:
        """For `store.copying`, which treats all tables alike."""
        return self._engine

    def copied(self) -> None:
        """Rows came in with their numbers; SQLite goes on counting by itself."""

    def close(self) -> None:
        # Readers first: the last connection to close folds the log in, and only the writer can.
        self._engine.close()
        self.writer.close()
        self._lock.release()


def _opened(path: str, vfs: str | None, known: Mark, settings: Settings) -> SqliteConnection:
    refuse_emptied(path, known)
    source = settings.encryption_key
    store_key.use(source)
    key = store_key.make(source) if source and not store_key.is_there(path) else None
    try:
        return open_writer(path, vfs, lambda db: refuse_less(db, path, known), key)
    except NotADatabase as error:
        if not known.commits:
            raise
        raise DamagedDatabase(f"{error}, though it was one") from error
