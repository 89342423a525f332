"""Remembers keys, so that the second firing of the same hook is recognised.

In: keys, each with a value and a time. Out: the value that a key first had. The oldest keys are
forgotten first. A key that is known here need not be stored: only the store can tell that.
"""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class SeenCache(Generic[T]):
    """A bounded cache of keys."""

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
