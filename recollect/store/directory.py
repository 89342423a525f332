"""The data directory, which one process holds, wherever its rows are stored.

In: settings. Out: a lock that is held. What the system refuses leaves in our words.
"""

import errno

from recollect.core import errors
from recollect.core.oslayer import FileLock, private_directory
from recollect.core.settings import Settings

# The system's words for "no room": disk, quota, or the size that a file may have.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def hold(settings: Settings) -> FileLock:
    """The directory's lock. StoreBusy when another process has it."""
    try:
        private_directory(settings.directory)
        lock = FileLock(settings.path("lock"))
        held = lock.acquire()
    except OSError as error:
        raise refused(error, settings.directory) from error
    if not held:
        raise errors.StoreBusy(f"process {lock.holder()} holds {settings.directory}")
    return lock


def refused(error: OSError, path: str) -> errors.StoreError:
    """Why the system did not let us have a file or a directory, in our words."""
    if error.errno in NO_ROOM:
        return errors.DiskFull()
    if error.errno == errno.EROFS:
        return errors.ReadOnlyStore(f"{path} is on a read-only file system")
    if isinstance(error, PermissionError):
        return errors.ReadOnlyStore(f"{path} cannot be written to: {error.strerror}")
    return errors.StoreError(f"{path} cannot be opened: {error.strerror}")
