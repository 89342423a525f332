"""The PostgreSQL backend: one server, many daemons.

In: settings with the server's address, and a clock. Out: a `Store` that behaves as SQLite's does;
the rooms of `store/sqlite` do the work, on statements in PostgreSQL's dialect. The server may be
away when the store opens and at any time later: what needs it raises StoreBusy until it is back.
"""

import logging
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from recollect.core import ids, projects
from recollect.core.clock import Clock, SystemClock
from recollect.core.errors import StoreBusy, StoreError, WrongStore
from recollect.core.oslayer import FileLock, private_directory
from recollect.core.settings import Settings
from recollect.core.values import Entity, Fact, Procedure
from recollect.store.interface import Batch, Chosen, Hit, Row, Selection, Transaction
from recollect.store.postgres import search
from recollect.store.postgres import statements as sql
from recollect.store.postgres.changes import PostgresChanges
from recollect.store.postgres.dialect import near
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.postgres.events import PostgresEvents
from recollect.store.postgres.migrations import migrate
from recollect.store.postgres.password import from_keychain
from recollect.store.postgres.upkeep import PostgresUpkeep
from recollect.store.sqlite import SqliteTransaction
from recollect.store.sqlite.aging import SqliteAging
from recollect.store.sqlite.connect import refused
from recollect.store.sqlite.graph import SqliteGraph
from recollect.store.sqlite.holdings import SqliteHoldings
from recollect.store.sqlite.log import SqliteLog
from recollect.store.sqlite.projects import SqliteProjects
from recollect.store.sqlite.records import SqliteRecords
from recollect.store.sqlite.runs import SqliteRuns
from recollect.store.sqlite.search import MAX_TERMS
from recollect.store.sqlite.sessions import SqliteReceipts, SqliteSessions
from recollect.store.sqlite.usage import SqliteUsage
from recollect.store.sqlite.vectors import SqliteVectors

log = logging.getLogger(__name__)

T = TypeVar("T")


class PostgresRecords(SqliteRecords):
    def __init__(self, engine: PostgresEngine) -> None:
        super().__init__(engine)
        self._server = engine

    def search(
        self,
        namespaces: Sequence[str],
        query: str,
        limit: int,
        *,
        raw: bool = False,
        most_terms: int = MAX_TERMS,
    ) -> list[Hit]:
        with self._server.reader() as db:
            return search.records(db, namespaces, query, limit, raw=raw, most_terms=most_terms)


class PostgresGraph(SqliteGraph):
    def __init__(self, engine: PostgresEngine) -> None:
        super().__init__(engine)
        self._server = engine

    def search(self, namespace: str, query: str, limit: int) -> list[Entity | Fact | Procedure]:
        with self._server.reader() as db:
            return search.things(db, namespace, query, limit)


class PostgresVectors(SqliteVectors):
    indexed = True

    def __init__(self, engine: PostgresEngine) -> None:
        super().__init__(engine)
        self._server = engine

    def nearest(
        self, namespace: str, model: str, vector: bytes, limit: int
    ) -> list[tuple[str, float]]:
        with self._server.reader() as db:
            values = {"namespace": namespace, "model": model, "near": near(vector), "limit": limit}
            return [(owner, 1.0 - distance) for owner, distance in db.run(sql.FIND_NEAREST, values)]


class PostgresHoldings(SqliteHoldings):
    def __init__(
        self, engine: PostgresEngine, events: PostgresEvents, projects: SqliteProjects
    ) -> None:
        super().__init__(engine, events, projects)
        self._server = engine

    def load(self, rows: Sequence[Row]) -> dict[str, int]:
        loaded = super().load(rows)
        self._server.ask(sql.GO_ON_COUNTING, {})
        return loaded

    def _patiently(self, work: Callable[[Any], Chosen]) -> Chosen:
        def deferred(db: Any) -> Chosen:
            db.run(sql.DEFER)  # rows that refer to each other move one table at a time
            return work(db)

        return super()._patiently(deferred)

    def sweep(self) -> None:
        """Take dead rows out of the tables. What the server's log and backups keep is its own."""
        self._server.ask(sql.SWEEP, {})

    def erase_in_backup(
        self, path: str, namespace: str, what: Selection, *, apply: bool = True
    ) -> Chosen:
        raise StoreError(
            "backups of a store on PostgreSQL are the server's", hint="Make a new pg_dump."
        )


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


class PostgresStore:
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
            self._lock = _hold(settings)
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
        self.records = PostgresRecords(engine)
        self.vectors = PostgresVectors(engine)
        self.graph = PostgresGraph(engine)
        self.sessions = SqliteSessions(engine)
        self.receipts = SqliteReceipts(engine)
        self.runs = SqliteRuns(engine)
        self.log = SqliteLog(engine)
        self.projects = SqliteProjects(engine)
        self.aging = SqliteAging(engine)
        self.usage = SqliteUsage(engine)
        self.upkeep = PostgresUpkeep(engine)
        self.holdings = PostgresHoldings(engine, self.events, self.projects)
        self.changes = PostgresChanges(engine, self.events, self.projects)
        try:
            self.writer.problem = self._writable(actor)
            if not self.writer.problem:
                self.log.purge(clock.now() - timedelta(days=settings.kept_days("archive")))
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
        login, acts, writes, standby = self._engine.ask(sql.MAY, {})[0]
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

    def transaction(self, work: Callable[[Transaction], T]) -> T:
        changed: dict[str, set[str]] = {}

        def run(db: Any) -> T:
            handle = PostgresTransaction(db, self._engine.clock, self.events)
            value = work(handle)
            handle.must_stand()
            changed.update(handle.graphs)
            return value

        result = self._engine.write(run)
        for namespace, things in changed.items():
            self._engine.news.note(namespace, things)
        return result

    @property
    def engine(self) -> PostgresEngine:
        """For `store.copying`, which treats all tables alike."""
        return self._engine

    def copied(self) -> None:
        """Rows came in with their numbers: new ones go on from there."""
        self._engine.ask(sql.GO_ON_COUNTING, {})

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


class PostgresTransaction(SqliteTransaction):
    """The restricted handle, on a connection in a transaction."""

    def __init__(self, db: Any, clock: Clock, events: PostgresEvents) -> None:
        super().__init__(db, clock)
        self._events = events

    def finish(self, batch: Batch) -> None:
        self._events.finish(self._db, batch)  # type: ignore[arg-type]


def _hold(settings: Settings) -> FileLock:
    try:
        private_directory(settings.directory)
        lock = FileLock(settings.path("lock"))
        held = lock.acquire()
    except OSError as error:
        raise refused(error, settings.directory) from error
    if not held:
        raise StoreBusy(f"process {lock.holder()} holds {settings.directory}")
    return lock
