"""The search engine: indexes of many namespaces, held in memory, and `find`, which every door asks.

In: documents as they are written, and prompts. Out: `Ranked`. A missing, slow or failing embedder,
or an error in the search by meaning, ends no search: it then goes by words alone, and `left_out`
says why.
"""

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.core.clock import to_micros
from recollect.core.errors import ModelUnavailable
from recollect.core.settings import Fusion
from recollect.core.tuning import AS_IT_IS, FLOOR, SEARCH, Floor, SearchWeights
from recollect.retrieve import candidates
from recollect.retrieve.graph import GraphCache, GraphWalk
from recollect.retrieve.index import Document, Index
from recollect.retrieve.query import Query, QueryTerms, Span, anchors_in, parse, spans_in, weigh
from recollect.retrieve.score import (
    DEPTH,
    IndexQuery,
    K,
    Signals,
    best_rows,
    confidence,
    fused_rows,
    gather,
    stem_numbers,
)
from recollect.store.interface import Store

log = logging.getLogger(__name__)

Mode = Literal["hybrid", "keyword", "semantic"]


@dataclass(frozen=True, slots=True)
class Result:
    id: str
    namespace: str
    score: float
    parts: dict[str, float]  # the signals before weighting


@dataclass(frozen=True)
class Ranked:
    results: tuple[Result, ...]
    confidence: float  # compared with the floor
    stages: dict[str, float]  # CPU seconds by stage
    semantic: bool  # whether vectors were used
    left_out: dict[str, str] = field(default_factory=dict)  # what was not used, and why
    vector: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    by_chance: float = 0.0  # a cosine that means nothing in a store of this size
    known: float = 0.0  # see `QueryTerms.known`
    content: frozenset[str] = frozenset()  # the stems of the prompt that carry meaning


_NO_VECTORS = "no memory here has a vector yet"
_DAY_US = 86_400_000_000
MOST_LISTED = 5_000  # memories that are read for a ranking by the store's full text
_CHUNK = 64  # documents added under one hold of the lock: searches run in between


class QueryEmbedder(Protocol):
    @property
    def ready(self) -> bool: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class SearchEngine:
    def __init__(
        self,
        embedder: QueryEmbedder | None = None,
        weights: SearchWeights = SEARCH,
        floor: Floor = FLOOR,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.embedder = embedder
        self._clock = clock
        self._weights = weights
        self._floor = floor
        self._indexes: dict[str, Index] = {}
        self._lock = threading.RLock()

    # --- changing -------------------------------------------------------------------------------

    def add(self, namespace: str, documents: Iterable[Document]) -> None:
        """Add documents; a search that starts after this returns sees them."""
        chunk: list[Document] = []
        for document in documents:
            chunk.append(document)
            if len(chunk) >= _CHUNK:
                self._add(namespace, chunk)
                chunk = []
        self._add(namespace, chunk)

    def remove(self, namespace: str, ids: Iterable[str]) -> None:
        with self._lock:
            if namespace in self._indexes:
                self._indexes[namespace].remove(ids)

    def drop(self, namespace: str) -> None:
        """Drop a namespace's index; it can be rebuilt from the store."""
        with self._lock:
            self._indexes.pop(namespace, None)

    def after(self, namespace: str, session: str, position: int) -> list[str]:
        """The memories at the next position of a session, as far as they are indexed."""
        with self._lock:
            index = self._indexes.get(namespace)
            return index.after(session, position) if index is not None else []

    def needs_rebuild(self, namespace: str) -> bool:
        """Whether an index holds so many removed documents that it should be rebuilt."""
        with self._lock:
            index = self._indexes.get(namespace)
            return index is not None and index.needs_rebuild

    def replace(self, namespace: str, by: str) -> None:
        """Put the index that was built under the name `by` in the place of another."""
        with self._lock:
            if by in self._indexes:
                self._indexes[namespace] = self._indexes.pop(by)

    def __contains__(self, namespace: str) -> bool:
        return namespace in self._indexes

    def floor(self, semantic: bool) -> float:
        """The confidence that an answer needs, with vectors or by words alone."""
        return self._floor.hybrid if semantic else self._floor.lexical

    @property
    def weights(self) -> SearchWeights:
        return self._weights

    def memory(self) -> dict[str, dict[str, int]]:
        """Bytes by namespace and purpose."""
        with self._lock:
            return {name: index.nbytes for name, index in self._indexes.items()}

    def _add(self, namespace: str, documents: list[Document]) -> None:
        with self._lock:
            self._indexes.setdefault(namespace, Index()).add(documents)

    # --- searching ------------------------------------------------------------------------------

    def search(
        self,
        text: str,
        namespaces: Sequence[str],
        *,
        limit: int = 10,
        mode: Mode = "hybrid",
        fusion: Fusion = "linear",
        k: int = K,
        depth: int = DEPTH,
        floor: bool = True,
        now: int | None = None,
        weights: SearchWeights | None = None,
        reached: Mapping[str, float] | None = None,
        listed: Sequence[str] | None = None,
    ) -> Ranked:
        """The best memories of these namespaces for a prompt; none if none is good enough.

        `now` (microseconds since 1970) resolves phrases such as "last week" and ranks recent
        memories a little higher; their age is measured from the end of its day, so that the same
        prompt gives the same scores all day. `reached` holds the memories that the graph leads to,
        each with a bonus between 0 and 1. `k` and `depth` are of rank fusion (`fusion="rrf"`), and
        so is `listed`: its ranking by words, if that is not the index's own. Without vectors that
        ranking is the answer.
        """
        asked = self._prepare(text, namespaces, mode, now)
        asked.weights, asked.reached = weights or self._weights, reached
        asked.listed = listed if fusion == "rrf" else None
        asked.fusion, asked.limit, asked.k, asked.depth = fusion, limit, k, depth
        asked.wanted = depth * limit if fusion == "rrf" else limit
        asked.each_side = fusion == "rrf" or mode == "semantic"
        with self._lock:
            try:
                return self._ranked(asked, floor=floor)
            except Exception as error:
                if asked.vector is None:
                    raise
                log.exception("the search by meaning failed; it goes by words alone")
                asked.left_out["semantic"], asked.vector = f"the search failed: {error}", None
                return self._ranked(asked, floor=floor)

    def _ranked(self, asked: "_Prompt", *, floor: bool) -> Ranked:
        found, terms, signals = self._gather(asked)
        semantic = asked.vector is not None
        scored = [one.score(asked.weights) for one in signals]
        asked.mark("score")
        vectors = sum(index.vectors.count for index in found.values()) if semantic else 0
        sure, by_chance = confidence(scored, terms, vectors, self._floor)
        if floor and sure < (least := self.floor(semantic)):
            asked.left_out["all"] = f"confidence {sure:.3f} is below the floor of {least:.3f}"
            scored, found = [], {}
        names, indexes = list(found), list(found.values())
        if semantic and asked.mode == "semantic":
            near = [one.parts["cosine"] for one in scored]
            ordered = best_rows(indexes, scored, near, asked.limit)
        elif asked.fusion == "rrf" and (semantic or asked.listed is not None):
            ordered = fused_rows(
                indexes, scored, asked.limit, asked.k, asked.depth, asked.listed, semantic=semantic
            )
        else:
            ordered = best_rows(indexes, scored, [one.total for one in scored], asked.limit)
        results = tuple(
            Result(
                indexes[number].ids[int(scored[number].docs[at])],
                names[number],
                value,
                {name: round(float(part[at]), 6) for name, part in scored[number].parts.items()},
            )
            for value, (number, at) in ordered
        )
        asked.mark("fuse")
        return Ranked(
            results,
            sure,
            asked.stages,
            semantic,
            asked.left_out,
            asked.vector,
            by_chance,
            terms.known,
            asked.query.content,
        )

    def likeness(
        self, text: str, namespaces: Sequence[str], memories: Iterable[str]
    ) -> dict[str, float]:
        """The cosines of these memories to a text, of those that have a vector."""
        vector = self._vector(parse(text), {}, namespaces)
        if vector is None:
            return {}
        found: dict[str, float] = {}
        wanted = dict.fromkeys(memories, 0.0)
        with self._lock:
            for index in (self._indexes[name] for name in namespaces if name in self._indexes):
                docs = np.array([doc for doc, _ in index.numbers(wanted)], dtype=np.int64)
                near = index.vectors.cosines(docs, vector).tolist() if len(docs) else []
                pairs = zip(docs.tolist(), near, strict=True)
                found |= {index.ids[doc]: one for doc, one in pairs if not math.isnan(one)}
        return found

    def nearest(self, vector: NDArray[np.float32], namespace: str, most: int) -> list[str]:
        """The memories of a namespace that are nearest to a vector, nearest first."""
        with self._lock:
            index = self._indexes.get(namespace)
            if index is None or not index.vectors.count:
                return []
            docs = index.vectors.nearest(vector, 2 * most)
            near = index.vectors.cosines(docs, vector)
            best = docs[np.argsort(-near, kind="stable")[:most]]
            return [index.ids[doc] for doc in best.tolist()]

    def signals(self, text: str, namespace: str) -> tuple[Signals, list[str]]:
        """What ranking knows before weighting, and the ids of the documents; for `bench --fit`."""
        asked = self._prepare(text, [namespace], "hybrid", None)
        with self._lock:
            found, _, (signals,) = self._gather(asked)
            return signals, [found[namespace].ids[doc] for doc in signals.docs.tolist()]

    def _prepare(
        self, text: str, namespaces: Sequence[str], mode: Mode, now: int | None
    ) -> "_Prompt":
        """What can be done without holding the lock."""
        began = self._clock()
        asked = _Prompt(parse(text), namespaces, mode, now, self._weights, self._clock, began)
        asked.mark("query")
        if mode != "keyword" and text.strip():
            asked.vector = self._vector(asked.query, asked.left_out, namespaces)
            asked.mark("embed")
        if now is not None:
            asked.spans += spans_in(text, now)
            # "Before the migration" means before the memory that matches "migration" best.
            for side, phrase in anchors_in(text):
                for one in self.search(phrase, namespaces, limit=1, mode="keyword").results:
                    with self._lock:
                        moment = self._indexes[one.namespace].time_of(one.id)
                    if moment is not None:
                        span = Span(0, moment) if side == "before" else Span(moment, now)
                        asked.spans.append(span)
        return asked

    def _gather(self, asked: "_Prompt") -> tuple[dict[str, Index], QueryTerms, list[Signals]]:
        """The candidates of each index with their signals. A small index is scored whole."""
        found = {name: self._indexes[name] for name in asked.namespaces if name in self._indexes}
        some = any(index.vectors.count for index in found.values())
        if asked.vector is not None and not some:  # just removed
            asked.left_out["semantic"], asked.vector = _NO_VECTORS, None
        terms = weigh(asked.query, list(found.values()))
        asked.mark("weigh")
        signals = []
        for index in found.values():
            question = IndexQuery(
                asked.query,
                terms,
                stem_numbers(index, terms),
                asked.vector,
                None if asked.now is None else (asked.now // _DAY_US + 1) * _DAY_US,
                tuple(asked.spans),
                _documents(index, asked.reached) if asked.reached else None,
                getattr(self.embedder, "scale", AS_IT_IS) if asked.vector is not None else AS_IT_IS,
                asked.wanted,
                asked.each_side,
                np.array(
                    sorted(doc for doc, _ in index.numbers(dict.fromkeys(asked.listed, 0.0))),
                    dtype=np.int64,
                )
                if asked.listed
                else None,
            )
            if index.count <= candidates.EXHAUSTIVE:
                chosen = np.flatnonzero(index.alive.view)
            else:
                most = max(candidates.LEXICAL, question.wanted)
                chosen = candidates.by_words(index, question.terms, question.numbers, most)
                asked.mark("lexical")
                if question.vector is not None:
                    most = max(candidates.SEMANTIC, question.wanted)
                    near = candidates.by_meaning(index, question.vector, most)
                    chosen = np.union1d(chosen, near)
                    asked.mark("semantic")
                if question.reached is not None:
                    chosen = np.union1d(chosen, question.reached[0])
                if question.listed is not None:
                    chosen = np.union1d(chosen, question.listed)
                chosen = np.sort(chosen)
            signals.append(gather(index, question, chosen, asked.weights))
            asked.mark("score")
        return found, terms, signals

    def vector(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a prompt, for searches outside the engine; None without a model."""
        return self._vector(parse(text), {})

    def _vector(
        self, query: Query, left_out: dict[str, str], namespaces: Sequence[str] | None = None
    ) -> NDArray[np.float32] | None:
        with self._lock:
            indexes = [self._indexes[name] for name in namespaces or () if name in self._indexes]
            some = namespaces is None or any(one.vectors.count for one in indexes)
        if self.embedder is None:
            left_out["semantic"] = "no embedder"
        elif not self.embedder.ready:
            left_out["semantic"] = "the model is not loaded"
        elif not some:
            # Embedding is most of the time of a search, and would change nothing.
            left_out["semantic"] = _NO_VECTORS
        else:
            try:
                vector = self.embedder.embed([query.gist])[0]
            except ModelUnavailable as error:
                left_out["semantic"] = str(error)
            else:
                if np.isfinite(vector).all() and np.any(vector):
                    return np.asarray(vector, dtype=np.float32)
                left_out["semantic"] = "the model gave no vector"
        return None


@dataclass
class _Prompt:
    """A prompt, parsed and embedded, how it is searched, and the CPU time that it takes by
    stage."""

    query: Query
    namespaces: Sequence[str]
    mode: Mode
    now: int | None
    weights: SearchWeights
    clock: Callable[[], float]
    marked: float  # the time of the last mark
    reached: Mapping[str, float] | None = None
    listed: Sequence[str] | None = None
    fusion: Fusion = "linear"
    limit: int = 0
    k: int = K
    depth: int = DEPTH
    wanted: int = 0  # results that may be taken, and of each ranking in rank fusion
    each_side: bool = False  # words and meaning are ranked apart
    vector: NDArray[np.float32] | None = None
    spans: list[Span] = field(default_factory=list)  # times that it names
    left_out: dict[str, str] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)

    def mark(self, stage: str) -> None:
        """Add the time since the last mark to a stage."""
        now = self.clock()
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self.marked
        self.marked = now


def _documents(
    index: Index, reached: Mapping[str, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Documents of this index that the graph leads to, in ascending order, with their bonus; None
    when there are none, so that scores without a graph stay the same."""
    known = sorted(index.numbers(reached))
    if not known:
        return None
    docs = np.array([doc for doc, _ in known], dtype=np.int64)
    return docs, np.array([bonus for _, bonus in known], dtype=np.float64)


# --- the one search behind every door -------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    ranked: Ranked  # whatever its confidence: the caller decides whether that is enough
    walks: list[GraphWalk]  # one per namespace that has a graph


def find(
    engine: SearchEngine,
    graphs: GraphCache,
    text: str,
    namespaces: Sequence[str],
    *,
    at: datetime,
    limit: int,
    mode: Mode = "hybrid",
    fusion: Fusion = "linear",
    k: int = K,
    depth: int = DEPTH,
    store: Store | None = None,
) -> Found:
    """The best memories for a prompt that is asked at this moment, and what the graph knows of what
    it names. Hooks, REST, MCP, CLI and previews all ask here, so that a receipt can be reproduced
    by a search. Rank fusion takes its ranking by words from the full text of the store, if one is
    given."""
    walks, reached = graphs.walk(text, namespaces)
    listed = None
    if fusion == "rrf" and store is not None:
        hits = store.records.search(namespaces, text, min(depth * limit, MOST_LISTED))
        listed = [hit.record.record_id for hit in hits]
    ranked = engine.search(
        text,
        namespaces,
        limit=limit,
        mode=mode,
        fusion=fusion,
        k=k,
        depth=depth,
        floor=False,
        now=to_micros(at),
        reached=reached,
        listed=listed,
    )
    return Found(ranked, walks)


T = TypeVar("T")
ENTRIES = 100
SECONDS = 60.0


class ResultCache(Generic[T]):
    """Answers, kept for a minute under a key that holds everything they depend on, including the
    state of the index."""

    def __init__(
        self,
        entries: int = ENTRIES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = entries
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached answer, or a new one; two callers at the same time may both compute it."""
        now = self._clock()
        with self._lock:
            known = self._kept.get(key)
            if known is not None and now - known[0] < self._seconds:
                self._kept.move_to_end(key)
                return known[1]
        made = make()
        with self._lock:
            self._kept[key] = (now, made)
            self._kept.move_to_end(key)
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)
