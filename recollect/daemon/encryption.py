"""Encrypting and decrypting the files of a store that no daemon uses.

In: settings. Out: what was done, as a dictionary. The data directory's lock is held meanwhile;
StoreBusy when a daemon has it. The database is replaced in one step, each backup in one of its own:
whatever ends this process, each file can be opened, and the same command finishes the rest.
"""

import contextlib
import os
from typing import Any

from recollect.capture import spool
from recollect.core import errors, store_key
from recollect.core.settings import Settings
from recollect.core.store_key import StoreKey
from recollect.daemon.restore import locked
from recollect.portable.backups import database_files, plain_files
from recollect.service import saved_searches


def encrypt(chosen: Settings) -> dict[str, Any]:
    """Encrypt with the key that the setting names; it was written before."""
    from recollect.store.sqlite import DATABASE

    store_key.use(chosen.encryption_key)
    with locked(chosen):
        path = chosen.path(DATABASE)
        key = store_key.key_of(path)
        if key is None and store_key.is_there(path):
            key = store_key.make(chosen.encryption_key)
        if key is not None:  # before the database: hooks look at it, and then need this
            store_key.write_public_key(chosen.directory, key)
            done = _recode_all(chosen, path, key)
            saved_searches.recode(chosen.directory, sealed=True)
        else:
            done = {"changed": [], "left": []}  # the next start makes it, encrypted
        return {**done, "plain": plain_files(chosen.directory)}


def decrypt(chosen: Settings) -> dict[str, Any]:
    """Decrypt; the setting is removed afterwards."""
    from recollect.store.sqlite import DATABASE

    store_key.use(chosen.encryption_key)
    with locked(chosen):
        done = _recode_all(chosen, chosen.path(DATABASE), None)
        if not done["left"]:
            saved_searches.recode(chosen.directory, sealed=False)
            store_key.write_public_key(chosen.directory, None)
        return done


def _recode_all(chosen: Settings, path: str, key: StoreKey | None) -> dict[str, Any]:
    """The database first: what follows is then only copies of it."""
    from recollect.store.sqlite import upkeep

    changed, left = [], []
    _remove_unfinished(chosen)
    for file in [path, *database_files(chosen.path("backups"))]:
        if not os.path.exists(file):
            continue
        try:
            if store_key.key_of(file) != key:
                upkeep.recode(file, key)
                changed.append(file)
        except (errors.DamagedDatabase, errors.NotADatabase, errors.StoreLocked, errors.WrongKey):
            if file == path:
                raise
            left.append(file)
    if spool.recode(chosen.directory):
        left.append(chosen.path("spool"))
    return {"changed": changed, "left": left}


def _remove_unfinished(chosen: Settings) -> None:
    """Copies that a process which was killed left behind."""
    from recollect.store.sqlite.upkeep import RECODED

    for folder in (chosen.directory, chosen.path("backups")):
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(folder):
                stem = name.removesuffix("-journal")
                if stem.endswith((RECODED, ".restoring", ".db.part")):
                    os.unlink(os.path.join(folder, name))
