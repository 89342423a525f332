"""Work on the files of a store that no daemon uses: restore a backup, accept a loss.

In: settings. Out: what was done, as a dictionary. The data directory's lock is held meanwhile;
StoreBusy when a daemon has it. The files that are replaced are kept in `backups`.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from recollect.core import daemon_stage, errors, oslayer, store_key
from recollect.core.clock import SystemClock
from recollect.core.settings import Settings
from recollect.core.store_key import StoreKey
from recollect.portable.backups import aside_name, made_in, refuse_server


def restore(chosen: Settings, path: str) -> dict[str, Any]:
    """Put a backup in place of the store. The old store is kept."""
    from recollect.store.sqlite import DATABASE, upkeep

    with locked(chosen) as aside:
        store_key.use(chosen.encryption_key)
        upkeep.verify_file(path)
        info = upkeep.restore(path, chosen.path(DATABASE), aside, _key(chosen, path))
        _clear_failed_start(chosen)
    return {
        "restored": path,
        "events": info.events,
        "records": info.records,
        "aside": aside if os.path.exists(aside) else None,
    }


def _key(chosen: Settings, backup: str) -> StoreKey | None:
    """What the restored store is encrypted with: the setting decides whether it is, not the backup,
    which may have been made before."""
    from recollect.store.sqlite import DATABASE

    if not chosen.encryption_key:
        return None
    try:
        key = store_key.key_of(chosen.path(DATABASE))
    except errors.WrongKey:  # its header is damaged
        key = None
    return key or store_key.key_of(backup) or store_key.make(chosen.encryption_key)


def accept_loss(chosen: Settings) -> dict[str, Any]:
    """Continue with what is left of the store, at the user's request. The files are kept."""
    from recollect.store.sqlite import DATABASE, ledger

    store_key.use(chosen.encryption_key)
    with locked(chosen) as aside:
        missing = ledger.accept_loss(chosen.directory, DATABASE, aside)
        _clear_failed_start(chosen)
    kept = [path for path in (aside, f"{aside}-wal") if os.path.exists(path)]
    made = made_in(chosen.path("backups"))
    newest = os.path.basename(made[0]) if made else None
    return {"missing": missing, "aside": kept, "newest": newest}


@contextlib.contextmanager
def locked(chosen: Settings) -> Iterator[str]:
    """Holds the data directory; gives the name under which its database can be set aside."""
    refuse_server(chosen)
    oslayer.private_directory(chosen.directory)
    oslayer.private_directory(chosen.path("backups"))
    lock = oslayer.FileLock(chosen.path("lock"))
    if not lock.acquire():
        raise errors.StoreBusy(f"process {lock.holder()} holds {chosen.directory}")
    try:
        yield aside_name(chosen.path("backups"), SystemClock().now())
    finally:
        lock.release()


def _clear_failed_start(chosen: Settings) -> None:
    """Clear the reason why the last daemon did not start: it no longer applies."""
    with contextlib.suppress(OSError):  # the next start says how it is
        daemon_stage.clear(chosen.directory)
