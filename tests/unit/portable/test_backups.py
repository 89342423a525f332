"""Backups: verified, rotated, due in time, and put back whole."""

import os
import pathlib
import random

import pytest

from recollect.core.errors import DamagedDatabase, NotFound, StoreBusy
from recollect.daemon.restore import restore
from recollect.portable.backups import chosen, made_at
from recollect.store.sqlite import SqliteStore
from tests.make import NAMESPACE, arrival, record
from tests.unit.portable.conftest import Desk


def fill(desk: Desk, number: int) -> None:
    desk.store.events.put([arrival(f"event {number} {n}") for n in range(3)])
    desk.store.records.put([record(f"Memory {number}")])


def test_seven_are_kept_and_the_oldest_go(desk: Desk) -> None:
    for number in range(10):
        fill(desk, number)
        desk.clock.advance(hours=1)
        before = desk.store.upkeep.stats().records
        info = desk.backups.create()
        assert info.events == 3 * (number + 1)
        # The turn writer, catching up at its start, may add episodes while the copy is made.
        assert number < before <= info.records <= desk.store.upkeep.stats().records
    assert len(desk.backups.made()) == 7
    assert desk.backups.newest_at() == desk.clock.now()
    assert all(os.stat(path).st_mode & 0o077 == 0 for path in desk.backups.made())


def test_two_within_a_second_are_two(desk: Desk) -> None:
    fill(desk, 1)
    assert desk.backups.create().path != desk.backups.create().path
    assert len(desk.backups.made()) == 2


def test_one_is_due_when_the_newest_is_old_enough(desk: Desk) -> None:
    assert desk.backups.due()
    desk.backups.create()
    assert not desk.backups.due()
    desk.clock.advance(hours=23)
    assert not desk.backups.due()
    desk.clock.advance(hours=1)
    assert desk.backups.due()


def test_which_one_is_meant(desk: Desk, tmp_path: pathlib.Path) -> None:
    folder = desk.settings.path("backups")
    with pytest.raises(NotFound, match="no backup yet"):
        chosen(folder, None)
    first = desk.backups.create().path
    desk.clock.advance(days=1)
    second = desk.backups.create().path
    assert chosen(folder, None) == second
    day = os.path.basename(first).split("-")[1][:8]
    assert chosen(folder, day) == first and chosen(folder, first) == first
    with pytest.raises(NotFound, match="'1999'"):
        chosen(folder, "1999")
    assert made_at(str(tmp_path)) is None


def test_twenty_random_backups_come_back_exactly(desk: Desk) -> None:
    """The drill: at random moments a backup; each put back gives what was there at that moment,
    and what was there before the drill is kept aside."""
    drawn = random.Random(7)
    desk.turn_writer.close()
    kept: list[tuple[str, list[object]]] = []
    folder = pathlib.Path(desk.settings.path("drill"))
    folder.mkdir(parents=True)
    for number in range(20):
        for _ in range(drawn.randrange(1, 5)):
            fill(desk, drawn.randrange(1000))
        desk.clock.advance(minutes=drawn.randrange(1, 600))
        path = str(folder / f"{number}.db")
        desk.store.upkeep.backup(path)
        kept.append((path, list(desk.store.bulk.dump(NAMESPACE))))
    last = list(desk.store.bulk.dump(NAMESPACE))
    with pytest.raises(StoreBusy):
        restore(desk.settings, kept[0][0])
    desk.store.close()
    drawn.shuffle(kept)
    aside = ""
    for path, rows in kept:
        done = restore(desk.settings, path)
        aside = aside or str(done["aside"])
        store = SqliteStore(desk.settings, desk.clock)
        assert list(store.bulk.dump(NAMESPACE)) == rows
        store.close()
    restore(desk.settings, aside)
    store = SqliteStore(desk.settings, desk.clock)
    assert list(store.bulk.dump(NAMESPACE)) == last
    store.close()


def test_a_backup_with_a_changed_row_is_refused_and_nothing_happens(desk: Desk) -> None:
    import apsw

    fill(desk, 1)
    path = desk.backups.create().path
    before = list(desk.store.bulk.dump(NAMESPACE))
    db = apsw.Connection(path)
    db.execute("UPDATE events SET body = replace(body, 'event', 'tneve')")
    db.close()
    desk.turn_writer.close()
    desk.store.close()
    with pytest.raises(DamagedDatabase):
        restore(desk.settings, path)
    store = SqliteStore(desk.settings, desk.clock)
    assert list(store.bulk.dump(NAMESPACE)) == before
    store.close()
