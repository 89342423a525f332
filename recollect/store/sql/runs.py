"""What runs of extraction did.

In: runs. Out: the same, newest first. Each namespace keeps its last thousand.
"""

from recollect.core.clock import to_micros
from recollect.core.values import ExtractionRun
from recollect.store.interface import Cursor, Page
from recollect.store.sql import rows
from recollect.store.sql import statements as sql
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import END, Engine

KEPT = 1000


class SqlRuns:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, run: ExtractionRun) -> None:
        row = rows.RUN.encode(run)

        def work(db: Connection) -> None:
            db.run(sql.PUT_RUN, row)
            db.run(sql.FORGET_RUNS, {"namespace": run.namespace, "kept": KEPT})

        self._engine.write(work)

    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[ExtractionRun]:
        edge = END if before is None else {"before_number": before.number, "before_id": before.id}
        values = {"namespace": namespace, "limit": limit + 1, **edge}
        found = [rows.RUN.decode(row) for row in self._engine.rows(sql.LIST_RUNS, values)]
        items = tuple(found[:limit])
        if len(found) <= limit or not items:
            return Page(items)
        return Page(items, Cursor(to_micros(items[-1].started_at), items[-1].run_id))

    def latest(self) -> list[ExtractionRun]:
        return [rows.RUN.decode(row) for row in self._engine.rows(sql.LATEST_RUNS, {})]
