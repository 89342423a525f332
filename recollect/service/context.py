"""What would be injected now, and why, without injecting it.

In: a prompt, or nothing for the start of a session. Out: the text, its memories, and every
candidate with the parts of its score. Nothing is written unless a receipt is asked for.
"""

import time
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, structs

from recollect.core import ids
from recollect.core.errors import BadInput
from recollect.core.settings import Fusion
from recollect.core.values import Moment, Record, Value
from recollect.ingest.messages import RecallQuestion
from recollect.service.clean_input import scrubbed
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, checked_out_branch, namespaces_to_search
from recollect.service.search import (
    QUERY_CHARS,
    FetchDepth,
    Mode,
    RankConstant,
    ready,
    shortened,
)

if TYPE_CHECKING:
    from recollect.inject.recall import Preview

LIMIT_CHARS = 9_500
PROMPT = "prompt"
START = "session-start"


class ContextQuery(Scope, frozen=True, kw_only=True):
    """`query` is the prompt; without it, the start of a session. With `as_of`: what would have
    been injected then."""

    query: Annotated[str, Meta(max_length=20_000)] = ""
    token_budget: Annotated[int, Meta(ge=100, le=20_000)] | None = None
    session_id: Annotated[str, Meta(max_length=256)] = ""
    receipt: bool = False
    as_of: Moment | None = None


class CandidateOutcome(Value, frozen=True, kw_only=True):
    """One candidate: whether it would be injected, and if not, why."""

    record_id: str
    title: str
    score: float
    parts: dict[str, float]
    injected: bool
    freshness: str = "unknown"
    why_not: str = ""


class ContextAnswer(Value, frozen=True, kw_only=True):
    context: str
    records: tuple[str, ...]
    tokens: int
    candidates: tuple[CandidateOutcome, ...]
    notes: dict[str, Any]
    latency_ms: float
    receipt_id: str | None = None


class ExplainQuery(Scope, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=QUERY_CHARS)]
    mode: Mode = "hybrid"
    threshold: Annotated[float, Meta(ge=0.0, le=10.0)] | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    fusion: Fusion | None = None
    k: RankConstant = 60
    fetch_depth: FetchDepth = 4


class ScoredMemory(Value, frozen=True, kw_only=True):
    """A memory with its score: `parts` are the signals, `weighed` what each adds to the score."""

    score: float
    parts: dict[str, float]
    weighed: dict[str, float]
    record: Record


class Explanation(Value, frozen=True, kw_only=True):
    """`speaks`: something would be injected with this threshold."""

    query: str
    mode: Mode
    confidence: float
    threshold: float
    default_threshold: float
    speaks: bool
    semantic: bool
    weights: dict[str, float]
    left_out: dict[str, str]
    stages_us: dict[str, int]
    items: tuple[ScoredMemory, ...]


def _preview(runtime: ServiceRuntime, question: RecallQuestion, asked: ContextQuery) -> "Preview":
    if asked.as_of is None:
        return runtime.recall().recall_now.preview(question, asked.token_budget)
    from recollect.inject.recall_as_of import recall_as_of

    now = runtime.recall()
    recall = recall_as_of(
        runtime.visible_store, question.namespaces, asked.as_of, embedder=now.embedder,
        feedback=now.feedback, receipts=now.receipts, counters=runtime.counters,
        settings=runtime.settings,
    )  # fmt: skip
    try:
        return recall.preview(question, asked.token_budget)
    finally:
        recall.close()


def context(runtime: ServiceRuntime, asked: ContextQuery) -> ContextAnswer:
    """Without a session id nothing counts as injected already. Asked as hooks ask: with what would
    be stored of the prompt."""
    asked = scrubbed(runtime, asked)
    namespaces = namespaces_to_search(runtime, asked)
    if asked.as_of is None:
        ready(runtime, namespaces)
    elif asked.receipt:
        raise BadInput("receipt cannot be combined with as_of", field="receipt")
    question = RecallQuestion(
        trigger=PROMPT if asked.query.strip() else START,
        text=asked.query,
        namespaces=namespaces,
        session_id=asked.session_id,
        event_id=None,
        limit_chars=LIMIT_CHARS if asked.token_budget is None else 4 * asked.token_budget,
        reason="resume",  # what the session received already is not repeated
        branch=checked_out_branch(runtime, asked),
        person=runtime.actor,
    )
    preview = _preview(runtime, question, asked)
    receipt = preview.receipt
    if asked.receipt:
        receipt = structs.replace(receipt, receipt_id=ids.new_id(ids.RECEIPT))
        kept = receipt
        runtime.recall().receipts.keep(lambda: (kept, None))
        runtime.recall().receipts.flush()
    detail, shown = dict(receipt.detail), {*CandidateOutcome.__struct_fields__}
    return ContextAnswer(
        context=preview.context,
        records=preview.records,
        tokens=receipt.tokens,
        candidates=tuple(
            CandidateOutcome(**{name: one[name] for name in shown & one.keys()})
            for one in detail.pop("candidates")
        ),
        notes=detail,
        latency_ms=receipt.latency_us / 1000,
        receipt_id=receipt.receipt_id if asked.receipt else None,
    )


def explain(runtime: ServiceRuntime, asked: ExplainQuery) -> Explanation:
    """The candidates for a query, with every signal of the ranking."""
    namespaces = namespaces_to_search(runtime, asked)
    whole = ready(runtime, namespaces)
    from recollect.retrieve.engine import find

    engine, graphs = runtime.recall().engine, runtime.recall().graphs
    began = time.perf_counter()
    ranked = find(
        engine, graphs, asked.query, namespaces, at=runtime.clock.now(), limit=asked.limit,
        mode=asked.mode, fusion=asked.fusion or runtime.settings.fusion, k=asked.k,
        depth=asked.fetch_depth, store=runtime.visible_store,
    ).ranked  # fmt: skip
    stages = {name: round(took * 1e6) for name, took in ranked.stages.items()}
    stages["wall"] = round((time.perf_counter() - began) * 1e6)
    weights: dict[str, float] = {
        name: value
        for name in engine.weights.__dataclass_fields__
        if isinstance(value := getattr(engine.weights, name), int | float)
    }
    records = {
        record.record_id: record
        for namespace in namespaces
        for record in runtime.visible_store.records.get(
            namespace, [one.id for one in ranked.results]
        )
    }
    default = engine.floor(ranked.semantic)
    threshold = default if asked.threshold is None else asked.threshold
    left_out = dict(ranked.left_out)
    if not whole:
        left_out["index"] = "the indexes do not fit into the cache together"
    return Explanation(
        query=asked.query,
        mode=asked.mode,
        confidence=round(ranked.confidence, 4),
        threshold=threshold,
        default_threshold=default,
        speaks=ranked.confidence >= threshold and bool(ranked.results),
        semantic=ranked.semantic,
        weights=weights,
        left_out=left_out,
        stages_us=stages,
        items=tuple(
            ScoredMemory(
                score=round(one.score, 6),
                parts=one.parts,
                weighed={
                    name: round(weights[name] * part, 6)
                    for name, part in one.parts.items()
                    if name in weights
                },
                record=shortened(records[one.id], full=False),
            )
            for one in ranked.results
            if one.id in records
        ),
    )
