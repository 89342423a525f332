"""What was done in each turn, on both engines.

In: work of turns. Out: the same, in the order of time.
"""

from collections.abc import Sequence

from recollect.core.values import TurnWork
from recollect.store.sql import rows
from recollect.store.sql import statements as sql
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import Engine, ids_json


class SqlTurnWorks:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, works: Sequence[TurnWork]) -> None:
        encoded = [rows.TURN_WORK.encode(one) for one in works]

        def work(db: Connection) -> None:
            for row in encoded:
                db.run(sql.PUT_TURN_WORK, row)

        if encoded:
            self._engine.write(work)

    def all(self, namespace: str, session_id: str | None = None) -> list[TurnWork]:
        values = {"namespace": namespace, "session_id": session_id}
        return [rows.TURN_WORK.decode(row) for row in self._engine.rows(sql.LIST_TURN_WORK, values)]

    def missing(self, namespace: str) -> list[str]:
        values = {"namespace": namespace}
        return [session for (session,) in self._engine.rows(sql.MISSING_TURN_WORK, values)]

    def delete(self, namespace: str, turn_ids: Sequence[str]) -> None:
        values = {"namespace": namespace, "ids": ids_json(turn_ids)}
        erase = sql.erase_rows("turn_work", "turn_id")
        self._engine.write(lambda db: db.run(erase, values) and None)

    def clear(self, namespace: str) -> None:
        self._engine.write(lambda db: db.run(sql.CLEAR_TURN_WORK, {"namespace": namespace}))
