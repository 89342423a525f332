"""A small inverted list in memory: which rows of the graph share words with a prompt.

In: rows with the stems of their text, and the stems of a prompt. Out: the rows that hold at least
so many of them, those with most first. The store's full-text search would rank every row with any
of the words, which in a large graph takes longer than the rest of recall.
"""

from array import array
from collections.abc import Iterable
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")

_SPARE = 1000  # places that may be empty in addition to as many as are taken


class InvertedList(Generic[T]):
    """Not thread-safe by itself."""

    def __init__(self) -> None:
        self._things: list[T | None] = []
        self._number: dict[str, int] = {}  # id: place in the list
        self._holding: dict[str, array[int]] = {}  # stem: places

    def put(self, thing_id: str, thing: T, stems: Iterable[str]) -> None:
        self.drop(thing_id)
        if len(self._things) > 2 * len(self._number) + _SPARE:
            self._close_gaps()
        number = self._number[thing_id] = len(self._things)
        self._things.append(thing)
        for stem in set(stems):
            self._holding.setdefault(stem, array("I")).append(number)

    def drop(self, thing_id: str) -> None:
        number = self._number.pop(thing_id, None)
        if number is not None:
            self._things[number] = None

    def same_words(self, thing_id: str, thing: T) -> None:
        """Replace a row whose words did not change."""
        self._things[self._number[thing_id]] = thing

    def _close_gaps(self) -> None:
        """Renumber without the removed rows: otherwise a list that changes often only grows."""
        kept = np.array(sorted(self._number.values()), dtype=np.int64)
        place = np.full(len(self._things), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        self._things = [self._things[number] for number in kept.tolist()]
        self._number = {one: int(place[number]) for one, number in self._number.items()}
        for stem, places in list(self._holding.items()):
            moved = place[np.frombuffer(places, np.uint32)]
            left = array("I", moved[moved >= 0].astype(np.uint32).tobytes())
            if left:
                self._holding[stem] = left
            else:
                del self._holding[stem]

    def sharing(self, stems: frozenset[str], least: float, limit: int) -> list[tuple[T, int]]:
        """Rows that hold at least `least` of these stems, each with their number; most first, then
        oldest first."""
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
