"""Putting events, and claims on the extraction buffer, for one process.

In: arrivals. Out: outcomes and batches. One bad event fails alone, as BadInput. A claim is kept in
memory: the data directory's lock lets nobody else claim, and a claim dies with its process.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from recollect.core.errors import StoreError
from recollect.core.values import Arrival
from recollect.store.interface import Batch, Counted, Outcome
from recollect.store.sql import rows
from recollect.store.sql.engine import Connection, Engine, ids_json
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
from recollect.store.sqlite import statements as own


class SqliteEvents(SqlEvents):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._claims_lock = threading.Lock()
        self._claimed: set[int] = set()

    def put(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        now = self._engine.clock.now()
        prepared = [rows.event_row(arrival, now) for arrival in arrivals]
        return self._engine.write(lambda db: [_put(db, row) for row in prepared])

    def claim(
        self, namespace: str, limit: int, max_bytes: int, counted: Counted | None = None
    ) -> Batch | None:
        batch = self._claim(namespace, limit, max_bytes)
        if batch is None or counted is None:
            return batch
        values = {
            **batch_values(batch),
            "reason": counted.reason,
            "quarantine_after": counted.quarantine_after,
        }
        try:
            self._engine.write(lambda db: db.run(BEGIN_RUN, values) and None)
        except StoreError:
            self.let_go(batch)
            raise
        return replace(batch, counted=True)

    def _claim(self, namespace: str, limit: int, max_bytes: int) -> Batch | None:
        with self._claims_lock, self._engine.reader() as db:
            depth = limit + len(self._claimed)
            waiting = db.run(own.WAITING, {"namespace": namespace, "limit": depth})
            free = (row for row in waiting if row[0] not in self._claimed)
            chosen = choose(free, limit, max_bytes)
            if not chosen:
                return None
            values = {"namespace": namespace, "seqs": ids_json(chosen)}
            found = [rows.read_event(row) for row in db.run(EVENTS_BY_SEQ, values)]
            self._claimed.update(chosen)
            return Batch(namespace, in_order(db, namespace, found))

    def claimed(self, seqs: Iterable[int]) -> bool:
        """Whether a run holds any of these."""
        with self._claims_lock:
            return not self._claimed.isdisjoint(seqs)

    def release(self, batch: Batch, failed: str | None = None) -> int:
        if failed is not None:
            values = {**batch_values(batch), "reason": failed}
            states = self._engine.write(lambda db: [state for (state,) in db.run(FAIL, values)])
            self.let_go(batch)
            return states.count("quarantined")
        self.let_go(batch)
        if batch.counted:
            values = batch_values(batch)
            self._engine.write(lambda db: db.run(TAKE_BACK_RUN, values) and None)
        return 0

    def let_go(self, batch: Batch) -> None:
        """The claim is over, whatever became of the events."""
        with self._claims_lock:
            self._claimed.difference_update(event.seq for event in batch.events)


def finish(db: Connection, batch: Batch) -> None:
    db.run(FINISH, batch_values(batch))


def batch_values(batch: Batch) -> dict[str, Any]:
    return {
        "namespace": batch.namespace,
        "seqs": ids_json([event.seq for event in batch.events]),
    }


def _put(db: Connection, row: dict[str, Any]) -> Outcome:
    seq = db.run(PUT_EVENT, row).get
    if seq is not None:
        return Outcome(row["event_id"], "stored", seq)
    known = db.run(own.KNOWN_EVENT, {"event_id": row["event_id"]}).fetchone()
    assert known is not None  # the insert just met it
    return outcome_of_known(row, *known)
