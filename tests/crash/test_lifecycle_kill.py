"""kill -9 at each step of maintenance: going on afterwards gives what one clean pass gives."""

import multiprocessing
import os
import shutil
import signal
from datetime import timedelta
from typing import Any

import msgspec

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Fact
from recollect.ingest.memories import Memories
from recollect.lifecycle.maintenance import Maintenance
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import marks_in, put_graph
from tests.make import NAMESPACE, record

DAYS = 12


def _open(home: str, day: int) -> tuple[SqliteStore, ManualClock, Settings]:
    clock = ManualClock()
    clock.advance(days=day)
    settings = Settings(home=home, reserve_mb=0, retention=("notes:5",))
    return SqliteStore(settings, clock), clock, settings


def _fill(home: str) -> None:
    store, clock, _ = _open(home, 0)
    for day in range(8):
        for number in range(6):
            text = f"On day {day} we decided that part_{day}_{number} uses port {9000 + number}."
            store.records.put(
                [record(f"turn {day} {number}", kind="episode", detail=text, position=number,
                        record_id=f"mr_01K0000000000000000000{day}{number:02}0",
                        session_id=f"s{day}", valid_from=clock.now())]
            )  # fmt: skip
        store.records.put(
            [record(f"saw {day}", observation_type="error", files=("a.py",),
                    record_id=f"mr_01K000000000000000000X{day}000", valid_from=clock.now())]
        )  # fmt: skip
        clock.advance(days=1)
    now = clock.now()
    put_graph(store,
        Fact(fact_id="f", namespace=NAMESPACE, subject="a", predicate="uses", object="b",
             source_type="inferred", valid_from=now - timedelta(days=1))
    )  # fmt: skip
    store.close()


def _pass(home: str, day: int, die_at: int) -> None:
    """One pass in a process that kills itself at its n-th pause; 0 never."""
    store, clock, settings = _open(home, day)
    seen = 0

    def pause() -> None:
        nonlocal seen
        seen += 1
        if seen == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    Maintenance(store, Memories(store), clock, settings).run(pause)
    store.close()


def _state(home: str) -> list[Any]:
    store, _, _ = _open(home, DAYS)
    rows = sorted(
        (msgspec.to_builtins(one) for one in store.records.page(NAMESPACE, limit=1000).items),
        key=lambda one: one["record_id"],
    )
    facts = [msgspec.to_builtins(one) for one in store.graph.facts(NAMESPACE)]
    marks = marks_in(store, NAMESPACE)
    operations = store.log.page(NAMESPACE, limit=500).items
    kinds = sorted((one.kind, one.targets, one.created) for one in operations)
    assert store.upkeep.check() == []
    store.close()
    return [rows, facts, marks, kinds]


def test_a_pass_killed_at_any_step_goes_on_to_the_same_end(memory_directory: str) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crash.test_lifecycle_kill"])
    start = os.path.join(memory_directory, "start")
    _fill(start)
    _pass(start, 9, 0)  # so that there are turns to forget and episodes to distil
    clean = os.path.join(memory_directory, "clean")
    shutil.copytree(start, clean)
    _pass(clean, 17, 0)
    wanted = _state(clean)
    assert len(wanted[3]) > 8
    step = 0
    while True:
        step += 1
        home = os.path.join(memory_directory, "killed")
        shutil.copytree(start, home)
        process = context.Process(target=_pass, args=(home, 17, step))
        process.start()
        process.join()
        code = process.exitcode
        process.close()
        _pass(home, 17, 0)
        assert _state(home) == wanted, f"killed at pause {step}"
        shutil.rmtree(home)
        if code == 0:
            break
        assert code == -9
    assert step > 10
