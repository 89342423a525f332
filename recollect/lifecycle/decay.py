"""Reduces the confidence of inferred facts that are not confirmed again; stated facts stay.

In: inferred facts and relationships that did not change for a week or more. Out: the same with less
confidence; those below a limit no longer hold. Also statistics of how old memories are.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec

from recollect.core.kinds import traits
from recollect.core.values import Fact, Relationship
from recollect.store.interface import Age

STEP = timedelta(days=7)
KEPT = 0.95  # share of confidence that is left after a week
LEAST = 0.10  # below this it no longer holds

Thing = TypeVar("Thing", bound=Fact | Relationship)

_EDGES = ((1, "a day"), (7, "a week"), (30, "a month"), (90, "a quarter"), (365, "a year"))


def faded(thing: Thing, now: datetime) -> Thing:
    """The fact with its current confidence; only whole weeks count, so a second call changes
    nothing."""
    assert thing.updated_at is not None
    weeks = (now - thing.updated_at) // STEP
    if thing.source_type != "inferred" or weeks < 1:
        return thing
    left = thing.confidence * KEPT**weeks
    if left < LEAST:
        return msgspec.structs.replace(thing, confidence=left, valid_until=now)
    return msgspec.structs.replace(thing, confidence=left)


def statistics(ages: Sequence[Age], now: datetime) -> dict[str, dict[str, int]]:
    """Memories of each kind by age, and how many were never used."""
    found: dict[str, Counter[str]] = {}
    for one in ages:
        kind = traits(one.kind)
        name = f"{one.level} {kind.plural}" if kind.is_turn else kind.plural
        days = (now - one.created_at).days
        span = next((f"up to {text}" for edge, text in _EDGES if days < edge), "older")
        counts = found.setdefault(name, Counter())
        counts[span] += 1
        counts["never used"] += one.access_count == 0
    return {name: dict(counts) for name, counts in sorted(found.items())}
