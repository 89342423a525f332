"""What was done in each turn, on both engines.

In: work of turns. Out: the same, in the order of time.
"""

from collections.abc import Iterator, Sequence

from recollect.core.clock import to_micros
from recollect.core.values import TurnWork
from recollect.store.sql import rows
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import Engine
from recollect.store.sql.statement import both, column_list, filtered, insert_or_replace

PUT_TURN_WORK = insert_or_replace("turn_work", "turn_id", rows.TURN_WORK.columns)
LIST_TURN_WORK = filtered(
    f"SELECT {column_list(rows.TURN_WORK.columns)} FROM turn_work"
    " WHERE namespace = $namespace AND (at, turn_id) > ($after_at, $after_id)",
    {"session_id": "session_id = $session_id"},
    "ORDER BY at, turn_id LIMIT $limit",
)
# The last one before so many of the newest.
TURN_WORK_BEFORE = filtered(
    "SELECT at, turn_id FROM turn_work WHERE namespace = $namespace",
    {"session_id": "session_id = $session_id"},
    "ORDER BY at DESC, turn_id DESC LIMIT 1 OFFSET $newest",
)
SESSIONS_WITH_TURN_WORK = both(
    "SELECT DISTINCT session_id FROM turn_work WHERE namespace = $namespace"
)
CLEAR_TURN_WORK = both("DELETE FROM turn_work WHERE namespace = $namespace")

_PAGE = 200
_BEGIN = (-(2**63), "")


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

    def all(
        self, namespace: str, session_id: str | None = None, *, newest: int | None = None
    ) -> Iterator[TurnWork]:
        place = {"namespace": namespace, "session_id": session_id}
        after: tuple[int, str] = _BEGIN
        if newest is not None:
            after = self._engine.one(TURN_WORK_BEFORE, {**place, "newest": newest}) or _BEGIN
        while True:
            edge = {"after_at": after[0], "after_id": after[1], "limit": _PAGE}
            found = self._engine.rows(LIST_TURN_WORK, {**place, **edge})
            works = [rows.TURN_WORK.decode(row) for row in found]
            yield from works
            if len(works) < _PAGE:
                return
            after = (to_micros(works[-1].at), works[-1].turn_id)

    def sessions(self, namespace: str) -> set[str]:
        values = {"namespace": namespace}
        return {session for (session,) in self._engine.rows(SESSIONS_WITH_TURN_WORK, values)}

    def clear(self, namespace: str) -> None:
        self._engine.write(lambda db: db.run(CLEAR_TURN_WORK, {"namespace": namespace}))
