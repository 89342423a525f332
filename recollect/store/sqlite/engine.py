"""SQLite's engine: the one writer, and a pool of reading connections.

In: pieces of work. Out: their results. Errors of SQLite leave as StoreError.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import apsw

from recollect.core.clock import Clock
from recollect.core.errors import StoreClosed
from recollect.store.sql.engine import Engine
from recollect.store.sql.statement import Statement
from recollect.store.sqlite import search
from recollect.store.sqlite.connect import SqliteConnection, open_reader, translated
from recollect.store.sqlite.writer import Writer

T = TypeVar("T")

_CLOSE_S = 2.0  # for a reader at work to be told that it is over


class SqliteEngine(Engine):
    full_text = search

    def __init__(self, path: str, writer: Writer, clock: Clock, vfs: str | None = None) -> None:
        super().__init__(clock)
        self.path = path
        self.writer = writer
        self.vfs = vfs
        self._idle: queue.LifoQueue[SqliteConnection] = queue.LifoQueue()
        self._busy: set[SqliteConnection] = set()
        self._closed = threading.Event()

    def write(self, work: Callable[[SqliteConnection], T], *, when_full: bool = False) -> T:
        return self.writer.run(work, when_full=when_full)

    @contextlib.contextmanager
    def reader(self) -> Iterator[SqliteConnection]:
        """A read-only connection, in one snapshot for as long as it is held."""
        if self._closed.is_set():
            raise StoreClosed()
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = open_reader(self.path, self.vfs)
        self._busy.add(connection)
        try:
            with translated():
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    if not connection.get_autocommit():  # some errors end it by themselves
                        connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        finally:
            self._busy.discard(connection)
        self._idle.put(connection)
        if self._closed.is_set():
            self._close_idle()

    def rows(self, statement: Statement, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with self.reader() as connection:
            return list(connection.run(statement, values))

    def close(self) -> None:
        """Close the readers, also those at work: whoever still reads is told that the store is
        closed. One that stayed open would keep the log from being folded in."""
        self._closed.set()
        self._close_idle()
        deadline = time.monotonic() + _CLOSE_S
        while self._busy and time.monotonic() < deadline:
            for connection in tuple(self._busy):
                try:
                    connection.interrupt()
                    connection.close(True)
                    self._busy.discard(connection)
                except apsw.ThreadingViolationError:
                    time.sleep(0.001)  # in the middle of a call, which was told to end
                except apsw.ConnectionClosedError:
                    self._busy.discard(connection)

    def _close_idle(self) -> None:
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return
