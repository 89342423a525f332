"""The signals of relevance, one function each, and the documents that they are computed for.

In: an index, the weighted terms of a query and document numbers. Out: one number per document and
signal. It is bounded and does not depend on what else was found, so the sum also serves as a
confidence. Of a large index only a few hundred candidates are scored; which ones does not depend on
the order in which documents were added: ties at the edge are all taken, or ordered by time and id.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import MATCHING, PRIORS
from recollect.retrieve.arrays import distinct, spread
from recollect.retrieve.index import AUTHORS, FRESHNESS, NO_TIME, Index
from recollect.retrieve.query import Date, QueryTerms, Span

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TokenRuns:
    """The words of some documents, concatenated."""

    tokens: NDArray[np.uint32]
    owner: NDArray[np.int32]  # token -> which of them
    count: int


def texts_of(
    index: Index, docs: NDArray[Any], numbers: NDArray[np.uint8]
) -> tuple[TokenRuns, "Matches"]:
    """The words of documents, and where words of the query stand in them."""
    tokens, lengths = index.tokens.of(docs)
    owner = np.repeat(np.arange(len(docs), dtype=np.int32), lengths)
    which = numbers[tokens]
    position = np.flatnonzero(which != 0)
    stem = which[position].astype(np.int64) - 1
    found = Matches(position, stem, owner[position].astype(np.int64), len(docs))
    return TokenRuns(tokens, owner, len(docs)), found


@dataclass(frozen=True, slots=True)
class Matches:
    """Where words of the query stand in some texts, in rising order."""

    position: NDArray[np.int64]
    stem: NDArray[np.int64]  # index of the word's stem in the query
    owner: NDArray[np.int64]  # which of the texts
    count: int  # texts


def grams(index: Index, terms: QueryTerms, docs: NDArray[Any], texts: TokenRuns) -> Floats:
    """BM25 over 4-grams, as a share of its upper bound."""
    width = len(terms.grams)
    if width == 0 or len(texts.tokens) == 0:
        return np.zeros(len(docs))
    # Which of the query's grams each word holds: per word the first one and how many.
    size = len(index.vocabulary.stem_of.view)
    seen = np.zeros(size, dtype=np.bool_)
    seen[texts.tokens] = True
    words = np.flatnonzero(seen)
    held_grams, counts = index.vocabulary.grams_in(words)
    which = terms.gram_number[held_grams]
    hits = which != 0
    # How many hits lie before each word's grams: a running count, read at the words' borders.
    running = np.concatenate([[0], np.cumsum(hits)])
    border = np.concatenate([[0], np.cumsum(counts)])
    first = np.zeros(size, dtype=np.int32)
    held = np.zeros(size, dtype=np.int32)
    first[words] = running[border[:-1]]
    held[words] = running[border[1:]] - running[border[:-1]]
    hit_grams = which[hits].astype(np.int64) - 1
    # How often each document holds each gram, by way of its words.
    repeat = held[texts.tokens]
    some = np.flatnonzero(repeat != 0)
    repeat = repeat[some]
    pairs = np.repeat(texts.owner[some].astype(np.int64) * width, repeat)
    pairs += hit_grams[spread(first[texts.tokens[some]], repeat)]
    found = np.bincount(pairs, minlength=len(docs) * width).reshape(len(docs), width)
    length = index.gram_length.view[docs] / terms.mean_grams
    return _bounded_bm25(found, length, terms.gram_idf)


def _bounded_bm25(found: NDArray[Any], length: NDArray[Any], weight: Floats) -> Floats:
    b = MATCHING.b
    drag = (MATCHING.k1 * (1 - b + b * length))[:, None]
    rising = found / (found + drag)
    # Column by column: the sum of one document must not depend on how many there are.
    total = np.einsum("ij,j->i", rising, weight)
    return np.asarray(total / weight.sum())


def stem_numbers(index: Index, terms: QueryTerms) -> NDArray[np.uint8]:
    """word -> 1 + index of its stem in the query, 0 for all others."""
    number = np.zeros(len(index.vocabulary.stem_of.view), dtype=np.uint8)
    known = index.vocabulary.stem_numbers(terms.stems)
    there = np.flatnonzero(known >= 0)
    number[known[there]] = there + 1
    return np.asarray(number[index.vocabulary.stem_of.view])


def window(terms: QueryTerms, found: Matches) -> Floats:
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
    kind = owner * len(terms.stems) + stem
    order = np.argsort(kind, kind="stable")
    same = kind[order[1:]] == kind[order[:-1]]
    after = np.zeros(len(order), dtype=np.int64)
    after[order[1:]] = np.where(same, position[order[:-1]] + 1, 0)
    since = np.maximum(since, after)
    begin = np.searchsorted(position, since)
    weight = terms.stem_idf[stem]
    change: Floats = np.bincount(begin, weight, minlength=len(position)).astype(np.float64)
    change[1:] -= weight[:-1]
    height = np.cumsum(change)
    best[owner[starts]] = np.maximum.reduceat(height, starts)
    return np.asarray(np.clip(np.round(best / terms.stem_idf.sum(), 9), 0, 1))


def pairs(terms: QueryTerms, found: Matches) -> Floats:
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


def session(
    index: Index, terms: QueryTerms, numbers: NDArray[np.uint8], session_windows: Any
) -> tuple[Floats, NDArray[Any]]:
    """BM25 over the stems of whole session windows, as a share of its upper bound, and how many
    documents each window has."""
    width = len(terms.stems)
    held = [index.session_windows.members[number] for number in session_windows.tolist()]
    members = np.fromiter(map(len, held), dtype=np.int64, count=len(held))
    if width == 0 or len(session_windows) == 0:
        return np.zeros(len(session_windows)), members
    docs = np.array([doc for docs in held for doc in docs], dtype=np.int64)
    tokens, lengths = index.tokens.of(docs)
    number = np.repeat(np.arange(len(session_windows), dtype=np.int32), members)
    owner = np.repeat(number, lengths)
    which = numbers[tokens]
    some = which != 0
    pairs = owner[some].astype(np.int64) * width + which[some] - 1
    found = np.bincount(pairs, minlength=len(session_windows) * width).reshape(-1, width)
    length = index.session_windows.length.view[session_windows] / terms.mean_session_window
    return _bounded_bm25(found, length, terms.stem_idf), members


def dated(
    index: Index, dates: tuple[Date, ...], spans: tuple[Span, ...], docs: NDArray[Any]
) -> Floats:
    """What share of the date that the query names is the document's own, and 1 for a document of
    a time that it names."""
    score = np.zeros(len(docs))
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
    for span in spans:
        score = np.maximum(score, (time >= span.start) & (time < span.end))
    return np.where(time == NO_TIME, 0.0, score)


def replies(index: Index, docs: NDArray[Any]) -> Floats:
    """1 for what was said right after a short question. Not when a user asked and an assistant
    answered: an agent answers everything, while an answer that a person gives is news."""
    before = index.previous.view[docs]
    at = np.maximum(before, 0)
    user, assistant = AUTHORS.index("user"), AUTHORS.index("assistant")
    served = (index.author.view[at] == user) & (index.author.view[docs] == assistant)
    return np.asarray((before >= 0) & index.asks.view[at] & ~served, dtype=np.float64)


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


HOUR = 3_600_000_000
STALE = {"drifted": PRIORS.drifted, "orphaned": PRIORS.orphaned, "ended": PRIORS.ended}


def prior(index: Index, docs: NDArray[Any], now: int | None) -> Floats:
    rows, time = index.prior.view[docs], index.time.view[docs]
    # 1..10 (default 5) becomes 0.92 to 1.10.
    importance = 1 + PRIORS.importance * (rows["importance"].astype(np.float64) - 5) / 5
    # 0..1 becomes 0.8 to 1.
    confidence = 1 - PRIORS.confidence * (1 - rows["confidence"].astype(np.float64))
    # Less for a memory whose files have changed since, or are gone.
    freshness = np.array([STALE.get(name, 1.0) for name in FRESHNESS])[rows["freshness"]]
    # A little more for everything but raw turns.
    derived = np.where(rows["derived"], 1 + PRIORS.derived, 1.0)
    # A little more for memories that were used before; no more than for 50 uses.
    used = np.log1p(rows["access"].astype(np.float64)) / np.log1p(50)
    access = 1 + PRIORS.access * np.minimum(1, used)
    product = importance * confidence * freshness * derived * access
    if now is not None:
        # A little more for memories of the last week, less with age.
        hours = (now - np.where(time == NO_TIME, 0, time)) / HOUR
        share = np.clip(1 - hours / PRIORS.recent_hours, 0, 1)
        product = product * np.where(time == NO_TIME, 1.0, 1 + PRIORS.recency * share)
    return np.asarray(product, dtype=np.float64)
