"""Looking after a store on a server: counts and checks. Backups are the server's own business.

In: positions. Out: reports. What a server does better by itself is answered with how it is done.
"""

import contextlib
from collections.abc import Iterator

from recollect.core.errors import StoreError
from recollect.store.interface import BackupInfo, Space
from recollect.store.postgres import migrations
from recollect.store.postgres import statements as own
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql.record_lists import RECOUNT
from recollect.store.sql.upkeep import SqlUpkeep


class PostgresUpkeep(SqlUpkeep):
    def __init__(self, engine: PostgresEngine) -> None:
        super().__init__(engine)
        self._server = engine

    def backup(self, path: str) -> BackupInfo:
        raise StoreError(
            "a store on PostgreSQL is backed up by its server",
            hint="pg_dump --format=custom --schema=recollect, or the server's own archive.",
        )

    def space(self, *, give_back: int = 0) -> Space:
        """Autovacuum gives space back."""
        return Space(int(self._server.rows(own.SIZE, {})[0][0]), free=0)

    @contextlib.contextmanager
    def alone(self, work: str) -> Iterator[bool]:
        """A lock of a connection: it ends with the block, or with this process."""
        connection = self._server.connect()
        try:
            yield bool(
                connection.run(own.ALONE, {"work": f"recollect {self._server.actor} {work}"}).get
            )
        finally:
            connection.close()

    def _rebuild_index(self) -> None:
        def work(db: PostgresConnection) -> None:
            for statement in (*own.REBUILD, *RECOUNT):
                db.run(statement)

        self._server.transact(work)

    def check(self) -> list[str]:
        def work(db: PostgresConnection) -> list[str]:
            migrations.verify(db)
            problems = [f"index {name} is not valid" for (name,) in db.run(own.BROKEN_INDEXES)]
            problems += [f"{name} has no row-level security" for (name,) in db.run(own.UNPROTECTED)]
            if lost := db.run(own.NOT_INDEXED).get:
                problems.append(f"{lost} memories are not in the full-text index")
            return problems

        with self._server.reader() as db:
            return work(db)
