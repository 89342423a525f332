"""A6: a full disk loses nothing acknowledged and heals by itself, the moment there is room."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from recollect.cli import process
from recollect.core.clock import SystemClock
from recollect.core.errors import DiskFull
from recollect.store.sqlite import SqliteStore
from tests.crash import small_disk
from tests.crash.oracle import (
    Told,
    compare,
    delete_note,
    memory,
    namespace,
    numbers_stored,
    open_store,
    put_event,
    put_note,
)
from tests.crash.small_disk import SmallDisk
from tests.e2e.test_daemon_life import recollect
from tests.fakes.daemons import RealDaemon
from tests.fakes.stored import delete_records
from tests.fakes.waiting import PATIENCE_S

RESERVE_MB = 4


@pytest.fixture(params=small_disk.KINDS, ids=lambda kind: str(kind.__name__))
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmallDisk]:
    with request.param(str(tmp_path)) as made:
        yield made


def is_full(store: SqliteStore) -> bool:
    return store.writer.disk_full


def until_full(store: SqliteStore, number: int, told: list[Told]) -> int:
    """Put events until there is no room; the number of the one that was refused."""
    for attempt in range(10_000):
        try:
            put_event(store, 0, number + attempt, told.append, size=20_000)
        except DiskFull:
            return number + attempt
    raise AssertionError("the disk does not fill up")


def test_a_full_disk_is_told_frees_the_reserve_and_heals_at_once(disk: SmallDisk) -> None:
    store = open_store(disk.home, reserve_mb=RESERVE_MB)
    reserve = os.path.join(disk.home, "reserve")
    told: list[Told] = []
    notes = [put_note(store, 0, told.append) for _ in range(8)]
    number = 0
    for _ in range(4):
        put_event(store, 0, number, told.append)
        assert os.path.getsize(reserve) == RESERVE_MB << 20
        disk.fill()
        number = until_full(store, number + 1, told)
        assert is_full(store)
        assert store.writer.failure is None
        assert not os.path.exists(reserve)

        if isinstance(disk, small_disk.Tmpfs):
            delete_note(store, 0, notes.pop(), told.append)  # what frees space still works
        with pytest.raises(DiskFull):
            put_event(store, 0, number, told.append, size=20_000)
        assert numbers_stored(store, 0) == list(range(number))  # and so does reading

        disk.free()
        put_event(store, 0, number, told.append, size=20_000)  # at once: nobody waits
        assert not is_full(store)
        assert os.path.getsize(reserve) == RESERVE_MB << 20
        number += 1
    store.close()
    again = open_store(disk.home, reserve_mb=RESERVE_MB)
    assert not compare(again, told, clients=1)
    again.close()


def test_a_store_opens_on_a_full_disk_and_reads(disk: SmallDisk) -> None:
    store = open_store(disk.home, reserve_mb=RESERVE_MB)
    told: list[Told] = []
    put_event(store, 0, 0, told.append)
    disk.fill()
    number = until_full(store, 1, told)
    disk.fill()  # what the reserve left is taken as well
    store.close()
    again = open_store(disk.home, reserve_mb=RESERVE_MB)
    assert numbers_stored(again, 0) == list(range(number))
    disk.free()
    put_event(again, 0, number, told.append)
    assert not compare(again, told, clients=1)
    again.close()


def test_deleting_memories_heals_a_disk_that_they_filled(disk: SmallDisk) -> None:
    """The freed pages go back to the file system; nobody else has to make room."""
    store = open_store(disk.home, reserve_mb=RESERVE_MB)
    if isinstance(disk, small_disk.SizeLimit):
        put_note(store, 0, lambda told: None)
        disk.fill()
    kept: list[str] = []
    with pytest.raises(DiskFull):
        for _ in range(10_000):
            big = msgspec.structs.replace(memory(0), detail=os.urandom(15_000).hex())
            kept.append(store.records.put([big])[0].record_id)
    assert kept
    assert is_full(store)
    tomorrow = SystemClock().now() + timedelta(days=1)
    if isinstance(disk, small_disk.SizeLimit):
        disk.free()  # this disk has room enough: only its files could not grow
    for record_id in kept:
        delete_records(store, namespace(0), [record_id], actor="test")
        store.aging.purge("archive", tomorrow)
    put_event(store, 0, 0, lambda told: None)
    assert not is_full(store)
    assert store.upkeep.check() == []
    store.close()


def test_it_heals_though_nobody_writes(disk: SmallDisk) -> None:
    """Who looks at health after making room must not have to wait for the next event."""
    store = open_store(disk.home, reserve_mb=RESERVE_MB)
    put_event(store, 0, 0, lambda told: None)
    disk.fill()
    until_full(store, 1, [])
    assert is_full(store)
    disk.free()
    wait_until(lambda: not is_full(store))
    assert os.path.getsize(os.path.join(disk.home, "reserve")) == RESERVE_MB << 20
    store.close()


def killed(daemon: RealDaemon) -> None:
    daemon.start().kill()


def stripped(daemon: RealDaemon) -> None:
    """Neither a log to write to, nor the hook in place."""
    daemon.start().kill()
    for folder in ("logs", "bin"):
        shutil.rmtree(daemon.home / folder)


def new(daemon: RealDaemon) -> None:
    daemon.home.mkdir(mode=0o700)
    (daemon.home / "settings.toml").touch()  # so that there is something to limit


@pytest.mark.parametrize("before", [killed, stripped, new])
def test_a_start_on_a_full_disk_runs_or_says_why_and_is_well_when_there_is_room(
    disk: SmallDisk, before: Callable[[RealDaemon], None]
) -> None:
    daemon = RealDaemon(Path(disk.home), reserve_mb="2")
    before(daemon)
    disk.fill()
    try:
        up = recollect(daemon, "up")
        assert "Traceback" not in up.stderr
        if up.returncode:
            assert "no room" in up.stderr or "No space" in up.stderr, up.stderr
        disk.free()
        if up.returncode or isinstance(disk, small_disk.SizeLimit):  # a process takes that with it
            assert recollect(daemon, "restart").returncode == 0
        wait_until(lambda: daemon.client.get("/healthz")["status"] == "ok")
    finally:
        process.stop(daemon.settings)


def test_a_log_that_cannot_be_written_does_not_stop_a_daemon_whose_words_nobody_reads(
    tmp_path: Path,
) -> None:
    """Python prints a traceback for each line it cannot log; a full pipe then stops the program."""
    script = (
        "import logging, resource\n"
        "from recollect.daemon.logs import start_log; from recollect.core import settings\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "start_log(settings.load(), to_terminal=False)\n"
        "for number in range(2000): logging.error('number %d', number)\n"
    )
    daemon = RealDaemon(tmp_path / "home")
    child = subprocess.Popen(
        [sys.executable, "-c", script], env=daemon.environment, stderr=subprocess.PIPE
    )
    try:
        assert child.wait(timeout=PATIENCE_S) == 0
    finally:
        child.kill()
        child.communicate()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
