"""What the store held when last it was seen, in a small file beside the database.

In: how many commits there were, which the database counts too. Out: LessThanStored when a database
that is opened has not come as far: it was emptied or lost, its log was garbled or removed. A ledger
that is missing or damaged says nothing.

Numbers that never fall are compared, so that forgetting, cleaning and retention cannot alarm: they
are commits like others. After a clean stop without a commit since, what was held is compared as
well: then rows can be missing only because somebody else deleted them. A mark is written when its
commit is durable, so it never claims more than was there; the kernel has it at once, and the disk
every few minutes and at a clean stop. Two places are written in turn: a torn write spoils its own
only, and a full disk has room for both.
"""

import contextlib
import json
import os
import shutil
import threading
import zlib
from dataclasses import dataclass, replace
from typing import Any

import apsw

from recollect.core import oslayer
from recollect.core.clock import Clock, from_micros, to_micros
from recollect.core.errors import DamagedDatabase, LessThanStored, NotADatabase, StoreError
from recollect.core.store_key import header_of
from recollect.store.sqlite.connect import (
    arrived_last,
    counted,
    last_numbers,
    open_reader,
    open_writer,
    problems,
    translated,
)

NAME = "recollect.ledger"
_PLACE = 4096  # each mark has a page of its own
_LOG_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_HEADER = 100


@dataclass(frozen=True)
class Mark:
    """How far the store had come: its last numbers, and how much it held when `counted` was the
    number of its last event. `clean` when it was closed then."""

    turn: int = 0
    commits: int = 0
    events: int = 0
    held_events: int = 0
    held_records: int = 0
    counted: int = 0
    at: int = 0
    clean: bool = False

    @property
    def total(self) -> int:
        """How many events there were, as far as can be told."""
        return self.held_events + self.events - self.counted

    def encode(self) -> bytes:
        told = json.dumps(vars(self)).encode()
        return b"%08x %s\n" % (zlib.crc32(told), told)


class Ledger:
    """The mark of an open store. All methods may be called from any thread."""

    def __init__(self, path: str, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._gate = threading.Lock()
        self._fd: int | None = None
        self.mark = read(path)

    def open(self, db: apsw.Connection) -> None:
        """The database is taken as it is: from here on this is what there was."""
        with contextlib.suppress(OSError):  # a disk without room for it; the store can do without
            oslayer.private_file(self._path)
            self._fd = os.open(self._path, os.O_RDWR)
            if os.fstat(self._fd).st_size < 2 * _PLACE:
                oslayer.allocate(self._fd, 2 * _PLACE)
                oslayer.sync_directory(os.path.dirname(self._path))
        self.write(clean=False, **last_numbers(db)._asdict())
        self.count(db)

    def count(self, db: apsw.Connection) -> None:
        """Look how much there is, and make the mark durable. `db` must see one snapshot."""
        held = counted(db)
        self.write(
            held_events=held.events, held_records=held.records, counted=last_numbers(db).events
        )
        self._sync()

    def close(self, *, clean: bool) -> None:
        if clean:
            self.write(clean=True)
            self._sync()
        with self._gate:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def write(self, **changes: Any) -> None:
        """Change the mark: so far the store has come, durably."""
        with self._gate:
            now = to_micros(self._clock.now())
            self.mark = replace(self.mark, **changes, turn=self.mark.turn + 1, at=now)
            if self._fd is not None:
                with contextlib.suppress(OSError):  # the next one may do better
                    os.lseek(self._fd, self.mark.turn % 2 * _PLACE, os.SEEK_SET)
                    os.write(self._fd, self.mark.encode())

    def _sync(self) -> None:
        with self._gate:
            if self._fd is not None:
                with contextlib.suppress(OSError):
                    os.fsync(self._fd)


def read(path: str) -> Mark:
    """The newest mark that is whole; one that claims nothing when there is none."""
    try:
        with open(path, "rb") as file:
            raw = file.read(2 * _PLACE)
    except OSError:
        return Mark()
    found = [_decoded(raw[:_PLACE]), _decoded(raw[_PLACE:])]
    return max(filter(None, found), key=lambda mark: mark.turn, default=Mark())


def _decoded(place: bytes) -> Mark | None:
    digest, _, told = place.partition(b"\n")[0].partition(b" ")
    try:
        return Mark(**json.loads(told)) if int(digest, 16) == zlib.crc32(told) else None
    except (ValueError, TypeError):
        return None


# --- looking ------------------------------------------------------------------------------------


def refuse_emptied(path: str, known: Mark) -> None:
    """LessThanStored when there is no database, or one of 0 bytes, where one has been. To be asked
    before SQLite sees the file: beside an empty database it deletes the log."""
    if _size(path):
        return
    what = "is empty" if os.path.exists(path) else "is gone"
    if known.commits:
        when = from_micros(known.at)
        raise LessThanStored(
            f"{path} {what}: {_many(known.total, 'event')} and "
            f"{_many(known.held_records, 'memory', 'memories')} that were there on "
            f"{when:%Y-%m-%d at %H:%M} UTC are missing"
        )
    if size := _size(f"{path}-wal"):
        raise LessThanStored(f"{path} {what}, but its log of {size:,} bytes is still there")
    if not known.turn and _has_backups(path):
        raise LessThanStored(f"{path} {what}, but there are backups of it")


def refuse_less(db: apsw.Connection, path: str, known: Mark) -> None:
    """LessThanStored when the database ends before the mark; DamagedDatabase when it was cut off.
    Changes nothing."""
    if _suspicious(path, known, db) and (found := problems(db)):
        raise DamagedDatabase(f"{path} is damaged: {found[0]}")
    numbers = last_numbers(db)
    behind = numbers.commits < known.commits or numbers.events < known.events
    if not behind and not (known.clean and numbers == (known.commits, known.events)):
        return
    held = counted(db)
    events = known.events - numbers.events if behind else known.held_events - held.events
    records = known.held_records - held.records
    if not behind and events <= 0 and records <= 0:
        return
    last = arrived_last(db) if behind else None
    missing = [_many(events, "event")] if events > 0 else []
    missing += [_many(records, "memory", "memories")] if records > 0 else []
    if not missing:
        missing = [_many(known.commits - numbers.commits, "change")]
    since = f"since {from_micros(last):%Y-%m-%d %H:%M} UTC " if last else ""
    plural = "is" if missing[-1].startswith("1 ") and len(missing) == 1 else "are"
    raise LessThanStored(
        f"{path} holds less than was stored in it: {' and '.join(missing)} {since}{plural} missing"
    )


def _suspicious(path: str, known: Mark, db: apsw.Connection) -> bool:
    """Whether the file is shorter than its own header says, or the log of a store that was not
    closed is not there. A crash can do both without harm: so it is only a reason to look."""
    with open(path, "rb") as file:
        header = file.read(_HEADER)
    page = int.from_bytes(header[16:18]) or 1
    # In an encrypted file only SQLite can read the count; it adds what is in the log.
    pages = int.from_bytes(header[28:32])
    if header_of(path) is not None:
        pages = db.pragma("page_count")
    if len(header) == _HEADER and _size(path) < pages * (page if page > 1 else 65536):
        return True
    return bool(known.turn) and not known.clean and not _has_log(path)


def _has_log(path: str) -> bool:
    try:
        with open(f"{path}-wal", "rb") as file:
            return file.read(4) in _LOG_MAGIC
    except OSError:
        return False


def _has_backups(path: str) -> bool:
    try:
        names = os.listdir(os.path.join(os.path.dirname(path), "backups"))
    except OSError:
        return False
    return any(name.endswith(".db") for name in names)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


# --- when it is meant ---------------------------------------------------------------------------


def lower(path: str, database: str) -> None:
    """Claim no more than `database` holds: it is about to take the store's place."""
    known, new = read(path), _mark_of(database)
    if known.commits > new.commits or known.events > new.events:
        _put(path, new)


def claim(path: str, database: str) -> None:
    """The store is what is in `database` now."""
    _put(path, _mark_of(database))


def accept_loss(directory: str, database: str, aside: str) -> str | None:
    """Go on with what is left, deliberately: keep the files as they are under `aside`, and claim
    only what can be read. A damaged database makes way for a new one. Returns what was missing, or
    None when nothing is; the caller holds the data directory's lock."""
    path, ledger = os.path.join(directory, database), os.path.join(directory, NAME)
    known = read(ledger)
    try:
        refuse_emptied(path, known)
        open_writer(path, check=lambda db: refuse_less(db, path, known)).close()
    except (LessThanStored, DamagedDatabase, NotADatabase) as error:
        why: StoreError = error
    else:
        return None
    for suffix in ("", "-wal"):
        if _size(path + suffix):
            shutil.copyfile(path + suffix, f"{aside}{suffix}.part")
            os.chmod(f"{aside}{suffix}.part", oslayer.FILE_MODE)
            oslayer.put_in_place(f"{aside}{suffix}.part", f"{aside}{suffix}")
    if isinstance(why, LessThanStored) and _size(path):
        claim(ledger, path)
    else:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path + suffix)
        _put(ledger, Mark())
    return str(why)


def _mark_of(database: str) -> Mark:
    db = open_reader(database)
    try:
        with translated():
            numbers, held = last_numbers(db), counted(db)
    finally:
        db.close()
    return Mark(
        commits=numbers.commits,
        events=numbers.events,
        held_events=held.events,
        held_records=held.records,
        counted=numbers.events,
        clean=True,
    )


def _put(path: str, mark: Mark) -> None:
    """Write both copies: if one is damaged later, the other must not be an earlier mark."""
    later = replace(mark, turn=read(path).turn + 1)
    oslayer.replace_file(path, later.encode().ljust(_PLACE, b"\n") * 2)
