"""Events and the extraction buffer, which is the set of events that no run has finished.

In: arrivals. Out: outcomes, stored events, batches. One bad event fails alone, as BadInput.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import apsw

from recollect.core.clock import from_micros
from recollect.core.errors import BadCursor
from recollect.core.values import Arrival, EventKind, StoredEvent
from recollect.store.interface import Backlog, Batch, Cursor, Outcome, Page, SetAside
from recollect.store.sqlite import rows
from recollect.store.sqlite import statements as sql
from recollect.store.sqlite.engine import Engine, ids_json
from recollect.store.sqlite.order import Walk, in_order, just_before, place_of


class SqliteEvents:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._claims_lock = threading.Lock()
        self._claimed: set[int] = set()

    def put(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        now = self._engine.clock.now()
        prepared = [rows.event_row(arrival, now) for arrival in arrivals]
        return self._engine.write(lambda db: [_put(db, row) for row in prepared])

    def get(self, namespace: str, event_id: str) -> StoredEvent | None:
        row = self._engine.one(sql.GET_EVENT, {"namespace": namespace, "event_id": event_id})
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
        found = [rows.read_event(row) for row in self._engine.rows(sql.LIST_EVENTS, values)]
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

    def session(self, namespace: str, session_id: str) -> tuple[StoredEvent, ...]:
        with self._engine.reader() as db:
            return tuple(Walk(db, namespace, session_id).later())

    def beginning(self, namespace: str, session_id: str, limit: int) -> tuple[StoredEvent, ...]:
        with self._engine.reader() as db:
            return tuple(Walk(db, namespace, session_id).later(limit=limit))

    def around(
        self, namespace: str, session_id: str, seqs: Iterable[int], before: int, after: int
    ) -> tuple[StoredEvent, ...]:
        with self._engine.reader() as db:
            walk = Walk(db, namespace, session_id)
            places = walk.places(seqs)
            if not places:
                return ()
            begin = walk.earlier(places[0], limit=before + 1)
            end = walk.later(places[-1], limit=after + 1)
            return tuple(
                walk.later(
                    place_of(begin[before]) if len(begin) > before else None,
                    until=place_of(end[after]) if len(end) > after else None,
                )
            )

    def turn(self, namespace: str, session_id: str, seq: int) -> tuple[StoredEvent, ...]:
        with self._engine.reader() as db:
            walk = Walk(db, namespace, session_id)
            place = next(iter(walk.places([seq])), None)
            if place is None:
                return ()
            begin = walk.earlier(place, kind="prompt", limit=1)
            end = walk.later(place, kind="prompt", limit=1)
            return tuple(
                walk.later(
                    just_before(begin[0]) if begin else None,
                    until=place_of(end[0]) if end else None,
                )
            )

    def position(self, namespace: str, session_id: str, seq: int) -> int:
        with self._engine.reader() as db:
            walk = Walk(db, namespace, session_id)
            return min([seq, *(walk.lowest_after(place) for place in walk.places([seq]))])

    def claim(self, namespace: str, limit: int, max_bytes: int) -> Batch | None:
        with self._claims_lock, self._engine.reader() as db:
            depth = limit + len(self._claimed)
            waiting = db.execute(sql.WAITING, {"namespace": namespace, "limit": depth})
            free = (row for row in waiting if row[0] not in self._claimed)
            chosen = choose(free, limit, max_bytes)
            if not chosen:
                return None
            values = {"namespace": namespace, "seqs": ids_json(chosen)}
            found = [rows.read_event(row) for row in db.execute(sql.EVENTS_BY_SEQ, values)]
            self._claimed.update(chosen)
            return Batch(namespace, in_order(db, namespace, found))

    def claimed(self, seqs: Iterable[int]) -> bool:
        """Whether a run holds any of these."""
        with self._claims_lock:
            return not self._claimed.isdisjoint(seqs)

    def begin(self, batch: Batch, reason: str, quarantine_after: int) -> Batch:
        values = {**batch_values(batch), "reason": reason, "quarantine_after": quarantine_after}
        self._engine.write(lambda db: db.execute(sql.BEGIN_RUN, values) and None)
        return replace(batch, begun=True)

    def release(self, batch: Batch) -> None:
        self.let_go(batch)
        if batch.begun:
            values = batch_values(batch)
            self._engine.write(lambda db: db.execute(sql.TAKE_BACK_RUN, values) and None)

    def let_go(self, batch: Batch) -> None:
        """The claim is over, whatever became of the events."""
        with self._claims_lock:
            self._claimed.difference_update(event.seq for event in batch.events)

    def fail(self, batch: Batch, reason: str) -> int:
        values = {**batch_values(batch), "reason": reason}
        states = self._engine.write(lambda db: [state for (state,) in db.execute(sql.FAIL, values)])
        self.let_go(batch)
        return states.count("quarantined")

    def retry(self, namespace: str) -> int:
        def work(db: apsw.Connection) -> int:
            db.execute(sql.RETRY, {"namespace": namespace})
            return db.changes()

        return self._engine.write(work)

    def set_aside(self, namespace: str, limit: int = 100) -> list[SetAside]:
        found = self._engine.rows(sql.SET_ASIDE, {"namespace": namespace, "limit": limit})
        return [
            SetAside(event_id, session_id, kind, from_micros(at), failures, reason)
            for event_id, session_id, kind, at, failures, reason in found
        ]

    def backlog(self) -> list[Backlog]:
        return [
            Backlog(namespace, count, size, set_aside, from_micros(newest) if newest else None)
            for namespace, count, size, set_aside, newest in self._engine.rows(sql.BACKLOG, {})
        ]


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


def finish(db: apsw.Connection, batch: Batch) -> None:
    db.execute(sql.FINISH, batch_values(batch))


def batch_values(batch: Batch) -> dict[str, Any]:
    return {
        "namespace": batch.namespace,
        "seqs": ids_json([event.seq for event in batch.events]),
    }


def _put(db: apsw.Connection, row: dict[str, Any]) -> Outcome:
    seq = db.execute(sql.PUT_EVENT, row).get
    if seq is not None:
        return Outcome(row["event_id"], "stored", seq)
    known = db.execute(sql.KNOWN_EVENT, {"event_id": row["event_id"]}).fetchone()
    assert known is not None  # the insert just met it
    seq, namespace, digest = known
    differs = digest and row["digest"] and digest != row["digest"]
    if differs or namespace != row["namespace"]:
        return Outcome(row["event_id"], "conflict")
    return Outcome(row["event_id"], "duplicate", seq)


def _page(found: list[StoredEvent], limit: int) -> Page[StoredEvent]:
    items = found[:limit]
    more = len(found) > limit and items
    after = Cursor(items[-1].seq, items[-1].event.event_id) if more else None
    return Page(tuple(items), after)
