"""PostgreSQL keeps the storage contract, logged in as a role that row-level security narrows."""

import pathlib
from collections.abc import Iterator

import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.store.postgres import PostgresStore
from tests.contract.store import StoreContract
from tests.fakes.postgres import Server


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def other_store(
        self, tmp_path: pathlib.Path, clock: ManualClock, postgres_server: Server
    ) -> Iterator[PostgresStore]:
        """A second, empty one."""
        name = postgres_server.database()
        url = postgres_server.url(name, "ada")
        chosen = Settings(home=str(tmp_path / "other"), actor="ada", store=url)
        opened = PostgresStore(chosen, clock)
        yield opened
        opened.close()
        postgres_server.drop(name)
