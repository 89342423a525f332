"""Numpy arrays that grow at the end.

In: values to append. Out: a view of the values. Growing copies the array, so a view that was taken
before an append keeps showing the old values: do not keep views.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_SPARE = 24  # one part in 24 is reserved when an array grows


class GrowableArray:
    """One numpy array with amortised appends; `view` is the part in use."""

    def __init__(self, dtype: Any, width: int = 0) -> None:
        self._width = (width,) if width else ()
        self._room = np.zeros((16, *self._width), dtype=dtype)
        self._used = 0
        self.view: NDArray[Any] = self._room[:0]

    def __len__(self) -> int:
        return self._used

    @property
    def nbytes(self) -> int:
        return self._room.nbytes

    def append(self, value: Any) -> None:
        self._grow(self._used + 1)
        self._room[self._used - 1] = value

    def extend(self, values: Any) -> None:
        before = self._used
        self._grow(before + len(values))
        self._room[before : self._used] = values

    def grow_to(self, size: int, fill: Any = 0) -> None:
        """Make it `size` long at least, the new part filled."""
        before = self._used
        if size > before:
            self._grow(size)
            self._room[before:size] = fill

    def _grow(self, size: int) -> None:
        if size > len(self._room):
            fresh = np.zeros((size + size // _SPARE + 16, *self._width), dtype=self._room.dtype)
            fresh[: self._used] = self.view
            self._room = fresh
        self._used = size
        self.view = self._room[:size]


class ThreeByteRuns:
    """Runs of numbers below 2**24, which are stored in three bytes each."""

    def __init__(self) -> None:
        self._low = GrowableArray(np.uint16)
        self._high = GrowableArray(np.uint8)
        self._ends = GrowableArray(np.int64)  # run -> where it ends

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def nbytes(self) -> int:
        return self._low.nbytes + self._high.nbytes + self._ends.nbytes

    def append(self, run: NDArray[np.uint32]) -> None:
        self._low.extend(run & 0xFFFF)
        self._high.extend(run >> 16)
        self._ends.append(len(self._high))

    def of(self, runs: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[Any]]:
        """The numbers of these runs, concatenated, and how many each has."""
        ends = self._ends.view
        lasts = ends[runs]
        firsts = np.where(runs > 0, ends[runs - 1], 0)
        if len(runs) == 0:
            return np.zeros(0, dtype=np.uint32), lasts
        # Adjacent runs, such as the turns of a session, are read as one.
        apart = firsts[1:] != lasts[:-1]
        begins, ends = firsts[np.append(True, apart)], lasts[np.append(apart, True)]
        borders = list(zip(begins.tolist(), ends.tolist(), strict=True))
        low, high = self._low.view, self._high.view
        numbers = np.concatenate([high[a:b] for a, b in borders]).astype(np.uint32)
        numbers <<= 16
        numbers |= np.concatenate([low[a:b] for a, b in borders])
        return numbers, lasts - firsts


def spread(starts: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.int64]:
    """The positions of many ranges, concatenated: starts[0], starts[0]+1, ... of every range."""
    total = int(counts.sum())
    if total == 0:
        return np.zeros(0, dtype=np.int64)
    before = np.cumsum(counts) - counts
    at: NDArray[np.int64] = np.repeat(starts - before, counts)
    at += np.arange(total)
    return at


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The distinct values in ascending order. (`np.unique` hashes, which is slower here.)"""
    ordered = np.sort(values)
    keep = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=keep[1:])
    return ordered[keep]


def tally(into: NDArray[Any], values: NDArray[Any], step: int) -> None:
    """Add `step` to `into[value]` for every occurrence of a value."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    into[ordered[starts]] += step * np.diff(starts, append=len(ordered))
