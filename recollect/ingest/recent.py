"""What was seen lately, so that a repeat is recognised without asking the store.

In: keys. Out: whether each is new. The oldest are forgotten first; the store's own unique keys
stand behind this, so forgetting loses nothing.
"""

import threading
import time
from collections import OrderedDict


class Recent:
    """A bounded memory of keys, with take-back for work that failed after all."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, float] = OrderedDict()

    def add(self, key: str, seconds: float | None = None) -> bool:
        """Remember a key; False when it is known already (and, with `seconds`, not older)."""
        now = time.monotonic()
        with self._lock:
            before = self._seen.get(key)
            if before is not None and (seconds is None or now - before < seconds):
                return False
            self._seen[key] = now
            self._seen.move_to_end(key)
            while len(self._seen) > self._limit:
                self._seen.popitem(last=False)
        return True

    def forget(self, key: str) -> None:
        """Take a key back: what it stood for did not happen."""
        with self._lock:
            self._seen.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()

    def __len__(self) -> int:
        return len(self._seen)
