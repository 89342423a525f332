"""What was done in each turn, on both engines.

In: work of turns. Out: the same, in the order of time.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.core.clock import to_micros
from recollect.core.values import TurnWork
from recollect.store.sql import rows
from recollect.store.sql.engine import (
    Connection,
    Engine,
    both,
    column_list,
    filtered,
    ids_json,
    insert_or_replace,
)

PUT_TURN_WORK = insert_or_replace("turn_work", "turn_id", rows.TURN_WORK.columns)
_COLUMNS = column_list(rows.TURN_WORK.columns)
# The plus keeps SQLite from walking the whole project by time.
SESSION_TURN_WORK = both(f"""
SELECT {_COLUMNS} FROM turn_work
 WHERE namespace = $namespace AND session_id = $session_id
 ORDER BY +at, turn_id
""")
PAGE_OF_TURN_WORK = both(f"""
SELECT {_COLUMNS} FROM turn_work
 WHERE namespace = $namespace AND (at, turn_id) > ($after_at, $after_id)
 ORDER BY at, turn_id LIMIT $limit
""")
# The last one before so many of the newest.
TURN_WORK_BEFORE = both("""
SELECT at, turn_id FROM turn_work WHERE namespace = $namespace
 ORDER BY at DESC, turn_id DESC LIMIT 1 OFFSET $newest
""")
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

    def stream(
        self, namespace: str, session_id: str | None = None, *, newest: int | None = None
    ) -> Iterator[TurnWork]:
        if session_id is not None:
            own = {"namespace": namespace, "session_id": session_id}
            yield from map(rows.TURN_WORK.decode, self._engine.rows(SESSION_TURN_WORK, own))
            return
        after: tuple[Any, ...] | None = None
        if newest is not None:
            values = {"namespace": namespace, "newest": newest}
            after = self._engine.one(TURN_WORK_BEFORE, values)
        at, turn_id = after or _BEGIN
        while True:
            place = {"namespace": namespace, "after_at": at, "after_id": turn_id, "limit": _PAGE}
            found = self._engine.rows(PAGE_OF_TURN_WORK, place)
            works = [rows.TURN_WORK.decode(row) for row in found]
            yield from works
            if len(works) < _PAGE:
                return
            at, turn_id = to_micros(works[-1].at), works[-1].turn_id

    def missing(self, namespace: str) -> list[str]:
        values = {"namespace": namespace}
        return [session for (session,) in self._engine.rows(MISSING_TURN_WORK, values)]

    def delete(self, namespace: str, turn_ids: Sequence[str] | None = None) -> None:
        listed = None if turn_ids is None else ids_json(turn_ids)
        values = {"namespace": namespace, "ids": listed}
        self._engine.write(lambda db: db.run(DELETE_TURN_WORK, values) and None)
