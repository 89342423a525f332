"""A5, A6, A7: errors of the disk at every call lose nothing and are called by their names."""

import os
import threading

import apsw
import pytest

from recollect.core.errors import DiskFull, RecollectError, StoreBusy, StoreFailed
from recollect.store.sqlite import DATABASE
from tests.crash import faults
from tests.crash.oracle import (
    arrival,
    compare,
    damage,
    memory,
    namespace,
    numbers_stored,
    open_store,
    put_event,
)
from tests.fakes.vfs import FailingVFS, Trouble
from tests.fakes.waiting import PATIENCE_S


@pytest.mark.parametrize("kind", faults.KINDS)
def test_trouble_at_every_call_loses_nothing(kind: str, memory_directory: str) -> None:
    # Every call for the plain kinds; their variants every third (`torture` takes them all).
    variant = faults.KINDS[kind].torn or faults.KINDS[kind].lasts
    report = faults.run(faults.KINDS[kind], memory_directory, step=3 if variant else 1)
    assert not report.findings, report.findings
    assert report.runs > 1
    if kind == "EIO on sync":
        assert set(report.answers) == {"StoreFailed"}
    if kind.startswith("disk full"):
        assert set(report.answers) == {"DiskFull"}


@pytest.mark.parametrize("kind", ["disk full once", "EIO on write", "EIO on sync", "EIO on read"])
def test_trouble_while_the_store_is_made_leaves_one_that_can_be_made(
    kind: str, memory_directory: str
) -> None:
    report = faults.run(faults.KINDS[kind], memory_directory, fresh=True, step=17)
    assert not report.findings, report.findings
    assert report.struck > 0


def test_everyone_who_waits_for_a_failed_commit_is_told(memory_directory: str) -> None:
    trouble = Trouble("sync")
    vfs = FailingVFS("failing", trouble)
    store = open_store(os.path.join(memory_directory, "home"), vfs.name)
    trouble.nth = trouble.calls + 1
    told: list[RecollectError] = []

    def client(number: int) -> None:
        try:
            store.events.put([arrival(number, 0)])
        except RecollectError as error:
            told.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE_S)
    assert [type(error) for error in told] == [StoreFailed] * 8
    assert len({id(error) for error in told}) == 8
    store.close()
    vfs.unregister()


def test_a_database_that_another_program_locks_is_busy_not_damaged(memory_directory: str) -> None:
    home = os.path.join(memory_directory, "home")
    store = open_store(home)
    store.writer._connection.set_busy_timeout(0)
    other = apsw.Connection(os.path.join(home, DATABASE))
    other.execute("BEGIN IMMEDIATE")
    for _ in range(50):
        with pytest.raises(StoreBusy):
            store.events.put([arrival(0, 0)])
    other.execute("ROLLBACK")
    other.close()
    put_event(store, 0, 0, lambda told: None)
    assert damage(store) == []
    store.close()


def test_a_part_that_meets_a_bad_disk_ends_the_whole_transaction(memory_directory: str) -> None:
    """Even when its caller swallows the error: or each later write would commit by itself."""
    trouble = Trouble("read")
    home = os.path.join(memory_directory, "home")
    store = open_store(home)
    for number in range(200):
        store.events.put([arrival(0, number, size=2000)])
    store.close()
    vfs = FailingVFS("failing", trouble)
    store = open_store(home, vfs.name)
    batch = store.events.claim(namespace(0), 200, 1 << 30)
    assert batch is not None

    def work(tx):  # type: ignore[no-untyped-def]
        trouble.nth, trouble.lasts = trouble.calls + 1, True
        with pytest.raises(StoreFailed):
            tx.attempt(lambda: tx.finish(batch))
        trouble.passes()
        tx.put_record(memory(0))

    with pytest.raises(StoreFailed):
        store.transaction(work)
    store.close()
    vfs.unregister()
    again = open_store(home)
    assert again.records.page(namespace(0)).items == ()
    assert not compare(again, [], clients=1)
    again.close()


def test_a_part_that_meets_a_full_disk_leaves_nothing_and_writing_goes_on(
    memory_directory: str,
) -> None:
    trouble = Trouble("write", error="full")
    home = os.path.join(memory_directory, "home")
    vfs = FailingVFS("failing", trouble)
    store = open_store(home, vfs.name)
    store.writer._connection.pragma("cache_size", 10)  # so that pages spill before COMMIT

    def work(tx):  # type: ignore[no-untyped-def]
        def part() -> None:
            trouble.nth = trouble.calls + 1
            for _ in range(100):
                tx.put_record(memory(0))

        with pytest.raises(DiskFull):
            tx.attempt(part)
        tx.put_record(memory(0))

    with pytest.raises(DiskFull):
        store.transaction(work)
    assert store.records.page(namespace(0)).items == ()
    put_event(store, 0, 0, lambda told: None)
    assert numbers_stored(store, 0) == [0]
    assert damage(store) == []
    store.close()
    vfs.unregister()


def test_what_recovery_finds_is_in_the_main_file_before_anything_is_built_on_it(
    memory_directory: str,
) -> None:
    """The kernel reports a failed sync once: the log of a store that stopped may not be durable."""
    trouble = Trouble("sync")
    vfs = FailingVFS("failing", trouble)
    home = os.path.join(memory_directory, "home")
    store = open_store(home, vfs.name)
    for number in range(5):
        put_event(store, 0, number, lambda told: None)
    trouble.nth = trouble.calls + 1
    with pytest.raises(StoreFailed):
        store.events.put([arrival(0, 5)])
    store.close()
    vfs.unregister()
    assert os.path.getsize(os.path.join(home, f"{DATABASE}-wal")) > 0
    again = open_store(home)
    bare = os.path.join(memory_directory, "bare.db")
    with open(os.path.join(home, DATABASE), "rb") as source, open(bare, "wb") as target:
        target.write(source.read())
    alone = apsw.Connection(f"file:{bare}?immutable=1", flags=0x41)
    assert alone.execute("SELECT count(*) FROM events").get >= 5
    alone.close()
    again.close()
