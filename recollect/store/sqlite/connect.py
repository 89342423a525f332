"""Opening the database file: modes, pragmas, polite refusals, and errors in our own words.

In: a path. Out: apsw connections, one that writes and several that only read. A file that is not
ours, is damaged, too new, or cannot be written gives the error of that name, and is not touched.
"""

import contextlib
import os
from collections.abc import Iterator

import apsw

from recollect.core import errors, oslayer

APPLICATION_ID = 0x52434C54  # "RCLT" in the file's header
BUSY_MS = 5000

_MEANINGS: tuple[tuple[type[apsw.Error], type[errors.StoreError]], ...] = (
    (apsw.FullError, errors.DiskFull),
    (apsw.NotADBError, errors.NotADatabase),
    (apsw.CorruptError, errors.DamagedDatabase),
    (apsw.ReadOnlyError, errors.ReadOnlyStore),
    (apsw.PermissionsError, errors.ReadOnlyStore),
    (apsw.CantOpenError, errors.ReadOnlyStore),
    (apsw.BusyError, errors.StoreBusy),
    (apsw.LockedError, errors.StoreBusy),
    (apsw.IOError, errors.StoreFailed),
    (apsw.ConnectionClosedError, errors.StoreClosed),
)


def explained(error: apsw.Error) -> errors.StoreError:
    """The error in our words, with what SQLite said."""
    for theirs, ours in _MEANINGS:
        if isinstance(error, theirs):
            return ours(f"{(ours.__doc__ or '').strip()} (SQLite: {error})")
    return errors.StoreError(f"The store cannot do this now. (SQLite: {error})")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise explained(error) from error


def open_writer(path: str, vfs: str | None = None) -> apsw.Connection:
    """The one connection that writes. Creates the file (0600) when there is none."""
    _prepare_file(path)
    with translated():
        connection = apsw.Connection(path, vfs=vfs)
        try:
            connection.set_busy_timeout(BUSY_MS)
            _check_ours(connection, path)
            connection.pragma("journal_mode", "WAL")
            connection.pragma("synchronous", "FULL")
            connection.pragma("foreign_keys", True)
            connection.pragma("secure_delete", True)
            connection.pragma("journal_size_limit", 64 << 20)
            connection.pragma("cache_size", -8 << 10)
            connection.pragma("temp_store", "MEMORY")
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: str, vfs: str | None = None) -> apsw.Connection:
    """A connection that cannot write."""
    with translated():
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=vfs)
        connection.set_busy_timeout(BUSY_MS)
        connection.pragma("query_only", True)
        connection.pragma("cache_size", -4 << 10)
        connection.pragma("mmap_size", 256 << 20)
    return connection


def _prepare_file(path: str) -> None:
    try:
        oslayer.private_directory(os.path.dirname(path))
        oslayer.private_file(path)
    except PermissionError as error:
        raise errors.ReadOnlyStore(f"{path} cannot be written to: {error.strerror}") from error
    except OSError as error:
        if error.errno == 30:  # EROFS
            raise errors.ReadOnlyStore(f"{path} is on a read-only file system") from error
        if error.errno in (28, 122):  # ENOSPC, EDQUOT
            raise errors.DiskFull() from error
        raise errors.StoreError(f"{path} cannot be opened: {error.strerror}") from error
    with open(path, "rb") as file:
        header = file.read(16)
    if header and header != b"SQLite format 3\x00":
        raise errors.NotADatabase(f"{path} is not a SQLite database")


def _check_ours(connection: apsw.Connection, path: str) -> None:
    """A new file becomes ours; a SQLite file of somebody else is left alone."""
    if connection.pragma("application_id") == APPLICATION_ID:
        return
    if connection.execute("SELECT count(*) FROM sqlite_schema").get:
        raise errors.NotADatabase(f"{path} is a SQLite database of another program")
    connection.pragma("auto_vacuum", "INCREMENTAL")  # only possible while the file is empty
    connection.pragma("application_id", APPLICATION_ID)
