"""Assigns events to sessions when their host names none, and tracks how sessions begin and end.

In: a host and a namespace. Out: a session id: the one that the host last used there, or a new one.
"""

import threading
from datetime import datetime, timedelta

from recollect.core import ids
from recollect.core.clock import Clock
from recollect.store.interface import Store

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
