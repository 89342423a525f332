"""The signals of relevance, one function each.

In: an index, the weighted terms of a query and document numbers. Out: one number per document and
signal. It is bounded and does not depend on what else was found, so the sum also serves as a
confidence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import MATCHING
from recollect.retrieve.arrays import distinct, spread
from recollect.retrieve.dates import Date, Span
from recollect.retrieve.index import AUTHORS, NO_TIME, Index
from recollect.retrieve.query import Terms

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TokenRuns:
    """The words of some documents, concatenated."""

    tokens: NDArray[np.uint32]
    owner: NDArray[np.int32]  # token -> which of them
    count: int

    @classmethod
    def of(cls, index: Index, docs: NDArray[Any]) -> "TokenRuns":
        tokens, lengths = index.tokens_of(docs)
        return cls(tokens, np.repeat(np.arange(len(docs), dtype=np.int32), lengths), len(docs))

    def matches(self, numbers: NDArray[np.uint8]) -> "Matches":
        which = numbers[self.tokens]
        position = np.flatnonzero(which != 0)
        stem = which[position].astype(np.int64) - 1
        return Matches(position, stem, self.owner[position].astype(np.int64), self.count)


@dataclass(frozen=True, slots=True)
class Matches:
    """Where words of the query stand in some texts, in rising order."""

    position: NDArray[np.int64]
    stem: NDArray[np.int64]  # index of the word's stem in the query
    owner: NDArray[np.int64]  # which of the texts
    count: int  # texts


def grams(index: Index, terms: Terms, docs: NDArray[Any], texts: TokenRuns) -> Floats:
    """BM25 over 4-grams, as a share of its upper bound."""
    width = len(terms.grams)
    if width == 0 or len(texts.tokens) == 0:
        return np.zeros(len(docs))
    first, held, which = _grams_held(index, terms, texts.tokens)
    repeat = held[texts.tokens]
    some = np.flatnonzero(repeat != 0)
    repeat = repeat[some]
    starts = first[texts.tokens[some]]
    pairs = np.repeat(texts.owner[some].astype(np.int64) * width, repeat)
    pairs += which[spread(starts, repeat)]
    found = np.bincount(pairs, minlength=len(docs) * width).reshape(len(docs), width)
    length = index.gram_length.view[docs] / terms.mean_grams
    return _bounded_bm25(found, length, terms.gram_idf)


def _grams_held(
    index: Index, terms: Terms, tokens: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Which of the query's grams each word holds: per word the first one and how many, then the
    grams themselves."""
    size = len(index.vocabulary)
    seen = np.zeros(size, dtype=np.bool_)
    seen[tokens] = True
    distinct = np.flatnonzero(seen)
    grams, counts = index.vocabulary.grams_in(distinct)
    which = terms.gram_number[grams]
    hits = which != 0
    # How many hits lie before each word's grams: a running count, read at the words' borders.
    running = np.concatenate([[0], np.cumsum(hits)])
    border = np.concatenate([[0], np.cumsum(counts)])
    first = np.zeros(size, dtype=np.int32)
    held = np.zeros(size, dtype=np.int32)
    first[distinct] = running[border[:-1]]
    held[distinct] = running[border[1:]] - running[border[:-1]]
    return first, held, which[hits].astype(np.int64) - 1


def _bounded_bm25(found: NDArray[Any], length: NDArray[Any], weight: Floats) -> Floats:
    b = MATCHING.b
    drag = (MATCHING.k1 * (1 - b + b * length))[:, None]
    rising = found / (found + drag)
    # Column by column: the sum of one document must not depend on how many there are.
    total = np.einsum("ij,j->i", rising, weight)
    return np.asarray(total / weight.sum())


def stem_numbers(index: Index, terms: Terms) -> NDArray[np.uint8]:
    """word -> 1 + index of its stem in the query, 0 for all others."""
    number = np.zeros(len(index.vocabulary), dtype=np.uint8)
    for at, stem in enumerate(terms.stems):
        known = index.vocabulary.stem_number(stem)
        if known >= 0:
            number[known] = at + 1
    return np.asarray(number[index.vocabulary.stem_of.view])


def window(terms: Terms, found: Matches) -> Floats:
    """The share of the query's weight that the best stretch of 40 words holds."""
    best = np.zeros(found.count)
    position, stem, owner = found.position, found.stem, found.owner
    if len(position) == 0:
        return best
    # The best stretch begins with a match. An occurrence is new to the stretches that begin
    # after the last one of its stem and within reach: its weight is added at the first match
    # where such a stretch can begin, and taken away after itself.
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    first = np.repeat(position[starts], np.diff(starts, append=len(owner)))
    since = np.maximum(position - (MATCHING.window_words - 1), first)
    since = np.maximum(since, _after_last_of_its_kind(owner * len(terms.stems) + stem, position))
    begin = np.searchsorted(position, since)
    weight = terms.stem_idf[stem]
    change: Floats = np.bincount(begin, weight, minlength=len(position)).astype(np.float64)
    change[1:] -= weight[:-1]
    height = np.cumsum(change)
    best[owner[starts]] = np.maximum.reduceat(height, starts)
    return np.asarray(np.clip(np.round(best / terms.stem_idf.sum(), 9), 0, 1))


def _after_last_of_its_kind(kind: NDArray[Any], position: NDArray[Any]) -> NDArray[Any]:
    """For each match the position after the previous one of the same kind; 0 for a first."""
    order = np.argsort(kind, kind="stable")
    sorted_kind, sorted_position = kind[order], position[order]
    after = np.zeros(len(order), dtype=np.int64)
    same = sorted_kind[1:] == sorted_kind[:-1]
    after[order[1:]] = np.where(same, sorted_position[:-1] + 1, 0)
    return after


def pairs(terms: Terms, found: Matches) -> Floats:
    """The weight share of query words that stand side by side in the text as they do in the
    query."""
    width = len(terms.stems)
    if width < 2:
        return np.zeros(found.count)
    position, stem, owner = found.position, found.stem, found.owner
    held = []
    most = MATCHING.near_words
    for step in range(1, most):  # matches that have at most two others between them
        left, right = stem[:-step], stem[step:]
        near = (np.abs(left - right) == 1) & (position[step:] - position[:-step] <= most)
        near &= owner[:-step] == owner[step:]
        held.append((owner[:-step] * width + np.minimum(left, right))[near])
    once = distinct(np.concatenate(held))
    weight = np.minimum(terms.stem_idf[:-1], terms.stem_idf[1:])
    total = np.bincount(once // width, weight[once % width], minlength=found.count)
    return np.asarray(np.clip(np.round(total / weight.sum(), 9), 0, 1))


def session(index: Index, terms: Terms, numbers: NDArray[np.uint8], session_windows: Any) -> Floats:
    """BM25 over the stems of whole session windows, as a share of its upper bound."""
    width = len(terms.stems)
    if width == 0 or len(session_windows) == 0:
        return np.zeros(len(session_windows))
    docs, members = index.session_windows.docs_of(session_windows)
    tokens, lengths = index.tokens_of(docs)
    number = np.repeat(np.arange(len(session_windows), dtype=np.int32), members)
    owner = np.repeat(number, lengths)
    which = numbers[tokens]
    some = which != 0
    pairs = owner[some].astype(np.int64) * width + which[some] - 1
    found = np.bincount(pairs, minlength=len(session_windows) * width).reshape(-1, width)
    length = index.session_windows.length.view[session_windows] / terms.mean_session_window
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


def within(index: Index, spans: tuple[Span, ...], docs: NDArray[Any]) -> Floats:
    """1 for a document of a time that the query names; 0 if it names none."""
    score = np.zeros(len(docs))
    time = index.time.view[docs]
    for span in spans:
        score = np.maximum(score, (time >= span.start) & (time < span.end) & (time != NO_TIME))
    return np.asarray(score, dtype=np.float64)


def replies(index: Index, docs: NDArray[Any]) -> Floats:
    """1 for what was said right after a short question. Not when a user asked and an assistant
    answered: an agent answers everything, while an answer that a person gives is news."""
    before = index.previous.view[docs]
    at = np.maximum(before, 0)
    user, assistant = AUTHORS.index("user"), AUTHORS.index("assistant")
    served = (index.author.view[at] == user) & (index.author.view[docs] == assistant)
    return np.asarray((before >= 0) & index.asks.view[at] & ~served, dtype=np.float64)
