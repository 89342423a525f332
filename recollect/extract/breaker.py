"""Circuit breakers: what fails repeatedly is not tried for a while.

In: successes and failures, per project. Out: whether to try. Nothing here waits or raises.

    closed --3 failures in a row--> open --a pause--> half-open --success--> closed
                                     ^------------------ failure ---'
"""

import threading
from dataclasses import dataclass
from typing import Literal

from recollect.core.clock import Clock

FAILURES = 3
PAUSE_S = 300.0

State = Literal["closed", "open", "half-open"]


@dataclass
class _Failures:
    failures: int = 0
    opened_ns: int | None = None


class Breaker:
    """Opens on the third failure in a row, and allows one attempt after a pause."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._by_key: dict[str, _Failures] = {}

    def state(self, key: str) -> State:
        with self._lock:
            known = self._by_key.get(key)
            if known is None or known.opened_ns is None:
                return "closed"
            waited = self._clock.mono_ns() - known.opened_ns
            return "half-open" if waited >= PAUSE_S * 1e9 else "open"

    def allows(self, key: str) -> bool:
        return self.state(key) != "open"

    def opens_in_s(self, key: str) -> float:
        """Seconds until an attempt is allowed again; 0 when one is allowed now."""
        with self._lock:
            known = self._by_key.get(key)
            if known is None or known.opened_ns is None:
                return 0.0
            return max(0.0, PAUSE_S - (self._clock.mono_ns() - known.opened_ns) / 1e9)

    def succeeded(self, key: str) -> None:
        with self._lock:
            self._by_key.pop(key, None)

    def failed(self, key: str) -> None:
        with self._lock:
            known = self._by_key.setdefault(key, _Failures())
            known.failures += 1
            if known.failures >= FAILURES:
                known.opened_ns = self._clock.mono_ns()

    def states(self) -> dict[str, State]:
        """The breakers that are not closed."""
        with self._lock:
            keys = list(self._by_key)
        return {key: state for key in keys if (state := self.state(key)) != "closed"}


class JudgeBreaker:
    """Opens on the third failure of the judge in a row. A run without failures closes it, and a run
    that begins while it is open asks no judge: so it is open for exactly one run."""

    def __init__(self) -> None:
        self._limit = FAILURES
        self._lock = threading.Lock()
        self._failures: dict[str, int] = {}

    def open(self, key: str) -> bool:
        with self._lock:
            return self._failures.get(key, 0) >= self._limit

    def succeeded(self, key: str) -> None:
        """A judge answered. An open breaker stays open until its run has ended."""
        with self._lock:
            if self._failures.get(key, 0) < self._limit:
                self._failures.pop(key, None)

    def failed(self, key: str) -> None:
        with self._lock:
            self._failures[key] = self._failures.get(key, 0) + 1

    def run_ended(self, key: str, failures: int) -> None:
        if failures == 0:
            with self._lock:
                self._failures.pop(key, None)

    def states(self) -> list[str]:
        """The breakers that are open."""
        with self._lock:
            return [key for key, failures in self._failures.items() if failures >= self._limit]
