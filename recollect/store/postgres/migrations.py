"""The schema's history on PostgreSQL, by the same five rules as SQLite's.

In: a connection. Out: a database at the newest version. Append-only; each step in one transaction
with its record; idempotent; drift is fatal; forward only. Daemons that start together take turns:
an advisory lock lets one of them migrate while the others wait.
"""

from recollect.core.clock import Clock, to_micros
from recollect.core.errors import StoreError
from recollect.store.postgres import schema_0001, schema_0002
from recollect.store.postgres.connection import Connection
from recollect.store.sqlite.migrations import Migration, Step, a_beginning

LOCK = 0x52434C54  # "RCLT"
OLDEST_SERVER = 150000

BOOKKEEPING = """
CREATE TABLE IF NOT EXISTS recollect._migrations (
    version    BIGINT PRIMARY KEY,
    name       TEXT   NOT NULL,
    digest     TEXT   NOT NULL,
    applied_at BIGINT NOT NULL
)
"""

MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "init", schema_0001.SQL),
    Migration(2, "what others decided is heard", schema_0002.SQL),
)


def applied(connection: Connection) -> list[Step]:
    """What the database says was done to it."""
    if connection.run("SELECT to_regclass('recollect._migrations')::text").get is None:
        return []
    found = connection.run(
        "SELECT version, name, digest FROM recollect._migrations ORDER BY version"
    )
    return [(version, name, digest) for version, name, digest in found]


def verify(connection: Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> list[Step]:
    """Refuse a history that is not a beginning of ours; returns it."""
    return a_beginning(applied(connection), migrations)


def migrate(
    connection: Connection, clock: Clock, migrations: tuple[Migration, ...] = MIGRATIONS
) -> int:
    """Bring the database to the newest version; returns how many steps that took."""
    if connection.raw.info.server_version < OLDEST_SERVER:
        raise StoreError("the server is too old: PostgreSQL 15 or newer is needed")
    if len(verify(connection, migrations)) == len(migrations):
        return 0
    connection.run("SELECT pg_advisory_lock(%(lock)s)", {"lock": LOCK})
    try:
        pending = migrations[len(verify(connection, migrations)) :]
        for migration in pending:
            _apply(connection, clock, migration)
        return len(pending)
    finally:
        if not connection.lost:
            connection.run("SELECT pg_advisory_unlock(%(lock)s)", {"lock": LOCK})


def _apply(connection: Connection, clock: Clock, migration: Migration) -> None:
    connection.run("BEGIN")  # the step and its record, or neither
    try:
        if migration.version == 1:
            connection.run("CREATE SCHEMA IF NOT EXISTS recollect")
            connection.run("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            connection.run(BOOKKEEPING)
        connection.run(migration.sql)
        connection.run(
            "INSERT INTO recollect._migrations (version, name, digest, applied_at) "
            "VALUES (%(version)s, %(name)s, %(digest)s, %(at)s)",
            {
                "version": migration.version,
                "name": migration.name,
                "digest": migration.digest,
                "at": to_micros(clock.now()),
            },
        )
        connection.run("COMMIT")
    except BaseException:
        if not connection.lost:
            connection.run("ROLLBACK")
        raise
