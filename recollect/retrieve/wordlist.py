"""Which things share words with a prompt: a small inverted list, kept in memory.

In: things with the stems of what they say, and the stems of a prompt. Out: the things that hold at
least so many of them, those with most first. The store's full-text search would rank all that hold
any of the words, which in a large graph takes longer than everything else in a prompt's way.
"""

from array import array
from collections.abc import Iterable
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class WordList(Generic[T]):
    """Not thread-safe by itself."""

    def __init__(self) -> None:
        self._things: list[T | None] = []
        self._number: dict[str, int] = {}  # id: place in the list
        self._holding: dict[str, array[int]] = {}  # stem: places

    def put(self, thing_id: str, thing: T, stems: Iterable[str]) -> None:
        self.drop(thing_id)
        number = self._number[thing_id] = len(self._things)
        self._things.append(thing)
        for stem in set(stems):
            self._holding.setdefault(stem, array("I")).append(number)

    def drop(self, thing_id: str) -> None:
        number = self._number.pop(thing_id, None)
        if number is not None:
            self._things[number] = None

    def sharing(self, stems: frozenset[str], least: float, limit: int) -> list[tuple[T, int]]:
        """Things that hold at least so many of these stems, and how many; most first, then the
        oldest."""
        lists = [self._holding[stem] for stem in stems if stem in self._holding]
        if len(lists) < least:
            return []
        counts = np.bincount(np.concatenate([np.frombuffer(one, np.uint32) for one in lists]))
        numbers = np.flatnonzero(counts >= least)
        numbers = numbers[np.argsort(-counts[numbers], kind="stable")]
        found: list[tuple[T, int]] = []
        for number in numbers.tolist():
            thing = self._things[number]
            if thing is not None:
                found.append((thing, int(counts[number])))
                if len(found) == limit:
                    break
        return found
