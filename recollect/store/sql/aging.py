"""What grows old: which memories are due for the next stage or for leaving, and the marks.

In: moments and rules. Out: ids with reasons. Nothing is decided here that a preview would not show:
whoever acts asks the same questions as whoever only looks.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from recollect.core.clock import from_micros, to_micros
from recollect.core.kinds import KINDS, Level
from recollect.core.values import Fact, Record, Relationship
from recollect.store.interface import Age, Aged, Alike, Due, Forgetting
from recollect.store.sql import rows
from recollect.store.sql import statements as sql
from recollect.store.sql.connection import Connection
from recollect.store.sql.engine import Engine, ids_json, micros


class SqlAging:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def episodes(self, namespace: str, level: Level, before: datetime) -> list[Aged]:
        values = {"namespace": namespace, "level": level, "before": to_micros(before)}
        return [
            Aged(record_id, session_id or "", from_micros(created), chars)
            for record_id, session_id, _, created, chars in self._engine.rows(
                sql.AGED_EPISODES, values
            )
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
        return [Due(*row) for row in self._engine.rows(sql.FORGETTABLE, values)]

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
            for kind, files, ids in self._engine.rows(sql.ALIKE_OBSERVATIONS, values)
        ]

    def inferred(self, namespace: str, before: datetime, limit: int) -> list[Fact | Relationship]:
        values = {"namespace": namespace, "before": to_micros(before), "limit": limit}
        found: list[Fact | Relationship] = [
            rows.FACT.decode(row) for row in self._engine.rows(sql.INFERRED_FACTS, values)
        ]
        found += [
            rows.RELATIONSHIP.decode(row)
            for row in self._engine.rows(sql.INFERRED_RELATIONSHIPS, values)
        ]
        return found[:limit]

    def citing(self, namespace: str, after: str, limit: int) -> list[Record]:
        values = {"namespace": namespace, "after": after, "limit": limit}
        return [rows.RECORD.decode(row) for row in self._engine.rows(sql.CITING_RECORDS, values)]

    def ages(self, namespace: str) -> list[Age]:
        return [
            Age(kind, level, from_micros(created), count)
            for kind, level, created, count in self._engine.rows(
                sql.RECORD_AGES, {"namespace": namespace}
            )
        ]

    def marked(self, namespace: str, source_ids: Sequence[str]) -> dict[str, str]:
        values = {"namespace": namespace, "source_ids": ids_json(source_ids)}
        return dict(self._engine.rows(sql.MARKED, values))

    def gone(self, namespace: str, record_ids: Sequence[str]) -> set[str]:
        values = {"namespace": namespace, "record_ids": ids_json(record_ids)}
        return {row[0] for row in self._engine.rows(sql.GONE, values)}


def mark(
    db: Connection, namespace: str, source_ids: Sequence[str], into_id: str, at: datetime
) -> None:
    for source_id in source_ids:
        db.run(
            sql.MARK,
            {
                "namespace": namespace,
                "source_id": source_id,
                "into_id": into_id,
                "at": to_micros(at),
            },
        )
