"""Ranks memories at the start of a session, when there is no question yet.

In: memories and the time. Out: scores with four parts: recency, frequency, similarity and decay.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.kinds import TYPES
from recollect.core.tuning import START
from recollect.core.values import Record


@dataclass(frozen=True)
class StartRanked:
    record: Record
    score: float
    parts: dict[str, float]


def rank_for_start(
    records: Sequence[Record], now: datetime, likeness: dict[str, float] | None = None
) -> list[StartRanked]:
    """All memories, best first; ties newest first, then by id."""
    seen = Counter(name for record in records for name in (*record.files, *record.concepts))
    most = max(seen.values(), default=1)
    scored = [_scored(record, now, seen, most, likeness or {}) for record in records]
    return sorted(
        scored,
        key=lambda one: (-one.score, -one.record.valid_from.timestamp(), one.record.record_id),
    )


def _scored(
    record: Record, now: datetime, seen: "Counter[str]", most: int, likeness: dict[str, float]
) -> StartRanked:
    hours = max(0.0, (now - record.valid_from).total_seconds() / 3600)
    names = (*record.files, *record.concepts)
    parts = {
        "recency": math.exp(-hours / START.fade_hours),
        "frequency": max((seen[name] for name in names), default=0) / most,
        "semantic": likeness.get(record.record_id, 0.0),
        "decay": -_penalty(record, hours),
    }
    score = sum(getattr(START, name) * part for name, part in parts.items())
    score *= record.traits.start_weight
    if record.knowledge_type is not None:
        score *= TYPES[record.knowledge_type].start_weight
    score *= 0.8 + record.importance / 10 * START.importance
    return StartRanked(record, score * record.confidence, parts)


def _penalty(record: Record, hours: float) -> float:
    """The penalty of a memory whose files changed or that was never used."""
    stale = {"drifted": START.drifted, "orphaned": START.orphaned}.get(record.freshness, 0.0)
    unread = 0.0
    if record.access_count == 0:
        unread = min(1.0, max(0.0, hours / 24 - START.unread_days) / START.unread_fade_days)
    return max(stale, unread)
