"""The memories of one namespace, ready to be searched: words, sessions, times, vectors.

In: documents to add and remove. Out: arrays that ranking reads. The same documents give the same
scores in whatever order they were added. A document whose id is present replaces the old one.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.text_words import words
from recollect.core.tuning import MATCHING
from recollect.retrieve.arrays import (
    GrowableArray,
    QuantisedRows,
    ThreeByteRuns,
    VectorIndex,
    distinct,
    tally,
)
from recollect.retrieve.postings import Block, cover
from recollect.retrieve.vocabulary import GRAM_BITS, Vocabulary

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
        self.members: list[tuple[int, ...]] = []
        self._counted: dict[int, tuple[int, ...]] = {}

    def add(self, key: _Key | None, doc: int) -> int:
        """Put a document into its window, or into one of its own; returns the window's number."""
        number = len(self.members) if key is None else self._numbers.get(key, len(self.members))
        if number == len(self.members):
            self.members.append(())
            self.length.append(0)
            self.mean_row.append(-1)
            if key is not None:
                self._numbers[key] = number
                self._keys[number] = key
        self._note_change(number)
        self.members[number] = (*self.members[number], doc)
        return number

    def remove(self, number: int, doc: int) -> str | None:
        """Take a document out; returns the session it was in."""
        self._note_change(number)
        self.members[number] = tuple(at for at in self.members[number] if at != doc)
        key = self._keys.get(number)
        return key[0] if key else None

    def counted(self, number: int) -> tuple[int, ...]:
        """The documents whose words were counted when the window last settled."""
        return self._counted.get(number, self.members[number])

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

    @property
    def nbytes(self) -> int:
        lists = 120 * len(self.members) + self._numbers.__sizeof__()
        return lists + self.length.nbytes + self.mean_row.nbytes + self.means.nbytes

    def _note_change(self, number: int) -> None:
        self._counted.setdefault(number, self.members[number])


AUTHORS = ("", "user", "assistant", "tool", "file", "web")
_PENDING = 1024  # documents that may wait for their postings until the next search
WASTE = 4096  # fewer removed documents than this do not justify a rebuild
_AUTHOR = {name: number for number, name in enumerate(AUTHORS)}
FRESHNESS = ("unknown", "fresh", "drifted", "orphaned", "ended")

_BESIDE = 8  # documents of one turn that are looked at
NO_TIME = np.iinfo(np.int64).min
PRIOR = [
    ("importance", "u1"),
    ("confidence", "f4"),
    ("freshness", "u1"),
    ("derived", "?"),
    ("access", "u4"),
]

_Seat = tuple[int, str, int]  # position, id, document number


@dataclass(frozen=True, slots=True)
class Document:
    """What ranking needs to know of one memory. Times are microseconds since 1970."""

    id: str
    text: str
    title: str = ""
    session: str = ""  # empty: it stands alone
    position: int = 0
    author: str = ""
    time: int | None = None  # when it happened
    created: int = 0  # when it was written; orders equals, newest first
    importance: int = 5
    confidence: float = 1.0
    freshness: str = "unknown"
    derived: bool = False  # made from turns, not a turn
    access_count: int = 0
    vectors: NDArray[np.float32] | None = None  # one row a part, unit length


class Index:
    """Not thread-safe by itself: the engine holds a lock around changes and searches."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.vectors = VectorIndex()
        self.session_windows = SessionWindows()
        self.ids: list[str] = []
        # The words of each document; 16 million different ones are more than memory holds.
        self.tokens = ThreeByteRuns()
        self.gram_length = GrowableArray(np.int32)
        self.alive = GrowableArray(np.bool_)
        self.session_window = GrowableArray(np.int32)
        self.previous = GrowableArray(np.int32)
        self.next = GrowableArray(np.int32)
        self.author = GrowableArray(np.uint8)
        self.asks = GrowableArray(np.bool_)
        self.time = GrowableArray(np.int64)
        self.created = GrowableArray(np.int64)
        self.prior = GrowableArray(np.dtype(PRIOR))
        # How many documents hold a word or a gram, and how many session windows hold a stem: exact
        # after every change, so that scores do not depend on documents that were removed.
        self.word_documents = GrowableArray(np.int32)
        self.gram_documents = np.zeros(1 << GRAM_BITS, dtype=np.int32)
        self.stem_session_windows = GrowableArray(np.int32)
        self.count = 0
        self.total_grams = 0
        self._number: dict[str, int] = {}
        self._sessions: dict[str, list[_Seat]] = {}
        self._blocks: tuple[Block, ...] = ()

    # --- changing -------------------------------------------------------------------------------

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; one whose id is present replaces the old one."""
        batch = {document.id: document for document in documents}
        self.remove(list(batch))
        if not batch:
            return
        first = len(self.ids)
        self._append(list(batch.values()))
        docs = np.arange(first, len(self.ids))
        self.gram_length.extend(self._count(docs, 1))
        touched = {self._place(document, first + at) for at, document in enumerate(batch.values())}
        for session_window in touched:
            self._recount(session_window)
        if len(self.ids) - self._covered() >= _PENDING:
            self.blocks()

    def remove(self, ids: Iterable[str]) -> None:
        """Remove documents; unknown ids are ignored."""
        known = [self._number.pop(id) for id in dict.fromkeys(ids) if id in self._number]
        if known:
            self._count(np.array(known, dtype=np.int64), -1)
        for session_window in {self._take_out(doc) for doc in known}:
            self._recount(session_window)

    def __contains__(self, id: str) -> bool:
        return id in self._number

    def __len__(self) -> int:
        return self.count

    @property
    def needs_rebuild(self) -> bool:
        """Whether a third or more of the rows are of removed or replaced documents."""
        waste = len(self.ids) - self.count
        return waste >= WASTE and 3 * waste >= len(self.ids)

    # --- reading --------------------------------------------------------------------------------

    def numbers(self, values: Mapping[str, float]) -> list[tuple[int, float]]:
        """Document numbers of those ids that are present, with their values."""
        return [(self._number[id], value) for id, value in values.items() if id in self._number]

    def time_of(self, id: str) -> int | None:
        """When the memory happened; None when that is not known."""
        time = int(self.time.view[self._number[id]]) if id in self._number else NO_TIME
        return None if time == NO_TIME else time

    def blocks(self) -> tuple[Block, ...]:
        """Postings of all documents, brought up to date first."""
        if len(self.ids) > self._covered():
            self._blocks = cover(self._blocks, self.tokens)
        return self._blocks

    def _covered(self) -> int:
        return self._blocks[-1].last if self._blocks else 0

    @property
    def nbytes(self) -> dict[str, int]:
        """Where the memory goes, in bytes."""
        columns = (self.gram_length, self.alive, self.session_window, self.previous)
        more = (self.next, self.author, self.asks, self.time, self.created, self.prior)
        return {
            "tokens": self.tokens.nbytes,
            "postings": sum(block.nbytes for block in self._blocks),
            "vocabulary": self.vocabulary.nbytes + self.word_documents.nbytes,
            "grams": self.gram_documents.nbytes,
            "columns": sum(column.nbytes for column in columns + more),
            "ids": sum(len(id) + 49 for id in self.ids) + self._number.__sizeof__(),
            "sessions": self.session_windows.nbytes
            + self.stem_session_windows.nbytes
            + 150 * len(self.ids),
            "vectors": self.vectors.nbytes,
        }

    # --- one document ---------------------------------------------------------------------------

    def _append(self, batch: list[Document]) -> None:
        for document in batch:
            title, text = words(document.title), words(document.text)
            self._number[document.id] = len(self.ids)
            self.ids.append(document.id)
            repeat = MATCHING.title_weight if text else 1
            self.tokens.append(self.vocabulary.number(title * repeat + text))
            self.asks.append(
                len(text) < MATCHING.question_words
                and document.text.rstrip().endswith(("?", "\uff1f"))
            )
        self.vocabulary.settle()
        self.vectors.add([document.vectors for document in batch])
        self.alive.extend([True] * len(batch))
        self.author.extend([_AUTHOR.get(document.author, 0) for document in batch])
        self.time.extend([NO_TIME if one.time is None else one.time for one in batch])
        self.created.extend([document.created for document in batch])
        self.prior.extend(np.array([_prior(document) for document in batch], dtype=PRIOR))
        self.previous.extend([-1] * len(batch))
        self.next.extend([-1] * len(batch))

    def _count(self, docs: NDArray[Any], step: int) -> NDArray[Any]:
        """Keep the document frequencies exact; returns how many grams each document has."""
        self.word_documents.grow_to(len(self.vocabulary))
        tokens, lengths = self.tokens.of(docs)
        owner = np.repeat(np.arange(len(docs)), lengths)
        pairs = distinct(owner << 32 | tokens)
        held = pairs & 0xFFFFFFFF
        tally(self.word_documents.view, held, step)
        grams, counts = self.vocabulary.grams_in(held)
        pairs = distinct(np.repeat(pairs >> 32, counts) << GRAM_BITS | grams)
        tally(self.gram_documents, (pairs & ((1 << GRAM_BITS) - 1)).astype(np.int32), step)
        per_token = self.vocabulary.gram_counts(tokens)
        totals = np.bincount(owner, per_token, minlength=len(docs)).astype(np.int64)
        self.count += step * len(docs)
        self.total_grams += step * int(totals.sum())
        return totals

    def _place(self, document: Document, doc: int) -> int:
        """Insert a document into its session; returns its session window."""
        if not document.session:
            session_window = self.session_windows.add(None, doc)
            self.session_window.append(session_window)
            return session_window
        members = self._sessions.setdefault(document.session, [])
        seat = (document.position, document.id, doc)
        at = bisect_left(members, seat)
        members.insert(at, seat)
        self._link(members[at - 1][2] if at else -1, doc)
        self._link(doc, members[at + 1][2] if at + 1 < len(members) else -1)
        run = document.position // WINDOW_POSITIONS
        session_window = self.session_windows.add((document.session, run), doc)
        self.session_window.append(session_window)
        return session_window

    def after(self, session: str, position: int) -> list[str]:
        """The documents at the next position of a session."""
        members = self._sessions.get(session, [])
        rest = members[bisect_left(members, (position + 1, "", -1)) :]
        return [id_ for at, id_, _ in rest[:_BESIDE] if at == rest[0][0]]

    def _link(self, left: int, right: int) -> None:
        if left >= 0:
            self.next.view[left] = right
        if right >= 0:
            self.previous.view[right] = left

    def _take_out(self, doc: int) -> int:
        """Forget a document; returns the session window it was in."""
        self.alive.view[doc] = False
        self.vectors.remove(doc)
        left, right = int(self.previous.view[doc]), int(self.next.view[doc])
        self._link(left, right)
        session_window = int(self.session_window.view[doc])
        session = self.session_windows.remove(session_window, doc)
        if session is not None:
            members = self._sessions[session]
            members[:] = [seat for seat in members if seat[2] != doc]
            if not members:
                del self._sessions[session]
        return session_window

    def _recount(self, session_window: int) -> None:
        """Update the stems, the length and the mean vector of a session window."""
        self.stem_session_windows.grow_to(len(self.vocabulary))
        before, _ = self._stems_in(self.session_windows.counted(session_window))
        self.stem_session_windows.view[before] -= 1
        docs = self.session_windows.members[session_window]
        after, length = self._stems_in(docs)
        self.stem_session_windows.view[after] += 1
        self.session_windows.settle(session_window, length, self.vectors.mean(docs))

    def _stems_in(self, docs: tuple[int, ...]) -> tuple[NDArray[Any], int]:
        tokens, _ = self.tokens.of(np.array(docs, dtype=np.int64))
        return distinct(self.vocabulary.stem_of.view[tokens]), len(tokens)


def _prior(document: Document) -> tuple[int, float, int, bool, int]:
    stale = FRESHNESS.index(document.freshness) if document.freshness in FRESHNESS else 0
    return (
        document.importance,
        document.confidence,
        stale,
        document.derived,
        document.access_count,
    )
