"""Damage to the files of a store, and disks that fill up: noticed, or nothing is lost.

In: chance and a scratch directory. Out: a report. A store is stopped or killed, then something
happens to its files. Opening it again must either refuse, and leave every byte as it is, or give
all that was acknowledged; and whoever accepts the loss must get a store that is whole.
"""

import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from recollect.core.errors import DamagedDatabase, LessThanStored, RecollectError
from recollect.store.sqlite import DATABASE, ledger
from tests.crash import small_disk
from tests.crash.oracle import Told, compare, converse, damage, open_store
from tests.fakes.daemons import RealDaemon
from tests.torture.case import Case, Report

WAL = f"{DATABASE}-wal"
PROMPT = {"session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit"}
HEAL_S = 60.0  # the promise is 5 s on a machine that is not busy with other things

State = Callable[[Path, random.Random], None]


# --- what happens to files ----------------------------------------------------------------------


def emptied(home: Path, chance: random.Random) -> None:
    (home / DATABASE).write_bytes(b"")


def removed(home: Path, chance: random.Random) -> None:
    (home / DATABASE).unlink()


def removed_with_its_log(home: Path, chance: random.Random) -> None:
    for name in (DATABASE, WAL):
        (home / name).unlink(missing_ok=True)


def cut_off(home: Path, chance: random.Random) -> None:
    size = (home / DATABASE).stat().st_size
    os.truncate(home / DATABASE, chance.randrange(size))


def log_garbled(home: Path, chance: random.Random) -> None:
    _garble(home / WAL, 0, chance)


def log_garbled_from_somewhere(home: Path, chance: random.Random) -> None:
    _garble(home / WAL, chance.randrange(_size(home / WAL) + 1), chance)


def log_cut_off(home: Path, chance: random.Random) -> None:
    if _size(home / WAL):
        os.truncate(home / WAL, chance.randrange(_size(home / WAL)))


def log_removed(home: Path, chance: random.Random) -> None:
    (home / WAL).unlink(missing_ok=True)


def older_copy(home: Path, chance: random.Random) -> None:
    """Somebody put yesterday's file in place, without the log."""
    shutil.copyfile(home / "yesterday.db", home / DATABASE)
    (home / WAL).unlink(missing_ok=True)


STATES: tuple[State, ...] = (
    emptied,
    removed,
    removed_with_its_log,
    cut_off,
    log_garbled,
    log_garbled_from_somewhere,
    log_cut_off,
    log_removed,
    older_copy,
)


def _garble(path: Path, start: int, chance: random.Random) -> None:
    if path.exists():
        raw = path.read_bytes()
        path.write_bytes(raw[:start] + chance.randbytes(len(raw) - start))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


# --- the attack ---------------------------------------------------------------------------------


def file_states(chance: random.Random, tries: int, scratch: Path) -> Report:
    report = Report()
    for number in range(tries):
        state = STATES[number % len(STATES)]
        home = scratch / f"home-{number}"
        told, stopped = a_life(home, chance)
        what = f"{state.__name__} after {'a clean stop' if stopped else 'a kill'}"
        state(home, chance)
        report.tries += 1
        _look(home, told, what, report)
        shutil.rmtree(home)
    return report


def a_life(home: Path, chance: random.Random) -> tuple[list[Told], bool]:
    """A store that was used, and then stopped or killed; what its client knows."""
    told: list[Told] = []
    store = open_store(str(home))
    store.writer.checkpoint_pages = chance.choice((10, 60, 1000))
    first = chance.randrange(2, 12)
    converse(store, 0, told.append, range(first))
    store.upkeep.backup(str(home / "yesterday.db"))
    if chance.random() < 0.5:
        store.close()
        store = open_store(str(home))
    converse(store, 0, told.append, range(first, first + chance.randrange(3, 30)))
    stopped = chance.random() < 0.3
    # What the kernel has is what a killed process leaves.
    names = (DATABASE, WAL, ledger.NAME)
    kept = {name: (home / name).read_bytes() for name in names}
    store.close()
    if not stopped:
        for name, content in kept.items():
            (home / name).write_bytes(content)
    return told, stopped


def _look(home: Path, told: list[Told], what: str, report: Report) -> None:
    before = _content(home)
    try:
        store = open_store(str(home))
    except RecollectError as error:
        if not isinstance(error, (LessThanStored, DamagedDatabase)):
            report.failed("wrong", f"{what}: {type(error).__name__}: {error}")
        elif _content(home) != before:
            report.failed("wrong", f"{what}: refusing changed the files")
        else:
            _accept(home, what, report)
        return
    try:
        found = compare(store, told, clients=1)
    except RecollectError as error:
        report.failed("wrong", f"{what}: opened, but cannot be read: {error}")
    else:
        for lost in found.lost:
            report.failed("lost", f"{what}: {lost}")
        for wrong in found.corrupt:
            report.failed("wrong", f"{what}: {wrong}")
    finally:
        store.close()


def _accept(home: Path, what: str, report: Report) -> None:
    """Whoever accepts the loss gets a store that is whole, and is not asked again."""
    if ledger.accept_loss(str(home), DATABASE, str(home / "aside.db")) is None:
        report.failed("wrong", f"{what}: refused, but there was nothing to accept")
    store = open_store(str(home))
    if wrong := damage(store):
        report.failed("wrong", f"{what}: accepted, but {wrong[0]}")
    converse(store, 1, lambda one: None, range(1))
    store.close()
    open_store(str(home)).close()


def _content(home: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in home.iterdir()
        if path.name in (DATABASE, WAL, ledger.NAME) and _size(path)
    }


# --- full disks ---------------------------------------------------------------------------------


def fill_and_free(chance: random.Random, tries: int, scratch: Path) -> Report:
    """A daemon under hooks, on a disk that is full and has room in turn: it heals by itself, also
    when no further event comes, and stops when told to."""
    report = Report()
    with small_disk.tmpfs(str(scratch)) as disk:
        daemon = RealDaemon(Path(disk.home), reserve_mb="4").start()
        try:
            for cycle in range(tries):
                report.tries += 1
                _one_cycle(daemon, disk, chance, cycle, report)
            disk.fill()
            daemon.stop()
        finally:
            if daemon.process is not None:
                daemon.kill()
    return report


def _one_cycle(
    daemon: RealDaemon,
    disk: small_disk.SmallDisk,
    chance: random.Random,
    cycle: int,
    report: Report,
) -> None:
    over = threading.Event()

    def hooks() -> None:
        number = 0
        while not over.is_set():
            number += 1
            text = f"cycle {cycle}, number {number} " + "x" * chance.randrange(20_000)
            done = daemon.run_hook("claude-code", "UserPromptSubmit", PROMPT | {"prompt": text})
            if done.returncode or done.stderr:
                report.failed("wrong", f"cycle {cycle}: a hook ended with {done}")

    thread = threading.Thread(target=hooks)
    thread.start()

    def is_full() -> object:
        disk.fill()
        return daemon.client.get("/healthz")["disk_full"]

    full = _until(is_full)
    over.set()
    thread.join()
    if not full:
        report.failed("wrong", f"cycle {cycle}: the disk is full and health does not say so")
    disk.free()
    if not _until(lambda: daemon.client.get("/healthz")["status"] == "ok"):
        health = daemon.client.get("/healthz")
        report.failed("frozen", f"cycle {cycle}: not healed after {HEAL_S:g} s: {health}")


def _until(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + HEAL_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


CASES = [
    Case("files of the store damaged, lost, emptied", file_states, 400),
    Case("full disk, filled and freed under hooks", fill_and_free, 12),
]
