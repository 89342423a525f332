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
    rows, time = index.prior.view[docs], index.time.view[docs]
    # 1..10 (default 5) becomes 0.92 to 1.10.
    importance = 1 + PRIORS.importance * (rows["importance"].astype(np.float64) - 5) / 5
    # 0..1 becomes 0.8 to 1.
    confidence = 1 - PRIORS.confidence * (1 - rows["confidence"].astype(np.float64))
    # Less for a memory whose files have changed since, or are gone.
    freshness = np.array([STALE.get(name, 1.0) for name in FRESHNESS])[rows["freshness"]]
    # A little more for everything but raw turns.
    knowledge = np.where(rows["knowledge"], 1 + PRIORS.knowledge, 1.0)
    # A little more for memories that were used before; no more than for 50 uses.
    used = np.log1p(rows["access"].astype(np.float64)) / np.log1p(50)
    access = 1 + PRIORS.access * np.minimum(1, used)
    product = importance * confidence * freshness * knowledge * access
    if now is not None:
        # A little more for memories of the last week, less with age.
        hours = (now - np.where(time == NO_TIME, 0, time)) / HOUR
        share = np.clip(1 - hours / PRIORS.recent_hours, 0, 1)
        product = product * np.where(time == NO_TIME, 1.0, 1 + PRIORS.recency * share)
    return np.asarray(product, dtype=np.float64)
