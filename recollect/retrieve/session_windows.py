"""Session windows: the text around a memory, used as evidence for it.

In: which document belongs to which session. Out: the documents, length and mean vector of each
window. A session is cut into windows of WINDOW_POSITIONS positions; a document without a session
has a window of its own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.retrieve.arrays import GrowableArray
from recollect.retrieve.vector_index import QuantisedRows

WINDOW_POSITIONS = 64  # evidence from further away adds little and costs time

_Key = tuple[str, int]  # session, run of positions within it


class SessionWindows:
    def __init__(self) -> None:
        self.count = 0  # windows that hold a document
        self.total = 0  # their tokens
        self.length = GrowableArray(np.int64)
        # Negative: no mean, a document's own vector stands for it; -2 - row keeps a row to reuse.
        self.mean_row = GrowableArray(np.int32)
        self.means = QuantisedRows()
        self._numbers: dict[_Key, int] = {}
        self._keys: dict[int, _Key] = {}
        self._members: list[tuple[int, ...]] = []
        self._counted: dict[int, tuple[int, ...]] = {}

    def add(self, key: _Key | None, doc: int) -> int:
        """Put a document into its window, or into one of its own; returns the window's number."""
        number = len(self._members) if key is None else self._numbers.get(key, len(self._members))
        if number == len(self._members):
            self._members.append(())
            self.length.append(0)
            self.mean_row.append(-1)
            if key is not None:
                self._numbers[key] = number
                self._keys[number] = key
        self._note_change(number)
        self._members[number] = (*self._members[number], doc)
        return number

    def remove(self, number: int, doc: int) -> str | None:
        """Take a document out; returns the session it was in."""
        self._note_change(number)
        self._members[number] = tuple(at for at in self._members[number] if at != doc)
        key = self._keys.get(number)
        return key[0] if key else None

    def members(self, number: int) -> tuple[int, ...]:
        return self._members[number]

    def counted(self, number: int) -> tuple[int, ...]:
        """The documents whose words were counted when the window last settled."""
        return self._counted.get(number, self._members[number])

    def settle(self, number: int, length: int, mean: NDArray[np.float32] | None) -> None:
        """Keep the length and mean vector of a window whose words were just counted."""
        self._counted.pop(number, None)
        self.count += (length > 0) - (int(self.length.view[number]) > 0)
        self.total += length - int(self.length.view[number])
        self.length.view[number] = length
        row = int(self.mean_row.view[number])
        if row < -1:
            row = -2 - row
        if mean is None:
            self.mean_row.view[number] = -2 - row if row >= 0 else -1
        elif row >= 0:
            self.means.put(row, mean)
            self.mean_row.view[number] = row
        else:
            self.mean_row.view[number] = self.means.append(mean)

    def sizes(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """How many documents each of these windows has."""
        found = [len(self._members[number]) for number in numbers.tolist()]
        return np.array(found, dtype=np.int64)

    def docs_of(self, numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The documents of these windows, concatenated, and how many each window has."""
        found = [self._members[number] for number in numbers.tolist()]
        counts = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        flat = [doc for docs in found for doc in docs]
        return np.array(flat, dtype=np.int64), counts

    @property
    def nbytes(self) -> int:
        lists = 120 * len(self._members) + self._numbers.__sizeof__()
        return lists + self.length.nbytes + self.mean_row.nbytes + self.means.nbytes

    def _note_change(self, number: int) -> None:
        self._counted.setdefault(number, self._members[number])
