"""An encrypted SQLite store keeps the storage contract: what is read, found, changed and erased."""

import pathlib
from collections.abc import Iterator

import pytest

from recollect.core.clock import ManualClock
from recollect.store.sqlite import SqliteStore
from tests.contract.conftest import encrypted_store
from tests.contract.store.bulk import BulkContract
from tests.contract.store.events import EventsContract
from tests.contract.store.finding import SearchContract
from tests.contract.store.life import TransactionContract
from tests.contract.store.memories import RecordsContract


class TestEncryptedStore(
    EventsContract, RecordsContract, SearchContract, TransactionContract, BulkContract
):
    @pytest.fixture
    def other_store(self, tmp_path: pathlib.Path, clock: ManualClock) -> Iterator[SqliteStore]:
        """A second, empty one."""
        opened = encrypted_store(tmp_path / "other", clock)
        yield opened
        opened.close()
