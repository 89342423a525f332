"""A10: backups made under load are whole; a restore that dies leaves one database or the other."""

import multiprocessing
import os
import threading

import pytest

from recollect.core import oslayer
from recollect.store.sqlite import DATABASE, upkeep
from tests.crash.oracle import (
    CLIENTS,
    Told,
    compare,
    converse,
    numbers_stored,
    open_store,
)

STEPS = ("replace", "link", "unlink", "fsync")


def test_a_backup_under_four_writers_is_a_whole_prefix(memory_directory: str) -> None:
    store = open_store(os.path.join(memory_directory, "home"))
    told: list[Told] = []
    threads = [
        threading.Thread(target=converse, args=(store, client, told.append, range(150)))
        for client in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    known: list[tuple[str, list[Told]]] = []
    while any(thread.is_alive() for thread in threads) or not known:
        before = list(told)
        home = os.path.join(memory_directory, f"copy-{len(known)}")
        os.makedirs(home, mode=0o700)
        info = store.upkeep.backup(os.path.join(home, DATABASE))
        assert upkeep.verify_file(info.path) == info
        known.append((home, before))
    for thread in threads:
        thread.join()
    store.close()
    for home, before in known:
        copy = open_store(home)
        # Notes deleted after `before` was noted may be gone; all else that was told is there.
        later = [one for one in told if one.kind == "deleting"]
        assert not compare(copy, [*before, *later]), home
        copy.close()


def make(home: str, events: int) -> str:
    store = open_store(home)
    converse(store, 0, lambda told: None, range(events))
    store.close()
    return os.path.join(home, DATABASE)


def restore_and_die(backup: str, path: str, aside: str, at: int) -> None:
    """Restore, but die before the `at`-th step that reaches the file system."""
    count = 0

    def deadly(name: str):  # type: ignore[no-untyped-def]
        real = getattr(os, name)

        def step(*args, **options):  # type: ignore[no-untyped-def]
            nonlocal count
            count += 1
            if count == at:
                os._exit(9)
            return real(*args, **options)

        return step

    for name in STEPS:
        setattr(os, name, deadly(name))
    upkeep.restore(backup, path, aside)
    os._exit(0)


@pytest.mark.parametrize("state", ["closed", "killed", "damaged"])
def test_a_restore_that_dies_at_any_step_leaves_one_database_or_the_other(
    state: str, memory_directory: str
) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crash.test_backup"])
    backup = os.path.join(memory_directory, "backup.db")
    store = open_store(os.path.join(memory_directory, "source"))
    converse(store, 0, lambda told: None, range(20))
    store.upkeep.backup(backup)
    store.close()
    at = 1
    while True:
        home = os.path.join(memory_directory, f"home-{at}")
        path = make(home, 10)
        if state == "killed":
            leave_a_log(home)
        if state == "damaged":
            leave_a_log(home)
            with open(path, "r+b") as file:
                file.seek(100)
                file.write(b"\xff" * 4000)
        aside = os.path.join(home, "aside.db")
        process = context.Process(target=restore_and_die, args=(backup, path, aside, at))
        process.start()
        process.join()
        code = process.exitcode
        process.close()
        assert os.path.exists(path)
        if state != "damaged" or code == 0:
            assert events_in(home) in ((20,) if code == 0 else (10, 20))
        upkeep.restore(backup, path, aside)
        assert events_in(home) == 20
        assert os.stat(path).st_mode & 0o777 == oslayer.FILE_MODE
        if code == 0:
            return
        assert code == 9
        at += 1


def leave_a_log(home: str) -> None:
    """As a killed process leaves it: the last commits are in the log only."""
    path = os.path.join(home, DATABASE)
    store = open_store(home)
    converse(store, 1, lambda told: None, range(10))
    kept = {}
    for suffix in ("", "-wal"):
        with open(path + suffix, "rb") as file:
            kept[suffix] = file.read()
    store.close()
    for suffix, content in kept.items():
        with open(path + suffix, "wb") as file:
            file.write(content)


def events_in(home: str) -> int:
    store = open_store(home)
    assert not compare(store, [])
    found = len(numbers_stored(store, 0))
    store.close()
    return found
