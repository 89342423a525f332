"""A runtime on a real store and a real engine, by words alone."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.daemon.runtime import Runtime
from recollect.store.sqlite import SqliteStore


@pytest.fixture
def runtime(store: SqliteStore, clock: ManualClock, settings: Settings) -> Iterator[Runtime]:
    made = Runtime(replace(settings, embedding=False), clock, store)
    made.load_recall()
    yield made
    made.close()
