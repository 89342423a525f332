"""Opening refuses politely, and leaves alone what is not its own."""

import os
import pathlib

import apsw
import pytest

from recollect.core import errors
from recollect.core.settings import Settings
from recollect.store.sql.migrations import Migration
from recollect.store.sqlite import SqliteStore, migrations
from recollect.store.sqlite.migrations import MIGRATIONS
from tests.fakes.stored import delete_records
from tests.make import NAMESPACE, record


def modes(directory: pathlib.Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode & 0o777) for path in directory.rglob("*")}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_files_are_private_under_any_umask(tmp_path: pathlib.Path, umask: int) -> None:
    home = tmp_path / "home"
    previous = os.umask(umask)
    try:
        store = SqliteStore(Settings(home=str(home), reserve_mb=1))
        store.records.put([record()])
        found = modes(home)
        store.close()
    finally:
        os.umask(previous)
    assert oct(home.stat().st_mode & 0o777) == "0o700"
    assert {"recollect.db", "recollect.db-wal", "recollect.db-shm", "reserve", "lock"} <= set(found)
    assert set(found.values()) == {"0o600"}


def test_a_file_that_is_no_database_is_left_alone(settings: Settings) -> None:
    os.makedirs(settings.directory)
    path = pathlib.Path(settings.path("recollect.db"))
    path.write_bytes(b"my diary, not a database\n" * 100)
    before = path.read_bytes()
    with pytest.raises(errors.NotADatabase, match=r"recollect\.db"):
        SqliteStore(settings)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(settings: Settings) -> None:
    os.makedirs(settings.directory)
    path = pathlib.Path(settings.path("recollect.db"))
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE songs (title); INSERT INTO songs VALUES ('x')")
    other.close()
    before = path.read_bytes()
    with pytest.raises(errors.NotADatabase, match="another program"):
        SqliteStore(settings)
    assert path.read_bytes() == before


def tamper(settings: Settings, statement: str) -> bytes:
    SqliteStore(settings).close()
    path = settings.path("recollect.db")
    connection = apsw.Connection(path)
    connection.execute(statement)
    connection.pragma("journal_mode", "DELETE")
    connection.close()
    return pathlib.Path(path).read_bytes()


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("INSERT INTO _migrations VALUES (99, 'future', 'x', 0)", errors.NewerDatabase),
        ("UPDATE _migrations SET name = 'renamed' WHERE version = 1", errors.MigrationDrift),
        ("UPDATE _migrations SET digest = 'edited' WHERE version = 1", errors.MigrationDrift),
    ],
)
def test_a_newer_or_drifted_schema_is_refused(
    settings: Settings, statement: str, error: type[errors.StoreError]
) -> None:
    before = tamper(settings, statement)
    with pytest.raises(error):
        SqliteStore(settings)
    connection = apsw.Connection(settings.path("recollect.db"), flags=apsw.SQLITE_OPEN_READONLY)
    connection.execute("SELECT count(*) FROM events")
    connection.close()
    after = pathlib.Path(settings.path("recollect.db")).read_bytes()
    # WAL mode is noted in the header; nothing else may differ
    assert after[100:] == before[100:]


def test_opening_twice_in_one_home_names_the_holder(settings: Settings) -> None:
    store = SqliteStore(settings)
    with pytest.raises(errors.StoreBusy, match=str(os.getpid())):
        SqliteStore(settings)
    store.close()
    SqliteStore(settings).close()


def test_a_directory_that_cannot_be_used_is_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(errors.StoreError, match="file"):
        SqliteStore(Settings(home=str(tmp_path / "file" / "home")))


def test_migrating_twice_does_nothing_the_second_time(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteStore(settings).close()
    connection = apsw.Connection(settings.path("recollect.db"))
    before = list(connection.execute("SELECT * FROM sqlite_schema ORDER BY name"))
    from recollect.core.clock import ManualClock

    assert migrations.migrate(connection, ManualClock()) == 0
    assert list(connection.execute("SELECT * FROM sqlite_schema ORDER BY name")) == before
    connection.close()


def test_a_failing_step_leaves_the_database_as_it_was(settings: Settings) -> None:
    from recollect.core.clock import ManualClock

    SqliteStore(settings).close()
    connection = apsw.Connection(settings.path("recollect.db"))
    steps = (
        *MIGRATIONS,
        Migration(
            len(MIGRATIONS) + 1, "half", "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)"
        ),
    )
    with pytest.raises(apsw.SQLError):
        migrations.migrate(connection, ManualClock(), steps)
    assert not connection.table_exists("main", "half")
    assert len(migrations.applied(connection)) == len(MIGRATIONS)
    mended = (*MIGRATIONS, Migration(len(MIGRATIONS) + 1, "half", "CREATE TABLE half (x)"))
    assert migrations.migrate(connection, ManualClock(), mended) == 1
    connection.close()


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_old_versions_leave_the_archive_after_their_days(settings: Settings) -> None:
    from recollect.core.clock import ManualClock

    clock = ManualClock()
    store = SqliteStore(settings, clock)
    one = store.records.put([record()])[0]
    delete_records(store, NAMESPACE, [one.record_id], "ada")
    store.close()
    clock.advance(days=settings.kept_days("archive") - 1)
    store = SqliteStore(settings, clock)
    assert len(store.log.versions(NAMESPACE, one.record_id)) == 1
    store.close()
    clock.advance(days=2)
    store = SqliteStore(settings, clock)
    assert store.log.versions(NAMESPACE, one.record_id) == []
    store.close()
