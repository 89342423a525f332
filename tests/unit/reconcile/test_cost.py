"""What extraction by rules costs: 1,000 events through the whole worker, without embeddings."""

import os
from dataclasses import replace
from itertools import cycle

import msgspec

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Arrival, Event
from recollect.daemon.runtime import Runtime
from recollect.store.sqlite import SqliteStore
from tests.bench import gold
from tests.make import NAMESPACE

EVENTS = 1_000
CPU_S = 2.0  # the bar of the issue; 0.4 s on the machine on which it was written


def backlog() -> list[Event]:
    """The sessions of the gold set, again and again under other names, until there are enough."""
    found: list[Event] = []
    for round_, session in enumerate(cycle(gold.own())):
        for event in session.events:
            found.append(
                msgspec.structs.replace(
                    event,
                    event_id=ids.new_ulid(int(event.valid_time.timestamp() * 1000)),
                    session_id=f"s{round_}",
                    namespace=NAMESPACE,
                )
            )
            if len(found) == EVENTS:
                return found
    raise AssertionError("the gold set is empty")


def spent_by_all() -> float:
    """CPU of this process and of the worker that it had."""
    return sum(os.times()[:4])


def test_a_thousand_events_cost_less_than_two_seconds_of_cpu(
    store: SqliteStore, settings: Settings
) -> None:
    clock = ManualClock(gold.AFTERWARDS)
    runtime = Runtime(replace(settings, embedding=False), clock, store)
    learning = runtime.load_learning()
    store.events.put([Arrival(event=event) for event in backlog()])
    learning.start()
    before = spent_by_all()
    assert learning.run_now([NAMESPACE], 120)
    runtime.close()
    spent = spent_by_all() - before
    assert sum(one.count for one in store.events.backlog()) == 0
    assert runtime.counters.totals()["memories extracted"] > 50
    assert spent < CPU_S, f"{spent:.2f} s"
