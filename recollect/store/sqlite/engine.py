"""SQLite's engine: one writer, a thread that shares commits among callers, and a pool of readers.

In: functions of a connection. Out: their results; those of the writer after COMMIT with
synchronous=FULL. Each runs in a savepoint, so a bad one fails alone. A full disk fails what waits
and heals by itself; a write that cannot be made durable stops the writer for good (StoreFailed),
and is never retried. Errors of SQLite leave as StoreError.
"""

import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import apsw

from recollect.core import errors, oslayer
from recollect.core.clock import Clock
from recollect.store.sql.engine import Engine, Statement
from recollect.store.sqlite import search
from recollect.store.sqlite.connect import (
    BUSY_MS,
    LAST_EVENT,
    SqliteConnection,
    explained,
    open_reader,
)
from recollect.store.sqlite.ledger import Ledger

log = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[SqliteConnection], T]

# Errors of the disk or the file: not one caller's own, and nothing of the transaction stands.
EVERYBODYS = (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.NotADBError)

# One fsync serves all who write at once. 5 ms is less than an fsync takes on most disks, so nobody
# notices the wait; 64 rows keep one commit short for those who come next.
COMMIT_ROWS = 64
COMMIT_WAIT_S = 0.005
_LOG_PAGES = 1000  # a log of this length is folded into the database
_VACUUM_PAGES = 256  # how much is given back to a full disk at a time: it costs log first
_SLACK = 1 << 20  # free space, beyond the reserve, that counts as "there is room again"
_LOOK_S = 1.0  # how often a full disk is looked at when nobody writes
_CLOSE_S = 2.0  # for a reader at work to be told that it is over
_FOLD_S = 3.0  # how long a stop waits for readers of another process before it leaves the log


@dataclass(slots=True)
class _Pending(Generic[T]):
    """One waiting caller. It holds `done` until its work is settled."""

    work: Work[T]
    when_full: bool
    alone: bool
    result: T | None = None
    error: BaseException | None = None
    done: threading.Lock = field(default_factory=threading.Lock)

    def settle(self, error: BaseException | None = None) -> None:
        if error is not None:
            self.error = error
        self.done.release()


class Reserve:
    """Disk space held back in a file, so that a full disk can still be tidied."""

    def __init__(self, path: str, size: int) -> None:
        self._path = path
        self._size = size

    def room(self) -> bool:
        """Whether there is space for the reserve and something more."""
        try:
            return oslayer.free_bytes(os.path.dirname(self._path)) >= self._size + _SLACK
        except OSError:
            return False

    def hold(self) -> bool:
        """Take the space if there is enough; False when there is not."""
        if self._size == 0:
            return True
        try:
            if os.path.exists(self._path) and os.path.getsize(self._path) == self._size:
                return True
            if not self.room():
                return False
            oslayer.private_file(self._path)
            with open(self._path, "wb") as file:
                oslayer.allocate(file.fileno(), self._size)
        except OSError:
            self.release()
            return False
        return True

    def release(self) -> None:
        with contextlib.suppress(OSError):  # gone already, or there is nothing more we could do
            os.unlink(self._path)


class Writer:
    """Group commit: callers that wait, up to COMMIT_ROWS or for COMMIT_WAIT_S, share a commit."""

    kind = "sqlite"
    problem = ""

    def __init__(
        self,
        connection: SqliteConnection,
        ledger: Ledger,
        reserve: Reserve,
    ) -> None:
        self._connection = connection
        self.ledger = ledger
        self._reserve = reserve
        self._queue: queue.SimpleQueue[_Pending[Any] | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._failure: errors.StoreError | None = None
        self._full = not reserve.hold()
        self._log_pages = 0
        self.checkpoint_pages = _LOG_PAGES
        # SQLite's own checkpoints swallow their errors, and make those who wait wait longer.
        connection.set_wal_hook(self._log_grew)
        self._thread = threading.Thread(target=self._loop, name="recollect-writer", daemon=True)
        self._thread.start()

    @property
    def disk_full(self) -> bool:
        return self._full

    @property
    def failure(self) -> errors.StoreError | None:
        return self._failure

    def run(self, work: Work[T], *, when_full: bool = False, alone: bool = False) -> T:
        """Do a piece of work in a transaction; returns after it is durable. `when_full`: worth
        trying on a full disk, because it frees space. `alone`: between transactions, for what
        cannot happen inside one."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("transactions do not nest")
        pending = _Pending(work, when_full, alone)
        pending.done.acquire()
        with self._gate:
            if self._closed:
                raise _again(self._failure) if self._failure else errors.StoreClosed()
            self._queue.put(pending)
        pending.done.acquire()
        if pending.error is not None:
            raise pending.error
        return cast(T, pending.result)

    def close(self) -> None:
        """Commit what was accepted, then close the connection."""
        with self._gate:
            already = self._closed
            self._closed = True
            if not already:
                self._queue.put(None)
        self._thread.join()

    # --- the thread ---

    def _loop(self) -> None:
        company = 1  # how many shared the last commit: how many it is worth waiting for
        stopping = False
        while not stopping:
            batch, stopping = self._gather(company)
            single = [pending for pending in batch if pending.alone]
            shared = [pending for pending in batch if not pending.alone]
            if shared:
                company = len(shared)
                self._commit(shared)
                long = self._full or self._log_pages >= self.checkpoint_pages
                if long and self._failure is None:
                    self._tidy()
            for pending in single:
                self._run_alone(pending)
            if self._failure is not None:
                stopping = True
        self._finish()

    def _gather(self, company: int) -> tuple[list[_Pending[Any]], bool]:
        try:
            first = self._queue.get(timeout=_LOOK_S if self._full else None)
        except queue.Empty:
            # Nobody asks for anything: look by ourselves whether there is room again.
            self._full = not (self._reserve.room() and self._reserve.hold())
            return [], False
        if first is None:
            return [], True
        batch = [first]
        deadline = time.monotonic() + COMMIT_WAIT_S
        while len(batch) < COMMIT_ROWS:
            try:
                # A lone caller never waits for company that did not come last time either.
                left = deadline - time.monotonic() if len(batch) < company else 0.0
                item = self._queue.get(timeout=left) if left > 0 else self._queue.get_nowait()
            except queue.Empty:
                break
            if item is None:
                return batch, True
            batch.append(item)
        return batch, False

    def _commit(self, batch: list[_Pending[Any]]) -> None:
        if self._full and self._reserve.hold():
            self._full = False
        if self._full:
            for pending in [one for one in batch if not one.when_full]:
                batch.remove(pending)
                pending.settle(errors.DiskFull())
        if not batch:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            before = self._connection.total_changes()
            for pending in batch:
                self._run_one(pending)
            changed = self._connection.total_changes() != before
            commits = self.ledger.mark.commits + 1
            if changed:
                # Into the header of the file: a page of the log, and no table.
                number = min(commits, 2**31 - 1)
                self._connection.execute(f"PRAGMA user_version = {number}")
            self._connection.execute("COMMIT")
        except apsw.Error as error:
            self._abandon(batch, error)
            return
        if changed:
            # In the ledger before anybody hears of it.
            with contextlib.suppress(apsw.Error):  # the commit stands; the next one meets this too
                last = self._connection.execute(LAST_EVENT).get
                self.ledger.write(commits=commits, events=last or 0)
        for pending in batch:
            pending.done.release()

    def _run_one(self, pending: _Pending[Any]) -> None:
        """One caller's work. Its own failure stays its own; a failing disk is everybody's."""
        self._connection.execute("SAVEPOINT work")
        try:
            pending.result = pending.work(self._connection)
        except EVERYBODYS:
            raise
        except BaseException as error:
            if self._connection.get_autocommit():
                raise apsw.IOError("the transaction was rolled back under the writer") from error
            self._connection.execute("ROLLBACK TO work")
            pending.error = explained(error) if isinstance(error, apsw.Error) else error
        self._connection.execute("RELEASE work")

    def _run_alone(self, pending: _Pending[Any]) -> None:
        if self._failure is not None:
            pending.settle(_again(self._failure))
            return
        try:
            pending.result = pending.work(self._connection)
        except apsw.Error as error:
            reason = self._explained(error)
            self._judge(reason)
            pending.settle(_again(reason))
        except BaseException as error:  # noqa: BLE001 - whoever waits must hear of it
            pending.settle(error)
        else:
            pending.settle()

    def _abandon(self, batch: list[_Pending[Any]], error: apsw.Error) -> None:
        """Nothing of this batch was committed: say so to everyone who waits for it."""
        reason = self._explained(error)
        try:
            if not self._connection.get_autocommit():
                self._connection.execute("ROLLBACK")
        except apsw.Error as second:
            reason = self._explained(second)
        self._judge(reason)
        for pending in batch:
            pending.settle(_again(reason))

    # --- after a commit ---

    def _log_grew(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _tidy(self) -> None:
        """Fold a long log into the database, when those who waited have their answer. A sync that
        fails here is as fatal as in a commit."""
        try:
            if self._full:
                self._give_back()
            else:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error as error:
            self._judge(self._explained(error))

    def _judge(self, reason: errors.StoreError) -> None:
        """A full disk gets the reserve; a busy one gets time; anything else ends the writer."""
        if isinstance(reason, errors.DiskFull):
            self._full = True
            self._reserve.release()
        elif not isinstance(reason, errors.StoreBusy):
            self._failure = reason

    def _give_back(self) -> None:
        """Return to a full disk what the log and freed pages take up. Never waits for readers."""
        self._connection.set_busy_timeout(0)
        try:
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            free = self._connection.pragma("freelist_count")
            while free and not self._reserve.hold():
                for _ in self._connection.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})"):
                    pass  # each step gives back one page
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                before, free = free, self._connection.pragma("freelist_count")
                if free >= before:
                    break
        finally:
            self._connection.set_busy_timeout(BUSY_MS)

    def _explained(self, error: apsw.Error) -> errors.StoreError:
        reason = explained(error, self._connection.system_errno)
        reason.__cause__ = error
        return reason

    def _finish(self) -> None:
        with self._gate:
            self._closed = True
        while True:
            try:
                left = self._queue.get_nowait()
            except queue.Empty:
                break
            if left is not None:
                left.settle(_again(self._failure) if self._failure else errors.StoreClosed())
        self._fold()
        written_ahead = f"{self._connection.filename}-wal"
        try:
            self._connection.close()
        except apsw.Error as error:
            self._failure = self._failure or explained(error)
        unfolded = os.path.getsize(written_ahead) if os.path.exists(written_ahead) else 0
        if unfolded:
            log.warning("a log of %d bytes stays beside the database; nothing is lost", unfolded)
        self.ledger.close(clean=not unfolded and self._failure is None)

    def _fold(self) -> None:
        """Fold all of the log into the database and empty it, before the store is closed. A reader
        of another process is waited for, for a moment."""
        # After a failed write the log must be left as it is: recovery decides what stands.
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, self._failure is not None)
        if self._failure is not None:
            return
        try:
            self.ledger.count(self._connection)
            self._connection.set_busy_timeout(int(_FOLD_S * 1000))
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error as error:
            reason = self._explained(error)
            log.warning("the log could not be folded in: %s", reason)
            if not isinstance(reason, (errors.DiskFull, errors.StoreBusy)):
                self._failure = reason
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def _again(error: errors.StoreError) -> errors.StoreError:
    """An error for each who is told: a shared one would gather the tracebacks of all."""
    copy = type(error)(str(error), hint=error.hint)
    copy.__cause__ = error.__cause__
    return copy


# --- the engine ----------------------------------------------------------------------------------


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
            raise errors.StoreClosed()
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = open_reader(self.path, self.vfs)
        self._busy.add(connection)
        try:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if not connection.get_autocommit():  # some errors end it by themselves
                    connection.execute("ROLLBACK")
        except (apsw.Error, UnicodeDecodeError) as error:
            connection.close()
            raise explained(error) from error
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
