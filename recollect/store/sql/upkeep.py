"""Counts of what is stored, and the scrubber, which compares rows with their hashes.

In: a namespace and a period, or where the scrubber stands. Out: counts by kind, what happened hour
by hour, and rows that are not what they were. Damage is reported, never repaired by guessing.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from recollect.core.clock import from_micros, to_micros
from recollect.store.interface import Damage, ScrubStep, Stats, Tallied, Tally
from recollect.store.sql import rows
from recollect.store.sql import statements as sql
from recollect.store.sql.engine import Engine
from recollect.store.sql.statement import Statement

_SCRUBBED: tuple[tuple[str, Statement, tuple[str, ...]], ...] = (
    ("events", sql.SCRUB_EVENTS, rows.EVENT_COLUMNS),
    ("memory_records", sql.SCRUB_RECORDS, rows.RECORD_HASHED),
)


class SqlUpkeep:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def stats(self, namespace: str | None = None) -> Stats:
        scope = {"namespace": namespace}
        with self._engine.reader() as db:
            event_kinds: dict[str, int] = dict(db.run(sql.COUNT_EVENTS, scope))
            record_kinds: dict[str, int] = {}
            types: dict[str, int] = {}
            for kind, observation_type, count in db.run(sql.COUNT_RECORDS, scope):
                record_kinds[kind] = record_kinds.get(kind, 0) + count
                if observation_type:
                    types[observation_type] = types.get(observation_type, 0) + count
            return Stats(
                events=sum(event_kinds.values()),
                records=sum(record_kinds.values()),
                sessions=db.run(sql.COUNT_SESSIONS, scope).get,
                embedded=db.run(sql.COUNT_EMBEDDED, scope).get,
                event_kinds=event_kinds,
                record_kinds=record_kinds,
                observation_types=types,
                concepts=dict(db.run(sql.COUNT_CONCEPTS, scope)),
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

    def scrub(self, position: tuple[str, int] | None, limit: int) -> ScrubStep:
        return scrub_step(self._engine.rows, position, limit)


def scrub_step(
    read: Callable[[Statement, dict[str, Any]], list[tuple[Any, ...]]],
    position: tuple[str, int] | None,
    limit: int,
) -> ScrubStep:
    """The next rows of a database that is read by `read`, from a position on."""
    names = [name for name, _, _ in _SCRUBBED]
    table, after = position or (names[0], 0)
    _, statement, columns = _SCRUBBED[names.index(table)]
    found = read(statement, {"after": after, "limit": limit})
    damaged = tuple(
        Damage(table, _name(row[2])) for row in found if not _intact(row[1], columns, row[2:])
    )
    if len(found) == limit:
        return ScrubStep((table, found[-1][0]), len(found), damaged)
    following = names[names.index(table) + 1 :]
    return ScrubStep((following[0], 0) if following else None, len(found), damaged)


def _name(cell: Any) -> str:
    return cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)


def _intact(stored: bytes, columns: tuple[str, ...], cells: tuple[Any, ...]) -> bool:
    return rows.row_hash(dict(zip(columns, cells, strict=True)), columns) == stored
