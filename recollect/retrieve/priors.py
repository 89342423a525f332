"""Query-independent weights of a memory: importance, confidence, freshness, use, recency.

In: document numbers and the time of the query. Out: one factor near 1 per document, the product of
these. A memory with default values has exactly 1, so ties are not reordered by accident.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import PRIORS
from recollect.retrieve.index import FRESHNESS, NO_TIME, Index

Floats = NDArray[np.float64]

HOUR = 3_600_000_000
STALE = {"drifted": PRIORS.drifted, "orphaned": PRIORS.orphaned, "ended": PRIORS.ended}


def factor(index: Index, docs: NDArray[Any], now: int | None) -> Floats:
    rows = index.prior.view[docs]
    return (
        importance(rows["importance"])
        * confidence(rows["confidence"])
        * freshness(rows["freshness"])
        * knowledge(rows["knowledge"])
        * access(rows["access"])
        * recency(index.time.view[docs], now)
    )


def importance(value: NDArray[Any]) -> Floats:
    """1..10 (default 5) becomes 0.92 to 1.10."""
    return 1 + PRIORS.importance * (value.astype(np.float64) - 5) / 5


def confidence(value: NDArray[Any]) -> Floats:
    """0..1 becomes 0.8 to 1."""
    return 1 - PRIORS.confidence * (1 - value.astype(np.float64))


def freshness(value: NDArray[Any]) -> Floats:
    """Less for a memory whose files have changed since, or are gone."""
    table = np.array([STALE.get(name, 1.0) for name in FRESHNESS])
    return np.asarray(table[value])


def knowledge(value: NDArray[Any]) -> Floats:
    """A little more for everything but raw turns."""
    return np.where(value, 1 + PRIORS.knowledge, 1.0)


def access(value: NDArray[Any]) -> Floats:
    """A little more for memories that were used before; no more than for 50 uses."""
    used = np.log1p(value.astype(np.float64)) / np.log1p(50)
    return np.asarray(1 + PRIORS.access * np.minimum(1, used))


def recency(time: NDArray[Any], now: int | None) -> Floats:
    """A little more for memories of the last week, less with age."""
    if now is None:
        return np.ones(len(time))
    hours = (now - np.where(time == NO_TIME, 0, time)) / HOUR
    share = np.clip(1 - hours / PRIORS.recent_hours, 0, 1)
    return np.where(time == NO_TIME, 1.0, 1 + PRIORS.recency * share)
