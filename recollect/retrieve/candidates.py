"""Chooses the documents that are worth scoring exactly.

In: an index and a weighted query. Out: a few hundred document numbers, the best among them. The
choice does not depend on the order in which documents were added: ties at the edge are all taken,
or ordered by time and id.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.retrieve.index import Index
from recollect.retrieve.query import Terms

EXHAUSTIVE = 300  # an index this small is scored whole
LEXICAL = 96  # candidates by words
SEMANTIC = 72  # candidates by meaning
SIGNS = 600  # documents found by sign bits, of which those candidates are chosen
POSTINGS = 60_000  # postings that may be read to choose candidates
COMMON = 0.2  # a gram or word in a larger share of the documents does not count here

_FEW = 4096


def by_words(index: Index, terms: Terms, numbers: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Documents that hold the rare words of the query, or similar words."""
    chosen, mass = _words(index, terms, numbers)
    if len(chosen) == 0:
        return np.zeros(0, dtype=np.int64)
    score = np.zeros(len(index.ids))
    length = index.gram_length.view
    for block in index.blocks():
        which, docs, counts = block.of(chosen)
        drag = 0.3 + 0.9 * length[docs] / terms.mean_grams
        gain = mass[which] * (counts / (counts + drag))
        score[block.first : block.last] += np.bincount(
            docs - block.first, gain, minlength=block.last - block.first
        )
    score[~index.alive.view] = 0
    found = np.flatnonzero(score > _nearly_best(score))
    return best(index, found, np.round(score[found], 6), LEXICAL)


def _nearly_best(score: NDArray[np.float64]) -> float:
    """A score that all of the best exceed, also after rounding; at least 0."""
    if len(score) <= LEXICAL:
        return 0.0
    edge = np.partition(score, len(score) - LEXICAL)[len(score) - LEXICAL]
    return max(0.0, float(edge) - 2e-6)


def by_meaning(index: Index, vector: NDArray[Any]) -> NDArray[np.int64]:
    docs = index.vectors.nearest(vector, SIGNS)
    near = index.vectors.cosines(docs, vector)
    return best(index, docs, np.asarray(near, dtype=np.float64).round(6), SEMANTIC)


def with_neighbours(index: Index, docs: NDArray[np.int64]) -> NDArray[np.int64]:
    """These documents and the ones next to them in their sessions, in ascending order."""
    wanted = np.zeros(len(index.ids), dtype=np.bool_)
    wanted[docs] = True
    for beside in (index.previous.view[docs], index.next.view[docs]):
        wanted[beside[beside >= 0]] = True
    return np.flatnonzero(wanted)


def best(
    index: Index, docs: NDArray[np.int64], score: NDArray[np.float64], most: int
) -> NDArray[np.int64]:
    """The documents with the highest scores; ties at the edge by time and id."""
    if len(docs) <= most:
        return docs
    edge = np.partition(score, len(score) - most)[len(score) - most]
    above, equal = docs[score > edge], docs[score == edge]
    room = most - len(above)
    if len(equal) > room:
        created = index.created.view
        newest = sorted(equal.tolist(), key=lambda doc: (-int(created[doc]), index.ids[doc]))
        equal = np.array(newest[:room], dtype=np.int64)
    return np.concatenate([above, equal])


def _words(
    index: Index, terms: Terms, numbers: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The words to look up and their weights: the query's own first, then similar ones."""
    holders = index.word_documents.view
    common = max(20.0, COMMON * terms.documents)
    rare = np.flatnonzero(index.gram_documents[terms.grams] <= common)
    if len(rare) == 0:
        rare = np.arange(len(terms.grams))
    words, which = index.vocabulary.words_by_gram(terms.grams[rare])
    mass = np.bincount(words, terms.gram_idf[rare][which], len(holders)).astype(np.float64)
    found = np.flatnonzero(mass > 0)
    found = found[holders[found] > 0]
    mass, own, holders = mass[found], numbers[found] > 0, holders[found]
    # A common word counts only if the query has no other.
    own &= holders <= max(common, int(holders[own].min()) if own.any() else 0)
    others = _within(mass, np.flatnonzero(~own & (holders <= common)), holders, own)
    chosen = np.concatenate([np.flatnonzero(own), others])
    return found[chosen], mass[chosen]


def _within(
    mass: NDArray[np.float64],
    like: NDArray[np.int64],
    holders: NDArray[Any],
    own: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Of the words that are similar to the query's, those whose postings fit into what the query's
    own words leave; words of equal weight stay together."""
    value = mass[like].round(6)
    if len(like) > _FEW:
        edge = np.partition(value, len(value) - _FEW)[len(value) - _FEW]
        like, value = like[value > edge], value[value > edge]
    order = np.argsort(-value, kind="stable")
    like, value = like[order], value[order]
    if len(like) == 0:
        return like
    last_of_equals = np.searchsorted(-value, -value, side="right") - 1
    read = np.cumsum(holders[like])[last_of_equals]
    return like[read <= POSTINGS - int(holders[own].sum())]
