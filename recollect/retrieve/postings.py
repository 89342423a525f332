"""Postings: for each word the documents that hold it, in blocks of consecutive documents.

In: the tokens of an index and where documents end. Out: per word, documents and counts. Blocks
never change; new documents form new small blocks, and blocks of similar size are merged.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.retrieve.arrays import ThreeByteRuns, spread

_DOC_BITS = 13
LARGEST = 1 << _DOC_BITS  # documents in a block: bounds the memory and the time of one merge
_MOST = 8  # highest count of a word per document


@dataclass(frozen=True, slots=True)
class Block:
    """The postings of documents first..last-1."""

    first: int
    last: int
    starts: NDArray[np.uint32]  # word -> its first posting; words newer than the block have none
    packed: NDArray[np.uint16]  # low bits: document relative to `first`; high bits: count - 1

    @property
    def nbytes(self) -> int:
        return self.starts.nbytes + self.packed.nbytes

    def of(self, words: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Postings of these words, concatenated: index into `words`, document, count."""
        inside = np.flatnonzero(words < len(self.starts) - 1)
        low = self.starts[words[inside]].astype(np.int64)
        counts = self.starts[words[inside] + 1] - low
        packed = self.packed[spread(low, counts)]
        docs = (packed & (LARGEST - 1)) + np.int64(self.first)
        return np.repeat(inside, counts), docs, (packed >> _DOC_BITS) + 1


def build(tokens: ThreeByteRuns, first: int, last: int) -> Block:
    """The block of documents first..last-1."""
    words_of, lengths = tokens.of(np.arange(first, last))
    keys = (words_of.astype(np.int64) << 16) | np.repeat(np.arange(last - first), lengths)
    keys.sort()
    new = np.flatnonzero(np.diff(keys, prepend=-1))
    repeats = np.diff(new, append=len(keys))
    pairs = keys[new]
    words = pairs >> 16
    size = int(words[-1]) + 1 if len(words) else 0
    index = np.zeros(size + 1, dtype=np.uint32)
    np.cumsum(np.bincount(words, minlength=size), out=index[1:])
    return Block(
        first,
        last,
        index,
        ((pairs & 0xFFFF) | (np.minimum(repeats, _MOST) - 1) << _DOC_BITS).astype(np.uint16),
    )


def cover(blocks: tuple[Block, ...], tokens: ThreeByteRuns) -> tuple[Block, ...]:
    """Blocks that cover every document: the given ones and new ones, merged where possible."""
    done = list(blocks)
    first = done[-1].last if done else 0
    last = len(tokens)
    while first < last:
        step = min(last, first + LARGEST)
        while done and _merges(done[-1], step - first):
            first = done.pop().first
        step = min(last, first + LARGEST)
        done.append(build(tokens, first, step))
        first = step
    return tuple(done)


def _merges(block: Block, fresh: int) -> bool:
    size = block.last - block.first
    return size <= 2 * fresh and size + fresh <= LARGEST
