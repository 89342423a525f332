"""A database from before beliefs had a life (made by commit 9a71217) opens with the right states,
on both engines."""

import json
import pathlib
from typing import Any

import apsw
import pytest

from recollect.core.clock import ManualClock, SystemClock
from recollect.core.settings import Settings
from recollect.core.values import Record
from recollect.store.interface import RecordFilter, Store
from recollect.store.postgres import PostgresStore
from recollect.store.postgres import migrations as server_steps
from recollect.store.postgres.connection import connect
from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite import migrations as file_steps
from recollect.store.sqlite.connect import APPLICATION_ID
from tests.fakes.postgres import Server
from tests.make import NAMESPACE

ROWS = pathlib.Path(__file__).parents[2] / "data" / "store_before_beliefs.jsonl"
GLOBAL = "/actor/ada/"


def rows_before() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for line in ROWS.read_text().splitlines():
        table, cells = json.loads(line)
        for name, cell in cells.items():
            if isinstance(cell, dict):
                cells[name] = bytes.fromhex(cell["hex"])
        found.append((table, cells))
    return found


def in_a_file(settings: Settings, clock: ManualClock) -> Store:
    pathlib.Path(settings.directory).mkdir(parents=True)
    db = apsw.Connection(settings.path("recollect.db"))
    db.pragma("application_id", APPLICATION_ID)
    file_steps.migrate(db, clock, file_steps.MIGRATIONS[:10])
    for table, cells in rows_before():
        if table == "sessions":  # its events made it
            continue
        names = ", ".join(cells)
        marks = ", ".join(f":{name}" for name in cells)
        db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", cells)
    db.close()
    return SqliteStore(settings, clock)


def on_a_server(server: Server, home: pathlib.Path, clock: ManualClock) -> Store:
    server.admin("CREATE DATABASE before_beliefs")
    chosen = Settings(home=str(home), actor="ada", store=server.url("before_beliefs"))
    connection = connect(chosen.store, None, "ada", "test", 10)
    server_steps.migrate(connection, SystemClock(), server_steps.MIGRATIONS[:6])
    for table, cells in rows_before():
        if table == "sessions":
            continue
        names = ", ".join(cells)
        marks = ", ".join(f"%({name})s" for name in cells)
        connection.execute(f"INSERT INTO recollect.{table} ({names}) VALUES ({marks})", cells)
    connection.close()
    return PostgresStore(chosen, clock)


@pytest.fixture(params=["sqlite", "postgres"])
def migrated(
    request: pytest.FixtureRequest, settings: Settings, tmp_path: pathlib.Path, clock: ManualClock
) -> Any:
    if request.param == "sqlite":
        store = in_a_file(settings, clock)
        yield store
        store.close()
        return
    server: Server = request.getfixturevalue("postgres_server")
    store = on_a_server(server, tmp_path / "home", clock)
    yield store
    store.close()
    server.drop("before_beliefs")


def beliefs(store: Store, namespace: str = NAMESPACE) -> dict[str, Record]:
    page = store.records.page(namespace, RecordFilter(kind="knowledge"), limit=100)
    return {one.title: one for one in page.items}


def test_what_a_user_stated_is_current_and_what_was_inferred_is_proposed(migrated: Store) -> None:
    found = beliefs(migrated)
    states = {title: one.state for title, one in found.items()}
    assert states == {
        "Always use pnpm for the ui packages.": "disputed",
        "Always use npm for the ui packages.": "disputed",
        "Our billing-api is deployed on Heroku in Frankfurt.": "disputed",
        "Our billing-api is deployed on Fly in Frankfurt.": "disputed",
        "Never commit to main without a review.": "current",
        "In all projects, always answer in English.": "current",
        "We decided to use MySQL for billing-api.": "current",
        "We decided to use PostgreSQL instead of MySQL for billing-api.": "current",
        "No floats for money": "current",
        "Understood: We decided to use MySQL for billing-api.": "proposed",
        "Understood: We decided to use PostgreSQL instead of MySQL for billing-api.": "proposed",
        "Retries are capped at five": "proposed",
    }
    for older, newer in (("pnpm for", "npm for"), ("Heroku in", "Fly in")):
        (old,) = (one for title, one in found.items() if f" {older}" in title)
        (new,) = (one for title, one in found.items() if f" {newer}" in title)
        assert (old.ended_by, new.ended_by) == (new.record_id, "")
        assert not old.stands and new.stands and old.subject == new.subject != ""
    assert found["Retries are capped at five"].source_type == "inferred"
    assert beliefs(migrated, GLOBAL)["Tabs everywhere"].scope == "everywhere"


def test_other_kinds_and_the_hashes_stay_as_they_were(migrated: Store) -> None:
    others = [
        one for one in migrated.records.page(NAMESPACE, limit=200).items if not one.traits.is_belief
    ]
    assert others and {(one.state, one.scope, one.subject) for one in others} == {
        ("current", "project", "")
    }
    assert migrated.upkeep.check() == []
