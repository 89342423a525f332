"""Whether work grows with its input as it should, on a machine that may be busy.

In: a piece of work by its size. Out: nothing, or a failed assertion. CPU time of this thread is
compared with itself, the sizes in turn, so that neither a slow nor a loaded machine fails a test.
"""

import gc
import math
import time
from collections.abc import Callable
from typing import Any

TIMES = 4  # the larger input has so many times the size
MOST = 10.0  # its work has at most so many times the cost: 4 is linear, 16 is the square
_ROUNDS = 40  # a loaded virtual machine takes time away that counts as ours, mostly from long tries


def assert_linear(work: Callable[[int], Callable[[], Any]], size: int) -> None:
    """`work` makes what is measured from a size. Noise only adds: the best try of each size counts,
    and there are more tries while they do not fit. Garbage is not collected meanwhile: after many
    tests a collection goes over a large heap, and the larger input sets it off each time."""
    small, large = work(size), work(TIMES * size)
    collecting = gc.isenabled()
    gc.disable()
    try:
        _compare(small, large)
    finally:
        if collecting:
            gc.enable()


def _compare(small: Callable[[], Any], large: Callable[[], Any]) -> None:
    best = [math.inf, math.inf]
    for _ in range(_ROUNDS):
        for at, measured in enumerate((small, large)):
            began = time.thread_time()
            measured()
            best[at] = min(best[at], time.thread_time() - began)
        if best[1] < MOST * max(best[0], 1e-4):
            return
    raise AssertionError(f"{TIMES} times the size takes {best[1] / best[0]:.1f} times as long")
