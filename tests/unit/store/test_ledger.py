"""The ledger beside the database: what alarms, and what must not."""

import contextlib
import os
import pathlib
import threading
from datetime import timedelta

import apsw
import pytest

from recollect.core.clock import SystemClock
from recollect.core.errors import LessThanStored, StoreClosed
from recollect.store.interface import Selection
from recollect.store.sqlite import DATABASE, ledger, upkeep
from recollect.store.sqlite.ledger import NAME, accept_loss, read
from tests.crash.oracle import (
    converse,
    delete_note,
    namespace,
    numbers_stored,
    open_store,
    put_note,
)


def quiet(told: object) -> None:
    """A client that remembers nothing."""


def a_store(home: pathlib.Path, events: int = 20) -> None:
    store = open_store(str(home))
    converse(store, 0, quiet, range(events))
    store.close()


def test_a_clean_stop_leaves_a_mark_of_all_that_is_there(tmp_path: pathlib.Path) -> None:
    a_store(tmp_path)
    mark = read(str(tmp_path / NAME))
    assert (mark.events, mark.held_events, mark.clean) == (20, 20, True)
    assert mark.held_records > 0
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("there", [True, False])
def test_an_emptied_or_lost_database_is_refused_and_what_is_missing_is_told(
    tmp_path: pathlib.Path, there: bool
) -> None:
    a_store(tmp_path)
    (tmp_path / DATABASE).unlink()
    if there:
        (tmp_path / DATABASE).touch()
    for _ in range(2):  # as often as one tries
        with pytest.raises(LessThanStored, match=r"20 events and \d+ memories") as refused:
            open_store(str(tmp_path))
        assert "--accept-loss" in refused.value.hint
    assert (tmp_path / DATABASE).exists() == there


def test_rows_that_only_a_garbled_log_had_are_counted(tmp_path: pathlib.Path) -> None:
    store = open_store(str(tmp_path))
    converse(store, 0, quiet, range(5))
    store.writer.run(lambda db: db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE), alone=True)
    converse(store, 0, quiet, range(5, 12))
    kept = {name: (tmp_path / name).read_bytes() for name in (DATABASE, f"{DATABASE}-wal", NAME)}
    store.close()
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / f"{DATABASE}-wal").write_bytes(os.urandom(len(kept[f"{DATABASE}-wal"])))
    with pytest.raises(LessThanStored, match=r"7 events .*since \d{4}-"):
        open_store(str(tmp_path))


def test_a_memory_that_no_event_tells_of_is_missed_too(tmp_path: pathlib.Path) -> None:
    store = open_store(str(tmp_path))
    converse(store, 0, quiet, range(5))
    store.writer.run(lambda db: db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE), alone=True)
    put_note(store, 0, quiet)
    kept = {name: (tmp_path / name).read_bytes() for name in (DATABASE, NAME)}
    store.close()
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(LessThanStored, match="holds less than was stored"):
        open_store(str(tmp_path))


@pytest.mark.parametrize(
    ("deleted", "missing"),
    [("events WHERE seq IN (3, 4)", "2 events"), ("memory_records", r"\d+ memories")],
)
def test_rows_that_somebody_deleted_from_a_stopped_store_are_missed(
    tmp_path: pathlib.Path, deleted: str, missing: str
) -> None:
    a_store(tmp_path)
    with contextlib.closing(apsw.Connection(str(tmp_path / DATABASE))) as db:
        db.execute(f"DELETE FROM {deleted}")
    with pytest.raises(LessThanStored, match=missing):
        open_store(str(tmp_path))
    told = accept_loss(str(tmp_path), DATABASE, str(tmp_path / "aside.db"))
    assert told is not None and (tmp_path / "aside.db").exists()
    open_store(str(tmp_path)).close()
    open_store(str(tmp_path)).close()


def test_the_scrubber_writes_down_how_much_there_is(tmp_path: pathlib.Path) -> None:
    store = open_store(str(tmp_path))
    converse(store, 0, quiet, range(5))
    assert read(str(tmp_path / NAME)).held_events == 0
    for _ in range(4):
        store.upkeep.scrub(None, 10)
    assert read(str(tmp_path / NAME)).held_events == 5
    store.close()


def test_forgetting_everything_is_no_loss(tmp_path: pathlib.Path) -> None:
    store = open_store(str(tmp_path))
    converse(store, 0, quiet, range(20))
    note = put_note(store, 0, quiet)
    delete_note(store, 0, note, quiet)
    store.bulk.erase(namespace(0), Selection(everything=True), "crash")
    store.aging.purge("archive", SystemClock().now() + timedelta(days=1))
    store.bulk.sweep()
    kept = {name: (tmp_path / name).read_bytes() for name in (DATABASE, NAME)}
    store.close()
    open_store(str(tmp_path)).close()
    for name, content in kept.items():  # and as a kill would have left it
        (tmp_path / name).write_bytes(content)
    store = open_store(str(tmp_path))
    assert numbers_stored(store, 0) == []
    store.close()


def test_a_restore_is_no_loss_however_much_older_the_backup_is(tmp_path: pathlib.Path) -> None:
    store = open_store(str(tmp_path))
    converse(store, 0, quiet, range(3))
    backup = str(tmp_path / "backup.db")
    store.upkeep.backup(backup)
    converse(store, 0, quiet, range(3, 20))
    store.close()
    upkeep.restore(backup, str(tmp_path / DATABASE), str(tmp_path / "aside.db"))
    assert read(str(tmp_path / NAME)).events == 3
    store = open_store(str(tmp_path))
    assert numbers_stored(store, 0) == [0, 1, 2]
    store.close()
    (tmp_path / DATABASE).write_bytes(b"")  # the ledger is about what was restored now
    with pytest.raises(LessThanStored, match="3 events"):
        open_store(str(tmp_path))


def test_a_ledger_that_is_missing_or_damaged_does_not_alarm(tmp_path: pathlib.Path) -> None:
    for content in (None, b"", b"\x00" * 8192, os.urandom(8192), b"{}", b"00000000 {}\n" * 2):
        a_store(tmp_path, 2)
        (tmp_path / NAME).unlink()
        if content is not None:
            (tmp_path / NAME).write_bytes(content)
        open_store(str(tmp_path)).close()
        assert read(str(tmp_path / NAME)).events == 2
        (tmp_path / DATABASE).unlink()
        (tmp_path / NAME).unlink()


def test_half_a_ledger_still_knows_nearly_all(tmp_path: pathlib.Path) -> None:
    a_store(tmp_path)
    raw = (tmp_path / NAME).read_bytes()
    for torn in (b"\x00" * 4096 + raw[4096:], raw[:4096] + os.urandom(4096), raw[:4096]):
        (tmp_path / NAME).write_bytes(torn)
        assert read(str(tmp_path / NAME)).events == 20


def test_a_lost_database_beside_backups_is_missed_without_a_ledger(tmp_path: pathlib.Path) -> None:
    a_store(tmp_path)
    (tmp_path / "backups").mkdir()
    os.rename(tmp_path / DATABASE, tmp_path / "backups" / "recollect-20260101T000000Z.db")
    (tmp_path / NAME).unlink()
    with pytest.raises(LessThanStored, match="there are backups of it"):
        open_store(str(tmp_path))
    assert ledger.accept_loss(str(tmp_path), DATABASE, str(tmp_path / "aside.db")) is not None
    open_store(str(tmp_path)).close()
    open_store(str(tmp_path)).close()


def test_a_new_directory_and_a_first_start_that_died_do_not_alarm(tmp_path: pathlib.Path) -> None:
    (tmp_path / DATABASE).touch(mode=0o600)
    (tmp_path / "backups").mkdir()
    open_store(str(tmp_path)).close()


# --- a clean stop -------------------------------------------------------------------------------


def log_bytes(home: pathlib.Path) -> int:
    path = home / f"{DATABASE}-wal"
    return path.stat().st_size if path.exists() else 0


def test_a_stop_folds_the_log_in_though_a_reader_is_in_the_middle(tmp_path: pathlib.Path) -> None:
    store = open_store(str(tmp_path))
    reading, closed, heard = threading.Event(), threading.Event(), list[BaseException]()

    def read_on() -> None:
        try:
            with store.engine.reader() as db:
                db.execute("SELECT count(*) FROM events").fetchall()
                reading.set()
                closed.wait()
                db.execute("SELECT count(*) FROM events").fetchall()
        except StoreClosed as error:
            heard.append(error)

    thread = threading.Thread(target=read_on)
    thread.start()
    reading.wait()
    converse(store, 0, quiet, range(100), size=20_000)
    assert log_bytes(tmp_path) > 1 << 20
    store.close()
    closed.set()
    thread.join()
    assert log_bytes(tmp_path) == 0
    assert len(heard) == 1
    assert read(str(tmp_path / NAME)).clean


def test_a_stop_ends_a_query_that_runs_for_ever(tmp_path: pathlib.Path) -> None:
    store = open_store(str(tmp_path))
    converse(store, 0, quiet, range(100), size=20_000)
    began, heard = threading.Event(), list[BaseException]()

    def ask() -> None:
        endless = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        )
        try:
            with store.engine.reader() as db:
                began.set()
                db.execute(endless).fetchall()
        except StoreClosed as error:
            heard.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    began.wait()
    store.close()
    thread.join()
    assert log_bytes(tmp_path) == 0
    assert len(heard) == 1


def test_a_reader_of_another_process_costs_the_stop_a_moment_and_no_rows(
    tmp_path: pathlib.Path,
) -> None:
    store = open_store(str(tmp_path))
    converse(store, 0, quiet, range(5))
    other = apsw.Connection(str(tmp_path / DATABASE), flags=apsw.SQLITE_OPEN_READONLY)
    other.execute("BEGIN; SELECT count(*) FROM events").fetchall()
    converse(store, 0, quiet, range(5, 10))
    store.close()
    assert not read(str(tmp_path / NAME)).clean
    other.close()
    again = open_store(str(tmp_path))
    assert numbers_stored(again, 0) == list(range(10))
    again.close()
    assert log_bytes(tmp_path) == 0
