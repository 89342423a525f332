"""The SQLite backend: one file, one writing connection, many readers.

In: settings and a clock. Out: a `Store`. Opening refuses politely: a file that is not ours, a
newer or drifted schema, a directory that cannot be written, a store that another process holds.
"""

import contextlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import apsw

from recollect.core.clock import Clock, SystemClock
from recollect.core.errors import DamagedDatabase, NotADatabase, StoreBusy
from recollect.core.oslayer import FileLock, private_directory
from recollect.core.settings import Settings
from recollect.core.values import (
    Checkpoint,
    Entity,
    Fact,
    Operation,
    OperationKind,
    Preference,
    Procedure,
    Record,
    Relationship,
    Vector,
)
from recollect.store.interface import Batch, Change, Transaction, Waiting
from recollect.store.sqlite import aging, events, graph_changes, records
from recollect.store.sqlite.aging import SqliteAging
from recollect.store.sqlite.connect import explained, open_writer, refused, translated
from recollect.store.sqlite.engine import Engine
from recollect.store.sqlite.events import SqliteEvents
from recollect.store.sqlite.graph import SqliteGraph, changed_in, keep_waiting, put_things
from recollect.store.sqlite.holdings import SqliteHoldings
from recollect.store.sqlite.ledger import NAME, Ledger, Mark, refuse_emptied, refuse_less
from recollect.store.sqlite.log import SqliteLog
from recollect.store.sqlite.migrations import migrate
from recollect.store.sqlite.operations import get_operation, new_operation, put_operation
from recollect.store.sqlite.projects import SqliteProjects
from recollect.store.sqlite.records import SqliteRecords
from recollect.store.sqlite.runs import SqliteRuns
from recollect.store.sqlite.sessions import SqliteReceipts, SqliteSessions, put_checkpoint
from recollect.store.sqlite.upkeep import SqliteUpkeep
from recollect.store.sqlite.usage import SqliteUsage
from recollect.store.sqlite.vectors import SqliteVectors, put_vector
from recollect.store.sqlite.writer import EVERYBODYS, Reserve, Writer

T = TypeVar("T")

DATABASE = "recollect.db"


class OnlyWriter:
    """There are no other processes: the data directory's lock sees to that."""

    def subscribe(self, told: Callable[[Change], None]) -> None:
        pass


class SqliteStore:
    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        vfs: str | None = None,
        doing: Callable[[str], None] = lambda what: None,
    ) -> None:
        try:
            private_directory(settings.directory)
            self._lock = FileLock(settings.path("lock"))
            locked = self._lock.acquire()
        except OSError as error:
            raise refused(error, settings.directory) from error
        if not locked:
            raise StoreBusy(f"process {self._lock.holder()} holds {settings.directory}")
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
        connection = _opened(path, vfs, ledger.mark)
        try:
            doing("bringing the database up to date")
            with translated():
                migrate(connection, clock)
                ledger.open(connection)
        except BaseException:
            with contextlib.suppress(apsw.Error):  # what went wrong before is the reason
                connection.close()
            raise
        self.writer = Writer(
            connection,
            ledger,
            Reserve(settings.path("reserve"), settings.reserve_mb << 20),
        )
        self._engine = engine = Engine(path, self.writer, clock, vfs)
        self.events = SqliteEvents(engine)
        self.records = SqliteRecords(engine)
        self.vectors = SqliteVectors(engine)
        self.graph = SqliteGraph(engine)
        self.sessions = SqliteSessions(engine)
        self.receipts = SqliteReceipts(engine)
        self.runs = SqliteRuns(engine)
        self.log = SqliteLog(engine)
        self.projects = SqliteProjects(engine)
        self.aging = SqliteAging(engine)
        self.usage = SqliteUsage(engine)
        self.upkeep = SqliteUpkeep(engine)
        self.changes = OnlyWriter()
        self.holdings = SqliteHoldings(engine, self.events, self.projects)
        self.log.purge(clock.now() - timedelta(days=settings.kept_days("archive")))

    def transaction(self, work: Callable[[Transaction], T]) -> T:
        handle: list[SqliteTransaction] = []

        def run(db: apsw.Connection) -> T:
            handle.append(SqliteTransaction(db, self._engine.clock))
            value = work(handle[0])
            handle[0].must_stand()
            return value

        result = self._engine.write(run)
        for batch in handle[0].finished:
            self.events.let_go(batch)
        for namespace, changed in handle[0].graphs.items():
            self._engine.news.note(namespace, changed)
        return result

    @property
    def engine(self) -> Engine:
        """For `store.copying`, which treats all tables alike."""
        return self._engine

    def copied(self) -> None:
        """Rows came in with their numbers; SQLite goes on counting by itself."""

    def close(self) -> None:
        # Readers first: the last connection to close folds the log in, and only the writer can.
        self._engine.close()
        self.writer.close()
        self._lock.release()


def _opened(path: str, vfs: str | None, known: Mark) -> apsw.Connection:
    refuse_emptied(path, known)
    try:
        return open_writer(path, vfs, lambda db: refuse_less(db, path, known))
    except NotADatabase as error:
        if not known.commits:
            raise
        raise DamagedDatabase(f"{error}, though it was one") from error


class SqliteTransaction:
    """The restricted handle. Everything here happens on the writing connection."""

    def __init__(self, db: apsw.Connection, clock: Clock) -> None:
        self._connection = db
        self._clock = clock
        self._broken: apsw.Error | None = None
        self.finished: list[Batch] = []
        self.graphs: dict[str, set[str]] = {}  # namespace: things of its graph that changed

    @property
    def _db(self) -> apsw.Connection:
        self.must_stand()
        return self._connection

    def must_stand(self) -> None:
        """A disk that fails inside a part may end the whole transaction: nothing may follow, not
        even when the caller swallowed the error. Otherwise each later write commits by itself."""
        if self._broken is not None:
            raise self._broken

    def records(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        return records.read(self._db, namespace, record_ids)

    def put_record(self, record: Record, operation: str | None = None) -> Record:
        stamped = records.stamp(record, self._clock)
        records.insert(self._db, stamped, since=stamped.updated_at, op_id=operation)
        return stamped

    def replace_record(self, record: Record) -> Record:
        return records.put_over(self._db, record, self._clock)

    def put_vector(self, vector: Vector) -> None:
        put_vector(self._db, vector)

    def put_graph(self, *things: Entity | Relationship | Fact | Procedure | Preference) -> None:
        put_things(self._db, things, self._clock.now())
        self._changed(things)

    def change_graph(
        self,
        namespace: str,
        operation: str,
        displaced: Sequence[str],
        things: Sequence[Entity | Relationship | Fact | Procedure | Preference] = (),
    ) -> None:
        known = get_operation(self._db, namespace, operation)
        assert known is not None  # the caller logged it in this transaction
        graph_changes.change(self._db, known, displaced, things, self._clock.now())
        self._changed(things)
        self.graphs.setdefault(namespace, set()).update(displaced)

    def _changed(
        self, things: Sequence[Entity | Relationship | Fact | Procedure | Preference]
    ) -> None:
        for namespace, ids in changed_in(things).items():
            self.graphs.setdefault(namespace, set()).update(ids)

    def keep_waiting(
        self, namespace: str, put: Sequence[Waiting], drop: Sequence[str], most: int
    ) -> None:
        keep_waiting(self._db, namespace, put, drop, most)

    def put_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        return put_checkpoint(self._db, checkpoint, self._clock.now())

    def delete_records(self, namespace: str, record_ids: Sequence[str], operation: str) -> int:
        known = get_operation(self._db, namespace, operation)
        assert known is not None  # the caller logged it in this transaction
        return len(records.displace(self._db, namespace, record_ids, known))

    def mark(self, namespace: str, source_ids: Sequence[str], into_id: str) -> None:
        aging.mark(self._db, namespace, source_ids, into_id, self._clock.now())

    def log(
        self,
        kind: OperationKind,
        namespace: str,
        actor: str,
        *,
        targets: Sequence[str] = (),
        created: Sequence[str] = (),
        reason: str = "",
        detail: Any = None,
    ) -> Operation:
        operation = new_operation(
            self._clock,
            kind,
            namespace,
            actor,
            targets=targets,
            created=created,
            reason=reason,
            detail=detail,
        )
        put_operation(self._db, operation)
        return operation

    def finish(self, batch: Batch) -> None:
        events.finish(self._db, batch)
        self.finished.append(batch)

    def attempt(self, part: Callable[[], T]) -> T:
        try:
            with self._db:  # apsw nests: inside a transaction this is a savepoint
                try:
                    value = part()
                except EVERYBODYS as error:
                    self._broken = error
                    raise
        except apsw.Error as error:
            if self._broken is None and self._connection.get_autocommit():
                self._broken = error
            raise explained(self._broken or error) from error
        return value
