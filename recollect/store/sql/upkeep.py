"""Counts of what is stored.

In: a namespace and a period. Out: counts by kind, and what happened hour by hour.
"""

from datetime import datetime

from recollect.core.clock import from_micros, to_micros
from recollect.store.interface import Stats, Tallied, Tally
from recollect.store.sql import statements as sql
from recollect.store.sql.engine import Engine


class SqlUpkeep:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def stats(self, namespace: str | None = None) -> Stats:
        scope = {"namespace": namespace}
        with self._engine.reader() as db:
            event_kinds: dict[str, int] = dict(db.execute(sql.COUNT_EVENTS, scope))
            record_kinds: dict[str, int] = {}
            types: dict[str, int] = {}
            for kind, observation_type, count in db.execute(sql.COUNT_RECORDS, scope):
                record_kinds[kind] = record_kinds.get(kind, 0) + count
                if observation_type:
                    types[observation_type] = types.get(observation_type, 0) + count
            return Stats(
                events=sum(event_kinds.values()),
                records=sum(record_kinds.values()),
                sessions=db.execute(sql.COUNT_SESSIONS, scope).get,
                embedded=db.execute(sql.COUNT_EMBEDDED, scope).get,
                event_kinds=event_kinds,
                record_kinds=record_kinds,
                observation_types=types,
                concepts=dict(db.execute(sql.COUNT_CONCEPTS, scope)),
            )

    def tally(
        self,
        what: Tallied,
        since: datetime,
        until: datetime,
        *,
        seconds: int = 3600,
        namespace: str | None = None,
    ) -> list[Tally]:
        step = seconds * 1_000_000
        values = {
            "namespace": namespace,
            "since": to_micros(since),
            "until": to_micros(until),
            "step": step,
        }
        return [
            Tally(from_micros(number * step), *rest)
            for number, *rest in self._engine.rows(sql.TALLY[what], values)
        ]
