"""Which backend is opened, what is refused, and how the server's schema comes to be."""

import pathlib
import sys
import threading

import psycopg
import pytest

from recollect.core import errors
from recollect.core.clock import ManualClock, SystemClock
from recollect.core.settings import Settings, load
from recollect.portable.backups import Backups
from recollect.store import open_store
from recollect.store.postgres import PostgresStore, from_keychain
from recollect.store.postgres import migrations as steps
from recollect.store.postgres.connect_errors import not_connected
from recollect.store.postgres.connection import connect
from recollect.store.sql.migrations import Migration
from recollect.store.sqlite import SqliteStore
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
            with pytest.raises(errors.StoreBusy, match="no PostgreSQL server listens"):
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
        assert connection.execute("SELECT to_regclass('recollect.half')::text").get is None
        assert steps.migrate(connection, SystemClock()) == 0
    finally:
        connection.close()
        postgres_server.drop("halfway")


def test_the_environments_password_goes_before_the_keychains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGPASSWORD", "from the environment")
    assert from_keychain() is None


SOCKET = 'connection failed: connection to server on socket "/x/.s.PGSQL.5432" failed: '


@pytest.mark.parametrize(
    ("said", "kind", "told"),
    [
        (SOCKET + 'FATAL:  database "d" does not exist', errors.WrongStore, "no database 'd'"),
        (SOCKET + 'FATAL:  role "r" does not exist', errors.WrongStore, "no login 'r'"),
        (SOCKET + "fe_sendauth: no password supplied", errors.WrongStore, "wants a password"),
        (
            'FATAL:  password authentication failed for user "ada"',
            errors.WrongStore,
            "does not take the password of 'ada'",
        ),
        ('FATAL:  no pg_hba.conf entry for host "h"', errors.WrongStore, "does not let us in"),
        ("SSL error: certificate verify failed", errors.WrongStore, "cannot be encrypted"),
        ("failed to resolve host 'nowhere': [Errno -2]", errors.StoreBusy, "host 'nowhere'"),
        ("connection timeout expired", errors.StoreBusy, "does not answer in time"),
        ("FATAL:  the database system is starting up", errors.StoreBusy, "is starting up"),
        ("FATAL:  sorry, too many clients already", errors.StoreBusy, "too many clients"),
    ],
)
def test_a_refused_connection_says_what_is_wrong_and_what_to_do(
    said: str, kind: type[errors.StoreError], told: str
) -> None:
    complaint = not_connected(psycopg.OperationalError(said))
    assert type(complaint) is kind and told in str(complaint) and complaint.hint


def test_a_server_that_cannot_be_the_store_is_refused_with_a_way_out(
    postgres_server: Server, tmp_path: pathlib.Path
) -> None:
    server, database = postgres_server, postgres_server.database()
    for role in ("set_up_reads", "set_up_nobody", "set_up_bob", "set_up_secret"):
        server.admin(f"DROP ROLE IF EXISTS {role}")
        server.admin(f"CREATE ROLE {role} LOGIN PASSWORD 'right'")
    server.admin("SELECT recollect.admit('set_up_reads', 'ada', NULL, false)", database)
    server.admin("SELECT recollect.admit('set_up_bob', 'bob')", database)
    server.admin("CREATE DATABASE set_up_empty")
    server.admin("CREATE DATABASE set_up_old")
    server.admin("CREATE EXTENSION vector SCHEMA public", "set_up_old")
    server.admin("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'",
                 "set_up_old")  # fmt: skip

    def refused(name: str, user: str) -> errors.StoreError:
        chosen = Settings(home=str(tmp_path), actor="ada", store=server.url(name, user))
        with pytest.raises(errors.WrongStore) as complaint:
            PostgresStore(chosen)
        return complaint.value

    try:
        for name, user, told, hint in (
            ("nowhere", "ada", "no database 'nowhere'", "createdb nowhere"),
            (database, "set_up_unknown", "no login 'set_up_unknown'", "CREATE ROLE"),
            (database, "set_up_nobody", "not admitted", "admit('set_up_nobody', 'actor')"),
            (database, "set_up_bob", "may not act for 'ada'", "admit('set_up_bob', 'ada')"),
            ("set_up_empty", "set_up_bob", "has no pgvector yet", "CREATE EXTENSION vector"),
            ("set_up_old", "postgres", "pgvector is 0.7.4", "0.8"),
        ):
            complaint = refused(name, user)
            assert told in str(complaint) and hint in complaint.hint, complaint
        server.admin("CREATE EXTENSION vector SCHEMA public", "set_up_empty")
        complaint = refused("set_up_empty", "set_up_bob")
        assert "no tables of Recollect yet" in str(complaint) and "owner" in complaint.hint
        server.admin("DELETE FROM recollect._migrations WHERE version > 1", database)
        complaint = refused(database, "ada")
        assert "older version (schema 1 of" in str(complaint) and "owner" in complaint.hint
    finally:
        for name in (database, "set_up_empty", "set_up_old"):
            server.drop(name)
        for role in ("set_up_reads", "set_up_nobody", "set_up_bob", "set_up_secret"):
            server.admin(f"DROP ROLE {role}")


def test_a_password_that_is_missing_or_wrong_is_told(
    postgres_server: Server, database: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = postgres_server
    rules = server.data / "pg_hba.conf"
    before = rules.read_text()
    server.admin("CREATE ROLE secretive LOGIN PASSWORD 'right'")
    server.admin("SELECT recollect.admit('secretive', 'ada')", database)
    chosen = Settings(home=str(tmp_path), actor="ada", store=server.url(database, "secretive"))
    rules.write_text("local all secretive scram-sha-256\n" + before)
    server.admin("SELECT pg_reload_conf()")
    try:
        monkeypatch.delenv("PGPASSWORD", raising=False)
        with pytest.raises(errors.WrongStore, match="wants a password") as missing:
            PostgresStore(chosen)
        assert "PGPASSWORD" in missing.value.hint
        monkeypatch.setenv("PGPASSWORD", "wrong")
        with pytest.raises(errors.WrongStore, match="does not take the password of 'secretive'"):
            PostgresStore(chosen)
        monkeypatch.setenv("PGPASSWORD", "right")
        store = PostgresStore(chosen)
        assert store.writer.problem == ""
        store.close()
    finally:
        rules.write_text(before)
        server.admin("SELECT pg_reload_conf()")
        server.admin("DROP OWNED BY secretive", database)
        server.admin("DELETE FROM recollect.scopes WHERE role = 'secretive'", database)
        server.admin("DROP ROLE secretive")


def test_a_login_that_may_only_read_opens_and_says_so(
    postgres_server: Server, tmp_path: pathlib.Path
) -> None:
    database = postgres_server.database()
    postgres_server.admin("CREATE ROLE only_reads LOGIN")
    postgres_server.admin("SELECT recollect.admit('only_reads', 'ada', NULL, false)", database)
    chosen = Settings(
        home=str(tmp_path), actor="ada", store=postgres_server.url(database, "only_reads")
    )
    try:
        store = PostgresStore(chosen)
        assert "may only read" in store.writer.problem and "admit(" in store.writer.problem
        assert store.records.page(NAMESPACE).items == ()
        store.close()
        postgres_server.admin(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
        store = PostgresStore(chosen)
        assert "takes no writes" in store.writer.problem
        store.close()
    finally:
        postgres_server.drop(database)
        postgres_server.admin("DROP ROLE only_reads")


def test_a_tool_that_needs_the_server_does_not_wait_for_it(tmp_path: pathlib.Path) -> None:
    chosen = Settings(
        home=str(tmp_path), actor="ada", store=f"postgresql://ada@/db?host={tmp_path}"
    )
    with pytest.raises(errors.StoreBusy, match="no PostgreSQL server listens"):
        open_store(chosen, needed=True)


def test_backups_are_the_servers_and_it_is_told_how(opened: Opener) -> None:
    store = opened()
    with pytest.raises(errors.StoreError) as refused:
        store.upkeep.backup("/tmp/nowhere")
    assert "pg_dump" in refused.value.hint
    assert store.upkeep.space().bytes > 0


def test_no_backup_of_a_server_is_ever_due(
    opened: Opener, postgres_server: Server, database: str, tmp_path: pathlib.Path
) -> None:
    """It would fail every ten minutes, and after everything that was scrubbed."""
    url = postgres_server.url(database, "ada")
    chosen = Settings(home=str(tmp_path / "home"), actor="ada", store=url)
    backups = Backups(chosen, opened(), SystemClock())
    assert not backups.due()
    assert backups.replace_all() == 0
