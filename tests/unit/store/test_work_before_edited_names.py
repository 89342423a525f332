"""The work of turns that was derived before it held the names of edits is derived again, on both
engines; a daemon of an earlier version may still put rows without them."""

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest

from recollect.core.clock import ManualClock, SystemClock
from recollect.core.settings import Settings
from recollect.store.interface import Store
from recollect.store.postgres import PostgresStore
from recollect.store.postgres import migrations as server_steps
from recollect.store.postgres.connection import connect
from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite import migrations as file_steps
from recollect.store.sqlite.connect import APPLICATION_ID
from tests.fakes.postgres import Server
from tests.make import NAMESPACE

CELLS = {
    "turn_id": "0" * 26, "namespace": NAMESPACE, "session_id": "s", "at": 1, "person": "ada",
    "branch": "", "actions": "[]", "commits": "[]", "defines": '[["Cap","src/a.py"]]',
    "terms": "{}",
}  # fmt: skip
NAMES = ", ".join(CELLS)
# The store, how an earlier version puts its row, and its connection.
Opened = tuple[Store, Callable[[], object], Any]


def in_a_file(settings: Settings, clock: ManualClock) -> Opened:
    pathlib.Path(settings.directory).mkdir(parents=True)
    db = apsw.Connection(settings.path("recollect.db"))
    db.pragma("application_id", APPLICATION_ID)
    file_steps.migrate(db, clock, file_steps.MIGRATIONS[:15])
    marks = ", ".join(f":{name}" for name in CELLS)

    def put() -> None:
        db.execute(f"INSERT INTO turn_work ({NAMES}) VALUES ({marks})", CELLS)

    put()
    return SqliteStore(settings, clock), put, db


def on_a_server(server: Server, home: pathlib.Path, clock: ManualClock) -> Opened:
    server.admin("CREATE DATABASE before_names")
    chosen = Settings(home=str(home), actor="ada", store=server.url("before_names"))
    connection = connect(chosen.store, None, "ada", "test", 10)
    server_steps.migrate(connection, SystemClock(), server_steps.MIGRATIONS[:11])
    marks = ", ".join(f"%({name})s" for name in CELLS)

    def put() -> None:
        connection.execute(f"INSERT INTO recollect.turn_work ({NAMES}) VALUES ({marks})", CELLS)

    put()
    return PostgresStore(chosen, clock), put, connection


@pytest.fixture(params=["sqlite", "postgres"])
def opened(
    request: pytest.FixtureRequest, settings: Settings, tmp_path: pathlib.Path, clock: ManualClock
) -> Iterator[Any]:
    if request.param == "sqlite":
        store, put, earlier = in_a_file(settings, clock)
    else:
        server: Server = request.getfixturevalue("postgres_server")
        store, put, earlier = on_a_server(server, tmp_path / "home", clock)
    yield store, put
    earlier.close()
    store.close()
    if request.param == "postgres":
        server.drop("before_names")


def test_rows_without_names_of_edits_go_and_may_still_come(
    opened: tuple[Store, Callable[[], object]],
) -> None:
    store, put = opened
    assert list(store.turn_works.stream(NAMESPACE)) == [], "they are derived again"
    put()
    (one,) = store.turn_works.stream(NAMESPACE)
    assert one.defines == (("Cap", "src/a.py"),) and one.edited == {}
