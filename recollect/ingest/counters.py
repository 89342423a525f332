"""Counters and recent errors, for health and alarms.

In: names of what happened. Out: totals, and the errors of the last hour.
"""

import threading
from collections import deque
from datetime import datetime, timedelta

from recollect import privacy
from recollect.core.clock import Clock

_KEPT = 1000
_ERROR_CHARS = 1000


class Counters:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._totals: dict[str, int] = {}
        self._errors: deque[tuple[datetime, str]] = deque(maxlen=_KEPT)

    def count(self, name: str, amount: int = 1) -> None:
        with self._lock:
            self._totals[name] = self._totals.get(name, 0) + amount

    def error(self, what: str) -> None:
        """Record an error that a person may want to see. `what` should hold no user's text; it is
        scrubbed because an error may quote some."""
        told = privacy.scrub(what[:_ERROR_CHARS]).text
        with self._lock:
            self._errors.append((self._clock.now(), told))

    def totals(self) -> dict[str, int]:
        with self._lock:
            return dict(sorted(self._totals.items()))

    def errors_last_hour(self) -> list[str]:
        since = self._clock.now() - timedelta(hours=1)
        with self._lock:
            return [what for when, what in self._errors if when >= since]
