"""What was done in each turn, on both engines.

In: work of turns. Out: the same, in the order of time.
"""

from collections.abc import Sequence

from recollect.core.values import TurnWork
from recollect.store.sql import rows
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import Engine, ids_json
from recollect.store.sql.statement import both, column_list, filtered, insert_or_replace

PUT_TURN_WORK = insert_or_replace("turn_work", "turn_id", rows.TURN_WORK.columns)
LIST_TURN_WORK = filtered(
    f"SELECT {column_list(rows.TURN_WORK.columns)} FROM turn_work WHERE namespace = $namespace",
    {"session_id": "session_id = $session_id"},
    "ORDER BY at, turn_id",
)
MISSING_TURN_WORK = both("""
SELECT session_id FROM events WHERE namespace = $namespace
EXCEPT
SELECT session_id FROM turn_work WHERE namespace = $namespace
""")
DELETE_TURN_WORK = filtered(
    "DELETE FROM turn_work WHERE namespace = $namespace", {"ids": "turn_id IN {texts[ids]}"}
)
# Events came to sessions of which the work was known: it is derived again, with theirs.
UNDERIVE_TURN_WORK = both("""
DELETE FROM turn_work
 WHERE namespace = $namespace AND session_id IN (
       SELECT session_id FROM events WHERE namespace = $namespace AND event_id IN {texts[ids]})
""")


class SqlTurnWorks:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, works: Sequence[TurnWork]) -> None:
        encoded = [rows.TURN_WORK.encode(one) for one in works]

        def work(db: Connection) -> None:
            for row in encoded:
                db.run(PUT_TURN_WORK, row)

        if encoded:
            self._engine.write(work)

    def all(self, namespace: str, session_id: str | None = None) -> list[TurnWork]:
        values = {"namespace": namespace, "session_id": session_id}
        return [rows.TURN_WORK.decode(row) for row in self._engine.rows(LIST_TURN_WORK, values)]

    def missing(self, namespace: str) -> list[str]:
        values = {"namespace": namespace}
        return [session for (session,) in self._engine.rows(MISSING_TURN_WORK, values)]

    def delete(self, namespace: str, turn_ids: Sequence[str] | None = None) -> None:
        listed = None if turn_ids is None else ids_json(turn_ids)
        values = {"namespace": namespace, "ids": listed}
        self._engine.write(lambda db: db.run(DELETE_TURN_WORK, values) and None)
