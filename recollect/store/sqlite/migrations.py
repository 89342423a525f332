"""The schema's history: code, append-only, each step in one transaction with its record.

In: the writing connection. Out: a database at the newest version. Rules: (1) append-only, (2)
transactional, (3) idempotent, (4) drift-fatal: a recorded step whose name or text disagrees with
the code raises MigrationDrift, (5) forward-only; a step from the future raises NewerDatabase.
"""

import contextlib
from collections.abc import Iterator

import apsw

from recollect.core.clock import Clock, SystemClock, to_micros
from recollect.store.sql.migrations import Migration, Step, a_beginning
from recollect.store.sqlite import schema_0001, schema_changes

BOOKKEEPING = """
CREATE TABLE IF NOT EXISTS _migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "init", schema_0001.SQL),
    Migration(2, "usage of language models", schema_changes.SCHEMA_2),
    Migration(3, "runs", schema_changes.SCHEMA_3),
    Migration(4, "knowledge", schema_changes.SCHEMA_4),
    Migration(5, "aging", schema_changes.SCHEMA_5),
    Migration(6, "forgotten", schema_changes.SCHEMA_6),
    Migration(7, "events in order", schema_changes.SCHEMA_7),
    Migration(8, "sessions by their own clock", schema_changes.SCHEMA_8),
    Migration(9, "kinds by the table of kinds", schema_changes.SCHEMA_9),
    Migration(10, "what was done in each turn", schema_changes.SCHEMA_10),
    Migration(11, "the life of a belief", schema_changes.SCHEMA_11),
    Migration(12, "memories by when it happened", schema_changes.SCHEMA_12),
    Migration(13, "counts of memories", schema_changes.SCHEMA_13),
    Migration(14, "beliefs by type and category", schema_changes.SCHEMA_14),
    Migration(15, "resumed sessions", schema_changes.SCHEMA_15),
    Migration(16, "names in the text of edits", schema_changes.SCHEMA_16),
)


def applied(connection: apsw.Connection) -> list[Step]:
    """What the database says was done to it."""
    if not connection.table_exists("main", "_migrations"):
        return []
    rows = connection.execute("SELECT version, name, digest FROM _migrations ORDER BY version")
    return [(version, name, digest) for version, name, digest in rows]


def verify(
    connection: apsw.Connection, migrations: tuple[Migration, ...] = MIGRATIONS
) -> list[Step]:
    """Refuse a history that is not a beginning of ours; returns it."""
    return a_beginning(applied(connection), migrations)


def migrate(
    connection: apsw.Connection,
    clock: Clock,
    migrations: tuple[Migration, ...] = MIGRATIONS,
) -> int:
    """Bring the database to the newest version; returns how many steps that took."""
    pending = migrations[len(verify(connection, migrations)) :]
    for migration in pending:
        with _transaction(connection):  # the step and its record, or neither
            connection.execute(BOOKKEEPING)
            connection.execute(migration.sql)
            connection.execute(
                "INSERT INTO _migrations (version, name, digest, applied_at) VALUES (?, ?, ?, ?)",
                (migration.version, migration.name, migration.digest, to_micros(clock.now())),
            )
    return len(pending)


def strangers(
    connection: apsw.Connection, migrations: tuple[Migration, ...] = MIGRATIONS
) -> list[str]:
    """What stands in a database's schema and was not made by its migrations, or is missing: a
    trigger or a view that somebody else put there would run with every write."""
    known = migrations[: len(verify(connection, migrations))]
    with contextlib.closing(apsw.Connection(":memory:")) as fresh:
        if known:
            migrate(fresh, SystemClock(), known)
        made, there = _schema(fresh), _schema(connection)
    return sorted(name for _, name, _ in made ^ there)


def _schema(connection: apsw.Connection) -> set[tuple[str, str, str]]:
    """Everything by name, and what runs by itself (triggers, views) by its text too. Tables only by
    name: versions of SQLite differ in how they write down a column that was added later."""
    rows = connection.execute(
        "SELECT type, name, CASE WHEN type IN ('trigger', 'view') THEN sql ELSE '' END"
        " FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_'"
    )
    return {(kind, name, sql) for kind, name, sql in rows}


@contextlib.contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():  # some errors end it by themselves
            connection.execute("ROLLBACK")
        raise
