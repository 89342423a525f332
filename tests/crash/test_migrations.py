"""A9: an upgrade completes or did not happen; what we do not know we do not touch."""

import os

import apsw
import pytest

from recollect.core.clock import SystemClock
from recollect.core.errors import MigrationDrift, NewerDatabase, StoreError
from recollect.store.sql.migrations import Migration
from recollect.store.sqlite import DATABASE
from recollect.store.sqlite.connect import open_writer
from recollect.store.sqlite.migrations import MIGRATIONS, applied, migrate
from tests.crash.oracle import converse, open_store
from tests.crash.power import SECOND
from tests.fakes.vfs import FailingVFS, Trouble

STATEMENTS = [part for part in SECOND.sql.split(";") if part.strip()]


def schema_and_rows(db: apsw.Connection) -> list[object]:
    schema = list(db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name"))
    return [schema, list(db.execute("SELECT * FROM events")), applied(db)]


@pytest.mark.parametrize("done", range(len(STATEMENTS) + 1))
def test_a_migration_that_fails_after_any_statement_did_not_happen(
    done: int, memory_directory: str
) -> None:
    home = os.path.join(memory_directory, "home")
    store = open_store(home)
    converse(store, 0, lambda told: None, range(10))
    store.close()
    db = open_writer(os.path.join(home, DATABASE))
    before = schema_and_rows(db)
    broken = ";".join([*STATEMENTS[:done], "INSERT INTO nowhere VALUES (1)"])
    with pytest.raises(apsw.SQLError):
        migrate(db, SystemClock(), (*MIGRATIONS, Migration(SECOND.version, "second", broken)))
    assert schema_and_rows(db) == before
    assert migrate(db, SystemClock(), (*MIGRATIONS, SECOND)) == 1
    assert migrate(db, SystemClock(), (*MIGRATIONS, SECOND)) == 0
    assert db.execute("SELECT count(*) FROM later").get == 10
    db.close()


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_a_migration_on_a_disk_that_fails_at_any_call_completes_or_did_not_happen(
    operation: str, memory_directory: str
) -> None:
    nth = 1
    while True:
        home = os.path.join(memory_directory, f"home-{nth}")
        store = open_store(home)
        converse(store, 0, lambda told: None, range(3))
        store.close()
        path = os.path.join(home, DATABASE)
        trouble = Trouble("sync" if operation == "sync" else "write")
        vfs = FailingVFS("failing", trouble)
        db = open_writer(path, vfs.name)
        trouble.nth = trouble.calls + nth
        try:
            migrate(db, SystemClock(), (*MIGRATIONS, SECOND))
        except apsw.IOError:
            trouble.passes()
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        db.close()
        vfs.unregister()
        plain = apsw.Connection(path)
        migrate(plain, SystemClock(), (*MIGRATIONS, SECOND))
        assert plain.execute("SELECT count(*) FROM later").get == 3
        assert plain.pragma("integrity_check") == "ok"
        plain.close()
        if not trouble.struck:
            return
        nth += 1


@pytest.mark.parametrize("log_left", [False, True], ids=["closed", "killed"])
@pytest.mark.parametrize("journal_mode", ["WAL", "DELETE"])
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("INSERT INTO _migrations VALUES (999, 'future', 'x', 0)", NewerDatabase),
        ("UPDATE _migrations SET digest = 'other'", MigrationDrift),
        ("UPDATE _migrations SET name = 'other'", MigrationDrift),
    ],
)
def test_a_newer_or_drifted_database_is_refused_and_not_one_byte_changes(
    change: str, error: type[StoreError], journal_mode: str, log_left: bool, memory_directory: str
) -> None:
    home = os.path.join(memory_directory, "home")
    open_store(home).close()
    path = os.path.join(home, DATABASE)
    db = apsw.Connection(path)
    db.pragma("journal_mode", journal_mode)
    db.execute(change)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(log_left))
    db.close()
    before = contents(home)
    with pytest.raises(error):
        open_store(home)
    assert contents(home) == before


def contents(home: str) -> dict[str, bytes]:
    """All files that are truth: the lock is ours, the shared memory is nobody's."""
    found = {}
    for name in os.listdir(home):
        if name != "lock" and not name.endswith("-shm"):
            with open(os.path.join(home, name), "rb") as file:
                found[name] = file.read()
    return {name: content for name, content in found.items() if content}
