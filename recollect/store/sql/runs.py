"""What runs of extraction did.

In: runs. Out: the same, newest first. Each namespace keeps its last thousand.
"""

from recollect.core.clock import to_micros
from recollect.core.values import ExtractionRun
from recollect.store.interface import Cursor, Page
from recollect.store.sql import rows
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import END, Engine
from recollect.store.sql.statement import both, column_list, insert_into

PUT_RUN = both(insert_into("extraction_runs", rows.RUN.columns))
LIST_RUNS = both(f"""
SELECT {column_list(rows.RUN.columns)} FROM extraction_runs
 WHERE namespace = $namespace AND (started_at, run_id) < ($before_number, $before_id)
 ORDER BY started_at DESC, run_id DESC LIMIT $limit
""")
FORGET_RUNS = both("""
DELETE FROM extraction_runs WHERE namespace = $namespace AND row_id IN (
       SELECT row_id FROM extraction_runs WHERE namespace = $namespace
        ORDER BY started_at DESC, run_id DESC LIMIT {unlimited} OFFSET $kept)
""")
LATEST_RUNS = both(
    f"""
SELECT {column_list(rows.RUN.columns, "r.")} FROM extraction_runs AS r
 WHERE r.row_id = (SELECT row_id FROM extraction_runs AS l WHERE l.namespace = r.namespace
                    ORDER BY started_at DESC, run_id DESC LIMIT 1)
 ORDER BY r.namespace
""",
    across="status tells how each project's last run went; it reads counts, no content",
)

KEPT = 1000


class SqlRuns:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, run: ExtractionRun) -> None:
        row = rows.RUN.encode(run)

        def work(db: Connection) -> None:
            db.run(PUT_RUN, row)
            db.run(FORGET_RUNS, {"namespace": run.namespace, "kept": KEPT})

        self._engine.write(work)

    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[ExtractionRun]:
        edge = END if before is None else {"before_number": before.number, "before_id": before.id}
        values = {"namespace": namespace, "limit": limit + 1, **edge}
        found = [rows.RUN.decode(row) for row in self._engine.rows(LIST_RUNS, values)]
        items = tuple(found[:limit])
        if len(found) <= limit or not items:
            return Page(items)
        return Page(items, Cursor(to_micros(items[-1].started_at), items[-1].run_id))

    def latest(self) -> list[ExtractionRun]:
        return [rows.RUN.decode(row) for row in self._engine.rows(LATEST_RUNS, {})]
