"""What the write path remembers of the sessions that send events.

In: hosts, namespaces, keys of events. Out: the session of an event whose host names none, which
start, end or firing of a hook is a repeat, and whether a host runs in a loop.
"""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from recollect.core import ids
from recollect.core.clock import Clock
from recollect.store.interface import Store

T = TypeVar("T")

# A loop in a host, not a person: beyond this a session's events are refused until the next minute.
RUNAWAY_PER_MINUTE = 3000
# A host that names no session and was silent for so long has begun another one. It says so itself
# when it starts, but kiro-cli says it before every prompt: a start soon after is no new session.
SAME_SESSION = timedelta(hours=4)
SAME_START = timedelta(minutes=30)


class SessionSignals:
    """The last start or end of each session. A session that is resumed and ended again within the
    time of a double firing has really begun and ended twice."""

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._last: dict[str, tuple[str, str]] = {}

    def passed(self, session_id: str, signal: str, key: str) -> str:
        """Remember this signal; returns the key of the opposite signal before it, which may come
        again, or an empty text."""
        with self._lock:
            before = self._last.pop(session_id, ("", ""))
            self._last[session_id] = (signal, key)
            while len(self._last) > self._limit:
                del self._last[next(iter(self._last))]
        return before[1] if before[0] != signal else ""


class SessionContinuity:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[tuple[str, str], tuple[str, datetime]] = {}

    def session(self, host: str, namespace: str, given: str | None, *, begins: bool) -> str:
        now = self._clock.now()
        with self._lock:
            chosen = given or self._continued(host, namespace, now, begins)
            self._last[host, namespace] = (chosen, now)
        return chosen

    def ended(self, host: str, namespace: str) -> None:
        with self._lock:
            self._last.pop((host, namespace), None)

    def _continued(self, host: str, namespace: str, now: datetime, begins: bool) -> str:
        known = self._last.get((host, namespace)) or self._stored(host, namespace)
        if known is not None and now - known[1] < (SAME_START if begins else SAME_SESSION):
            return known[0]
        return f"{host}-{ids.new_ulid()}"

    def _stored(self, host: str, namespace: str) -> tuple[str, datetime] | None:
        """The last session in the store, after a restart."""
        for session in self._store.sessions.page(namespace, limit=5).items:
            if session.surface == host and session.status == "active":
                return session.session_id, session.last_event_at
        return None


class SeenCache(Generic[T]):
    """Remembers keys, so that the second firing of the same hook is recognised. The oldest are
    forgotten first. A key that is known here need not be stored: only the store can tell that."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[T, float]] = OrderedDict()

    def first(self, key: str, given: T, at: float = 0.0, seconds: float | None = None) -> T:
        """The value of the key: the given one, unless the key is known (and, with `seconds`, not
        older than that)."""
        with self._lock:
            known = self._seen.get(key)
            if known is not None and (seconds is None or abs(at - known[1]) < seconds):
                return known[0]
            self._seen[key] = (given, at)
            self._seen.move_to_end(key)
            while len(self._seen) > self._limit:
                self._seen.popitem(last=False)
        return given

    def forget(self, key: str) -> None:
        """Let the next value under this key be new."""
        with self._lock:
            self._seen.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()

    def __len__(self) -> int:
        return len(self._seen)


class SessionRate:
    """Counts the events of a session per minute, to stop a host that runs in a loop."""

    def __init__(self, clock: Clock, limit: int = RUNAWAY_PER_MINUTE) -> None:
        self._clock = clock
        self._limit = limit
        self._minute = 0
        self._counts: dict[str, int] = {}

    def allows(self, session_id: str) -> bool:
        minute = self._clock.mono_ns() // 60_000_000_000
        if minute != self._minute:
            self._minute, self._counts = minute, {}
        self._counts[session_id] = self._counts.get(session_id, 0) + 1
        return self._counts[session_id] <= self._limit
