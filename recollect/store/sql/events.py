"""Events and the extraction buffer, which is the set of events that no run has finished.

In: ids, sessions, cursors. Out: stored events and pages. How an event is put and how a run claims
its batch differ: `sqlite/events.py` and `postgres/events.py`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from recollect.core.clock import from_micros
from recollect.core.errors import BadCursor
from recollect.core.values import EventKind, StoredEvent
from recollect.store.interface import Backlog, Cursor, Outcome, Page, SetAside
from recollect.store.sql import rows
from recollect.store.sql.engine import Connection, Engine, both, column_list, each, filtered
from recollect.store.sql.order import Walk

_EVENT = column_list(rows.EVENT_READ)
_EVENT_PUT = (*rows.EVENT_COLUMNS, "surface", "project_path", "hash")
# SQLite has one writer, and gives the number of a new event or nothing. On the server a function
# looks, numbers a prompt under the session's lock and inserts: one message instead of five. It also
# gives what is there already.
PUT_EVENT = each(
    sqlite=f"""
INSERT INTO events ({column_list(_EVENT_PUT)}, prompt_number)
VALUES ({column_list(_EVENT_PUT, "$")},
        CASE $kind WHEN 'prompt' THEN
            (SELECT coalesce(max(prompt_number), 0) + 1 FROM events
              WHERE namespace = $namespace AND session_id = $session_id
                AND prompt_number IS NOT NULL)
        END)
ON CONFLICT (event_id) DO NOTHING RETURNING seq
""",
    postgres=f"""
SELECT fresh, seq, namespace, digest
  FROM put_event({", ".join(f"new_{name} => ${name}" for name in _EVENT_PUT)})
""",
)
GET_EVENT = both(f"""
SELECT {_EVENT} FROM events WHERE namespace = $namespace AND event_id = $event_id
""")
LIST_EVENTS = filtered(
    f"SELECT {_EVENT} FROM events WHERE namespace = $namespace AND seq < $before",
    {"kind": "kind = $kind"},
    "ORDER BY seq DESC LIMIT $limit",
)
EVENTS_BY_SEQ = both(f"""
SELECT {_EVENT} FROM events
 WHERE {{by_key}}namespace = $namespace AND seq IN {{numbers[seqs]}} ORDER BY seq
""")
# On the server only what is still claimed by this daemon ($mine) is finished, counted or released.
FINISH = each(
    sqlite="""
DELETE FROM unextracted
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
""",
    postgres="""
DELETE FROM unextracted
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
""",
)
BEGIN_RUN = each(
    sqlite="""
UPDATE unextracted
   SET failures = failures + 1, reason = $reason,
       state = CASE WHEN failures + 1 >= $quarantine_after THEN 'quarantined' ELSE state END
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
""",
    postgres="""
UPDATE unextracted
   SET failures = failures + 1, reason = $reason,
       state = CASE WHEN failures + 1 >= $quarantine_after THEN 'quarantined' ELSE state END
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
""",
)
TAKE_BACK_RUN = each(
    sqlite="""
UPDATE unextracted
   SET failures = max(failures - 1, 0), state = 'waiting',
       reason = CASE WHEN failures > 1 THEN reason END
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
""",
    postgres="""
UPDATE unextracted
   SET failures = greatest(failures - 1, 0), state = 'waiting', claim = NULL,
       reason = CASE WHEN failures > 1 THEN reason END
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
""",
)
FAIL = each(
    sqlite="""
UPDATE unextracted SET reason = $reason
 WHERE +namespace = $namespace AND seq IN (SELECT value FROM json_each($seqs))
RETURNING state
""",
    postgres="""
UPDATE unextracted SET reason = $reason, claim = NULL
 WHERE namespace = $namespace AND seq = ANY($seqs) AND claim LIKE $mine
RETURNING state
""",
)
RETRY = both("""
UPDATE unextracted SET state = 'waiting', failures = 0, reason = NULL
 WHERE namespace = $namespace AND state = 'quarantined'
""")
BACKLOG = both(
    """
SELECT u.namespace, count(*) FILTER (WHERE u.state = 'waiting'),
       coalesce(sum(u.bytes) FILTER (WHERE u.state = 'waiting'), 0),
       count(*) FILTER (WHERE u.state = 'quarantined'),
       max(e.transaction_time) FILTER (WHERE u.state = 'waiting')
  FROM unextracted AS u JOIN events AS e USING ({key[seq]})
 GROUP BY u.namespace ORDER BY u.namespace
""",
    across="the watcher schedules all projects; it reads counts, no content",
)
SET_ASIDE = both("""
SELECT e.event_id, e.session_id, e.kind, e.transaction_time, u.failures, coalesce(u.reason, '')
  FROM unextracted AS u JOIN events AS e USING ({key[seq]})
 WHERE u.namespace = $namespace AND u.state = 'quarantined' ORDER BY u.seq LIMIT $limit
""")


class SqlEvents:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claimed(self, seqs: Iterable[int]) -> bool:
        """Whether a run holds any of these."""
        raise NotImplementedError

    def get(self, namespace: str, event_id: str) -> StoredEvent | None:
        row = self._engine.one(GET_EVENT, {"namespace": namespace, "event_id": event_id})
        return rows.read_event(row) if row else None

    def page(
        self,
        namespace: str,
        *,
        session_id: str | None = None,
        kind: EventKind | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[StoredEvent]:
        if session_id is not None:
            return self._session_page(namespace, session_id, kind, before, limit)
        values = {
            "namespace": namespace,
            "kind": kind,
            "before": before.number if before else 2**63 - 1,
            "limit": limit + 1,
        }
        found = [rows.read_event(row) for row in self._engine.rows(LIST_EVENTS, values)]
        return _page(found, limit)

    def _session_page(
        self,
        namespace: str,
        session_id: str,
        kind: EventKind | None,
        before: Cursor | None,
        limit: int,
    ) -> Page[StoredEvent]:
        with self._engine.reader() as db:
            walk = Walk(db, namespace, session_id)
            place = walk.places([before.number]) if before else [None]
            if not place:
                raise BadCursor(
                    f"event {before} is not in this session, or no longer",
                    hint="Begin with the first page again.",
                )
            return _page(walk.earlier(place[0], kind=kind, limit=limit + 1), limit)

    def session(
        self,
        namespace: str,
        session_id: str,
        limit: int | None = None,
        *,
        around: Iterable[int] | None = None,
        before: int | None = None,
        after: int | None = None,
    ) -> tuple[StoredEvent, ...]:
        with self._engine.reader() as db:
            walk = Walk(db, namespace, session_id)
            if around is None:
                return tuple(walk.later(limit=-1 if limit is None else limit))
            places = walk.places(around)
            if not places:
                return ()
            return tuple(
                walk.later(walk.begin(places[0], before), until=walk.end(places[-1], after))
            )

    def position(self, namespace: str, session_id: str, seq: int) -> int:
        with self._engine.reader() as db:
            walk = Walk(db, namespace, session_id)
            return min([seq, *(walk.lowest_after(place) for place in walk.places([seq]))])

    def retry(self, namespace: str) -> int:
        def work(db: Connection) -> int:
            db.run(RETRY, {"namespace": namespace})
            return db.changes()

        return self._engine.write(work)

    def backlog(self, *, reasons: int = 0) -> list[Backlog]:
        return [
            Backlog(
                namespace, count, size, quarantined, from_micros(newest) if newest else None,
                self._set_aside(namespace, reasons) if reasons and quarantined else (),
            )
            for namespace, count, size, quarantined, newest in self._engine.rows(BACKLOG, {})
        ]  # fmt: skip

    def _set_aside(self, namespace: str, limit: int) -> tuple[SetAside, ...]:
        found = self._engine.rows(SET_ASIDE, {"namespace": namespace, "limit": limit})
        return tuple(
            SetAside(event_id, session_id, kind, from_micros(at), failures, reason)
            for event_id, session_id, kind, at, failures, reason in found
        )


def choose(free: Iterable[Sequence[int]], limit: int, max_bytes: int) -> list[int]:
    """Which of the waiting events (number, size, failures) make the next batch. Those that failed
    before are taken an eighth at a time, and a sixty-fourth when they failed twice."""
    chosen: list[int] = []
    total = tried = 0
    for seq, size, failures in free:
        if not chosen:
            tried, limit = failures, max(1, limit >> 3 * failures)
        full = len(chosen) == limit or total + size > max_bytes
        if chosen and (full or failures != tried):
            break
        chosen.append(seq)
        total += size
    return chosen


def outcome_of_known(row: dict[str, Any], seq: int, namespace: str, digest: str | None) -> Outcome:
    """What becomes of an event whose id is there already, with this number, place and digest."""
    differs = digest and row["digest"] and digest != row["digest"]
    if differs or namespace != row["namespace"]:
        return Outcome(row["event_id"], "conflict")
    return Outcome(row["event_id"], "duplicate", seq)


def _page(found: list[StoredEvent], limit: int) -> Page[StoredEvent]:
    items = found[:limit]
    more = len(found) > limit and items
    after = Cursor(items[-1].seq, items[-1].event.event_id) if more else None
    return Page(tuple(items), after)
