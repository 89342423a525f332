"""A real store per test."""

import tempfile
from collections.abc import Iterator

import pytest

from recollect.core.settings import Settings
from recollect.store.sqlite import SqliteStore
from tests.unit.extract.session import CLOCK


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with tempfile.TemporaryDirectory() as home:
        opened = SqliteStore(Settings(home=home, reserve_mb=0), CLOCK)
        yield opened
        opened.close()
