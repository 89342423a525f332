"""Stores on a real PostgreSQL server, each test in a database that it finds empty."""

import pathlib
from collections.abc import Callable, Iterator

import pytest

from recollect.core.clock import Clock, ManualClock
from recollect.core.settings import Settings
from recollect.store.postgres import PostgresStore
from tests.fakes.postgres import Server

Opener = Callable[..., PostgresStore]


@pytest.fixture
def database(postgres_server: Server) -> Iterator[str]:
    yield postgres_server.shared
    postgres_server.empty(postgres_server.shared)


@pytest.fixture
def opened(
    postgres_server: Server, database: str, tmp_path: pathlib.Path, clock: ManualClock
) -> Iterator[Opener]:
    """Opens stores as daemons of their own, by default as ada; all are closed at the end."""
    stores: list[PostgresStore] = []

    def open_one(
        actor: str = "ada", *, user: str = "ada", clock: Clock = clock, **more: object
    ) -> PostgresStore:
        home = str(tmp_path / f"home-{len(stores)}")
        url = postgres_server.url(database, user)
        chosen = Settings(home=home, actor=actor, store=url, **more)  # type: ignore[arg-type]
        stores.append(PostgresStore(chosen, clock))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()
