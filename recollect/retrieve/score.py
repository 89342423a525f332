"""Exact scores of a set of documents, signal by signal.

In: an index, a weighted query, candidates and the query's vector, if there is one. Out:
`ScoredDocuments`. Without a vector the semantic signals are left out, not set to zero: what remains
is exactly the ranking by words.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import AS_IT_IS, GRAPH, MATCHING, CosineScale, Floor, SearchWeights
from recollect.retrieve import rank
from recollect.retrieve.index import AUTHORS, Index
from recollect.retrieve.query import Query, QueryTerms, Span
from recollect.retrieve.rank import EXHAUSTIVE, Floats, best, with_neighbours

_NEED_VECTOR = ("session_cosine", "alone")
FINALISTS = 40  # documents whose neighbours and session windows are scored too


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

    def scaled(self, cosines: Any) -> Floats:
        """Cosines as the weights are fitted to them."""
        scale = self.scale
        found = scale.stretch * cosines.astype(np.float64) + scale.shift
        return np.asarray(np.clip(found, -1.0, 1.0))


@dataclass(frozen=True)
class _Own:
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

    def joined(self, other: "_Own") -> "_Own":
        docs = np.concatenate([self.docs, other.docs])
        order = np.argsort(docs)
        cosine = None
        if self.cosine is not None and other.cosine is not None:
            cosine = np.concatenate([self.cosine, other.cosine])[order]
        return _Own(
            docs[order],
            np.concatenate([self.grams, other.grams])[order],
            np.concatenate([self.window, other.window])[order],
            np.concatenate([self.pairs, other.pairs])[order],
            cosine,
        )


@dataclass(frozen=True)
class Signals:
    """All that ranking knows about some documents of one index, before anything is weighted."""

    own: _Own  # of the documents and of those beside them
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
    own = _own(index, question, candidates)
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
    docs = with_neighbours(index, finalists)
    around = with_neighbours(index, docs)
    missing = np.setdiff1d(around, own.docs, assume_unique=True)
    if len(missing):
        own = own.joined(_own(index, question, missing))
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
        rank.replies(index, docs),
        in_session,
        context,
        rank.prior(index, docs, question.now),
    )


def _own(index: Index, question: IndexQuery, docs: NDArray[np.int64]) -> _Own:
    texts, found = rank.texts_of(index, docs, question.numbers)
    cosine = None
    if question.vector is not None:
        cosine = question.scaled(index.vectors.cosines(docs, question.vector))
        cosine = np.where(np.isnan(cosine), MATCHING.unknown_cosine, cosine)
    return _Own(
        docs,
        rank.grams(index, question.terms, docs, texts),
        rank.window(question.terms, found),
        rank.pairs(question.terms, found),
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
    sessions, sizes = rank.session(index, question.terms, question.numbers, session_windows)
    in_session = sizes[member] > 1
    dates, spans = question.query.dates, question.spans
    found = {
        "session": sessions[member],
        "date": rank.dated(index, dates, spans, docs) if dates or spans else np.zeros(len(docs)),
        "user": np.asarray(index.author.view[docs] == AUTHORS.index("user"), dtype=np.float64),
    }
    if question.reached is not None:
        found["graph"] = _reached(docs, question.reached)
    if cosine is not None and question.vector is not None:
        found["session_cosine"] = _session_cosine(
            index, session_windows, question, question.vector, cosine, member
        )
        found["alone"] = np.where(in_session, 0.0, np.maximum(cosine, 0.0))
    return in_session, found


def _reached(docs: NDArray[Any], reached: tuple[NDArray[np.int64], Floats]) -> Floats:
    """The graph bonus of each document; 0 where the graph leads to none."""
    at = np.minimum(np.searchsorted(reached[0], docs), max(0, len(reached[0]) - 1))
    return np.where(reached[0][at] == docs, reached[1][at], 0.0)


def _session_cosine(
    index: Index,
    session_windows: NDArray[Any],
    question: IndexQuery,
    vector: NDArray[Any],
    own_cosine: Floats,
    own: NDArray[Any],
) -> Floats:
    """The cosine of the mean vector of a document's session window; its own when it is alone."""
    rows = index.session_windows.mean_row.view[session_windows]
    shared = rows >= 0
    mean = np.full(len(session_windows), np.nan)
    mean[shared] = question.scaled(index.session_windows.means.dot(rows[shared], vector))
    return np.where(np.isnan(mean[own]), own_cosine, mean[own])


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
    indexes: Sequence[Index], scored: Sequence[ScoredDocuments], limit: int, k: int, depth: int
) -> list[tuple[float, _Place]]:
    """The best rows by their ranks in two lists, by words and by meaning."""
    lexical = best_rows(indexes, scored, [one.lexical for one in scored], depth * limit)
    near = best_rows(indexes, scored, [one.parts["cosine"] for one in scored], depth * limit)
    fused = rrf(([place for _, place in lexical], [place for _, place in near]), k)
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
