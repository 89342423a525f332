"""Which backend is opened, what is refused, and how the server's schema comes to be."""

import pathlib
import sys
import threading

import pytest

from recollect.core import errors
from recollect.core.clock import ManualClock, SystemClock
from recollect.core.settings import Settings, load
from recollect.store import open_store
from recollect.store.postgres import PostgresStore
from recollect.store.postgres import migrations as steps
from recollect.store.postgres.connection import connect
from recollect.store.postgres.password import from_keychain
from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite.migrations import Migration
from tests.fakes.postgres import Server
from tests.make import NAMESPACE, record
from tests.unit.store.conftest import Opener


def test_the_setting_chooses_the_backend(settings: Settings, opened: Opener) -> None:
    store = open_store(settings)
    assert isinstance(store, SqliteStore)
    store.close()
    assert isinstance(opened(), PostgresStore)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://ada:geheim@host/db", "it takes no password"),
        ("postgresql://ada@host/db?password=geheim", "it takes no password"),
        ("http://host/db", "not an address such as"),
        ("recollect.db", "not an address such as"),
        ("postgresql://host:0x/db", "not an address such as"),
    ],
)
def test_an_address_that_cannot_be_is_refused_and_its_password_not_shown(
    tmp_path: pathlib.Path, address: str, told: str
) -> None:
    environ = {"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_STORE": address}
    with pytest.raises(errors.BadSetting, match=told) as refused:
        load(environ)
    assert "geheim" not in str(refused.value)


def test_a_missing_driver_is_told_by_name(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("recollect.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(errors.BadSetting, match="psycopg"):
        open_store(Settings(home=settings.home, store="postgresql://host/db"))


def test_the_data_directory_has_one_daemon_with_a_server_too(
    opened: Opener, postgres_server: Server, database: str, tmp_path: pathlib.Path
) -> None:
    first = opened()
    chosen = Settings(
        home=str(tmp_path / "home-0"), actor="ada", store=postgres_server.url(database, "ada")
    )
    with pytest.raises(errors.StoreBusy, match="holds"):
        PostgresStore(chosen)
    first.close()
    PostgresStore(chosen).close()


def test_a_store_opens_without_its_server_and_answers_at_once(tmp_path: pathlib.Path) -> None:
    chosen = Settings(
        home=str(tmp_path / "home"), actor="ada", store=f"postgresql://ada@/db?host={tmp_path}"
    )
    store = PostgresStore(chosen)
    try:
        for _ in range(3):
            with pytest.raises(errors.StoreBusy, match="cannot be reached"):
                store.records.put([record()])
            with pytest.raises(errors.StoreBusy):
                store.records.page(NAMESPACE)
        assert not store.writer.reachable
    finally:
        store.close()


def test_daemons_that_start_together_migrate_once(
    postgres_server: Server, tmp_path: pathlib.Path
) -> None:
    postgres_server.admin("CREATE DATABASE together")
    url = postgres_server.url("together")
    failures: list[BaseException] = []

    def start(number: int) -> None:
        try:
            chosen = Settings(home=str(tmp_path / str(number)), actor="ada", store=url)
            store = PostgresStore(chosen)
            store.records.put([record(str(number))])
            store.close()
        except BaseException as error:  # noqa: BLE001 - told below
            failures.append(error)

    threads = [threading.Thread(target=start, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = postgres_server.admin("SELECT version, name FROM recollect._migrations", "together")
    assert found == [(one.version, one.name) for one in steps.MIGRATIONS]
    assert postgres_server.admin("SELECT count(*) FROM recollect.memory_records", "together") == [
        (4,)
    ]
    postgres_server.drop("together")


def test_a_newer_or_drifted_history_is_refused(
    postgres_server: Server, tmp_path: pathlib.Path
) -> None:
    database = postgres_server.database()
    chosen = Settings(
        home=str(tmp_path / "home"), actor="ada", store=postgres_server.url(database, "ada")
    )
    postgres_server.admin(
        "INSERT INTO recollect._migrations VALUES (999, 'from the future', 'x', 0)", database
    )
    with pytest.raises(errors.NewerDatabase, match="999"):
        PostgresStore(chosen)
    postgres_server.admin("DELETE FROM recollect._migrations WHERE version = 999", database)
    postgres_server.admin("UPDATE recollect._migrations SET digest = 'other'", database)
    with pytest.raises(errors.MigrationDrift):
        PostgresStore(chosen)
    postgres_server.drop(database)


def test_a_failing_step_leaves_neither_tables_nor_a_record(
    postgres_server: Server, clock: ManualClock
) -> None:
    postgres_server.admin("CREATE DATABASE halfway")
    connection = connect(postgres_server.url("halfway"), None, "ada", "test", 5)
    try:
        broken = (
            *steps.MIGRATIONS,
            Migration(99, "broken", "CREATE TABLE half (a int); SELECT 1/0"),
        )
        with pytest.raises(Exception, match="division"):
            steps.migrate(connection, clock, broken)
        assert len(steps.applied(connection)) == len(steps.MIGRATIONS)
        assert connection.run("SELECT to_regclass('recollect.half')::text").get is None
        assert steps.migrate(connection, SystemClock()) == 0
    finally:
        connection.close()
        postgres_server.drop("halfway")


def test_the_environments_password_goes_before_the_keychains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGPASSWORD", "from the environment")
    assert from_keychain() is None


def test_backups_are_the_servers_and_it_is_told_how(opened: Opener) -> None:
    store = opened()
    with pytest.raises(errors.StoreError) as refused:
        store.upkeep.backup("/tmp/nowhere")
    assert "pg_dump" in refused.value.hint
    assert store.upkeep.size()[0] > 0
