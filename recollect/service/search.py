"""Search, with the same inputs that choose what is injected (`retrieve/engine.py`).

In: a query, a mode, filters. Out: memories with scores and their parts. A memory is found as soon
as its write was acknowledged. Without an embedding model the search is by words only, and the
answer says so.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from recollect.core.errors import BadInput
from recollect.core.kinds import KnowledgeType, ObservationType, RecordKind
from recollect.core.settings import Fusion
from recollect.core.tuning import NOTES
from recollect.core.values import Freshness, Moment, Name, Record, Value
from recollect.lifecycle.file_freshness import with_freshness
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespaces_to_search
from recollect.work.index import ProjectWork

if TYPE_CHECKING:
    from recollect.retrieve.engine import Ranked, SearchEngine
    from recollect.retrieve.graph import GraphCache
    from recollect.store.interface import Store

QUERY_CHARS = 1000
DETAIL_CHARS = 600
READY_S = 10.0
_LOOK_S = 0.01
_DEPTHS = (200, 2_000, 50_000)  # how many results a filtered search ranks, until enough match

Mode = Literal["hybrid", "keyword", "semantic"]


class Filters(Scope, frozen=True, kw_only=True):
    """Filters for memories; those that are not given do not filter. `branch`: made in a session on
    that branch. `used`: whether an agent was ever told of it. `since`, `until`: when what it tells
    of happened, which for an import is before it was stored."""

    kind: RecordKind | None = None
    type: ObservationType | KnowledgeType | None = None
    concept: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    file: Annotated[str, Meta(min_length=1, max_length=500)] | None = None
    session_id: Name | None = None
    branch: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    freshness: Freshness | None = None
    used: bool | None = None
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    full: bool = False


# Of rank fusion: each ranking gives 1/(k + rank), and is read to `fetch_depth` times the limit.
RankConstant = Annotated[int, Meta(ge=1, le=1000)]
FetchDepth = Annotated[int, Meta(ge=1, le=50)]


class SearchQuery(Filters, frozen=True, kw_only=True):
    """`fusion`: how the rankings by words and by meaning become one; without it, the setting. `k`
    and `fetch_depth` are of fusion rrf."""

    query: Annotated[str, Meta(min_length=1, max_length=QUERY_CHARS)]
    mode: Mode = "hybrid"
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    raw: bool = False
    fusion: Fusion | None = None
    k: RankConstant = 60
    fetch_depth: FetchDepth = 4


class SearchHit(Value, frozen=True, kw_only=True):
    """A memory with its score and the parts of the score. `says_ended`: it states, perhaps beside
    other things, a belief that ended since."""

    score: float
    parts: dict[str, float]
    record: Record
    says_ended: bool = False


class SearchAnswer(Value, frozen=True, kw_only=True):
    """If `confidence` is below `floor`, nothing would be injected. `good`: how many of the items,
    from the first, are likely to be about the query; the rest only comes nearest."""

    query: str
    mode: Mode
    items: tuple[SearchHit, ...]
    good: int
    semantic: bool
    confidence: float | None
    floor: float | None
    left_out: dict[str, str]
    latency_ms: float


def search(runtime: ServiceRuntime, asked: SearchQuery) -> SearchAnswer:
    began = time.perf_counter()
    if not asked.query.strip():
        raise BadInput("query must not be empty", field="query")
    namespaces = namespaces_to_search(runtime, asked)
    asked = msgspec.structs.replace(asked, fusion=asked.fusion or runtime.settings.fusion)
    sessions = branch_sessions(runtime, namespaces, asked.branch)

    def fits(record: Record) -> bool:
        return matches(record, asked, sessions)

    if asked.raw:
        if asked.as_of:
            raise BadInput("raw cannot be combined with as_of", field="raw")
        answer = _by_store(runtime, asked, namespaces, fits)
    elif asked.as_of:
        answer = _as_of(runtime, asked, namespaces, asked.as_of, fits)
    elif ready(runtime, namespaces):
        parts, fetch = runtime.recall(), _fetch_current(runtime, namespaces)
        now = runtime.clock.now()
        store = runtime.visible_store
        answer = _found(asked, namespaces, parts.engine, parts.graphs, now, fetch, fits, store)
    else:
        answer = _by_store(runtime, asked, namespaces, fits)
    if not asked.as_of:
        fresh = with_freshness(runtime.store, (one.record for one in answer.items))
        items = tuple(
            _marked(runtime, msgspec.structs.replace(one, record=record), namespaces)
            for one, record in zip(answer.items, fresh, strict=True)
            if asked.freshness in (None, record.freshness)
        )
        answer = msgspec.structs.replace(answer, items=items)
    took = (time.perf_counter() - began) * 1000
    return msgspec.structs.replace(answer, latency_ms=round(took, 2))


def _marked(runtime: ServiceRuntime, hit: SearchHit, namespaces: Sequence[str]) -> SearchHit:
    left = runtime.recall().ended.current_record(hit.record, namespaces)
    if left is not None and (left.title, left.summary) == (hit.record.title, hit.record.summary):
        return hit
    return msgspec.structs.replace(hit, says_ended=True)


def ready(runtime: ServiceRuntime, namespaces: Sequence[str]) -> bool:
    """Load the indexes and graphs of these namespaces; False when that takes too long."""
    cache = runtime.recall().index_cache
    runtime.recall().graphs.fill(namespaces)
    cache.fill(namespaces)
    deadline = time.monotonic() + READY_S
    while not cache.ready(namespaces):
        # Another thread fills them, or they do not fit into the cache together.
        if not cache.filling(namespaces) or time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)
    return True


def shortened(record: Record, *, full: bool) -> Record:
    """A memory for a list: a long detail is cut, unless `full`."""
    if full or len(record.detail) <= DETAIL_CHARS:
        return record
    return msgspec.structs.replace(record, detail=record.detail[: DETAIL_CHARS - 1] + "…")


def branch_sessions(
    runtime: ServiceRuntime, namespaces: Sequence[str], branch: str | None
) -> tuple[str, ...] | None:
    """The sessions that worked on a branch; None without one."""
    if branch is None:
        return None

    def sessions(work: ProjectWork) -> tuple[str, ...]:
        known = work.by_branch.get(branch)
        return tuple(known.sessions) if known is not None else ()

    runtime.work.fill(namespaces)
    return tuple(one for name in namespaces for one in runtime.work.ask(name, sessions))


def matches(record: Record, wanted: Filters, sessions: Collection[str] | None = None) -> bool:
    return (
        wanted.kind in (None, record.kind)
        and (sessions is None or record.session_id in sessions)
        and wanted.freshness in (None, record.freshness)
        and wanted.used in (None, record.access_count > 0)
        and wanted.type in (None, record.observation_type, record.knowledge_type)
        and wanted.session_id in (None, record.session_id)
        and (wanted.concept is None or wanted.concept in record.concepts)
        and (wanted.file is None or any(_same(wanted.file, path) for path in record.files))
        and (wanted.since is None or record.valid_from >= wanted.since)
        and (wanted.until is None or record.valid_from < wanted.until)
    )


# --- ways to search ------------------------------------------------------------------------------

Fetch = Callable[[Sequence[str]], dict[str, Record]]
Fits = Callable[[Record], bool]


def _found(
    asked: SearchQuery,
    namespaces: Sequence[str],
    engine: "SearchEngine",
    graphs: "GraphCache",
    at: datetime,
    fetch: Fetch,
    fits: Fits,
    store: "Store | None" = None,
) -> SearchAnswer:
    from recollect.retrieve.engine import find

    items: list[SearchHit] = []
    ranked: Ranked | None = None
    for depth in _depths(asked):
        ranked = find(
            engine, graphs, asked.query, namespaces, at=at, limit=depth, mode=asked.mode,
            fusion=asked.fusion or "linear", k=asked.k, depth=asked.fetch_depth, store=store,
        ).ranked  # fmt: skip
        items = list(_chosen(ranked, asked, fetch, fits))
        if len(items) >= asked.limit or len(ranked.results) < depth:
            break
    assert ranked is not None
    items = items[: asked.limit]
    floor = engine.floor(ranked.semantic)
    return SearchAnswer(
        query=asked.query,
        mode=asked.mode,
        items=tuple(items),
        good=_good(items, ranked) if ranked.confidence >= floor else 0,
        semantic=ranked.semantic,
        confidence=round(ranked.confidence, 4),
        floor=floor,
        left_out=ranked.left_out,
        latency_ms=0.0,
    )


def _good(items: Sequence[SearchHit], ranked: "Ranked") -> int:
    """Up to which item they are good enough for a brief to somebody who asks."""
    from recollect.inject.speaking import chance_of_memory

    likely = (
        chance_of_memory(one.record, one.parts, ranked.by_chance, ranked.known) for one in items
    )
    found = [at for at, chance in enumerate(likely, 1) if chance >= NOTES.past]
    return max(found, default=0)


def _depths(asked: SearchQuery) -> Sequence[int]:
    names = ("kind", "type", "concept", "file", "session_id", "branch", "freshness", "used",
             "since", "until")  # fmt: skip
    narrowed = any(getattr(asked, name) is not None for name in names)
    return _DEPTHS if narrowed else (asked.limit,)


def _chosen(ranked: "Ranked", asked: SearchQuery, fetch: Fetch, fits: Fits) -> Iterator[SearchHit]:
    records = fetch([one.id for one in ranked.results])
    for one in ranked.results:
        record = records.get(one.id)
        if record is not None and fits(record):
            yield SearchHit(
                record=shortened(record, full=asked.full),
                score=round(one.score, 6),
                parts=one.parts,
            )


def _fetch_current(runtime: ServiceRuntime, namespaces: Sequence[str]) -> Fetch:
    def fetch(ids: Sequence[str]) -> dict[str, Record]:
        return {
            record.record_id: record
            for namespace in namespaces
            for record in runtime.visible_store.records.get(namespace, ids)
        }

    return fetch


def _as_of(
    runtime: ServiceRuntime,
    asked: SearchQuery,
    namespaces: Sequence[str],
    moment: datetime,
    fits: Fits,
) -> SearchAnswer:
    from recollect.retrieve.as_of import StoreAsOf, engine_as_of
    from recollect.retrieve.graph import GraphCache

    engine, known = engine_as_of(
        runtime.visible_store, namespaces, moment, runtime.recall().embedder
    )
    then: Any = StoreAsOf(runtime.visible_store, moment, known)
    graphs = GraphCache(then)
    graphs.fill(namespaces)
    return _found(
        asked,
        namespaces,
        engine,
        graphs,
        moment,
        lambda ids: {one: known[one] for one in ids if one in known},
        fits,
    )


def _by_store(
    runtime: ServiceRuntime, asked: SearchQuery, namespaces: Sequence[str], fits: Fits
) -> SearchAnswer:
    """By words, in the store: what a raw query asks for, and what is left while indexes load."""
    why = {"index": "still loading; searched by words in the store"}
    if asked.raw:
        why = {"semantic": "a raw query searches words only"}
    items: list[SearchHit] = []
    for depth in _depths(asked):
        hits = runtime.visible_store.records.search(namespaces, asked.query, depth, raw=asked.raw)
        items = [
            SearchHit(
                record=shortened(hit.record, full=asked.full),
                score=round(hit.score, 6),
                parts={hit.by: round(hit.score, 6)},
            )
            for hit in hits
            if fits(hit.record)
        ]
        if len(items) >= asked.limit or len(hits) < depth:
            break
    return SearchAnswer(
        query=asked.query,
        mode=asked.mode,
        items=tuple(items[: asked.limit]),
        good=len(items[: asked.limit]),
        semantic=False,
        confidence=None,
        floor=None,
        left_out=why,
        latency_ms=0.0,
    )


def _same(wanted: str, path: str) -> bool:
    """Whether a path is, or ends with, the wanted one: `retry.py` matches `src/retry.py`."""
    return path == wanted or path.endswith("/" + wanted.lstrip("/"))
