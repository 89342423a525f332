"""What all parts of the PostgreSQL store share: connections, the order of writers, the clock.

In: pieces of work. Out: their results, after COMMIT. A server that is away costs one caller its
patience and is not asked again for a second, so that nobody queues up before a closed door.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from recollect.core import errors
from recollect.core.clock import Clock
from recollect.store.postgres import search
from recollect.store.postgres import statements as own
from recollect.store.postgres.connection import PostgresConnection, connect
from recollect.store.sql.engine import NO_VALUES, ConstraintFailed, Engine, Statement

T = TypeVar("T")

CONNECT_S = 2
AWAY_S = 1.0  # how long a server that could not be reached is left alone
MOST = 12  # connections of one daemon
TRIES = 3


class PostgresEngine(Engine):
    """A pool of connections to one server, for one actor."""

    full_text = search

    def __init__(
        self, url: str, password: str | None, actor: str, origin: str, clock: Clock
    ) -> None:
        super().__init__(clock)
        self._closed = threading.Event()
        self.url = url
        self._password = password
        self.actor = actor
        self.origin = origin
        self._ready: queue.LifoQueue[PostgresConnection] = queue.LifoQueue()
        self._room = threading.BoundedSemaphore(MOST)
        self._away_until = 0.0
        self._away: errors.StoreError | None = None
        self._prepare_lock = threading.Lock()
        self._prepared = False
        self._inside = threading.local()
        self.prepare: Callable[[PostgresConnection], int] = lambda connection: 0

    # --- connections ---

    @property
    def reachable(self) -> bool:
        return self._away is None

    def connect(self) -> PostgresConnection:
        """A new connection; the first one that succeeds brings the schema up to date."""
        if self._closed.is_set():
            raise errors.StoreClosed()
        if self._away is not None and time.monotonic() < self._away_until:
            raise type(self._away)(str(self._away), hint=self._away.hint)
        try:
            connection = connect(self.url, self._password, self.actor, self.origin, CONNECT_S)
        except errors.StoreError as error:
            self._away_until = time.monotonic() + AWAY_S
            self._away = error
            raise
        self._away = None
        try:
            with self._prepare_lock:
                if not self._prepared:
                    self.prepare(connection)
                    self._prepared = True
        except BaseException:
            connection.close()
            raise
        return connection

    @contextlib.contextmanager
    def _connection(self) -> Iterator[PostgresConnection]:
        if self._closed.is_set():
            raise errors.StoreClosed()
        if not self._room.acquire(timeout=CONNECT_S):
            raise errors.StoreBusy("all connections to the PostgreSQL server are in use")
        try:
            connection = self._idle_one() or self.connect()
            try:
                yield connection
            except BaseException:
                if connection.lost:
                    self._drop_idle()  # a restart cuts them all
                raise
            finally:
                if connection.lost or self._closed.is_set():
                    connection.close()
                else:
                    self._ready.put(connection)
        finally:
            self._room.release()

    def _idle_one(self) -> PostgresConnection | None:
        """A connection that lay idle and was not cut meanwhile, as a restart does to all."""
        while True:
            try:
                connection = self._ready.get_nowait()
            except queue.Empty:
                return None
            if not connection.cut:
                return connection
            connection.close()

    def _drop_idle(self) -> None:
        while True:
            try:
                self._ready.get_nowait().close()
            except queue.Empty:
                return

    # --- work ---

    def write(self, work: Callable[[PostgresConnection], T], *, when_full: bool = False) -> T:
        """Read, decide and write in one transaction, one at a time for each actor."""
        return self.transact(work, one_writer=True)

    def transact(self, work: Callable[[PostgresConnection], T], *, one_writer: bool = False) -> T:
        if getattr(self._inside, "busy", False):
            raise RuntimeError("transactions do not nest")
        for attempt in range(TRIES):
            begun: list[bool] = []
            try:
                return self._once(work, one_writer, begun)
            except errors.StoreBusy as error:
                # A connection that was cut while it lay idle is no news; what was begun is, unless
                # the server chose us to give way and rolled it back.
                gave_way = getattr(error.__cause__, "sqlstate", None) in ("40001", "40P01")
                if attempt + 1 == TRIES or (begun and not gave_way):
                    raise
        raise AssertionError("unreachable")

    def _once(
        self, work: Callable[[PostgresConnection], T], one_writer: bool, begun: list[bool]
    ) -> T:
        with self._connection() as connection:
            connection.run(own.BEGIN)
            if one_writer:
                connection.run(own.ONE_WRITER, {"actor": self.actor})
            begun.append(True)
            self._inside.busy = True
            try:
                result = work(connection)
            except BaseException:
                self._undo(connection)
                raise
            finally:
                self._inside.busy = False
            try:
                connection.execute("COMMIT")
            except ConstraintFailed as error:  # a check that was put off until now
                raise errors.BadInput(f"this does not hold together: {error.reason}") from error
            return result

    def once(self, work: Callable[[PostgresConnection], T]) -> T:
        """One statement that is a transaction by itself. It is not tried again: whether it was
        done before the connection was lost, nobody knows."""
        with self._connection() as connection:
            return work(connection)

    @staticmethod
    def _undo(connection: PostgresConnection) -> None:
        if connection.lost:
            return
        try:
            connection.execute("ROLLBACK")
        except errors.StoreError:
            connection.close()  # the server rolls back what it loses sight of

    @contextlib.contextmanager
    def reader(self) -> Iterator[PostgresConnection]:
        """A connection in one snapshot for as long as it is held."""
        with self._fresh(own.BEGIN_READ) as connection:
            try:
                yield connection
            finally:
                self._undo(connection)

    @contextlib.contextmanager
    def _fresh(self, first: Statement) -> Iterator[PostgresConnection]:
        """A connection on which a first statement succeeded: an idle one may have been cut."""
        for attempt in range(TRIES):
            holder = self._connection()
            connection = holder.__enter__()
            try:
                connection.run(first)
            except errors.StoreBusy as error:
                with contextlib.suppress(errors.StoreBusy):
                    holder.__exit__(type(error), error, error.__traceback__)
                if attempt + 1 == TRIES:
                    raise
                continue
            except BaseException as error:
                holder.__exit__(type(error), error, error.__traceback__)
                raise
            break
        try:
            yield connection
        except BaseException as error:
            if not holder.__exit__(type(error), error, error.__traceback__):
                raise
        else:
            holder.__exit__(None, None, None)

    def rows(
        self, statement: Statement, values: Mapping[str, Any] = NO_VALUES
    ) -> list[tuple[Any, ...]]:
        """One statement, in a transaction of its own."""
        return self._retried(lambda connection: connection.run(statement, values).fetchall())

    def _retried(self, work: Callable[[PostgresConnection], T]) -> T:
        for attempt in range(TRIES):
            try:
                with self._connection() as connection:
                    return work(connection)
            except errors.StoreBusy:
                if attempt + 1 == TRIES:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        self._closed.set()
        self._drop_idle()
