"""The schema's history on PostgreSQL, by the same five rules as SQLite's.

In: a connection. Out: a database at the newest version. Append-only; each step in one transaction
with its record; idempotent; drift is fatal; forward only. Daemons that start together take turns:
an advisory lock lets one of them migrate while the others wait.
"""

from recollect.core.clock import Clock, to_micros
from recollect.core.errors import ReadOnlyStore, WrongStore
from recollect.store.postgres import schema_0001, schema_0002, schema_changes
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.sql.migrations import Migration, Step, a_beginning

LOCK = 0x52434C54  # "RCLT"
OLDEST_SERVER = 150000
OLDEST_VECTOR = (0, 8)

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
    Migration(3, "sessions by their own clock", schema_changes.SCHEMA_3),
    Migration(4, "channels that others cannot name", schema_changes.SCHEMA_4),
    Migration(5, "kinds by the table of kinds", schema_changes.SCHEMA_5),
    Migration(6, "what was done in each turn", schema_changes.SCHEMA_6),
    Migration(7, "the life of a belief", schema_changes.SCHEMA_7),
    Migration(8, "memories by when it happened", schema_changes.SCHEMA_8),
    Migration(9, "counts of memories", schema_changes.SCHEMA_9),
    Migration(10, "beliefs by type and category", schema_changes.SCHEMA_10),
    Migration(11, "resumed sessions", schema_changes.SCHEMA_11),
    Migration(12, "names in the text of edits", schema_changes.SCHEMA_12),
)


def applied(connection: PostgresConnection) -> list[Step]:
    """What the database says was done to it."""
    if connection.execute("SELECT to_regclass('recollect._migrations')::text").get is None:
        return []
    found = connection.execute(
        "SELECT version, name, digest FROM recollect._migrations ORDER BY version"
    )
    return [(version, name, digest) for version, name, digest in found]


def verify(
    connection: PostgresConnection, migrations: tuple[Migration, ...] = MIGRATIONS
) -> list[Step]:
    """Refuse a history that is not a beginning of ours; returns it."""
    return a_beginning(applied(connection), migrations)


def migrate(
    connection: PostgresConnection, clock: Clock, migrations: tuple[Migration, ...] = MIGRATIONS
) -> int:
    """Bring the database to the newest version; returns how many steps that took. WrongStore when
    the server, or this login on it, cannot do that."""
    server = connection.raw.info
    if server.server_version < OLDEST_SERVER:
        raise WrongStore(
            f"the server is PostgreSQL {server.server_version // 10000}, which is too old",
            hint="PostgreSQL 15 or newer is needed.",
        )
    try:
        known = len(verify(connection, migrations))
    except ReadOnlyStore as error:  # the schema is there, and closed to us
        raise WrongStore(
            f"the login {server.user!r} is not admitted to the store in {server.dbname!r}",
            hint=f"As the owner of the tables: SELECT recollect.admit('{server.user}', 'actor').",
        ) from error
    if known == len(migrations):
        return 0
    connection.execute("SELECT pg_advisory_lock(%(lock)s)", {"lock": LOCK})
    try:
        _has_vectors(connection)
        pending = migrations[len(verify(connection, migrations)) :]
        for migration in pending:
            _apply(connection, clock, migration)
        return len(pending)
    except ReadOnlyStore as error:
        raise _may_not(connection, known, migrations[-1].version) from error
    finally:
        if not connection.lost:
            connection.execute("SELECT pg_advisory_unlock(%(lock)s)", {"lock": LOCK})


def _may_not(connection: PostgresConnection, known: int, newest: int) -> WrongStore:
    server = connection.raw.info
    if not known:
        return WrongStore(
            f"the database {server.dbname!r} has no tables of Recollect yet, and the login "
            f"{server.user!r} may not make them",
            hint="As the owner of the database, once: RECOLLECT_STORE=postgresql://owner@... "
            f"recollect up. Then SELECT recollect.admit('{server.user}', 'actor').",
        )
    return WrongStore(
        f"the tables in {server.dbname!r} are of an older version (schema {known} of {newest}), "
        "and only their owner can renew them",
        hint="As their owner, once: RECOLLECT_STORE=postgresql://owner@... recollect up. "
        f"Then SELECT recollect.admit('{server.user}', 'actor') once more.",
    )


def _has_vectors(connection: PostgresConnection) -> None:
    """The extension is there in a version that we can use, or can be made by whoever we are."""
    found = connection.execute(
        "SELECT a.default_version, e.extversion FROM pg_available_extensions AS a"
        " LEFT JOIN pg_extension AS e ON e.extname = a.name WHERE a.name = 'vector'"
    ).fetchone()
    if found is None:
        raise WrongStore(
            "the server has no pgvector",
            hint="Install pgvector 0.8 or newer there (on Debian: postgresql-NN-pgvector).",
        )
    offered, installed = found
    if _numbers(installed or offered) < OLDEST_VECTOR:
        raise WrongStore(
            f"the server's pgvector is {installed or offered}, which is too old",
            hint="pgvector 0.8 or newer is needed; then: ALTER EXTENSION vector UPDATE.",
        )
    if installed is None:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        except ReadOnlyStore as error:
            name = connection.raw.info.dbname
            raise WrongStore(
                f"the database {name!r} has no pgvector yet, and this login may not add it",
                hint=f'As a superuser: psql {name} -c "CREATE EXTENSION vector SCHEMA public".',
            ) from error


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _apply(connection: PostgresConnection, clock: Clock, migration: Migration) -> None:
    connection.execute("BEGIN")  # the step and its record, or neither
    try:
        if migration.version == 1:
            connection.execute("CREATE SCHEMA IF NOT EXISTS recollect")
            connection.execute(BOOKKEEPING)
        connection.execute(migration.sql)
        connection.execute(
            "INSERT INTO recollect._migrations (version, name, digest, applied_at) "
            "VALUES (%(version)s, %(name)s, %(digest)s, %(at)s)",
            {
                "version": migration.version,
                "name": migration.name,
                "digest": migration.digest,
                "at": to_micros(clock.now()),
            },
        )
        connection.execute("COMMIT")
    except BaseException:
        if not connection.lost:
            connection.execute("ROLLBACK")
        raise
