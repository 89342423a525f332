"""The words of one namespace, each with its stem and its 4-grams.

In: words. Out: small integers for words and stems, and for any set of 4-grams the words that hold
them. Words are never removed; a rebuilt index starts with an empty vocabulary.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.text_words import stem
from recollect.retrieve.arrays import GrowableArray, distinct, spread

_NEWEST = 2048  # words that may wait to be sorted in

GRAM_BITS = 20

_ODD = np.array(
    [0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93],
    dtype=np.uint64,
)


class _Numbers:
    """A number for every word. Only hashes are kept, sorted, with the newest in a dictionary until
    they are many. In a vocabulary of a million words two share a hash of 64 bits once in some ten
    million stores; they would count as the same word."""

    def __init__(self) -> None:
        self.fresh: list[str] = []  # words that were seen for the first time
        self._hashes = np.zeros(0, dtype=np.int64)
        self._numbers = np.zeros(0, dtype=np.int32)
        self._newest: dict[int, int] = {}  # hash -> number

    def __len__(self) -> int:
        return len(self._hashes) + len(self._newest)

    @property
    def nbytes(self) -> int:
        newest = self._newest.__sizeof__() + 64 * len(self._newest)
        return self._hashes.nbytes + self._numbers.nbytes + newest

    def of(self, words: list[str], *, add: bool = True) -> NDArray[np.int64]:
        """The numbers of words. A new one gets the next number, or -1 if it is not to be added."""
        keys = np.fromiter(map(hash, words), dtype=np.int64, count=len(words))
        numbers = np.full(len(words), -1, dtype=np.int64)
        if len(self._hashes):
            at = np.minimum(np.searchsorted(self._hashes, keys), len(self._hashes) - 1)
            numbers = np.where(self._hashes[at] == keys, self._numbers[at], numbers)
        unknown = np.flatnonzero(numbers < 0).tolist()
        for place, key in zip(unknown, keys[unknown].tolist(), strict=True):
            if add and key not in self._newest:
                self._newest[key] = len(self)
                self.fresh.append(words[place])
            numbers[place] = self._newest.get(key, -1)
        if len(self._newest) > _NEWEST + len(self._hashes) // 8:
            self._sort_in()
        return numbers

    def _sort_in(self) -> None:
        hashes = np.concatenate([self._hashes, np.fromiter(self._newest, dtype=np.int64)])
        newest = np.fromiter(self._newest.values(), dtype=np.int32)
        order = np.argsort(hashes)
        self._numbers = np.concatenate([self._numbers, newest])[order]
        self._hashes = hashes[order]
        self._newest = {}


class Vocabulary:
    def __init__(self) -> None:
        self._words = _Numbers()
        self.stem_of = GrowableArray(np.int32)  # word -> the word that is its stem
        self._gram_ends = GrowableArray(np.int64)  # word -> where its grams end
        self._grams = GrowableArray(np.uint32)
        self._by_gram = _ByGram()

    def __len__(self) -> int:
        return len(self._words)

    def number(self, words: list[str]) -> NDArray[np.uint32]:
        """The numbers of these words; call `settle` before new ones are used."""
        return self._words.of(words).astype(np.uint32)

    def settle(self) -> None:
        """Compute stems and grams of all new words."""
        fresh, self._words.fresh = self._words.fresh, []
        self.stem_of.extend(self.stem_numbers(map(stem, fresh), add=True))
        # Stems that did not occur as a word yet: each is its own stem.
        made, self._words.fresh = self._words.fresh, []
        self.stem_of.extend(self._words.of(made))
        grams, starts = grams_of(fresh + made)
        base = len(self._grams)
        self._grams.extend(grams)
        self._gram_ends.extend(starts[1:] + base)

    def stem_numbers(self, stems: Iterable[str], *, add: bool = False) -> NDArray[np.int64]:
        """The numbers of stems, -1 where no document holds one. They are numbered among the words,
        since most are words themselves. A stem that, as a word, has another stem gets a key of its
        own."""
        keys = [one if stem(one) == one else f"\0{one}" for one in stems]
        return self._words.of(keys, add=add)

    def gram_counts(self, words: NDArray[Any]) -> NDArray[Any]:
        """How many 4-grams each of these words has."""
        ends = self._gram_ends.view
        return np.asarray(ends[words] - np.where(words > 0, ends[words.astype(np.int64) - 1], 0))

    def grams_in(self, words: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The 4-grams of these words, concatenated, and how many each has."""
        ends = self._gram_ends.view
        starts = np.where(words > 0, ends[words.astype(np.int64) - 1], 0)
        counts = ends[words] - starts
        return self._grams.view[spread(starts, counts)], counts

    def words_by_gram(self, grams: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Pairs (word, index of the gram in `grams`), ordered by that index."""
        return self._by_gram.lookup(self._grams.view, self._gram_ends.view, grams)

    @property
    def nbytes(self) -> int:
        arrays = self.stem_of.nbytes + self._gram_ends.nbytes + self._grams.nbytes
        return self._words.nbytes + arrays + self._by_gram.nbytes


class _ByGram:
    """gram -> words, sorted from time to time; newer words are searched one by one."""

    def __init__(self) -> None:
        self._grams = np.zeros(0, dtype=np.uint32)
        self._words = np.zeros(0, dtype=np.uint32)
        self._covered = 0

    @property
    def nbytes(self) -> int:
        return self._grams.nbytes + self._words.nbytes

    def lookup(
        self, grams: NDArray[Any], ends: NDArray[Any], wanted: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if len(ends) - self._covered > max(2000, self._covered // 8):
            self._sort(grams, ends)
        low = np.searchsorted(self._grams, wanted, side="left")
        counts = np.searchsorted(self._grams, wanted, side="right") - low
        words = self._words[spread(low, counts)]
        which = np.repeat(np.arange(len(wanted)), counts)
        newer, newer_which = self._tail(grams, ends, wanted)
        if len(newer) == 0:
            return words, which
        words, which = np.concatenate([words, newer]), np.concatenate([which, newer_which])
        order = np.argsort(which, kind="stable")
        return words[order], which[order]

    def _sort(self, grams: NDArray[Any], ends: NDArray[Any]) -> None:
        owners = np.repeat(np.arange(len(ends), dtype=np.uint64), np.diff(ends, prepend=0))
        keys = distinct(grams.astype(np.uint64) << np.uint64(64 - GRAM_BITS) | owners)
        self._grams = (keys >> np.uint64(64 - GRAM_BITS)).astype(np.uint32)
        self._words = (keys & np.uint64((1 << 64 - GRAM_BITS) - 1)).astype(np.uint32)
        self._covered = len(ends)

    def _tail(
        self, grams: NDArray[Any], ends: NDArray[Any], wanted: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        first = int(ends[self._covered - 1]) if self._covered else 0
        counts = np.diff(ends[self._covered :], prepend=first)
        owners = np.repeat(np.arange(self._covered, len(ends), dtype=np.int64), counts)
        number = np.zeros(1 << GRAM_BITS, dtype=np.uint16)
        number[wanted] = np.arange(1, len(wanted) + 1)
        which = number[grams[first:]].astype(np.int64)
        # A word that holds a gram twice counts once, as it does in the sorted part.
        pairs = distinct((owners * (len(wanted) + 1) + which)[which > 0])
        return pairs // (len(wanted) + 1), pairs % (len(wanted) + 1) - 1


def grams_of(batch: list[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The hashed 4-grams of many words, concatenated, and where those of each word begin.

    A word shorter than two letters has one gram: itself between its marks.
    """
    marked = [f"\x02{word}\x03" if len(word) > 1 else f"\x02{word}\x03\x03" for word in batch]
    codes = np.frombuffer("".join(marked).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    lengths = np.fromiter(map(len, marked), dtype=np.int64, count=len(marked))
    counts = lengths - 3
    starts = np.zeros(len(batch) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    if not batch:
        return np.zeros(0, dtype=np.uint32), starts
    text_starts = np.cumsum(lengths) - lengths
    at = np.arange(starts[-1]) + np.repeat(text_starts - starts[:-1], counts)
    mixed = np.zeros(len(at), dtype=np.uint64)
    for step, odd in enumerate(_ODD):
        mixed += codes[at + step] * odd
    # Sums of small codes fill few bits: fold the high half in before taking the top ones.
    mixed ^= mixed >> np.uint64(29)
    mixed *= _ODD[0]
    return (mixed >> np.uint64(64 - GRAM_BITS)).astype(np.uint32), starts
