"""The one writer: a thread that owns the writing connection and shares commits among callers.

In: functions of the connection. Out: their results, after COMMIT with synchronous=FULL. Each runs
in a savepoint, so a bad one fails alone. A full disk fails what waits and heals by itself; a
write that cannot be made durable stops the writer for good (StoreFailed), and is never retried.
"""

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import apsw

from recollect.core import errors, oslayer
from recollect.store.sqlite.connect import explained

T = TypeVar("T")
Work = Callable[[apsw.Connection], T]

_SLACK = 1 << 20  # free space, beyond the reserve, that counts as "there is room again"


class _Pending(Generic[T]):
    """One waiting caller."""

    __slots__ = ("done", "error", "result", "when_full", "work")

    def __init__(self, work: Work[T], when_full: bool) -> None:
        self.work = work
        self.when_full = when_full
        self.result: T | None = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def settle(self, error: BaseException | None = None) -> None:
        if error is not None:
            self.error = error
        self.done.release()

    def wait(self) -> T:
        self.done.acquire()
        if self.error is not None:
            raise self.error
        return cast(T, self.result)


class Reserve:
    """Disk space held back in a file, so that a full disk can still be tidied."""

    def __init__(self, path: str, size: int) -> None:
        self._path = path
        self._size = size

    def hold(self) -> bool:
        """Take the space if there is enough; False when there is not."""
        if self._size == 0:
            return True
        try:
            if os.path.exists(self._path) and os.path.getsize(self._path) == self._size:
                return True
            if oslayer.free_bytes(os.path.dirname(self._path)) < self._size + _SLACK:
                return False
            oslayer.private_file(self._path)
            with open(self._path, "wb") as file:
                oslayer.allocate(file.fileno(), self._size)
        except OSError:
            self.release()
            return False
        return True

    def release(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)


class Writer:
    """Group commit: gather who waits, up to `rows` or for `wait_s`, and commit them together."""

    def __init__(
        self, connection: apsw.Connection, reserve: Reserve, *, rows: int, wait_s: float
    ) -> None:
        self._connection = connection
        self._reserve = reserve
        self._rows = rows
        self._wait_s = wait_s
        self._queue: queue.SimpleQueue[_Pending[Any] | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._failure: errors.StoreError | None = None
        self._full = not reserve.hold()
        self._thread = threading.Thread(target=self._loop, name="recollect-writer", daemon=True)
        self._thread.start()

    @property
    def disk_full(self) -> bool:
        return self._full

    @property
    def failure(self) -> errors.StoreError | None:
        return self._failure

    def run(self, work: Work[T], *, when_full: bool = False) -> T:
        """Do a piece of work in a transaction; returns after it is durable. `when_full`: worth
        trying on a full disk, because it frees space."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("transactions do not nest")
        pending = _Pending(work, when_full)
        with self._gate:
            if self._closed:
                raise self._failure or errors.StoreClosed()
            self._queue.put(pending)
        return pending.wait()

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
            if batch:
                company = len(batch)
                self._commit(batch)
            if self._failure is not None:
                stopping = True
        self._finish()

    def _gather(self, company: int) -> tuple[list[_Pending[Any]], bool]:
        first = self._queue.get()
        if first is None:
            return [], True
        batch = [first]
        deadline = time.monotonic() + self._wait_s
        while len(batch) < self._rows:
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
            for pending in batch:
                self._run_one(pending)
            self._connection.execute("COMMIT")
        except apsw.Error as error:
            self._abandon(batch, error)
            return
        for pending in batch:
            pending.settle()

    def _run_one(self, pending: _Pending[Any]) -> None:
        """One caller's work. Its own failure stays its own; a failing disk is everybody's."""
        self._connection.execute("SAVEPOINT work")
        try:
            pending.result = pending.work(self._connection)
        except (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.NotADBError):
            raise
        except BaseException as error:
            if self._connection.get_autocommit():
                raise apsw.IOError("the transaction was rolled back under the writer") from error
            self._connection.execute("ROLLBACK TO work")
            pending.error = explained(error) if isinstance(error, apsw.Error) else error
        self._connection.execute("RELEASE work")

    def _abandon(self, batch: list[_Pending[Any]], error: apsw.Error) -> None:
        """Nothing of this batch was committed: say so to everyone who waits for it."""
        reason = explained(error)
        try:
            if not self._connection.get_autocommit():
                self._connection.execute("ROLLBACK")
            if isinstance(reason, errors.DiskFull):
                self._full = True
                self._reserve.release()
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error as second:
            if not isinstance(explained(second), errors.DiskFull):
                reason = explained(second)
        if not isinstance(reason, (errors.DiskFull, errors.StoreBusy)):
            self._failure = reason
        for pending in batch:
            pending.settle(reason)

    def _finish(self) -> None:
        with self._gate:
            self._closed = True
        if self._failure is not None:
            # After a failed write the log must be left as it is: recovery decides what stands.
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        while True:
            try:
                left = self._queue.get_nowait()
            except queue.Empty:
                break
            if left is not None:
                left.settle(self._failure or errors.StoreClosed())
        try:
            self._connection.close()
        except apsw.Error as error:
            self._failure = self._failure or explained(error)
