"""Finds documents by their terms.

In: postings and the terms of a question. Out: scores by BM25, in an array by number of the
document. Imported by whoever ranks, because it loads numpy.
"""

from array import array
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import MATCHING
from recollect.work.terms import BITS, MOST_OFTEN, Postings

# A question of many terms leaves out the commonest ones beyond so many entries: five for each of
# 20,000 turns. A question made of three turns has about twenty for each; five were as good
# (docs/decisions/work_index.md), and a project of 4,000 turns loses none.
MOST_ENTRIES = 100_000
# Entries that are scored together. Arrays of this size stay in the processor's cache and need no
# fresh pages: all at once takes four times as long.
TOGETHER = 8_192
BLOCK = 64

Scores = NDArray[np.float64]


def search(postings: Postings, wanted: Iterable[str]) -> Scores:
    """The score of every document; 0 for one that holds none of the terms."""
    scores = np.zeros(len(postings.lengths))
    if postings.documents:
        mean = postings.total / postings.documents
        lengths = np.frombuffer(postings.lengths, np.int64).astype(np.float64)
        norm = MATCHING.k1 * (1 - MATCHING.b + MATCHING.b / mean * lengths)
        for lists in _portions(postings, wanted):
            _add(scores, lists, norm, postings.documents)
    return scores


def _portions(postings: Postings, wanted: Iterable[str]) -> Iterator["list[array[int]]"]:
    """The entries of each term, the rarest first, in portions that are scored together."""
    entries = postings.entries
    held = sorted((len(entries[term]), term) for term in set(wanted) if term in entries)
    portion: list[array[int]] = []
    room, size = MOST_ENTRIES, 0
    for count, term in held:
        if room < count and room < MOST_ENTRIES:
            break
        room -= count
        if portion and size + count > TOGETHER:
            yield portion
            portion, size = [], 0
        portion.append(entries[term])
        size += count
    if portion:
        yield portion


def _add(scores: Scores, lists: "list[array[int]]", norm: Scores, documents: int) -> None:
    packed = np.frombuffer(b"".join(lists), np.int64)
    holders = np.array([len(one) for one in lists])
    rarity = np.log1p((documents - holders + 0.5) / (holders + 0.5))
    weight = np.repeat((MATCHING.k1 + 1) * rarity, holders)
    number = packed >> BITS
    often = (packed & MOST_OFTEN).astype(np.float64)
    weight *= often
    often += norm.take(number)
    weight /= often
    np.add.at(scores, number, weight)


def best(scores: Scores, most: int) -> list[tuple[int, float]]:
    """The documents with the highest scores above 0, best first; of equal ones the newest."""
    least = 0.0
    whole = len(scores) // BLOCK * BLOCK
    if whole > most * BLOCK:
        # So many blocks hold a score as high as this, so that the best ones are not below it.
        highest = scores[:whole].reshape(-1, BLOCK).max(axis=1)
        least = np.partition(highest, -most)[-most]
    found = np.flatnonzero(scores >= least if least > 0 else scores > 0)
    order = np.lexsort((-found, -scores[found]))[:most]
    return [(int(number), float(scores[number])) for number in found[order]]
