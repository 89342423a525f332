"""The four signals that order memories when there is no question yet: at the start of a session.

In: memories and a moment. Out: scores with their parts: recency, frequency, likeness and decay.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.values import Record

HALF_LIFE_H = 168.0
WEIGHTS = {"recency": 0.40, "frequency": 0.20, "semantic": 0.25, "decay": 0.15}
UNREAD_DAYS = 14  # a memory that nobody asked for in so long begins to sink
KIND_BOOST = {"summary": 1.15, "knowledge": 1.2, "observation": 1.05, "episode": 1.0}
KNOWLEDGE_BOOST = {"constraint": 1.3, "decision": 1.25, "heuristic": 1.15, "rejected": 1.1}


@dataclass(frozen=True)
class Smart:
    record: Record
    score: float
    parts: dict[str, float]


def four_signals(
    records: Sequence[Record], now: datetime, likeness: dict[str, float] | None = None
) -> list[Smart]:
    """All of them, best first; equals by newest, then by id."""
    seen = Counter(name for record in records for name in (*record.files, *record.concepts))
    most = max(seen.values(), default=1)
    scored = [_scored(record, now, seen, most, likeness or {}) for record in records]
    return sorted(
        scored,
        key=lambda one: (-one.score, -one.record.valid_from.timestamp(), one.record.record_id),
    )


def _scored(
    record: Record, now: datetime, seen: "Counter[str]", most: int, likeness: dict[str, float]
) -> Smart:
    hours = max(0.0, (now - record.valid_from).total_seconds() / 3600)
    names = (*record.files, *record.concepts)
    parts = {
        "recency": math.exp(-hours / HALF_LIFE_H),
        "frequency": max((seen[name] for name in names), default=0) / most,
        "semantic": likeness.get(record.record_id, 0.0),
        "decay": -_penalty(record, hours),
    }
    score = sum(WEIGHTS[name] * part for name, part in parts.items())
    score *= KIND_BOOST[record.kind] * KNOWLEDGE_BOOST.get(record.knowledge_type or "", 1.0)
    score *= 0.8 + record.importance / 10 * 0.4
    return Smart(record, score * record.confidence, parts)


def _penalty(record: Record, hours: float) -> float:
    """What speaks against a memory: its files changed, or nobody ever needed it."""
    stale = {"drifted": 0.5, "orphaned": 1.0}.get(record.freshness, 0.0)
    unread = 0.0
    if record.access_count == 0:
        unread = min(1.0, max(0.0, hours / 24 - UNREAD_DAYS) / 90)
    return max(stale, unread)
