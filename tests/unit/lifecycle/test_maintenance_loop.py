"""When maintenance runs by itself, and when it steps aside."""

import threading
import time

import pytest

from recollect.core import oslayer
from recollect.core.clock import ManualClock
from recollect.core.errors import StoreBusy
from recollect.core.jobs import Jobs
from recollect.core.settings import Settings
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.messages import Notice
from recollect.lifecycle.maintenance import Maintenance
from recollect.lifecycle.maintenance_loop import MaintenanceLoop
from recollect.store.sqlite import SqliteStore
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.make import NAMESPACE, arrival, record


def _made(store: SqliteStore, clock: ManualClock, settings: Settings, sessions: int) -> Maintenance:
    store.records.put(
        [
            record("turn", kind="episode", detail=f"port {n}", session_id=f"s{n}")
            for n in range(sessions)
        ]
    )
    clock.advance(hours=25)
    return Maintenance(store, Memories(store), clock, settings)


def test_it_runs_when_nothing_happens(
    store: SqliteStore, clock: ManualClock, settings: Settings
) -> None:
    counters = Counters(clock)
    keeper = MaintenanceLoop(
        _made(store, clock, settings, 2), counters, jobs=Jobs(clock), idle_s=0.0, look_s=0.01
    )
    keeper.start()
    wait_until(lambda: counters.totals().get("maintenance passes"))
    keeper.close()
    assert counters.totals()["maintenance passes"] == 1  # and not again before its day
    levels = [one.level for one in store.records.page(NAMESPACE).items if one.kind == "episode"]
    assert sorted(levels) == ["compressed", "compressed", "raw", "raw"]
    assert keeper.maintained_at == clock.now()


def test_it_does_not_run_while_agents_work_and_stops_at_once(
    store: SqliteStore, clock: ManualClock, settings: Settings
) -> None:
    maintenance = _made(store, clock, settings, 30)
    keeper = MaintenanceLoop(
        maintenance, Counters(clock), jobs=Jobs(clock), idle_s=3600.0, look_s=0.01
    )
    keeper.start()
    keeper.on_event(Notice(arrival(), "test"))
    keeper.close()
    assert not keeper.maintained_at
    # A pass under way waits as soon as an event comes, and a stop ends it between two steps.
    keeper = MaintenanceLoop(
        maintenance, Counters(clock), jobs=Jobs(clock), idle_s=-1.0, look_s=0.001
    )
    first = threading.Event()
    merge = maintenance._merge

    def merging(*given: object) -> None:
        keeper.on_event(Notice(arrival(), "test"))
        first.set()
        merge(*given)  # type: ignore[arg-type]

    maintenance._merge = merging  # type: ignore[method-assign, assignment]
    keeper.start()
    assert first.wait(PATIENCE_S)
    keeper.close()
    assert maintenance.last and not maintenance.last.finished
    assert maintenance.last.counts.total() < 30


def test_a_store_that_cannot_write_is_told_and_tried_again(
    store: SqliteStore, clock: ManualClock, settings: Settings
) -> None:
    maintenance = _made(store, clock, settings, 1)
    counters = Counters(clock)
    run, failures = maintenance.run, [StoreBusy("busy")]

    def failing(*given: object) -> object:
        if failures:
            raise failures.pop()
        return run(*given)  # type: ignore[arg-type]

    maintenance.run = failing  # type: ignore[method-assign, assignment]
    keeper = MaintenanceLoop(maintenance, counters, jobs=Jobs(clock), idle_s=0.0, look_s=0.01)
    keeper.start()
    wait_until(lambda: counters.totals().get("maintenance passes"))
    keeper.close()
    assert counters.errors_last_hour() == ["maintenance: busy"]


def test_memory_goes_back_once_after_each_stretch_of_work(
    store: SqliteStore, clock: ManualClock, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []
    monkeypatch.setattr(oslayer, "give_memory_back", lambda: given.append(time.monotonic()))
    maintenance = _made(store, clock, settings, 0)
    keeper = MaintenanceLoop(
        maintenance, Counters(clock), jobs=Jobs(clock), idle_s=3600, look_s=0.0
    )
    for _ in range(5):
        keeper._look()
        assert len(given) == 1, "what starting left behind; nothing happened since"
    keeper.on_event(Notice(arrival(), "test"))
    keeper._look()
    assert len(given) == 2


def test_a_bug_does_not_end_maintenance_for_good(
    store: SqliteStore, clock: ManualClock, settings: Settings
) -> None:
    maintenance = _made(store, clock, settings, 1)
    counters = Counters(clock)
    run, failures = maintenance.run, [ValueError("of ours")]

    def failing(*given: object) -> object:
        if failures:
            raise failures.pop()
        return run(*given)  # type: ignore[arg-type]

    maintenance.run = failing  # type: ignore[method-assign, assignment]
    keeper = MaintenanceLoop(
        maintenance, counters, jobs=Jobs(clock), idle_s=0.0, every_s=0.0, look_s=0.01
    )
    keeper.start()
    wait_until(lambda: counters.totals().get("maintenance passes"))
    keeper.close()
    assert counters.errors_last_hour() == ["maintenance failed; the log says why"]
