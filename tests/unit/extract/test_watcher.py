"""When extraction runs: size, quiet, one at a time for a project, two in all, first come first."""

import threading

from recollect.core.clock import ManualClock, SystemClock
from recollect.core.errors import StoreBusy
from recollect.extract.schedule import Schedule
from recollect.extract.watcher import ExtractionWatcher, RunFollowUp
from recollect.store.sqlite import SqliteStore
from tests.make import NAMESPACE, arrival, event

A, B, C = (f"/actor/ada/project/{name}/" for name in "abc")


def schedule() -> Schedule:
    return Schedule(idle_s=30.0, size=1000)


def test_a_project_is_due_when_it_was_quiet_for_long_enough() -> None:
    one = schedule()
    one.on_event(A, 10, 0.0)
    one.on_event(A, 10, 20.0)
    assert one.due(49.9) == [] and one.next_in(40.0) == 10.0
    assert one.due(50.0) == [A]
    assert one.next_in(50.0) is None


def test_a_project_is_due_at_once_when_enough_has_come() -> None:
    one = schedule()
    one.on_event(A, 600, 0.0)
    assert one.due(0.1) == []
    one.on_event(A, 400, 0.2)
    assert one.due(0.2) == [A]


def test_nothing_is_due_twice_while_it_runs_and_what_came_meanwhile_is_not_lost() -> None:
    one = schedule()
    one.on_event(A, 1000, 0.0)
    assert one.due(0.0) == [A]
    one.on_event(A, 5000, 1.0)
    assert one.due(100.0) == [] and one.next_in(100.0) is None
    one.finished(A, 100.0, again=False)
    assert one.due(100.0) == [A]


def test_what_failed_is_left_alone_for_a_while() -> None:
    one = schedule()
    one.on_event(A, 1000, 0.0)
    assert one.due(0.0) == [A]
    one.finished(A, 1.0, again=True, wait_s=60.0)
    one.on_event(A, 5000, 2.0)
    assert one.due(60.9) == []
    assert one.due(61.0) == [A]


def test_a_batch_that_was_cut_goes_on_at_once_but_behind_the_others() -> None:
    one = schedule()
    one.on_event(A, 1000, 0.0)
    assert one.due(0.0) == [A]
    one.on_event(B, 1000, 1.0)
    one.finished(A, 2.0, again=True)
    assert one.due(2.0) == [B, A]


def test_a_restart_arms_what_waits(store: SqliteStore, clock: ManualClock) -> None:
    store.events.put([arrival("left over")])
    ran: list[str] = []

    def run(namespace: str) -> RunFollowUp:
        ran.append(namespace)
        return RunFollowUp()

    watcher = ExtractionWatcher(store, clock, run, idle_s=30, size=1 << 18)
    watcher.load_backlog()
    watcher.step()
    assert ran == []
    clock.advance(seconds=30)
    watcher.step()
    assert watcher.busy == {NAMESPACE}
    watcher.run_one(NAMESPACE)
    assert ran == [NAMESPACE] and watcher.busy == frozenset()


def test_a_store_that_cannot_answer_is_asked_again_later(
    store: SqliteStore, clock: ManualClock
) -> None:
    def run(namespace: str) -> RunFollowUp:
        raise StoreBusy()

    watcher = ExtractionWatcher(store, clock, run, idle_s=5, size=1)
    watcher.on_event(event())
    watcher.step()
    watcher.run_one(NAMESPACE)
    clock.advance(seconds=59)
    watcher.step()
    assert watcher.busy == frozenset()
    clock.advance(seconds=1)
    watcher.step()
    assert watcher.busy == {NAMESPACE}


def test_two_run_at_once_never_one_project_twice_and_the_third_waits_its_turn(
    store: SqliteStore,
) -> None:
    gate = threading.Semaphore(0)
    lock = threading.Lock()
    running: list[str] = []
    order: list[str] = []
    most = 0

    def run(namespace: str) -> RunFollowUp:
        nonlocal most
        with lock:
            assert namespace not in running
            running.append(namespace)
            order.append(namespace)
            most = max(most, len(running))
        gate.acquire()
        with lock:
            running.remove(namespace)
        return RunFollowUp()

    watcher = ExtractionWatcher(store, SystemClock(), run, idle_s=300, size=1 << 30)
    watcher.start()
    try:
        for namespace in (A, B, C):
            watcher.request([namespace])
            watcher.step()
        watcher.request([A])
        for _ in range(8):
            gate.release()
        assert watcher.wait([A, B, C], 20)
        assert most <= 2
        assert sorted(order[:2]) == [A, B] and order[2] in (A, C) and order.count(C) == 1
    finally:
        gate.release(20)
        watcher.close()
