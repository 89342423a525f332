"""Waiting for what another process or thread does, on a machine that may be busy.

In: a condition. Out: its first true value. A wait ends as soon as it can, so its limit costs
nothing but in a test that fails: there is one, and it is generous.
"""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 120.0
T = TypeVar("T")


def wait_until(
    condition: Callable[[], T],
    told: Callable[[], object] = lambda: "",
    patience: float = PATIENCE_S,
) -> T:
    """Wait for a condition; `told` says what there was instead, when it never came true."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < deadline, f"still not so after {patience:.0f} s: {told()}"
        time.sleep(0.02)
    return found
