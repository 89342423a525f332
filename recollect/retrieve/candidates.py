"""Which documents of a large index are scored: a few hundred that words or meaning lead to.

In: an index, the weighted terms of a query or its vector, and how many are wanted. Out: document
numbers. They do not depend on the order in which documents were added: ties at the edge are all
taken, or ordered by time and id.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.retrieve.index import Index
from recollect.retrieve.query import QueryTerms

EXHAUSTIVE = 300  # an index this small is scored whole
LEXICAL = 96  # candidates by words
SEMANTIC = 72  # candidates by meaning
SIGNS = 600  # documents found by sign bits, of which those candidates are chosen
POSTINGS = 60_000  # postings that may be read to choose candidates
COMMON = 0.2  # a gram or word in a larger share of the documents does not count here

BLOCK = 64  # documents whose highest score is compared first
_FEW = 4096


def by_words(
    index: Index, terms: QueryTerms, numbers: NDArray[np.uint8], most: int = LEXICAL
) -> NDArray[np.int64]:
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
    found = np.flatnonzero(score > _nearly_best(score, most))
    return best(index, found, np.round(score[found], 6), most)


def _nearly_best(score: NDArray[np.float64], most: int) -> float:
    """A score that all of the best exceed, also after rounding; at least 0. By the highest score of
    each block, since most scores are 0, and to part so many equal ones takes 4 ms of 50,000."""
    whole = len(score) // BLOCK * BLOCK
    if whole <= most * BLOCK:
        return 0.0
    highest = score[:whole].reshape(-1, BLOCK).max(axis=1)
    return max(0.0, float(np.partition(highest, -most)[-most]) - 2e-6)


def by_meaning(index: Index, vector: NDArray[Any], most: int = SEMANTIC) -> NDArray[np.int64]:
    docs = index.vectors.nearest(vector, max(SIGNS, 4 * most))
    near = index.vectors.cosines(docs, vector)
    return best(index, docs, np.asarray(near, dtype=np.float64).round(6), most)


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
    index: Index, terms: QueryTerms, numbers: NDArray[np.uint8]
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
