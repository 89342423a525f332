"""A desk on a real store and a real engine, by words alone."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Pipeline
from recollect.remember import Recollection
from recollect.service.desk import Desk
from recollect.store.sqlite import SqliteStore


@pytest.fixture
def desk(store: SqliteStore, clock: ManualClock, settings: Settings) -> Iterator[Desk]:
    counters, memories = Counters(clock), Memories(store)
    by_words = replace(settings, embedding=False)
    recollection = Recollection(by_words, clock, store, memories, counters)
    recollection.start()
    yield Desk(
        settings=by_words,
        clock=clock,
        store=store,
        memories=memories,
        pipeline=Pipeline(store, clock, "ada", counters),
        counters=counters,
        tombstones=recollection.tombstones,
        recollection=lambda: recollection,
    )
    recollection.close()
