"""Counters, durations and recent errors, for health, alarms and metrics.

In: names of what happened. Out: totals, how long recalls took, and the errors of the last hour.
"""

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect import privacy
from recollect.core.clock import Clock

_KEPT = 1000
_ERROR_CHARS = 1000
# Seconds. The hook's own limit is 1 s, that of a recall 0.5 s.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Durations:
    """How many took at most each bound, how many there were, and their sum."""

    up_to: dict[float, int]
    count: int
    seconds: float


class Counters:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._totals: dict[str, int] = {}
        self._errors: deque[tuple[datetime, str]] = deque(maxlen=_KEPT)
        self._recalls = Durations(dict.fromkeys(BOUNDS, 0), 0, 0.0)

    def count(self, name: str, amount: int = 1) -> None:
        with self._lock:
            self._totals[name] = self._totals.get(name, 0) + amount

    def removed(self, scrubbed: Mapping[str, int]) -> None:
        """Count what was scrubbed out of a text, by kind."""
        for kind, number in scrubbed.items():
            private = kind == privacy.PRIVATE
            self.count("private spans removed" if private else f"secrets removed: {kind}", number)

    def recalled(self, seconds: float) -> None:
        """Count a recall that took so long."""
        with self._lock:
            before = self._recalls
            up_to = {bound: had + (seconds <= bound) for bound, had in before.up_to.items()}
            self._recalls = Durations(up_to, before.count + 1, before.seconds + seconds)

    def recalls(self) -> Durations:
        return self._recalls

    def error(self, what: str) -> None:
        """Record an error that a person may want to see. `what` should hold no user's text; it is
        scrubbed because an error may quote some."""
        told = privacy.scrub(what[:_ERROR_CHARS])
        with self._lock:
            self._errors.append((self._clock.now(), told))

    def totals(self) -> dict[str, int]:
        with self._lock:
            return dict(sorted(self._totals.items()))

    def errors_last_hour(self) -> list[str]:
        since = self._clock.now() - timedelta(hours=1)
        with self._lock:
            return [what for when, what in self._errors if when >= since]
