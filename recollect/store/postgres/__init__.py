"""The PostgreSQL backend: one server, many daemons.

In: settings with the server's address, and a clock. Out: a `Store` that behaves as SQLite's does;
`store/sql` does the work. The server may be
away when the store opens and at any time later: what needs it raises StoreBusy until it is back.
"""

import logging
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from recollect.core import ids, keychain, projects
from recollect.core.clock import Clock, SystemClock
from recollect.core.errors import StoreBusy, StoreError, WrongStore
from recollect.core.oslayer import FileLock
from recollect.core.settings import Settings
from recollect.store.directory import hold
from recollect.store.interface import Batch, Chosen, Row, Store, Transaction
from recollect.store.postgres import statements as own
from recollect.store.postgres.changes import PostgresChanges
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.postgres.events import PostgresEvents
from recollect.store.postgres.migrations import migrate
from recollect.store.postgres.upkeep import PostgresUpkeep
from recollect.store.postgres.values import near
from recollect.store.sql.aging import SqlAging
from recollect.store.sql.bulk import SqlBulk
from recollect.store.sql.graph import SqlGraph
from recollect.store.sql.log import SqlLog
from recollect.store.sql.projects import SqlProjects
from recollect.store.sql.records import SqlRecords
from recollect.store.sql.runs import SqlRuns
from recollect.store.sql.sessions import SqlReceipts, SqlSessions
from recollect.store.sql.transaction import SqlTransaction
from recollect.store.sql.turn_works import SqlTurnWorks
from recollect.store.sql.usage import SqlUsage
from recollect.store.sql.vectors import SqlVectors

log = logging.getLogger(__name__)

T = TypeVar("T")


class PostgresVectors(SqlVectors):
    indexed = True

    def __init__(self, engine: PostgresEngine) -> None:
        super().__init__(engine)
        self._server = engine

    def nearest(
        self, namespace: str, model: str, vector: bytes, limit: int
    ) -> list[tuple[str, float]]:
        wanted = near(vector)
        if wanted is None:
            return []  # the server's index holds vectors of the default length
        with self._server.reader() as db:
            values = {"namespace": namespace, "model": model, "near": wanted, "limit": limit}
            return [(owner, 1.0 - distance) for owner, distance in db.run(own.FIND_NEAREST, values)]


class PostgresBulk(SqlBulk):
    def __init__(
        self, engine: PostgresEngine, events: PostgresEvents, projects: SqlProjects
    ) -> None:
        super().__init__(engine, events, projects)
        self._server = engine

    def load(self, rows: Sequence[Row]) -> dict[str, int]:
        loaded = super().load(rows)
        self._server.rows(own.GO_ON_COUNTING, {})
        return loaded

    def _patiently(self, work: Callable[[Any], Chosen]) -> Chosen:
        def deferred(db: Any) -> Chosen:
            db.run(own.DEFER)  # rows that refer to each other move one table at a time
            return work(db)

        return super()._patiently(deferred)

    def sweep(self) -> None:
        """Take dead rows out of the tables. What the server's log and backups keep is its own."""
        self._server.rows(own.SWEEP, {})


class Link:
    """What health tells of the server. It never fails for good, as a broken disk does."""

    kind = "postgresql"
    failure: StoreError | None = None
    disk_full = False

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine
        self.problem = ""  # why it takes no writes, as far as it was known at the start

    @property
    def reachable(self) -> bool:
        return self._engine.reachable


class PostgresStore(Store):
    events: PostgresEvents
    changes: PostgresChanges

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        *,
        locked: bool = True,
        needed: bool = False,
        doing: Callable[[str], None] = lambda what: None,
    ) -> None:
        """With `locked` the data directory is held, as one daemon must; tools that only look at
        the server do without. A daemon opens without its server, and waits for it; a tool that
        is of no use then says that it is `needed`."""
        self._lock: FileLock | None = None
        if locked:
            self._lock = hold(settings)
        doing("asking the server")
        try:
            self._open(settings, clock or SystemClock(), needed)
        except BaseException:
            self._release()
            raise

    def _open(self, settings: Settings, clock: Clock, needed: bool) -> None:
        url = settings.store
        actor = projects.segment(settings.actor_id)  # as it stands in its namespaces
        self._engine = engine = PostgresEngine(
            url, from_keychain(), actor, f"{os.getpid()}-{ids.new_ulid()}", clock
        )
        engine.prepare = lambda connection: migrate(connection, clock)
        self.writer = Link(engine)
        self.events = PostgresEvents(engine)
        self.records = SqlRecords(engine)
        self.vectors = PostgresVectors(engine)
        self.graph = SqlGraph(engine)
        self.sessions = SqlSessions(engine)
        self.receipts = SqlReceipts(engine)
        self.runs = SqlRuns(engine)
        self.log = SqlLog(engine)
        self.projects = SqlProjects(engine)
        self.aging = SqlAging(engine)
        self.usage = SqlUsage(engine)
        self.turn_works = SqlTurnWorks(engine)
        self.upkeep = PostgresUpkeep(engine)
        self.bulk = PostgresBulk(engine, self.events, self.projects)
        self.changes = PostgresChanges(engine, self.events, self.projects)
        try:
            self.writer.problem = self._writable(actor)
            if not self.writer.problem:
                self.aging.purge(
                    "archive", clock.now() - timedelta(days=settings.kept_days("archive"))
                )
        except StoreBusy as error:
            if needed:
                raise
            log.warning("the store is away, and events are spooled until it is back: %s", error)
        except StoreError:
            engine.close()
            raise

    def _writable(self, actor: str) -> str:
        """Why nothing can be written; empty when it can. WrongStore for a login that may not act
        for this actor at all."""
        login, acts, writes, standby = self._engine.rows(own.MAY, {})[0]
        if not acts:
            raise WrongStore(
                f"the login {login!r} may not act for {actor!r}",
                hint=f"As the owner of the tables: SELECT recollect.admit('{login}', '{actor}'); "
                "or correct the setting `actor`.",
            )
        if standby:
            return "the server takes no writes: it is a standby, or was set read-only"
        if not writes:
            return (
                f"the login {login!r} may only read; its owner can let it write: "
                f"SELECT recollect.admit('{login}', '{actor}')"
            )
        return ""

    def transaction(self, work: Callable[[Transaction], T], *, when_full: bool = False) -> T:
        changed: dict[str, set[str]] = {}

        def run(db: Any) -> T:
            handle = PostgresTransaction(db, self._engine.clock, self.events)
            value = work(handle)
            changed.update(handle.graphs)
            return value

        result = self._engine.write(run, when_full=when_full)
        for namespace, things in changed.items():
            self._engine.graph_versions.note(namespace, things)
        return result

    @property
    def engine(self) -> PostgresEngine:
        """For `store.copying`, which treats all tables alike."""
        return self._engine

    def copied(self) -> None:
        """Rows came in with their numbers: new ones go on from there."""
        self._engine.rows(own.GO_ON_COUNTING, {})

    def close(self) -> None:
        if not self._engine._closed.is_set():
            self.changes.close()
            try:
                self.events.give_back()
            except StoreError as error:
                log.debug("claims die by themselves: %s", error)
        self._engine.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class PostgresTransaction(SqlTransaction):
    def __init__(self, db: Any, clock: Clock, events: PostgresEvents) -> None:
        super().__init__(db, clock)
        self._events = events

    def finish(self, batch: Batch) -> None:
        self._events.finish(self._db, batch)

    def attempt(self, part: Callable[[], T]) -> T:
        with self._db:  # a savepoint
            return part()


def from_keychain() -> str | None:
    """What `keyring set recollect PGPASSWORD` keeps, unless the environment has a password. libpq
    finds PGPASSWORD and ~/.pgpass by itself, and nobody but libpq is given it."""
    return None if os.environ.get("PGPASSWORD") else keychain.read("PGPASSWORD") or None
