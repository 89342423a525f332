"""A6: a full disk loses nothing acknowledged and heals by itself, the moment there is room."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

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
        store.records.delete(namespace(0), [record_id], actor="test")
        store.log.purge(tomorrow)
    put_event(store, 0, 0, lambda told: None)
    assert not is_full(store)
    assert store.upkeep.check() == []
    store.close()
