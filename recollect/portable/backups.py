"""Backups: made while the daemon runs, verified, rotated and restored.

In: a running store. Out: files in `backups/`, named after the time they were made; the oldest are
removed when there are more than wanted. An incomplete copy never gets its final name.
"""

import contextlib
import os
import re
from datetime import UTC, datetime, timedelta

from recollect.capture import spool
from recollect.core import oslayer, store_key
from recollect.core.clock import Clock
from recollect.core.errors import NotFound, StoreError
from recollect.core.settings import Settings
from recollect.store.interface import BackupInfo, Store

_NAME = re.compile(r"^recollect-(\d{8}T\d{6}Z)(?:-\d+)?\.db$")
_ASIDE = re.compile(r"^before-restore-\d{8}T\d{6}Z(?:-\d+)?\.db$")
_STAMP = "%Y%m%dT%H%M%SZ"
BACKUPS_KEPT = 7  # a week of daily ones


class Backups:
    def __init__(self, settings: Settings, store: Store, clock: Clock) -> None:
        self._settings = settings
        self._store = store
        self._clock = clock

    @property
    def folder(self) -> str:
        return self._settings.path("backups")

    def create(self) -> BackupInfo:
        """Make a backup, then remove the oldest."""
        oslayer.private_directory(self.folder)
        stamp = self._clock.now().strftime(_STAMP)
        info = self._store.upkeep.backup(_free(os.path.join(self.folder, f"recollect-{stamp}")))
        self.rotate()
        return info

    def rotate(self) -> list[str]:
        """Remove all but the newest; returns those removed."""
        gone = self.made()[BACKUPS_KEPT:]
        for path in gone:
            os.unlink(path)
        return gone

    def made(self) -> list[str]:
        """Newest first."""
        return made_in(self.folder)

    def files(self) -> list[str]:
        """Every database in the folder, including those that a restore set aside."""
        return database_files(self.folder)

    def newest_at(self) -> datetime | None:
        made = self.made()
        return made_at(made[0]) if made else None

    def due(self) -> bool:
        """Whether a scheduled backup is due. A store on a server is backed up there. A newest
        backup from the future means that the clock was set back: then one is due, too."""
        if not self._settings.backup_days or self._settings.store:
            return False
        newest = self.newest_at()
        age = timedelta(days=self._settings.backup_days)
        return newest is None or abs(self._clock.now() - newest) >= age

    def replace_all(self) -> int:
        """Make a new backup and remove all earlier ones, which hold what must not be kept."""
        if self._settings.store:
            return 0  # the server's own are out of our hands
        earlier = self.files()
        self.create()
        for path in earlier:
            with contextlib.suppress(FileNotFoundError):  # rotation was faster
                os.unlink(path)
        return len(earlier)


def database_files(folder: str) -> list[str]:
    """Every database in a folder of backups, including those that a restore set aside."""
    return [os.path.join(folder, name) for name in _names(folder)
            if _NAME.match(name) or _ASIDE.match(name)]  # fmt: skip


def plain_files(directory: str) -> list[str]:
    """Files beside the encrypted database that hold memories and can be read by anyone: backups
    that are damaged and so were not encrypted, logs of databases, and spooled events that could not
    be read."""
    found = []
    for path in oslayer.files_under(os.path.join(directory, "backups")):
        if store_key.header_of(path) is None and not path.endswith("-shm"):
            found.append(path)
    for path in oslayer.files_under(os.path.join(directory, "spool")):
        if path.endswith(spool.SUFFIX) and not spool.is_sealed(path):
            found.append(path)
    return sorted(found)


def made_in(folder: str) -> list[str]:
    names = [name for name in _names(folder) if _NAME.match(name)]
    return [os.path.join(folder, name) for name in sorted(names, reverse=True)]


def made_at(path: str) -> datetime | None:
    found = _NAME.match(os.path.basename(path))
    return datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC) if found else None


def chosen(folder: str, which: str | None) -> str:
    """The backup that is meant: a path, a name or the beginning of one, or the newest."""
    if which and os.path.exists(which):
        return os.path.abspath(which)
    found = [path for path in made_in(folder) if not which or _fits(path, which)]
    if not found:
        told = f"there is no backup {which!r}" if which else "there is no backup yet"
        raise NotFound(told, hint="recollect backup list")
    return found[0]


def refuse_server(settings: Settings) -> None:
    """Raise StoreError when the store is on a server: a restore would replace a file that nobody
    reads."""
    if settings.store:
        raise StoreError(
            "the store is on PostgreSQL, and the backups here are of the SQLite file that is not "
            "in use; nothing was changed",
            hint="pg_restore a dump of the server; or, to go back to the file, recollect settings "
            "unset store, then restore.",
        )


def aside_name(folder: str, now: datetime) -> str:
    """Where the old database is kept, under a name that is free."""
    return _free(os.path.join(folder, f"before-restore-{now.strftime(_STAMP)}"))


def _free(stem: str) -> str:
    path, number = f"{stem}.db", 1
    while os.path.exists(path):
        number += 1
        path = f"{stem}-{number}.db"
    return path


def _fits(path: str, which: str) -> bool:
    name = os.path.basename(path)
    return name.startswith(which) or name.removeprefix("recollect-").startswith(which)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
