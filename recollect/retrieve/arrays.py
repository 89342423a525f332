"""What an index is made of: numpy arrays that grow at the end, runs of numbers, and vectors.

In: values to append; float32 rows from the embedder. Out: a view of the values; cosines. Growing
copies the array, so a view that was taken before an append keeps showing the old values: do not
keep views. Vectors are kept as int8 with one scale each (the error of a cosine is below 0.005), and
as sign bits to find candidates. Rows of zeros are ignored.
"""

from collections.abc import Sequence
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


# --- vectors --------------------------------------------------------------------------------------


class QuantisedRows:
    """Vectors as int8, each with its own scale; all as long as the first one."""

    def __init__(self) -> None:
        self._codes = GrowableArray(np.int8, 1)
        self._scales = GrowableArray(np.float32)

    def __len__(self) -> int:
        return len(self._scales)

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes + self._scales.nbytes

    def append(self, vector: NDArray[Any]) -> int:
        self.extend(vector[None])
        return len(self) - 1

    def extend(self, vectors: NDArray[Any]) -> None:
        codes, scales = _quantised(vectors)
        if not len(self) and len(vectors):
            self._codes = GrowableArray(np.int8, vectors.shape[1])
        self._codes.extend(codes)
        self._scales.extend(scales)

    def put(self, row: int, vector: NDArray[Any]) -> None:
        codes, scales = _quantised(vector[None])
        self._codes.view[row], self._scales.view[row] = codes[0], scales[0]

    def get(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        codes = self._codes.view[rows].astype(np.float32)
        return np.asarray(codes * self._scales.view[rows][:, None])

    def dot(self, rows: NDArray[Any], query: NDArray[Any]) -> NDArray[np.float32]:
        # einsum sums every row in the same way whatever the other rows; a matrix product may sum
        # differently with the number of rows, and scores must not change with it.
        if not len(rows):
            return np.zeros(0, dtype=np.float32)
        codes = self._codes.view[rows].astype(np.float32)
        return np.asarray(np.einsum("ij,j->i", codes, query) * self._scales.view[rows])


class VectorIndex:
    """The vectors of an index's documents, one or more per document."""

    def __init__(self) -> None:
        self._rows = QuantisedRows()
        self._signs: list[GrowableArray] = []
        self._owner = GrowableArray(np.int32)  # row -> document, -1 once it is removed
        self._ends = GrowableArray(np.int32)  # document -> where its rows end
        self.count = 0

    @property
    def nbytes(self) -> int:
        columns = (self._owner, self._ends, *self._signs)
        return self._rows.nbytes + sum(column.nbytes for column in columns)

    def add(self, documents: Sequence[NDArray[Any] | None]) -> None:
        """Add the vectors of the next documents, one or more rows each; None for no vector."""
        counts = [0 if parts is None else len(parts) for parts in documents]
        some = [parts for parts in documents if parts is not None and len(parts)]
        vectors = np.concatenate(some) if some else np.zeros((0, 1), dtype=np.float32)
        owner = np.repeat(np.arange(len(counts)), counts)
        good = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        if not good.all():
            vectors, owner = vectors[good], owner[good]
        self._ends.extend(len(self._rows) + np.cumsum(np.bincount(owner, minlength=len(counts))))
        self._owner.extend(owner + len(self._ends) - len(counts))
        if not len(vectors):
            return
        signs = _signs(vectors).T
        if not len(self._rows):
            self._signs = [GrowableArray(np.uint64) for _ in signs]
        self._rows.extend(vectors)
        for column, bits in zip(self._signs, signs, strict=True):
            column.extend(bits)
        self.count += len(vectors)

    def remove(self, doc: int) -> None:
        rows = self._owner.view[self._first(doc) : self._ends.view[doc]]
        self.count -= int((rows >= 0).sum())
        rows[:] = -1

    def mean(self, docs: tuple[int, ...]) -> NDArray[np.float32] | None:
        """The mean vector of several documents, whatever the order in which they were added."""
        if len(docs) < 2:
            return None
        rows = np.concatenate([np.arange(self._first(doc), self._ends.view[doc]) for doc in docs])
        if len(rows) == 0:
            return None
        # A sum of float64 in sorted order is the same for the same set of documents.
        vectors = np.sort(self._rows.get(rows).astype(np.float64), axis=0)
        return np.asarray(vectors.sum(axis=0) / len(rows), dtype=np.float32)

    def cosines(self, docs: NDArray[Any], query: NDArray[Any]) -> NDArray[np.float32]:
        """The best cosine of each document's parts; NaN where there is none."""
        ends = self._ends.view
        starts = np.where(docs > 0, ends[docs - 1], 0)
        counts = ends[docs] - starts
        found = np.full(len(docs), np.nan, dtype=np.float32)
        some = np.flatnonzero(counts)
        if len(some):
            near = self._rows.dot(spread(starts[some], counts[some]), query)
            found[some] = np.maximum.reduceat(near, np.cumsum(counts[some]) - counts[some])
        return found

    def nearest(self, query: NDArray[Any], most: int) -> NDArray[np.int64]:
        """Documents likely to be nearest: all of them, or the `most` by sign bits (ties kept)."""
        owner = self._owner.view
        if self.count <= most:
            return distinct(owner[owner >= 0]).astype(np.int64)
        unlike = np.where(owner >= 0, np.uint16(0), np.uint16(2 * 64 * len(self._signs)))
        differ = np.empty(len(owner), dtype=np.uint64)
        ones = np.empty(len(owner), dtype=np.uint8)
        for column, bits in zip(self._signs, _signs(query), strict=True):
            np.bitwise_count(np.bitwise_xor(column.view, bits, out=differ), out=ones)
            unlike += ones
        return distinct(owner[unlike <= _kth(unlike, most)]).astype(np.int64)

    def _first(self, doc: int) -> int:
        return int(self._ends.view[doc - 1]) if doc else 0


def _kth(values: NDArray[np.uint16], k: int) -> int:
    """The k-th smallest of small counts, by counting."""
    return int(np.searchsorted(np.cumsum(np.bincount(values)), k))


def _quantised(vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    scales = np.abs(vectors).max(axis=1, initial=0) / 127
    return np.rint(vectors / np.where(scales > 0, scales, 1)[:, None]), scales


def _signs(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """One bit per dimension, 64 of them in a number, the last axis as columns."""
    bits = np.packbits(np.asarray(vectors) > 0, axis=-1)
    if short := -bits.shape[-1] % 8:
        bits = np.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, short)])
    return bits.view(np.uint64)
