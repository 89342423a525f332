"""Events and the extraction buffer, for several daemons on one server.

In: arrivals. Out: outcomes, stored events, batches. An event is put without waiting for other
writers. A claim is held by a row that names its daemon; it dies when the daemon has not been heard
of for LEASE_S, by the server's clock, and whoever lost it cannot finish it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from recollect.core import ids
from recollect.core.errors import StoreBusy
from recollect.core.values import Arrival
from recollect.store.interface import Batch, Counted, Outcome
from recollect.store.postgres import statements as own
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.postgres.values import event_without_nul
from recollect.store.sql import rows
from recollect.store.sql.engine import ids_json
from recollect.store.sql.events import (
    BEGIN_RUN,
    EVENTS_BY_SEQ,
    FAIL,
    FINISH,
    PUT_EVENT,
    TAKE_BACK_RUN,
    SqlEvents,
    choose,
    outcome_of_known,
)
from recollect.store.sql.order import in_order

LEASE_S = 60.0


class PostgresEvents(SqlEvents):
    def __init__(self, engine: PostgresEngine) -> None:
        super().__init__(engine)
        self._server = engine
        self.telling = False  # whether somebody calls `tell` from time to time
        self._untold: list[tuple[str, str]] = []

    def put(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        now = self._engine.clock.now()
        prepared = [event_without_nul(rows.event_row(arrival, now)) for arrival in arrivals]
        if len(prepared) == 1:  # a statement is a transaction by itself
            outcomes = self._server.once(lambda db: _put_all(db, prepared))
        else:
            outcomes = self._server.transact(lambda db: _put_all(db, prepared))
        if self.telling:
            self._untold += [
                (row["namespace"], outcome.event_id)
                for row, outcome in zip(prepared, outcomes, strict=True)
                if outcome.status == "stored"
            ]
        return outcomes

    def tell(self) -> None:
        """Let other daemons know what came in here lately."""
        untold, self._untold = self._untold, []
        by_namespace: dict[str, list[str]] = {}
        for namespace, event_id in untold:
            by_namespace.setdefault(namespace, []).append(event_id)
        for namespace, event_ids in by_namespace.items():
            self._server.rows(own.TELL_EVENTS, {"namespace": namespace, "event_ids": event_ids})

    def claim(
        self, namespace: str, limit: int, max_bytes: int, counted: Counted | None = None
    ) -> Batch | None:
        def work(db: PostgresConnection) -> Batch | None:
            db.run(own.ALIVE, {"runner": self._server.origin})
            dead = db.run(own.DEAD, {"namespace": namespace, "lease_s": LEASE_S}).fetchall()
            values = {"namespace": namespace, "limit": limit, "dead": [one for (one,) in dead]}
            chosen = choose(db.run(own.CLAIMABLE, values), limit, max_bytes)
            if not chosen:
                return None
            claim = f"{self._server.origin}/{ids.new_ulid()}"
            db.run(own.CLAIM, {"namespace": namespace, "seqs": chosen, "claim": claim})
            found = db.run(EVENTS_BY_SEQ, {"namespace": namespace, "seqs": ids_json(chosen)})
            events = [rows.read_event(row) for row in found]
            batch = Batch(namespace, in_order(db, namespace, events), counted is not None)
            if counted is not None:
                how = {"reason": counted.reason, "quarantine_after": counted.quarantine_after}
                db.run(BEGIN_RUN, {**self._mine(batch), **how})
            return batch

        return self._server.transact(work)

    def release(self, batch: Batch, failed: str | None = None) -> int:
        if failed is not None:
            values = {**self._mine(batch), "reason": failed}
            states = self._server.transact(lambda db: [state for (state,) in db.run(FAIL, values)])
            return states.count("quarantined")
        statement = TAKE_BACK_RUN if batch.counted else own.RELEASE
        self._server.transact(lambda db: db.run(statement, self._mine(batch)) and None)
        return 0

    def claimed(self, seqs: Iterable[int]) -> bool:
        """Whether any of these is in somebody's hands."""
        values = {"seqs": list(seqs), "lease_s": LEASE_S}
        return bool(self._server.rows(own.HELD, values))

    def finish(self, db: PostgresConnection, batch: Batch) -> None:
        """Only what is still ours: a daemon that was away too long must not do work twice."""
        db.run(FINISH, self._mine(batch))
        if db.changes() != len(batch.events):
            raise StoreBusy("the claim on these events was lost; another daemon extracts them")

    # --- being alive ---

    def beat(self) -> None:
        """Say that this daemon lives, so that its claims do."""
        self._server.transact(
            lambda db: db.run(own.ALIVE, {"runner": self._server.origin}) and None
        )

    def give_back(self) -> None:
        """Release everything, at the end."""

        def work(db: PostgresConnection) -> None:
            db.run(own.RELEASE_ALL, {"mine": f"{self._server.origin}/%"})
            db.run(own.GONE, {"runner": self._server.origin})
            db.run(own.FORGET_RUNNERS)

        self._server.transact(work)

    def _mine(self, batch: Batch) -> dict[str, Any]:
        return {
            "namespace": batch.namespace,
            "seqs": [event.seq for event in batch.events],
            "mine": f"{self._server.origin}/%",
        }


def _put_all(db: PostgresConnection, prepared: Sequence[dict[str, Any]]) -> list[Outcome]:
    sessions: dict[str, set[str]] = {}
    for row in prepared:
        sessions.setdefault(row["namespace"], set()).add(row["session_id"])
    if len(prepared) > 1:
        for namespace in sorted(sessions):
            held = {"namespace": namespace, "session_ids": sorted(sessions[namespace])}
            db.run(own.HOLD_SESSIONS, held)
    return [_outcome(row, *db.run(PUT_EVENT, row).get) for row in prepared]


def _outcome(row: dict[str, Any], fresh: bool, seq: int, namespace: str, digest: str) -> Outcome:
    if fresh:
        return Outcome(row["event_id"], "stored", seq)
    return outcome_of_known(row, seq, namespace, digest)
