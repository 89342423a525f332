"""What a key stood for when it was first met, so that a second firing of the same thing is known.

In: keys, each with what it stands for and when. Out: what it first stood for. The oldest are
forgotten first. This says what something is called, never that it is stored: only the store can.
"""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class SeenCache(Generic[T]):
    """A bounded memory of keys."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[T, float]] = OrderedDict()

    def first(self, key: str, given: T, at: float = 0.0, seconds: float | None = None) -> T:
        """What the key stands for: what is given, unless it is known already (and, with `seconds`,
        from no further away in time than that)."""
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
        """The next that comes under this key is a new thing."""
        with self._lock:
            self._seen.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()

    def __len__(self) -> int:
        return len(self._seen)
