"""Unit vectors in little memory, and the documents nearest to a question.

In: float32 rows from the embedder. Out: cosines. Rows are kept as int8 with one scale each (the
error of a cosine is below 0.005), and as sign bits to find candidates by. Rows of zeros are none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.retrieve.growable import Growable

DIMENSIONS = 384


class Rows:
    """Vectors as int8, each with its own scale."""

    def __init__(self) -> None:
        self._codes = Growable(np.int8, DIMENSIONS)
        self._scales = Growable(np.float32)

    def __len__(self) -> int:
        return len(self._scales)

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes + self._scales.nbytes

    def append(self, vector: NDArray[Any]) -> int:
        self._codes.append(0)
        self._scales.append(0)
        self.put(len(self) - 1, vector)
        return len(self) - 1

    def put(self, row: int, vector: NDArray[Any]) -> None:
        scale = float(np.abs(vector).max()) / 127
        self._scales.view[row] = scale
        self._codes.view[row] = np.rint(vector / scale) if scale > 0 else 0

    def get(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        codes = self._codes.view[rows].astype(np.float32)
        return codes * self._scales.view[rows][:, None]

    def dot(self, rows: NDArray[Any], query: NDArray[Any]) -> NDArray[np.float32]:
        # einsum sums every row by itself and alike, whichever rows stand beside it; a matrix
        # product may block differently with the number of rows, and scores must not.
        codes = self._codes.view[rows].astype(np.float32)
        return np.einsum("ij,j->i", codes, query) * self._scales.view[rows]


class Vectors:
    """The vectors of an index's documents, one or more a document."""

    def __init__(self) -> None:
        self._rows = Rows()
        self._bits = Growable(np.uint64, DIMENSIONS // 64)
        self._owner = Growable(np.int32)  # row -> document, -1 once it is removed
        self._ends = Growable(np.int32)  # document -> where its rows end
        self.count = 0

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._bits.nbytes + self._owner.nbytes + self._ends.nbytes

    def add(self, parts: NDArray[Any] | None) -> None:
        """The vectors of the next document; None or no rows for one without."""
        for vector in () if parts is None else parts:
            if np.isfinite(vector).all() and np.any(vector):
                self._rows.append(vector)
                self._bits.append(_signs(vector))
                self._owner.append(len(self._ends))
                self.count += 1
        self._ends.append(len(self._rows))

    def remove(self, doc: int) -> None:
        rows = self._owner.view[self._first(doc) : self._ends.view[doc]]
        self.count -= int((rows >= 0).sum())
        rows[:] = -1

    def mean(self, docs: tuple[int, ...]) -> NDArray[np.float32] | None:
        """The mean vector of several documents, in the order of their content, not of arrival."""
        if len(docs) < 2:
            return None
        rows = np.concatenate([np.arange(self._first(doc), self._ends.view[doc]) for doc in docs])
        if len(rows) == 0:
            return None
        # A sum of float64 in a fixed order of values: the same for the same set of documents.
        vectors = np.sort(self._rows.get(rows).astype(np.float64), axis=0)
        return (vectors.sum(axis=0) / len(rows)).astype(np.float32)

    def cosines(self, docs: NDArray[Any], query: NDArray[Any]) -> NDArray[np.float32]:
        """The best cosine of each document's parts; NaN where there is none."""
        ends = self._ends.view
        starts = np.where(docs > 0, ends[docs - 1], 0)
        counts = ends[docs] - starts
        found = np.full(len(docs), np.nan, dtype=np.float32)
        single = np.flatnonzero(counts == 1)
        found[single] = self._rows.dot(starts[single], query)
        for at in np.flatnonzero(counts > 1):
            rows = np.arange(starts[at], starts[at] + counts[at])
            found[at] = self._rows.dot(rows, query).max()
        return found

    def nearest(self, query: NDArray[Any], most: int) -> NDArray[np.int64]:
        """Documents likely to be nearest: all of them, or the `most` by sign bits (ties kept)."""
        owner = self._owner.view
        live = owner >= 0
        if self.count > most:
            unlike = np.bitwise_count(self._bits.view ^ _signs(query)).sum(axis=1, dtype=np.uint16)
            limit = _kth(unlike[live], most)
            live &= unlike <= limit
        return np.unique(owner[live]).astype(np.int64)

    def _first(self, doc: int) -> int:
        return int(self._ends.view[doc - 1]) if doc else 0


def _kth(values: NDArray[np.uint16], k: int) -> int:
    """The k-th smallest of small counts, by counting."""
    return int(np.searchsorted(np.cumsum(np.bincount(values)), k))


def _signs(vector: NDArray[Any]) -> NDArray[np.uint64]:
    return np.packbits(np.asarray(vector) > 0).view(np.uint64)
