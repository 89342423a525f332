"""Sessions, their checkpoints, and receipts of what retrieval did.

In: values. Out: values and pages. Unknown sessions are answered with None or False.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from recollect.core.clock import from_micros, to_micros
from recollect.core.values import Checkpoint, Receipt, Session, SessionStatus
from recollect.store.interface import Cursor, Page
from recollect.store.sql import rows
from recollect.store.sql.engine import (
    END,
    Connection,
    Engine,
    both,
    column_list,
    each,
    filtered,
    ids_json,
    insert_into,
)

GET_SESSION = both(f"""
SELECT {column_list(rows.SESSION.columns)} FROM sessions
 WHERE namespace = $namespace AND session_id = $session_id
""")
LIST_SESSIONS = both(f"""
SELECT {column_list(rows.SESSION.columns)} FROM sessions
 WHERE namespace = $namespace AND (started_at, session_id) < ($before_number, $before_id)
 ORDER BY started_at DESC, session_id DESC LIMIT $limit
""")
END_SESSION = both("""
UPDATE sessions SET status = $status, ended_at = $at
 WHERE namespace = $namespace AND session_id = $session_id AND last_event_at <= $at
""")
END_SILENT = both(
    """
UPDATE sessions SET status = $status, ended_at = last_event_at
 WHERE status = 'active' AND last_event_at < $at
""",
    across="upkeep ends sessions that are silent, wherever they are; it reads times only",
)
LAST_HEARD = each(
    sqlite="""
SELECT surface, max(last_event_at) FROM sessions
 WHERE session_id NOT GLOB 'prove-*' AND session_id NOT GLOB 'demo-*'
 GROUP BY surface ORDER BY surface
""",
    postgres="""
SELECT surface, max(last_event_at) FROM sessions
 WHERE session_id NOT LIKE 'prove-%' AND session_id NOT LIKE 'demo-%'
 GROUP BY surface ORDER BY surface
""",
    across="health tells when a host was last heard of; it reads names of hosts and times",
)
PUT_CHECKPOINT = both(insert_into("checkpoints", rows.CHECKPOINT.columns))
LAST_CHECKPOINT = filtered(
    f"""
SELECT {column_list(rows.CHECKPOINT.columns)} FROM checkpoints
 WHERE namespace = $namespace
""",
    {"session_id": "session_id = $session_id"},
    "ORDER BY created_at DESC, checkpoint_id DESC LIMIT 1",
)
PUT_RECEIPT = both(insert_into("receipts", rows.RECEIPT.columns))
GET_RECEIPT = both(f"""
SELECT {column_list(rows.RECEIPT.columns)} FROM receipts
 WHERE namespace = $namespace AND receipt_id = $receipt_id
""")
LIST_RECEIPTS = filtered(
    f"""
SELECT {column_list(rows.RECEIPT.columns)} FROM receipts
 WHERE namespace = $namespace AND (created_at, receipt_id) < ($before_number, $before_id)
""",
    {"session_id": "session_id = $session_id"},
    "ORDER BY created_at DESC, receipt_id DESC LIMIT $limit",
)
DELETE_RECEIPTS = both(
    "DELETE FROM receipts WHERE namespace = $namespace AND receipt_id IN {texts[ids]}"
)


class SqlSessions:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, namespace: str, session_id: str) -> Session | None:
        values = {"namespace": namespace, "session_id": session_id}
        row = self._engine.one(GET_SESSION, values)
        return rows.SESSION.decode(row) if row else None

    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[Session]:
        edge = END if before is None else {"before_number": before.number, "before_id": before.id}
        values = {"namespace": namespace, "limit": limit + 1, **edge}
        found = [rows.SESSION.decode(row) for row in self._engine.rows(LIST_SESSIONS, values)]
        items = tuple(found[:limit])
        if len(found) <= limit or not items:
            return Page(items)
        return Page(items, Cursor(to_micros(items[-1].started_at), items[-1].session_id))

    def end(
        self, ended: Sequence[tuple[str, str]] | None, status: SessionStatus, at: datetime
    ) -> int:
        how = {"status": status, "at": to_micros(at)}

        def work(db: Connection) -> int:
            if ended is None:
                db.run(END_SILENT, how)
                return db.changes()
            found = 0
            for namespace, session_id in ended:
                db.run(END_SESSION, {"namespace": namespace, "session_id": session_id, **how})
                found += db.changes()
            return found

        return self._engine.write(work)

    def last_heard(self) -> dict[str, datetime]:
        return {surface: from_micros(at) for surface, at in self._engine.rows(LAST_HEARD, {})}

    def last_checkpoint(self, namespace: str, session_id: str | None = None) -> Checkpoint | None:
        values = {"namespace": namespace, "session_id": session_id}
        row = self._engine.one(LAST_CHECKPOINT, values)
        return rows.CHECKPOINT.decode(row) if row else None


def put_checkpoint(db: Connection, checkpoint: Checkpoint, now: datetime) -> Checkpoint:
    stamped = msgspec.structs.replace(checkpoint, created_at=checkpoint.created_at or now)
    db.run(PUT_CHECKPOINT, rows.CHECKPOINT.encode(stamped))
    return stamped


class SqlReceipts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, receipt: Receipt) -> Receipt:
        now = self._engine.clock.now()
        stamped = msgspec.structs.replace(receipt, created_at=receipt.created_at or now)
        row = rows.RECEIPT.encode(stamped)
        self._engine.write(lambda db: db.run(PUT_RECEIPT, row) and None)
        return stamped

    def get(self, namespace: str, receipt_id: str) -> Receipt | None:
        values = {"namespace": namespace, "receipt_id": receipt_id}
        row = self._engine.one(GET_RECEIPT, values)
        return rows.RECEIPT.decode(row) if row else None

    def page(
        self,
        namespace: str,
        *,
        session_id: str | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Receipt]:
        edge = END if before is None else {"before_number": before.number, "before_id": before.id}
        values = {"namespace": namespace, "session_id": session_id, "limit": limit + 1, **edge}
        found = [rows.RECEIPT.decode(row) for row in self._engine.rows(LIST_RECEIPTS, values)]
        items = tuple(found[:limit])
        if len(found) <= limit or not items:
            return Page(items)
        last = items[-1]
        assert last.created_at is not None
        return Page(items, Cursor(to_micros(last.created_at), last.receipt_id))

    def delete(self, namespace: str, receipt_ids: Sequence[str]) -> None:
        values = {"namespace": namespace, "ids": ids_json(receipt_ids)}
        self._engine.write(lambda db: db.run(DELETE_RECEIPTS, values) and None, when_full=True)
