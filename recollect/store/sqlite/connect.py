"""Opening the database file: modes, pragmas, polite refusals, and errors in our own words.

In: a path. Out: apsw connections, one that writes and several that only read. A file that is not
ours, is damaged, too new, or cannot be written gives the error of that name, and is not touched.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from recollect.core import errors, oslayer, store_key
from recollect.core.store_key import StoreKey
from recollect.store.directory import NO_ROOM, refused
from recollect.store.sql.engine import (
    NO_VALUES,
    AlreadyThere,
    BadValue,
    ConstraintFailed,
    Statement,
)
from recollect.store.sqlite.migrations import verify

_KEY_TAKEN = frozenset(
    [apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID]
)


class SqliteConnection(apsw.Connection):
    row_number = "rowid"

    def run(self, statement: Statement, values: Mapping[str, Any] = NO_VALUES) -> apsw.Cursor:
        text = statement.sqlite
        try:
            return self.execute(text if isinstance(text, str) else text.given(values), values)
        except apsw.ConstraintError as error:
            taken = getattr(error, "extendedresult", 0) in _KEY_TAKEN
            kind = AlreadyThere if taken else ConstraintFailed
            raise kind("SQLite", str(error)) from error
        except (apsw.MismatchError, apsw.SQLError) as error:
            raise BadValue("SQLite", str(error)) from error

    def has_table(self, name: str) -> bool:
        return self.table_exists("main", name)

    def vector_row(self, row: dict[str, Any]) -> dict[str, Any]:
        return row

    @staticmethod
    def one_text(columns: Sequence[str]) -> str:
        return f"json_array({', '.join(columns)})"


APPLICATION_ID = 0x52434C54  # "RCLT" in the file's header
BUSY_MS = 5000
CIPHER = "chacha20"  # with Poly1305: a changed page is refused, not read

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
    (apsw.InterruptError, errors.StoreClosed),  # the only one who interrupts is the engine's close
)


_WRITING = frozenset({apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE})


def explained(error: apsw.Error | UnicodeDecodeError, system_errno: int = 0) -> errors.StoreError:
    """The error in our words, with what SQLite said. SQLite knows only ENOSPC as a full disk;
    a quota, a limit, or no room for the shared memory beside the log are the same to us."""
    if isinstance(error, UnicodeDecodeError):
        return errors.DamagedRow(f"a stored text is not UTF-8 any more: {error}")
    code = getattr(error, "extendedresult", 0)
    if code == apsw.SQLITE_IOERR_SHMSIZE or (code in _WRITING and system_errno in NO_ROOM):
        return errors.DiskFull(f"{(errors.DiskFull.__doc__ or '').strip()} (SQLite: {error})")
    for theirs, ours in _MEANINGS:
        if isinstance(error, theirs):
            return ours(f"{(ours.__doc__ or '').strip()} (SQLite: {error})")
    return errors.StoreError(f"The store cannot do this now. (SQLite: {error})")


@contextlib.contextmanager
def translated(key: StoreKey | None = None) -> Iterator[None]:
    """SQLite's errors in our words. With the key of an encrypted file, which was recognised by its
    header: what is no database then is a damaged one."""
    try:
        yield
    except apsw.NotADBError as error:
        if key is not None:
            raise errors.DamagedDatabase("the first page of the database is damaged") from error
        raise explained(error) from error
    except (apsw.Error, UnicodeDecodeError) as error:
        raise explained(error) from error


def open_writer(
    path: str,
    vfs: str | None = None,
    check: Callable[[apsw.Connection], None] = lambda db: None,
    key: StoreKey | None = None,
) -> SqliteConnection:
    """The one connection that writes. Creates the file (0600) when there is none, encrypted with
    the key, if there is one. `check` looks at the database before anything is changed, and may
    refuse it."""
    _prepare_file(path)
    key = store_key.key_of(path) or key
    with translated(key):
        connection = SqliteConnection(path, vfs=vfs)
        try:
            unlock(connection, key)
            connection.set_busy_timeout(BUSY_MS)
            # Until we know that the file is ours to change, closing must not change it either.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            new = _is_new(connection, path)
            verify(connection)
            check(connection)
            if new:
                _make_ours(connection)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
            connection.pragma("journal_mode", "WAL")
            connection.pragma("synchronous", "FULL")
            connection.pragma("foreign_keys", True)
            connection.pragma("secure_delete", True)
            connection.pragma("journal_size_limit", 64 << 20)
            connection.pragma("cache_size", -8 << 10)
            connection.pragma("temp_store", "MEMORY")
            _fold_log(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: str, vfs: str | None = None) -> SqliteConnection:
    """A connection that cannot write."""
    key = store_key.key_of(path)
    with translated(key):
        connection = SqliteConnection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=vfs)
        unlock(connection, key)
        connection.set_busy_timeout(BUSY_MS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # that is the writer's
        connection.pragma("query_only", True)
        connection.pragma("cache_size", -4 << 10)
    return connection


def unlock(connection: apsw.Connection, key: StoreKey | None) -> None:
    """Let a connection that has not read anything yet use an encrypted file. The key is used as it
    is: stretching a passphrase was done before, and every reader would pay for it here."""
    if key is not None:
        raw = raw_key(key)
        connection.pragma("cipher", CIPHER)
        connection.pragma("hexkey", raw)


def raw_key(key: StoreKey) -> str:
    if not hasattr(apsw, "mc_version"):
        raise errors.StoreLocked(
            "the store cannot be encrypted or opened: the installed apsw has no cipher; another "
            "package brought it in place of apsw-sqlite3mc",
            hint=f"{sys.executable} -m pip install --force-reinstall apsw-sqlite3mc",
        )
    return (b"raw:" + key.database + key.header).hex()


def _fold_log(connection: apsw.Connection) -> None:
    """Make what recovery found durable before anything is built on it: the process that wrote it
    may have stopped because a sync failed, and the kernel reports that only once."""
    with contextlib.suppress(apsw.FullError):  # the writer meets that too, and knows what to do
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def _prepare_file(path: str) -> None:
    try:
        oslayer.private_directory(os.path.dirname(path))
        oslayer.private_file(path)
    except OSError as error:
        raise refused(error, path) from error
    if os.path.exists(f"{path}-journal"):
        return  # a first page that was torn is not the last word: the journal has the old one
    with open(path, "rb") as file:
        header = file.read(16)
    if header and header != b"SQLite format 3\x00" and not header.startswith(store_key.MAGIC):
        raise errors.NotADatabase(f"{path} is not a SQLite database")


def _is_new(connection: apsw.Connection, path: str) -> bool:
    """Whether nobody has used the file yet; a SQLite file of somebody else is left alone."""
    if connection.pragma("application_id") == APPLICATION_ID:
        return False
    if connection.execute("SELECT count(*) FROM sqlite_schema").get:
        raise errors.NotADatabase(f"{path} is a SQLite database of another program")
    return True


def _make_ours(connection: apsw.Connection) -> None:
    connection.pragma("auto_vacuum", "INCREMENTAL")  # only possible while the file is empty
    connection.pragma("application_id", APPLICATION_ID)


# --- looking at a database as a whole, on whatever connection ------------------------------------


LAST_EVENT = "SELECT seq FROM sqlite_sequence WHERE name = 'events'"


class Numbers(NamedTuple):
    """What never falls: how many commits there were, and the last number that an event got."""

    commits: int
    events: int


class Held(NamedTuple):
    events: int
    records: int


def last_numbers(db: apsw.Connection) -> Numbers:
    there = db.table_exists("main", "events")
    last = db.execute(LAST_EVENT).get if there else 0
    return Numbers(db.pragma("user_version"), last or 0)


def counted(db: apsw.Connection) -> Held:
    if not db.table_exists("main", "memory_records"):
        return Held(0, 0)
    return Held(
        db.execute("SELECT count(*) FROM events").get,
        db.execute("SELECT count(*) FROM memory_records").get,
    )


def arrived_last(db: apsw.Connection) -> int | None:
    """When the newest event was stored, in microseconds; None when there is none."""
    if not db.table_exists("main", "events"):
        return None
    newest = "SELECT transaction_time FROM events ORDER BY seq DESC LIMIT 1"
    for (moment,) in db.execute(newest):
        return int(moment)
    return None


def problems(db: apsw.Connection) -> list[str]:
    """What SQLite itself finds wrong; empty when nothing is."""
    found = [text for (text,) in db.execute("PRAGMA integrity_check(20)")]
    wrong = [] if found == ["ok"] else found
    return wrong + [
        f"{row[0]} row {row[1]}: no {row[2]}" for row in db.execute("PRAGMA foreign_key_check")
    ]
