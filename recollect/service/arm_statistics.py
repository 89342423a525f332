"""Two arms of an experiment, compared on one measure.

In: a number per session of each arm. Out: means and their difference with 95 % intervals
(bootstrap, fixed seed), and how many sessions it takes to see a difference of a given size.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from recollect.core.values import Value

LEAST_SESSIONS = 8  # of each arm: an interval from fewer would promise too much
RESAMPLES = 2000
_AT_ONCE = 100  # resamples in memory
SEED = 20_260_101
SMALLEST = 0.2  # the difference that a user would care about, as a part of the mean
# A two-sided test at 5 % that sees it in 80 of 100 experiments: 1.96 + 0.84.
_DEVIATIONS = 2.80


class Estimate(Value, frozen=True, kw_only=True):
    """A value with its 95 % interval; without one when there are too few sessions."""

    value: float
    low: float | None = None
    high: float | None = None


class Comparison(Value, frozen=True, kw_only=True):
    """The two arms on one measure. The difference is `memory` less `silent`; `relative` is the same
    as a part of `silent`, where that is not zero. `more_sessions` is how many are still missing,
    over both arms, to see a difference of 20 %; None while the spread is not known."""

    memory_sessions: int
    silent_sessions: int
    memory: Estimate | None
    silent: Estimate | None
    difference: Estimate | None
    relative: Estimate | None
    clear: bool  # the interval of the difference leaves out zero
    more_sessions: int | None


def compare(memory: Sequence[float], silent: Sequence[float], share: float) -> Comparison:
    """`share` is the part of future sessions that will be silent."""
    means = [_resampled_means(some, arm) for arm, some in enumerate((memory, silent))]
    difference, relative = _differences(memory, silent, *means)
    clear = False
    if difference is not None and difference.low is not None and difference.high is not None:
        clear = difference.low > 0 or difference.high < 0
    return Comparison(
        memory_sessions=len(memory),
        silent_sessions=len(silent),
        memory=_estimate(memory, means[0]),
        silent=_estimate(silent, means[1]),
        difference=difference,
        relative=relative,
        clear=clear,
        more_sessions=_more_sessions(memory, silent, share),
    )


def _differences(
    memory: Sequence[float], silent: Sequence[float], memory_means: Any, silent_means: Any
) -> tuple[Estimate | None, Estimate | None]:
    if not memory or not silent:
        return None, None
    with_memory, without = statistics.fmean(memory), statistics.fmean(silent)
    known = memory_means is not None and silent_means is not None
    low, high = _interval(memory_means - silent_means) if known else (None, None)
    difference = Estimate(value=with_memory - without, low=low, high=high)
    if not without:
        return difference, None
    low, high = None, None
    if known and silent_means.min() > 0:
        low, high = _interval(memory_means / silent_means - 1)
    return difference, Estimate(value=with_memory / without - 1, low=low, high=high)


def _estimate(values: Sequence[float], means: Any) -> Estimate | None:
    if not values:
        return None
    low, high = (None, None) if means is None else _interval(means)
    return Estimate(value=statistics.fmean(values), low=low, high=high)


def _resampled_means(values: Sequence[float], arm: int) -> Any:
    """Means of bootstrap samples; None when there are too few values."""
    if len(values) < LEAST_SESSIONS:
        return None
    import numpy as np  # only when somebody asks: the daemon starts without it

    chance = np.random.default_rng((SEED, arm))  # the arms are drawn independently
    given = np.asarray(values, dtype=np.float64)
    size = len(given)
    return np.concatenate(
        [
            given[chance.integers(0, size, (_AT_ONCE, size))].mean(axis=1)
            for _ in range(RESAMPLES // _AT_ONCE)
        ]
    )


def _interval(means: Any) -> tuple[float, float]:
    import numpy as np

    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def _more_sessions(memory: Sequence[float], silent: Sequence[float], share: float) -> int | None:
    """From the spread of each arm, or of both together while one of them is small."""
    both = [*memory, *silent]
    if len(both) < LEAST_SESSIONS or not 0 < share < 1:
        return None
    size = SMALLEST * abs(statistics.fmean(both))
    if not size:
        return None
    spread = [
        statistics.variance(some if len(some) >= LEAST_SESSIONS else both)
        for some in (memory, silent)
    ]
    needed = (_DEVIATIONS / size) ** 2 * (spread[0] / (1 - share) + spread[1] / share)
    return max(0, math.ceil(needed) - len(both))
