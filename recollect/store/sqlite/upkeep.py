"""Looking after the database file: backups, the scrubber, the index.

In: paths and positions. Out: reports. Damage is reported, never repaired by guessing; a backup
that is not whole never gets its name.
"""

import contextlib
import os
import shutil
from functools import partial
from urllib.parse import quote

import apsw

from recollect.core import oslayer, safe_files, store_key
from recollect.core.errors import DamagedDatabase, NotADatabase, StoreError, WrongKey
from recollect.core.store_key import StoreKey
from recollect.store.interface import BackupInfo, ScrubStep, Space
from recollect.store.sql.record_lists import RECOUNT
from recollect.store.sql.upkeep import SqlUpkeep, scrub_step
from recollect.store.sqlite import ledger, migrations
from recollect.store.sqlite import statements as own
from recollect.store.sqlite.connect import (
    APPLICATION_ID,
    CIPHER,
    SqliteConnection,
    counted,
    explained,
    open_reader,
    problems,
    raw_key,
    translated,
    unlock,
)
from recollect.store.sqlite.engine import SqliteEngine

RECODED = ".recoded"  # ends the name of a copy that is being encrypted or decrypted
_BACKUP_PAGES = 2000
_STEPS_PER_COUNT = 4  # of the scrubber: counting reads the whole of an index


class SqliteUpkeep(SqlUpkeep):
    def __init__(self, engine: SqliteEngine) -> None:
        super().__init__(engine)
        self._engine: SqliteEngine = engine
        self._scrubbed = 0

    def scrub(self, position: tuple[str, int] | None, limit: int) -> ScrubStep:
        self._scrubbed += 1
        if self._scrubbed % _STEPS_PER_COUNT == 0:
            with self._engine.reader() as db:
                self._engine.writer.ledger.count(db)
        return super().scrub(position, limit)

    def backup(self, path: str) -> BackupInfo:
        temporary = f"{path}.part"
        try:
            _copy(self._engine.path, temporary)
            info = inspect(temporary)
            oslayer.put_in_place(temporary, path)
        except OSError as error:
            raise StoreError(f"the backup {path} cannot be written: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return BackupInfo(path, info.bytes, info.events, info.records, info.schema)

    def space(self, *, give_back: int = 0) -> Space:
        given = self._shrink(give_back) if give_back else 0
        with self._engine.reader() as db:
            page = db.pragma("page_size")
            free = page * db.pragma("freelist_count")
            return Space(page * db.pragma("page_count"), free, given)

    def _shrink(self, pages: int) -> int:
        def work(db: SqliteConnection) -> int:
            before: int = db.pragma("freelist_count")
            for _ in db.execute(f"PRAGMA incremental_vacuum({int(pages)})"):
                pass  # each step gives back one page
            return before - int(db.pragma("freelist_count"))

        return self._engine.write(work, when_full=True)

    def alone(self, work: str) -> contextlib.AbstractContextManager[bool]:
        return contextlib.nullcontext(True)

    def _rebuild_index(self) -> None:
        def work(db: SqliteConnection) -> None:
            for statement in (*own.REBUILD, *RECOUNT):
                db.run(statement)

        self._engine.write(work)

    def check(self) -> list[str]:
        # A connection of its own: on one that has searched before, FTS5 checks the segments it
        # remembers and calls those that were merged away since corrupt.
        db = open_reader(self._engine.path, self._engine.vfs)
        try:
            with translated():
                return [*problems(db), *_index_gaps(db)]
        finally:
            db.close()


def _index_gaps(db: apsw.Connection) -> list[str]:
    """Rows without an entry in the full-text index, and entries without a row. FTS5 compares an
    index with its own content only, and cannot read our views; a rebuild mends both."""
    counted_gaps = [(db.execute(statement).get, told) for statement, told in own.INDEX_GAPS]
    return [f"{count} {told}" for count, told in counted_gaps if count]


def inspect(path: str) -> BackupInfo:
    """Open a store's file for reading only and look at all of it."""
    try:
        safe_files.open_plain(path).close()
    except OSError as error:
        raise NotADatabase(f"{path} cannot be read: {error.strerror}") from error
    db = open_reader(path)
    try:
        with translated(store_key.key_of(path)):
            if db.pragma("application_id") != APPLICATION_ID:
                raise NotADatabase(f"{path} is not a Recollect database")
            history = migrations.verify(db)
            if odd := migrations.strangers(db):
                raise NotADatabase(f"{path} is not as Recollect makes it: see {odd[0]!r} in it")
            if found := problems(db):
                raise DamagedDatabase(f"{path} is damaged: {found[0]}")
            return BackupInfo(
                path,
                os.path.getsize(path),
                *counted(db),
                history[-1][0] if history else 0,
            )
    finally:
        db.close()


def verify_file(path: str) -> BackupInfo:
    """The same, and every row compared with its hash."""
    info = inspect(path)
    db = open_reader(path)
    try:
        with translated(store_key.key_of(path)):
            position: tuple[str, int] | None = None
            while True:
                step = scrub_step(lambda *asked: list(db.run(*asked)), position, 1000)
                for bad in step.damaged:
                    raise DamagedDatabase(f"{path} is damaged: {bad.table} {bad.id}")
                if step.position is None:
                    return info
                position = step.position
    finally:
        db.close()


def restore(backup: str, path: str, aside: str, key: StoreKey | None = None) -> BackupInfo:
    """Put a verified backup in place of a store that nobody has open, encrypted with the key, if
    there is one. The old database is kept at `aside`, whole: its log is folded in first. A crash
    leaves one or the other in place."""
    inspect(backup)
    temporary = f"{path}.restoring"
    try:
        copied = _copy if store_key.key_of(backup) == key else partial(_convert, key=key)
        copied(backup, temporary)
        info = inspect(temporary)
        if os.path.exists(path):
            _fold_log(path)
            _keep(path, aside)
        known = os.path.join(os.path.dirname(path), ledger.NAME)
        ledger.lower(known, temporary)  # less than there was is meant from here on
        oslayer.put_in_place(temporary, path)  # the one step at which the new one takes over
        ledger.claim(known, path)
    except OSError as error:
        raise StoreError(f"{backup} cannot be restored: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
    return BackupInfo(path, info.bytes, info.events, info.records, info.schema)


def recode(path: str, key: StoreKey | None) -> None:
    """Encrypt a database that nobody has open with the key; with None, decrypt it. The new file is
    made beside the old one and verified, every row of it, before it takes its place: a crash leaves
    one or the other."""
    temporary = f"{path}{RECODED}"
    try:
        _fold_log(path)
        before = inspect(path)
        _convert(path, temporary, key)
        after = verify_file(temporary)
        if (after.events, after.records) != (before.events, before.records):
            raise DamagedDatabase(f"the copy of {path} is not the same")
        oslayer.put_in_place(temporary, path)
    except OSError as error:
        raise StoreError(f"{path} cannot be rewritten: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _convert(source_path: str, target_path: str, key: StoreKey | None) -> None:
    """A copy with another key, or without one, of a database that nobody writes to. SQLite writes
    it page by page in its final form: nothing of it is ever on disk in another."""
    _make_room(target_path)
    source = SqliteConnection(source_path, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        with translated():
            unlock(source, store_key.key_of(source_path))
            how = f"cipher={CIPHER}&hexkey={raw_key(key)}" if key is not None else "key="
            source.execute("VACUUM INTO ?", (f"file:{quote(target_path)}?{how}",))
    finally:
        source.close()


def _make_room(path: str) -> None:
    for leftover in (path, f"{path}-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(leftover)
    oslayer.private_file(path)


def _copy(source_path: str, target_path: str) -> None:
    """A consistent copy made through SQLite, in steps, so that the writer is not held up."""
    _make_room(target_path)
    source = open_reader(source_path)
    target = apsw.Connection(target_path)
    try:
        with translated():
            unlock(target, store_key.key_of(source_path))
            target.pragma("synchronous", "FULL")
            with target.backup("main", source, "main") as copy:
                while not copy.done:
                    copy.step(_BACKUP_PAGES)
            target.pragma("journal_mode", "DELETE")
    finally:
        target.close()
        source.close()


def _fold_log(path: str) -> None:
    db = apsw.Connection(path)
    try:
        unlock(db, store_key.key_of(path))
        db.pragma("journal_mode", "DELETE")
    except WrongKey:
        pass  # its header is damaged, so it is kept as it is, too
    except apsw.Error as error:
        # A damaged database is kept as it is: it may be the reason for the restore.
        if not isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
            raise explained(error) from error
    finally:
        db.close()


def _keep(path: str, aside: str) -> None:
    """Give the old database a second name; it stays in place until the new one replaces it. A log
    that could not be folded in goes with it: left behind it would be laid over the new one."""
    with contextlib.suppress(FileNotFoundError):
        oslayer.rename(f"{path}-wal", f"{aside}-wal")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{path}-shm")
    second = f"{aside}.part"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(second)
    try:
        os.link(path, second)
    except OSError:  # a file system without links
        shutil.copyfile(path, second)
        os.chmod(second, oslayer.FILE_MODE)
    oslayer.put_in_place(second, aside)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(second)  # a rename onto the same file is no rename
