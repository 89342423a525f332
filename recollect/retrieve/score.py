"""Exact scores of a set of documents: the signals of relevance, one function each, and their sum.

In: an index, a weighted query, candidates and the query's vector, if there is one. Out:
`ScoredDocuments`. A signal is bounded and does not depend on what else was found, so the sum also
serves as a confidence. Without a vector the semantic signals are left out, not set to zero: what
remains is exactly the ranking by words.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import (
    AS_IT_IS,
    GRAPH,
    MATCHING,
    PRIORS,
    CosineScale,
    Floor,
    SearchWeights,
)
from recollect.retrieve.arrays import spread
from recollect.retrieve.candidates import EXHAUSTIVE, best
from recollect.retrieve.index import AUTHORS, FRESHNESS, NO_TIME, Index
from recollect.retrieve.query import Date, Query, QueryTerms, Span

Floats = NDArray[np.float64]

_NEED_VECTOR = ("session_cosine", "alone")
FINALISTS = 40  # documents whose neighbours and session windows are scored too


# --- the signals ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Matches:
    """Where words of the query stand in some texts, in rising order."""

    position: NDArray[np.int64]
    stem: NDArray[np.int64]  # index of the word's stem in the query
    owner: NDArray[np.int64]  # which of the texts
    count: int  # texts


def grams(
    index: Index,
    terms: QueryTerms,
    docs: NDArray[Any],
    tokens: NDArray[np.uint32],
    owner: NDArray[np.int32],
) -> Floats:
    """BM25 over 4-grams, as a share of its upper bound; `tokens` are the words of the documents,
    and `owner` says which one's."""
    width = len(terms.grams)
    if width == 0 or len(tokens) == 0:
        return np.zeros(len(docs))
    # Which of the query's grams each word holds: per word the first one and how many.
    size = len(index.vocabulary.stem_of.view)
    seen = np.zeros(size, dtype=np.bool_)
    seen[tokens] = True
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
    repeat = held[tokens]
    some = np.flatnonzero(repeat != 0)
    repeat = repeat[some]
    pairs = np.repeat(owner[some].astype(np.int64) * width, repeat)
    pairs += hit_grams[spread(first[tokens[some]], repeat)]
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
    held = np.zeros(found.count * width, dtype=np.bool_)  # text and pair
    most = MATCHING.near_words
    for step in range(1, most):  # matches that have at most two others between them
        left, right = stem[:-step], stem[step:]
        near = (np.abs(left - right) == 1) & (position[step:] - position[:-step] <= most)
        near &= owner[:-step] == owner[step:]
        held[(owner[:-step] * width + np.minimum(left, right))[near]] = True
    once = np.flatnonzero(held)
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


def with_neighbours(index: Index, docs: NDArray[np.int64]) -> NDArray[np.int64]:
    """These documents and the ones next to them in their sessions, in ascending order."""
    wanted = np.zeros(len(index.ids), dtype=np.bool_)
    wanted[docs] = True
    for beside in (index.previous.view[docs], index.next.view[docs]):
        wanted[beside[beside >= 0]] = True
    return np.flatnonzero(wanted)


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


# --- and their sum --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoredDocuments:
    docs: NDArray[np.int64]
    lexical: Floats  # the score by words alone
    total: Floats  # the score with meaning; equal to `lexical` without a vector
    parts: dict[str, Floats]  # the bare signals, unweighted


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A query as one index sees it."""

    query: Query
    terms: QueryTerms
    numbers: NDArray[np.uint8]  # word -> 1 + index of its stem in the query
    vector: NDArray[Any] | None
    now: int | None = None  # microseconds since 1970
    spans: tuple[Span, ...] = ()  # times that the query names, as seen from now
    reached: tuple[NDArray[np.int64], Floats] | None = None  # documents of the graph leg, rising
    scale: CosineScale = AS_IT_IS  # of the model's cosines
    wanted: int = 0  # results that may be asked for; above `FINALISTS` more documents are scored
    each_side: bool = False  # as many by words alone and by meaning alone, for rank fusion
    listed: NDArray[np.int64] | None = None  # documents of another ranking by words, rising

    def scaled(self, cosines: Any) -> Floats:
        """Cosines as the weights are fitted to them."""
        scale = self.scale
        found = scale.stretch * cosines.astype(np.float64) + scale.shift
        return np.asarray(np.clip(found, -1.0, 1.0))


@dataclass(frozen=True)
class TextSignals:
    """The scores of documents by their own text, in ascending order of document number."""

    docs: NDArray[np.int64]
    grams: Floats
    window: Floats
    pairs: Floats
    cosine: Floats | None

    def value(self, weights: SearchWeights) -> tuple[Floats, Floats]:
        """By words, and with meaning; the same without a vector."""
        words = weights.grams * self.grams + weights.window * self.window
        words = words + weights.pairs * self.pairs
        return words, words if self.cosine is None else words + weights.cosine * self.cosine

    def joined(self, other: "TextSignals") -> "TextSignals":
        docs = np.concatenate([self.docs, other.docs])
        order = np.argsort(docs)
        cosine = None
        if self.cosine is not None and other.cosine is not None:
            cosine = np.concatenate([self.cosine, other.cosine])[order]
        return TextSignals(
            docs[order],
            np.concatenate([self.grams, other.grams])[order],
            np.concatenate([self.window, other.window])[order],
            np.concatenate([self.pairs, other.pairs])[order],
            cosine,
        )


@dataclass(frozen=True)
class Signals:
    """All that ranking knows about some documents of one index, before anything is weighted."""

    own: TextSignals  # of the documents and of those beside them
    docs: NDArray[np.int64]  # the documents to rank, in ascending order
    at: NDArray[Any]  # document -> its row in `own`
    # For the previous and the next document: whether there is one, and its row in `own`.
    beside: list[tuple[NDArray[Any], NDArray[Any]]]
    replies: Floats
    in_session: NDArray[np.bool_]  # whether a document has others around it
    context: dict[str, Floats]  # the signals that do not come from a document's own text
    prior: Floats

    def score(self, weights: SearchWeights) -> ScoredDocuments:
        own, at, context = self.own, self.at, self.context
        parts = {"grams": own.grams[at], "window": own.window[at], "pairs": own.pairs[at]}
        parts |= {name: one for name, one in context.items() if name not in _NEED_VECTOR}
        fixed = weights.date * context["date"]
        if "graph" in context:
            fixed = fixed + weights.graph * context["graph"]
        words, both = own.value(weights)
        # The better score of the two neighbours; the previous one counts more when the document
        # replies to it. 0 for a document without neighbours.
        reply = 1 + weights.answer * self.replies
        (before, place_before), (after, place_after) = self.beside
        near = [
            np.maximum(
                np.where(before, value[place_before], 0.0) * reply,
                np.where(after, value[place_after], 0.0),
            )
            for value in ((words,) if own.cosine is None else (words, both))
        ]
        parts["neighbour"] = near[-1]
        lexical = words[at] + weights.neighbour * near[0] + fixed
        lexical = lexical + weights.session * context["session"]
        # Who said it counts for what matches; by itself it is no match.
        said = weights.user * context["user"]
        lexical = total = np.where(lexical > 0, lexical + said, lexical)
        if own.cosine is not None:
            parts["cosine"] = own.cosine[at]
            parts |= {name: context[name] for name in _NEED_VECTOR}
            # A document without a session has no second witness: its own words, counted again as
            # a session's, would outweigh its meaning.
            parts["session"] = np.where(self.in_session, context["session"], 0.0)
            total = both[at] + weights.neighbour * near[-1] + fixed
            total = total + weights.session * parts["session"] + weights.alone * parts["alone"]
            total = total + weights.session_cosine * parts["session_cosine"]
            total = np.where(total > 0, total + said, total)
        lexical, total = (np.round(one * self.prior, 9) for one in (lexical, total))
        return ScoredDocuments(self.docs, lexical, total, parts)


def gather(
    index: Index, question: IndexQuery, candidates: NDArray[np.int64], weights: SearchWeights
) -> Signals:
    """The signals of the candidates; of many candidates, of those that these weights find best."""
    own = text_signals(index, question, candidates)
    finalists = candidates
    if index.count > EXHAUSTIVE:
        most = max(FINALISTS, question.wanted)
        words, both = (np.round(one, 9) for one in own.value(weights))
        finalists = best(index, own.docs, both, most)
        if question.each_side and own.cosine is not None:
            near = best(index, own.docs, np.round(own.cosine, 9), most)
            finalists = reduce(np.union1d, (best(index, own.docs, words, most), near, finalists))
        if question.reached is not None:
            finalists = np.union1d(finalists, question.reached[0])
        if question.listed is not None:
            finalists = np.union1d(finalists, question.listed)
    docs = with_neighbours(index, finalists)
    around = with_neighbours(index, docs)
    missing = np.setdiff1d(around, own.docs, assume_unique=True)
    if len(missing):
        own = own.joined(text_signals(index, question, missing))
    at = np.searchsorted(own.docs, docs)
    beside = []
    for column in (index.previous.view[docs], index.next.view[docs]):
        place = np.searchsorted(own.docs, np.maximum(column, 0))
        beside.append((column >= 0, np.minimum(place, len(own.docs) - 1)))
    in_session, context = _context(
        index, question, docs, None if own.cosine is None else own.cosine[at]
    )
    return Signals(
        own,
        docs,
        at,
        beside,
        replies(index, docs),
        in_session,
        context,
        prior(index, docs, question.now),
    )


def text_signals(index: Index, question: IndexQuery, docs: NDArray[np.int64]) -> TextSignals:
    """How the own texts of documents match a query."""
    tokens, lengths = index.tokens.of(docs)
    owner = np.repeat(np.arange(len(docs), dtype=np.int32), lengths)
    which = question.numbers[tokens]
    at = np.flatnonzero(which != 0)
    stem = which[at].astype(np.int64) - 1
    found = Matches(at, stem, owner[at].astype(np.int64), len(docs))
    cosine = None
    if question.vector is not None:
        cosine = question.scaled(index.vectors.cosines(docs, question.vector))
        cosine = np.where(np.isnan(cosine), MATCHING.unknown_cosine, cosine)
    return TextSignals(
        docs,
        grams(index, question.terms, docs, tokens, owner),
        window(question.terms, found),
        pairs(question.terms, found),
        cosine,
    )


def _context(
    index: Index,
    question: IndexQuery,
    docs: NDArray[np.int64],
    cosine: Floats | None,
) -> tuple[NDArray[np.bool_], dict[str, Floats]]:
    """Whether a document has others of its session around it; and what its session, its time, its
    author and the graph say for it."""
    session_windows, member = np.unique(index.session_window.view[docs], return_inverse=True)
    sessions, sizes = session(index, question.terms, question.numbers, session_windows)
    in_session = sizes[member] > 1
    dates, spans = question.query.dates, question.spans
    found = {
        "session": sessions[member],
        "date": dated(index, dates, spans, docs) if dates or spans else np.zeros(len(docs)),
        "user": np.asarray(index.author.view[docs] == AUTHORS.index("user"), dtype=np.float64),
    }
    if question.reached is not None:
        found["graph"] = _reached(docs, question.reached)
    if cosine is not None and question.vector is not None:
        # Of the mean vector of the session window; of a document that is alone its own.
        rows = index.session_windows.mean_row.view[session_windows]
        shared = rows >= 0
        near = index.session_windows.means.dot(rows[shared], question.vector)
        mean = np.full(len(session_windows), np.nan)
        mean[shared] = question.scaled(near)
        found["session_cosine"] = np.where(np.isnan(mean[member]), cosine, mean[member])
        found["alone"] = np.where(in_session, 0.0, np.maximum(cosine, 0.0))
    return in_session, found


def _reached(docs: NDArray[Any], reached: tuple[NDArray[np.int64], Floats]) -> Floats:
    """The graph bonus of each document; 0 where the graph leads to none."""
    at = np.minimum(np.searchsorted(reached[0], docs), max(0, len(reached[0]) - 1))
    return np.where(reached[0][at] == docs, reached[1][at], 0.0)


def confidence(
    scored: Sequence[ScoredDocuments], terms: QueryTerms, vectors: int, floor: Floor
) -> tuple[float, float]:
    """How sure it is that something here answers the query, and the cosine that the nearest of so
    many vectors has although it means something else. Below the floor, one threshold for all
    stores, the answer is nothing (docs/decisions/ranking.md).

    The best cosine, and the best match by words as far as the store knows the query's words at
    all: a question about something else shares only the small ones. Among many vectors one is
    near by chance (the largest of n normal values grows as the root of 2 ln n), so the cosine of
    a large store has to be higher.
    """
    most = {
        part: max((float(one.parts[part].max(initial=0)) for one in scored if part in one.parts),
                  default=0.0)
        for part in ("grams", "window", "cosine")
    }  # fmt: skip
    by_chance = floor.chance * math.sqrt(2 * math.log(max(2, vectors))) if vectors else 0.0
    return most["cosine"] - by_chance + by_words(most, terms.known, floor), by_chance


def by_words(parts: Mapping[str, float], known: float, floor: Floor) -> float:
    """How sure words make it that a memory answers a query of which the store knows this share."""
    return known * (floor.grams * parts.get("grams", 0.0) + floor.window * parts.get("window", 0.0))


# --- which documents are the best, over several indexes -------------------------------------------

DEPTH = 4  # rank fusion reads this many times the limit from each ranking
K = 60  # of rank fusion

Key = TypeVar("Key", bound=Hashable)
_Place = tuple[int, int]  # which namespace, which row of its scores


def best_rows(
    indexes: Sequence[Index], scored: Sequence[ScoredDocuments], values: Sequence[Floats], most: int
) -> list[tuple[float, _Place]]:
    """The `most` best rows above 0: score falling, time falling, id rising."""
    keys = []
    for number, value in enumerate(values):
        edge = 0.0
        if len(value) > most > 0:
            edge = max(edge, float(np.partition(value, len(value) - most)[len(value) - most]))
        index, docs = indexes[number], scored[number].docs
        for at in np.flatnonzero(value >= edge if edge > 0 else value > 0).tolist():
            doc, score = int(docs[at]), float(value[at])
            row = (score, (number, at))
            keys.append((-score, -int(index.created.view[doc]), index.ids[doc], row))
    return [key[-1] for key in sorted(keys)[:most]]


def fused_rows(
    indexes: Sequence[Index],
    scored: Sequence[ScoredDocuments],
    limit: int,
    k: int,
    depth: int,
    listed: Sequence[str] | None,
    *,
    semantic: bool,
) -> list[tuple[float, _Place]]:
    """The best rows by their ranks in two lists, by words and by meaning. `listed`: the ids of the
    first list, if it is not the one of these scores; without meaning it is all there is."""
    if listed is None:
        best = best_rows(indexes, scored, [one.lexical for one in scored], depth * limit)
        lexical = [place for _, place in best]
    else:
        places = {
            indexes[number].ids[doc]: (number, at)
            for number, one in enumerate(scored)
            for at, doc in enumerate(one.docs.tolist())
        }
        lexical = [places[one] for one in listed if one in places]
    if not semantic:
        return [(value, place) for place, value in rrf([lexical], k).items()][:limit]
    near = best_rows(indexes, scored, [one.parts["cosine"] for one in scored], depth * limit)
    fused = rrf((lexical, [place for _, place in near]), k)
    values = [GRAPH.rrf_bonus * one.parts.get("graph", np.zeros(len(one.docs))) for one in scored]
    for (number, at), value in fused.items():
        values[number][at] += value
    return best_rows(indexes, scored, values, limit)


def rrf(rankings: Iterable[Sequence[Key]], k: int = K) -> dict[Key, float]:
    """Reciprocal rank fusion: each list gives 1/(k + rank), ranks from 1; absence
    gives 0. The default adds scores instead."""
    fused: dict[Key, float] = {}
    for ranking in rankings:
        for place, key in enumerate(dict.fromkeys(ranking), start=1):
            fused[key] = fused.get(key, 0.0) + 1 / (k + place)
    return fused
