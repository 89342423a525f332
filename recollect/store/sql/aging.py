"""What grows old: which memories are due for the next stage or for leaving, and the marks.

In: moments and rules. Out: ids with reasons. Nothing is decided here that a preview would not show:
whoever acts asks the same questions as whoever only looks.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from recollect.core import kinds
from recollect.core.clock import from_micros, to_micros
from recollect.core.kinds import KINDS, Level
from recollect.store.interface import Age, Aged, Alike, Due, Forgetting, Purged
from recollect.store.sql.engine import (
    Connection,
    Engine,
    Statement,
    both,
    each,
    ids_json,
    micros,
)

# What a person brought back stays until a person takes it away again.
_BROUGHT_BACK = """
       EXISTS (SELECT 1 FROM operations AS o
                WHERE o.op_id = r.op_id AND o.namespace = $namespace AND o.kind = 'undo')
"""
# A checkpoint holds what it shows while it may be gone on with: those of the last thirty days in
# which there were any (in microseconds).
_HELD = """
       SELECT value FROM checkpoints AS k, {unfold}(k.snapshot)
        WHERE k.namespace = $namespace AND k.created_at >= (
              SELECT max(created_at) - 2592000000000 FROM checkpoints
               WHERE namespace = $namespace)
"""
AGED_EPISODES = both(f"""
SELECT r.record_id, r.session_id, r.position, r.created_at, length(r.detail)
  FROM memory_records AS r
 WHERE r.namespace = $namespace AND r.kind = '{kinds.TURN.name}' AND r.level = $level
   AND r.created_at <= $before
   AND NOT EXISTS (SELECT 1 FROM compacted AS c
                    WHERE c.namespace = $namespace AND c.source_id = r.record_id)
   AND NOT {_BROUGHT_BACK}
   AND (r.level = 'raw' OR r.pinned = 0 AND r.record_id NOT IN ({_HELD}))
 ORDER BY r.session_id, r.position, r.valid_from, r.record_id
""")
# Those that might go, each by an index: a pass does not look at all that is kept.
_MADE = tuple(one for one in kinds.KINDS.values() if not one.is_turn)
_OLD = f"""
       SELECT row_id FROM memory_records WHERE namespace = $namespace AND expires_at <= $now
       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = $namespace AND kind = '{kinds.TURN.name}' AND level = 'raw'
       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = $namespace AND kind = '{kinds.TURN.name}' AND level = 'distilled'
          AND created_at <= $short_turns
""" + "".join(
    f"""       UNION ALL SELECT row_id FROM memory_records
        WHERE namespace = $namespace AND kind = '{one.name}' AND created_at <= ${one.name}
"""
    for one in _MADE
)
_PAST_RETENTION = "\n        ".join(
    f"WHEN r.kind = '{one.name}' AND r.created_at <= ${one.name} THEN 'retention of {one.plural}'"
    for one in _MADE
)
# One row a memory, whatever speaks against it. A turn goes when what stands for it has stood for a
# while and still does (itself, or what it went into); retention takes it in any case.
FORGETTABLE = both(f"""
SELECT record_id, reason FROM (
    SELECT r.record_id, r.created_at, CASE
        WHEN r.expires_at <= $now AND NOT (r.kind = '{kinds.TURN.name}' AND r.level = 'compressed'
             AND c.source_id IS NULL AND r.created_at <= $distilled) THEN 'expired'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'raw' AND c.at <= $replaced AND (
             EXISTS (SELECT 1 FROM memory_records AS s
                      WHERE s.record_id = c.into_id AND s.namespace = $namespace)
             OR EXISTS (SELECT 1 FROM compacted AS d JOIN memory_records AS s
                            ON s.record_id = d.into_id AND s.namespace = $namespace
                         WHERE d.namespace = $namespace AND d.source_id = c.into_id))
            THEN 'a summary has replaced it'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'raw' AND r.created_at <= ${kinds.TURN.name}
             AND c.at <= $replaced THEN 'retention of {kinds.TURN.plural}'
        WHEN r.kind = '{kinds.TURN.name}' AND r.level = 'distilled' AND r.created_at <= $short_turns
            THEN 'retention of shortened {kinds.TURN.plural}'
        {_PAST_RETENTION}
        END AS reason
      FROM memory_records AS r
      LEFT JOIN compacted AS c ON c.namespace = $namespace AND c.source_id = r.record_id
     WHERE r.row_id IN ({_OLD}) AND {{by_key}}r.namespace = $namespace AND r.pinned = 0
       AND r.importance < $important AND r.strategy <> 'user' AND NOT {_BROUGHT_BACK}
       AND r.record_id NOT IN ({_HELD})) AS due
 WHERE reason IS NOT NULL ORDER BY created_at, record_id {{limit[limit]}}
""")
MARK = both("""
INSERT INTO compacted (namespace, source_id, into_id, at)
VALUES ($namespace, $source_id, $into_id, $at)
ON CONFLICT (namespace, source_id) DO UPDATE SET into_id = excluded.into_id, at = excluded.at
""")
GONE = both("""
SELECT w.value FROM {unfold}($record_ids) AS w
 WHERE NOT EXISTS (SELECT 1 FROM memory_records
                    WHERE namespace = $namespace AND record_id = w.value)
   AND (EXISTS (SELECT 1 FROM compacted WHERE namespace = $namespace AND source_id = w.value)
        OR EXISTS (SELECT 1 FROM archive WHERE namespace = $namespace AND source_id = w.value))
""")


def _alike(ids: str) -> str:
    return f"""
SELECT r.observation_type, r.files, {ids}
  FROM (SELECT * FROM memory_records
         WHERE namespace = $namespace AND kind = '{kinds.NOTE.name}'
           AND observation_type IS NOT NULL AND files <> '[]'
           AND pinned = 0 AND importance < $important AND strategy <> 'user'
           AND created_at > $since AND created_at <= $before
           AND (expires_at IS NULL OR expires_at > $before)
         ORDER BY valid_from, record_id) AS r
 WHERE r.record_id NOT IN ({_HELD})
 GROUP BY r.observation_type, r.files HAVING count(*) >= $least
 ORDER BY min(r.valid_from), r.observation_type, r.files
"""


# SQLite gathers rows in the order of the inner query; the server wants to be told.
ALIKE_OBSERVATIONS = each(
    sqlite=_alike("json_group_array(r.record_id)"),
    postgres=_alike("json_agg(r.record_id ORDER BY r.valid_from, r.record_id)::text"),
)
RECORD_AGES = both("""
SELECT kind, level, created_at, access_count FROM memory_records WHERE namespace = $namespace
""")
PURGE_ARCHIVE = both(
    """
DELETE FROM archive
 WHERE row_id IN (SELECT row_id FROM archive WHERE until < $before
                   ORDER BY until {limit[limit]})
""",
    across="retention holds for everybody; it reads nothing",
)
COUNT_ARCHIVE = both(
    "SELECT count(*) FROM archive WHERE until < $before",
    across="retention holds for everybody; it counts and reads nothing",
)
PURGE_RECEIPTS = both("""
DELETE FROM receipts
 WHERE namespace = $namespace AND receipt_id IN (
       SELECT receipt_id FROM receipts WHERE namespace = $namespace AND created_at < $before
        ORDER BY created_at {limit[limit]})
""")
COUNT_RECEIPTS = both("""
SELECT count(*) FROM receipts WHERE namespace = $namespace AND created_at < $before
""")
_PURGE: dict[Purged, tuple[Statement, Statement]] = {
    "receipts": (COUNT_RECEIPTS, PURGE_RECEIPTS),
    "archive": (COUNT_ARCHIVE, PURGE_ARCHIVE),
}


class SqlAging:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def episodes(self, namespace: str, level: Level, before: datetime) -> list[Aged]:
        values = {"namespace": namespace, "level": level, "before": to_micros(before)}
        return [
            Aged(record_id, session_id or "", from_micros(created), chars)
            for record_id, session_id, _, created, chars in self._engine.rows(AGED_EPISODES, values)
        ]

    def forgettable(self, namespace: str, rules: Forgetting, limit: int | None = None) -> list[Due]:
        values = {
            "namespace": namespace,
            "now": to_micros(rules.now),
            "replaced": to_micros(rules.replaced),
            "distilled": to_micros(rules.distilled),
            "short_turns": micros(rules.short_turns),
            **{name: micros(rules.retained.get(name)) for name in KINDS},
            "important": rules.important,
            "limit": -1 if limit is None else limit,
        }
        return [Due(*row) for row in self._engine.rows(FORGETTABLE, values)]

    def alike(
        self, namespace: str, since: datetime, before: datetime, least: int, important: int
    ) -> list[Alike]:
        values = {
            "namespace": namespace,
            "since": to_micros(since),
            "before": to_micros(before),
            "least": least,
            "important": important,
        }
        return [
            Alike(kind, tuple(msgspec.json.decode(files)), tuple(msgspec.json.decode(ids)))
            for kind, files, ids in self._engine.rows(ALIKE_OBSERVATIONS, values)
        ]

    def ages(self, namespace: str) -> list[Age]:
        return [
            Age(kind, level, from_micros(created), count)
            for kind, level, created, count in self._engine.rows(
                RECORD_AGES, {"namespace": namespace}
            )
        ]

    def gone(self, namespace: str, record_ids: Sequence[str]) -> set[str]:
        values = {"namespace": namespace, "record_ids": ids_json(record_ids)}
        return {row[0] for row in self._engine.rows(GONE, values)}

    def purge(
        self,
        what: Purged,
        before: datetime,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        apply: bool = True,
    ) -> int:
        count, drop = _PURGE[what]
        values = {
            "namespace": namespace,
            "before": to_micros(before),
            "limit": -1 if limit is None else limit,
        }
        if not apply:
            found = self._engine.one(count, values)
            return int(found[0]) if found else 0

        def work(db: Connection) -> int:
            db.run(drop, values)
            return db.changes()

        return self._engine.write(work, when_full=True)


def mark(
    db: Connection, namespace: str, source_ids: Sequence[str], into_id: str, at: datetime
) -> None:
    for source_id in source_ids:
        db.run(
            MARK,
            {
                "namespace": namespace,
                "source_id": source_id,
                "into_id": into_id,
                "at": to_micros(at),
            },
        )
