"""Counts of what is stored, and the scrubber, which compares rows with their hashes.

In: a namespace and a period, or where the scrubber stands. Out: counts by kind, what happened hour
by hour, and rows that are not what they were. Damage is reported, never repaired by guessing.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from recollect.core.clock import from_micros, to_micros
from recollect.store.interface import Damage, Repaired, ScrubStep, Stats, Tallied, Tally
from recollect.store.sql import rows
from recollect.store.sql.engine import (
    IF_NAMESPACE,
    Connection,
    Engine,
    Statement,
    both,
    column_list,
    each,
    filtered,
    ids_json,
)

COUNT_EVENTS = filtered(
    "SELECT kind, count(*) FROM events WHERE TRUE", IF_NAMESPACE, "GROUP BY kind"
)
COUNT_RECORDS = filtered(
    "SELECT kind, coalesce(observation_type, ''), count(*) FROM memory_records WHERE TRUE",
    IF_NAMESPACE,
    "GROUP BY 1, 2",
)
COUNT_SESSIONS = filtered("SELECT count(*) FROM sessions WHERE TRUE", IF_NAMESPACE)
COUNT_ALL = both("""
SELECT (SELECT count(*) FROM events WHERE namespace = $namespace),
       (SELECT coalesce(sum(count), 0) FROM record_counts WHERE namespace = $namespace),
       (SELECT count(*) FROM sessions WHERE namespace = $namespace)
""")
COUNT_EMBEDDED = filtered(
    "SELECT count(DISTINCT source_id) FROM embeddings WHERE source_kind = 'record'", IF_NAMESPACE
)
COUNT_CONCEPTS = filtered(
    """
SELECT c.value, count(*) FROM memory_records AS r, {unfold}(r.concepts) AS c WHERE TRUE
""",
    {"namespace": "r.namespace = $namespace"},
    "GROUP BY c.value ORDER BY count(*) DESC, c.value LIMIT 50",
)


def _tally(table: str, at: str, kind: str, size: str, took: str) -> Statement:
    return filtered(
        f"""
SELECT {at} / $step, {kind}, count(*), coalesce(sum({size}), 0), coalesce(sum({took}), 0),
       coalesce(max({took}), 0)
  FROM {table}
 WHERE {at} >= $since AND {at} < $until
""",
        IF_NAMESPACE,
        "GROUP BY 1, 2 ORDER BY 1, 2",
    )


_TEXT = "octet_length(title) + octet_length(summary) + octet_length(detail) + octet_length(facts)"
TALLY = {
    "events": _tally("events", "valid_time", "kind", "octet_length(body)", "0"),
    "records": _tally("memory_records", "valid_from", "kind", _TEXT, "0"),
    "sessions": _tally(
        "sessions", "started_at", "surface", "(last_event_at - started_at) / 1000000", "0"
    ),
    "receipts": _tally("receipts", "created_at", "trigger", "tokens", "latency_us"),
}


def _bare(names: tuple[str, ...]) -> str:
    """Columns whose text comes as bytes, so that a damaged one can be read too; a blob, which
    none of them should be, comes as its digits."""
    return ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB)"
        f" WHEN 'blob' THEN hex({name}) ELSE {name} END"
        for name in names
    )


def _scrub(table: str, number: str, columns: tuple[str, ...]) -> Statement:
    rest = f"FROM {table} WHERE {number} > $after ORDER BY {number} LIMIT $limit"
    return each(
        sqlite=f"SELECT {number}, hash, {_bare(columns)} {rest}",
        postgres=f"SELECT {number}, hash, {column_list(columns)} {rest}",
        across="the scrubber checks hashes of every row; no content leaves it",
    )


SCRUB_EVENTS = _scrub("events", "seq", rows.EVENT_COLUMNS)
SCRUB_RECORDS = _scrub("memory_records", "row_id", rows.RECORD_HASHED)

_SCRUBBED: tuple[tuple[str, Statement, tuple[str, ...]], ...] = (
    ("events", SCRUB_EVENTS, rows.EVENT_COLUMNS),
    ("memory_records", SCRUB_RECORDS, rows.RECORD_HASHED),
)


ORPHAN_VECTORS = both(
    """
SELECT row_id FROM embeddings AS e WHERE NOT EXISTS (
    SELECT 1 FROM memory_records AS o
     WHERE e.source_kind = 'record' AND o.namespace = e.namespace AND o.record_id = e.source_id
     UNION ALL SELECT 1 FROM entities AS o
     WHERE e.source_kind = 'entity' AND o.namespace = e.namespace AND o.entity_id = e.source_id
     UNION ALL SELECT 1 FROM facts AS o
     WHERE e.source_kind = 'fact' AND o.namespace = e.namespace AND o.fact_id = e.source_id
     UNION ALL SELECT 1 FROM procedures AS o
     WHERE e.source_kind = 'procedure' AND o.namespace = e.namespace
       AND o.procedure_id = e.source_id)
""",
    across="doctor counts rows without an owner; no content leaves it",
)
DROP_VECTORS = both(
    """
DELETE FROM embeddings WHERE row_id IN {numbers[ids]}
""",
    across="removes exactly the orphans that were counted",
)
ORPHAN_SESSIONS = each(
    sqlite="""
SELECT s.rowid FROM sessions AS s WHERE NOT EXISTS (
    SELECT 1 FROM events AS e WHERE e.namespace = s.namespace AND e.session_id = s.session_id)
""",
    postgres="""
SELECT jsonb_build_array(s.namespace, s.session_id)::text FROM sessions AS s
 WHERE NOT EXISTS (SELECT 1 FROM events AS e
                    WHERE e.namespace = s.namespace AND e.session_id = s.session_id)
""",
    across="doctor counts rows without an owner; no content leaves it",
)
DROP_SESSIONS = each(
    sqlite="DELETE FROM sessions WHERE rowid IN (SELECT value FROM json_each($ids))",
    postgres="""
DELETE FROM sessions
 WHERE jsonb_build_array(namespace, session_id)::text IN (SELECT value FROM unfold($ids))
""",
    across="removes exactly the orphans that were counted",
)
_ORPHANS = {
    "vectors": (ORPHAN_VECTORS, DROP_VECTORS),
    "sessions": (ORPHAN_SESSIONS, DROP_SESSIONS),
}


class SqlUpkeep:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def stats(self, namespace: str | None = None, *, by_kind: bool = True) -> Stats:
        scope = {"namespace": namespace}
        if not by_kind:
            events, records, sessions = self._engine.rows(COUNT_ALL, scope)[0]
            return Stats(int(events), int(records), int(sessions))
        with self._engine.reader() as db:
            event_kinds: dict[str, int] = dict(db.run(COUNT_EVENTS, scope))
            record_kinds: dict[str, int] = {}
            types: dict[str, int] = {}
            for kind, observation_type, count in db.run(COUNT_RECORDS, scope):
                record_kinds[kind] = record_kinds.get(kind, 0) + count
                if observation_type:
                    types[observation_type] = types.get(observation_type, 0) + count
            return Stats(
                events=sum(event_kinds.values()),
                records=sum(record_kinds.values()),
                sessions=db.run(COUNT_SESSIONS, scope).get,
                embedded=db.run(COUNT_EMBEDDED, scope).get,
                event_kinds=event_kinds,
                record_kinds=record_kinds,
                observation_types=types,
                concepts=dict(db.run(COUNT_CONCEPTS, scope)),
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
            for number, *rest in self._engine.rows(TALLY[what], values)
        ]

    def scrub(self, position: tuple[str, int] | None, limit: int) -> ScrubStep:
        return scrub_step(self._engine.rows, position, limit)

    def repair(self, what: Repaired, *, apply: bool = True) -> dict[str, int]:
        def orphans(db: Connection) -> dict[str, int]:
            found = {}
            for name, (find, drop) in _ORPHANS.items():
                if keys := [key for (key,) in db.run(find)]:
                    found[name] = len(keys)
                    if apply:
                        db.run(drop, {"ids": ids_json(keys)})
            return found

        if what == "index":
            if apply:
                self._rebuild_index()
            return {}
        if apply:
            return self._engine.write(orphans, when_full=True)
        with self._engine.reader() as db:
            return orphans(db)

    def _rebuild_index(self) -> None:
        raise NotImplementedError


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
