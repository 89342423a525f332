"""The signals of relevance, each a function, and what each weighs.

In: an index, the weighed terms of a query and document numbers. Out: one number a document and
signal, bounded and absolute: it does not depend on what else was found, so the sum doubles as a
confidence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.retrieve.dates import Date
from recollect.retrieve.growable import spread
from recollect.retrieve.index import AUTHORS, NO_TIME, Index
from recollect.retrieve.query import Terms
from recollect.retrieve.tokens import GRAM_BITS

K1 = 1.2
B = 0.75
WINDOW = 40

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    """What each signal is worth; chosen by measurement, docs/decisions/0003."""

    grams: float = 0.40
    window: float = 0.10
    cosine: float = 0.25
    neighbour: float = 0.30
    session: float = 0.20
    session_cosine: float = 0.08
    date: float = 0.15
    user: float = 0.08


def grams(index: Index, terms: Terms, docs: NDArray[Any]) -> Floats:
    """BM25 over 4-grams, as a share of the most it could be."""
    width = len(terms.grams)
    if width == 0 or len(docs) == 0:
        return np.zeros(len(docs))
    tokens, counts = index.tokens_of(docs)
    owner = np.repeat(np.arange(len(docs)), counts)
    seen = np.zeros(len(index.vocabulary), dtype=np.bool_)
    seen[tokens] = True
    distinct = np.flatnonzero(seen)
    place = np.zeros(len(index.vocabulary), dtype=np.int32)
    place[distinct] = np.arange(len(distinct))
    number = np.zeros(1 << GRAM_BITS, dtype=np.uint16)
    number[terms.grams] = np.arange(1, width + 1)
    held, held_counts = index.vocabulary.grams_in(distinct)
    which = number[held]
    hits = np.flatnonzero(which)
    per_word = np.bincount(
        np.repeat(np.arange(len(distinct)), held_counts)[hits], minlength=len(distinct)
    )
    first = np.cumsum(per_word) - per_word
    which = which[hits].astype(np.int64) - 1
    at = place[tokens]
    repeat = per_word[at]
    pairs = np.repeat(owner, repeat) * width + which[spread(first[at], repeat)]
    found = np.bincount(pairs, minlength=len(docs) * width).reshape(len(docs), width)
    length = index.gram_length.view[docs] / terms.mean_grams
    return _bounded_bm25(found, length, terms.gram_idf)


def _bounded_bm25(found: NDArray[Any], length: NDArray[Any], weight: Floats) -> Floats:
    drag = (K1 * (1 - B + B * length))[:, None]
    rising = found / (found + drag)
    # Column by column: the sum of one document must not depend on how many there are.
    total = np.einsum("ij,j->i", rising, weight)
    return np.asarray(total / weight.sum())


@dataclass(frozen=True, slots=True)
class Matches:
    """Where the query's stems stand in some documents: positions in one long text."""

    owner: NDArray[Any]
    position: NDArray[Any]  # in the long text
    stem: NDArray[Any]
    begin: NDArray[Any]  # document -> its first position
    length: NDArray[Any]


def stem_numbers(index: Index, terms: Terms) -> NDArray[np.uint8]:
    """word -> 1 + index of its stem in the query, 0 for all others."""
    number = np.zeros(index.vocabulary.stems, dtype=np.uint8)
    for at, stem in enumerate(terms.stems):
        known = index.vocabulary.stem_number(stem)
        if known >= 0:
            number[known] = at + 1
    return number[index.vocabulary.stem_of.view]


def matches(index: Index, numbers: NDArray[np.uint8], docs: NDArray[Any]) -> Matches:
    tokens, counts = index.tokens_of(docs)
    which = numbers[tokens]
    position = np.flatnonzero(which)
    begin = np.cumsum(counts) - counts
    owner = np.repeat(np.arange(len(docs)), counts)[position]
    return Matches(owner, position, which[position].astype(np.int64) - 1, begin, counts)


def window(found: Matches, terms: Terms) -> Floats:
    """The best stretch of 40 words: what share of the query's weight stands in it."""
    size = len(found.begin)
    best = np.zeros(size)
    if len(found.position) == 0:
        return best
    total = int(found.begin[-1] + found.length[-1])
    # An occurrence is new to the stretches that begin after the last one of its stem, and
    # within reach: add its weight where those begin, take it away where they end.
    order = np.argsort(found.owner * len(terms.stems) + found.stem, kind="stable")
    key = (found.owner * len(terms.stems) + found.stem)[order]
    position = found.position[order]
    repeated = np.zeros(len(order), dtype=np.bool_)
    repeated[1:] = key[1:] == key[:-1]
    since = found.begin[found.owner[order]]
    since[1:] = np.where(repeated[1:], position[:-1] + 1, since[1:])
    since = np.maximum(since, position - (WINDOW - 1))
    since = np.maximum(since, found.begin[found.owner[order]])
    weight = terms.stem_idf[found.stem[order]]
    change = np.bincount(since, weight, minlength=total + 1)
    change -= np.bincount(position + 1, weight, minlength=total + 1)
    height = np.cumsum(change)
    filled = np.flatnonzero(found.length)
    best[filled] = np.maximum.reduceat(height[:total], found.begin[filled])
    return np.asarray(np.clip(np.round(best / terms.stem_idf.sum(), 9), 0, 1))


def session(index: Index, terms: Terms, numbers: NDArray[np.uint8], chapters: Any) -> Floats:
    """BM25 over stems of whole chapters, as a share of the most it could be."""
    width = len(terms.stems)
    if width == 0 or len(chapters) == 0:
        return np.zeros(len(chapters))
    docs, members = index.chapters.docs_of(chapters)
    tokens, counts = index.tokens_of(docs)
    which = numbers[tokens]
    position = np.flatnonzero(which)
    owner = np.repeat(np.repeat(np.arange(len(chapters)), members), counts)[position]
    pairs = owner * width + which[position] - 1
    found = np.bincount(pairs, minlength=len(chapters) * width).reshape(len(chapters), width)
    length = index.chapters.length.view[chapters] / terms.mean_chapter
    return _bounded_bm25(found, length, terms.stem_idf)


def dated(index: Index, dates: tuple[Date, ...], docs: NDArray[Any]) -> Floats:
    """What share of the date that the query names is the document's own; 0 if it names none."""
    score = np.zeros(len(docs))
    if not dates:
        return score
    time = index.time.view[docs]
    day = (time // 86_400_000_000).astype("datetime64[D]")
    month = day.astype("datetime64[M]")
    year = day.astype("datetime64[Y]").astype(np.int64) + 1970
    of_month = (day - month).astype(np.int64) + 1
    of_year = month.astype(np.int64) % 12 + 1
    for date in dates:
        parts = [of_year == date.month]
        parts += [year == date.year] if date.year else []
        parts += [of_month == date.day] if date.day else []
        score = np.maximum(score, np.mean(parts, axis=0))
    return np.where(time == NO_TIME, 0.0, score)


def said_by_user(index: Index, docs: NDArray[Any]) -> Floats:
    return np.asarray(index.author.view[docs] == AUTHORS.index("user"), dtype=np.float64)
