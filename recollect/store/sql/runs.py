"""What runs of extraction did.

In: runs. Out: the same, newest first. Each namespace keeps its last thousand.
"""

from recollect.core.values import ExtractionRun
from recollect.store.sql import rows
from recollect.store.sql.engine import Connection, Engine, both, column_list, insert_into

PUT_RUN = both(insert_into("extraction_runs", rows.RUN.columns))
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

    def latest(self) -> list[ExtractionRun]:
        return [rows.RUN.decode(row) for row in self._engine.rows(LATEST_RUNS, {})]
