"""Caches answers for a minute.

In: a key that holds everything an answer depends on, including the state of the index. Out: the
answer.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")

ENTRIES = 100
SECONDS = 60.0


class ResultCache(Generic[T]):
    def __init__(
        self,
        entries: int = ENTRIES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = entries
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached answer, or a new one; two callers at the same time may both compute it."""
        now = self._clock()
        with self._lock:
            known = self._kept.get(key)
            if known is not None and now - known[0] < self._seconds:
                self._kept.move_to_end(key)
                return known[1]
        made = make()
        with self._lock:
            self._kept[key] = (now, made)
            self._kept.move_to_end(key)
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)
