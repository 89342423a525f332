"""SQLite keeps the storage contract."""

import pathlib
from collections.abc import Iterator

import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.store.sqlite import SqliteStore
from tests.contract.store import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def other_store(self, tmp_path: pathlib.Path, clock: ManualClock) -> Iterator[SqliteStore]:
        """A second, empty one."""
        opened = SqliteStore(
            Settings(home=str(tmp_path / "other"), actor="ada", reserve_mb=0), clock
        )
        yield opened
        opened.close()
