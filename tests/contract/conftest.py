"""All backends: a module named after PostgreSQL gets its store from a real server."""

import pathlib
from collections.abc import Iterator

import pytest

from recollect.core import store_key
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.store.interface import Store
from recollect.store.postgres import PostgresStore
from recollect.store.sqlite import SqliteStore
from tests.fakes.postgres import Server


def encrypted_store(home: pathlib.Path, clock: ManualClock) -> SqliteStore:
    chosen = Settings(home=str(home), actor="ada", reserve_mb=0, encryption_key=f"file:{home}.key")
    return SqliteStore(chosen, clock)


@pytest.fixture
def store(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, settings: Settings, clock: ManualClock
) -> Iterator[Store]:
    if "encrypted" in request.module.__name__:
        encrypted = encrypted_store(tmp_path / "home", clock)
        yield encrypted
        encrypted.close()
        assert store_key.header_of(settings.path(store_key.DATABASE))
        return
    if "postgres" not in request.module.__name__:
        opened: Store = SqliteStore(settings, clock)
        yield opened
        opened.close()
        return
    server: Server = request.getfixturevalue("postgres_server")
    name = server.shared
    chosen = Settings(home=str(tmp_path / "home"), actor="ada", store=server.url(name, "ada"))
    opened = PostgresStore(chosen, clock)
    yield opened
    opened.close()
    server.empty(name)
