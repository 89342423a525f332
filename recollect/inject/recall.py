"""From a prompt to the text that is put in front of the agent, or to nothing, within its time.

In: a question of a hook or of the API. Out: fenced text, the memories it holds, a receipt. It never
raises: what is late or fails is answered with nothing, and the receipt says so.
"""

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field
from typing import Any

from recollect.core import ids
from recollect.core.clock import Clock, to_micros
from recollect.core.settings import Settings
from recollect.core.values import Receipt, Record
from recollect.ingest.counters import Counters
from recollect.ingest.pipeline import Notice, Question, Recalled
from recollect.ingest.turns import UNANSWERED
from recollect.inject import context, fence
from recollect.inject.budget import count_tokens, fit
from recollect.inject.feedback import Feedback, factor
from recollect.inject.own_text import OwnText
from recollect.inject.receipts import Receipts
from recollect.inject.triggers import Said, Topics, asks_to_remember
from recollect.retrieve.cache import ResultCache
from recollect.retrieve.engine import Engine
from recollect.retrieve.results import Ranked
from recollect.retrieve.shelves import Shelves
from recollect.retrieve.smart import four_signals
from recollect.store.interface import Store

log = logging.getLogger(__name__)

CANDIDATES = 30
DEEP_TOKENS = 2.0  # explicit recall may take so much more
START_POOL = 200
START_SUMMARIES = 3
QUERY_KEPT = 2000
PREFERENCE_SHARE = 0.15
_MINUTE_US = 60_000_000
EARLY_TERMS = 8  # SQLite scores every row that holds any of them, so only the rarest
WEAK = 0.5
NO_SESSION = ""  # of a preview: nothing was said to it, and it has no topic
# The floor looks at the best one, which may be one that is not to be said: so each must also hold
# this much by itself.
LEAST = 0.30
LEAST_WORDS = 0.08


@dataclass
class Found:
    """One candidate on its way: why it may be injected, or why not."""

    record: Record
    score: float
    parts: dict[str, float] = field(default_factory=dict)
    why_not: str = ""


@dataclass
class Draft:
    """What one retrieval found, before it is cut to its budget."""

    candidates: list[Found] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    preferences: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Preview:
    """What would be injected, with the receipt that it would have."""

    context: str
    records: tuple[str, ...]
    receipt: Receipt


class Recall:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        shelves: Shelves,
        feedback: Feedback,
        receipts: Receipts,
        counters: Counters,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._store = store
        self._engine = engine
        self._shelves = shelves
        self._feedback = feedback
        self._receipts = receipts
        self._counters = counters
        self._clock = clock
        self._settings = settings
        self._said = Said(store)
        self._topics = Topics()
        self._cache: ResultCache[Ranked] = ResultCache()
        self.own_text = OwnText()
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="recollect-recall")
        self._lock = threading.Lock()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def __call__(self, question: Question) -> Recalled:
        began = self._clock.mono_ns()
        work: Future[tuple[Draft, str, tuple[str, ...]]] = self._pool.submit(self._work, question)
        draft, text = Draft(), ""
        injected: tuple[str, ...] = ()
        try:
            draft, text, injected = work.result(self._settings.recall_ms / 1000)
        except Late:
            draft.notes["late"] = f"not done after {self._settings.recall_ms} ms"
            self._counters.count("recall: late")
        except Exception as error:
            # Whatever it is, the agent's turn goes on; the log and the receipt keep the reason.
            log.exception("recall failed")
            draft.notes["failed"] = type(error).__name__
            self._counters.error(f"recall failed: {type(error).__name__}")
        latency = (self._clock.mono_ns() - began) // 1000
        receipt = self._receipt(question, draft, text, injected, latency)
        self._receipts.keep(receipt)
        if injected:
            self._said.add(question.namespaces[0], question.session_id, injected)
            self.own_text.injected(text)
        self._counters.count("recall: injected" if text else "recall: nothing to say")
        return Recalled(text, injected, latency, receipt.receipt_id)

    def preview(self, question: Question, tokens: int | None = None) -> Preview:
        """What would be said to this question now, and why: no receipt is written, no session
        hears of it, and nothing counts as said. It may take its time, and it raises."""
        began = self._clock.mono_ns()
        draft, text, injected = self._work(question, tokens)
        took = (self._clock.mono_ns() - began) // 1000
        return Preview(text, injected, self._receipt(question, draft, text, injected, took))

    def heard(self, notice: Notice) -> None:
        """A host compacted its context: what it was told is gone from it."""
        if notice.signal == "compaction":
            event = notice.stored.event
            self._said.forget(event.namespace, event.session_id)

    # --- the work ---

    def _work(
        self, question: Question, tokens: int | None = None
    ) -> tuple[Draft, str, tuple[str, ...]]:
        if question.trigger == "session-start":
            if question.reason != "resume":
                self._said.forget(question.namespaces[0], question.session_id)
            draft = self._start(question)
            room = self._settings.start_tokens
        else:
            draft = self._prompt(question)
            room = self._settings.prompt_tokens
            if draft.notes.get("explicit"):
                room = int(room * DEEP_TOKENS)
        return draft, *self._fitted(question, draft, room if tokens is None else tokens)

    def _prompt(self, question: Question) -> Draft:
        """What is new to this session and above the floor; often nothing."""
        draft = Draft()
        text = question.text
        if not text.strip() or self._settings.prompt_tokens == 0:
            return draft
        explicit = asks_to_remember(text)
        if explicit:
            draft.notes["explicit"] = True
        if self._shelves.ready(question.namespaces):
            ranked = self._search(text, question.namespaces)
            known = question.session_id != NO_SESSION
            if known and self._topics.changed(question.session_id, ranked.vector):
                draft.notes["topic"] = "changed"
                self._said.forget(question.namespaces[0], question.session_id)
            draft.stages = {name: round(took * 1e6) for name, took in ranked.stages.items()}
            draft.notes["left_out"] = ranked.left_out
            draft.notes["semantic"] = ranked.semantic
            scores = {one.id: (one.score, one.parts) for one in ranked.results}
            records = self._records(question.namespaces, list(scores))
            draft.candidates = [Found(one, *scores[one.record_id]) for one in records]
        else:
            draft.notes["left_out"] = {
                "index": "still being filled; searched by words in the store"
            }
            hits = self._store.records.search(
                question.namespaces, text, CANDIDATES, most_terms=EARLY_TERMS
            )
            draft.candidates = [Found(hit.record, hit.score) for hit in _covering(hits, text)]
            # Only now: whoever fills would slow this very search down.
            self._shelves.prepare(question.namespaces)
        self._judge(question, draft, repeat=explicit)
        _drop_weak([one for one in draft.candidates if one.parts and not one.why_not])
        return draft

    def _search(self, text: str, namespaces: tuple[str, ...]) -> Ranked:
        now = to_micros(self._clock.now())
        key = (text, namespaces, self._shelves.epoch, now // _MINUTE_US)
        return self._cache.get(
            key, lambda: self._engine.search(text, namespaces, limit=CANDIDATES, now=now)
        )

    def _start(self, question: Question) -> Draft:
        """No question yet: preferences, the last summaries, and what four signals say matters."""
        draft = Draft()
        if self._settings.start_tokens == 0:
            return draft
        for namespace in question.namespaces:
            preferences = self._store.graph.preferences(namespace)
            draft.preferences += [context.preference_line(one) for one in preferences]
        pool = [
            record
            for namespace in question.namespaces
            for record in self._store.records.page(namespace, limit=START_POOL).items
            if record.category != UNANSWERED
        ]
        summaries = [record for record in pool if record.kind == "summary"][:START_SUMMARIES]
        first = {record.record_id for record in summaries}
        ranked = four_signals(pool, self._clock.now())
        ranked.sort(key=lambda one: one.record.record_id not in first)
        draft.candidates = [Found(one.record, one.score, one.parts) for one in ranked]
        self._judge(question, draft, repeat=False)
        return draft

    def _judge(self, question: Question, draft: Draft, *, repeat: bool) -> None:
        """Say of each candidate why it may not be injected, if so; the rest is put in order."""
        told = self._said.to(question.namespaces[0], question.session_id)
        now = self._clock.now()
        for found in draft.candidates:
            record = found.record
            verdicts = self._feedback.of(record.namespace)
            weight = factor(verdicts, record.record_id)
            found.score *= weight
            if weight == 0:
                found.why_not = "you said: never again"
            elif record.session_id == question.session_id:
                found.why_not = "said in this very session"
            elif record.record_id in told and not repeat:
                found.why_not = "injected earlier in this session"
            elif record.expires_at and record.expires_at <= now:
                found.why_not = "expired"
            elif record.valid_until and record.valid_until <= now:
                found.why_not = "no longer holds"

    def _records(self, namespaces: Sequence[str], record_ids: list[str]) -> list[Record]:
        found = {
            record.record_id: record
            for namespace in namespaces
            for record in self._store.records.get(namespace, record_ids)
        }
        return [found[record_id] for record_id in record_ids if record_id in found]

    def _fitted(self, question: Question, draft: Draft, tokens: int) -> tuple[str, tuple[str, ...]]:
        """The text, cut to its budget, and the memories in it."""
        mark = fence.nonce()
        frame = fence.fence(f"{context.PREFERENCES}\n{context.HISTORY}", mark)
        room = tokens - count_tokens(frame)
        chars = question.limit_chars - len(frame)
        preferences = fit(
            draft.preferences,
            lambda line: (fence.disarm(line),),
            tokens=int(room * PREFERENCE_SHARE),
            chars=int(chars * PREFERENCE_SHARE),
        )
        lines = [line for _, line in preferences.chosen]
        spent = sum(count_tokens(line) + 1 for line in lines)
        allowed = [found for found in draft.candidates if not found.why_not]
        fitted = fit(
            allowed,
            lambda found: tuple(fence.disarm(text) for text in context.forms(found.record)),
            tokens=room - spent,
            chars=chars - sum(len(line) + 1 for line in lines),
        )
        for found, reason in fitted.left_out:
            found.why_not = reason
        history = [text for _, text in fitted.chosen]
        if not lines and not history:
            return "", ()
        content = context.assembled(lines, history)
        text = f'<recollect id="{mark}">\n{fence.HEAD}\n{content}\n</recollect id="{mark}">'
        return text, tuple(found.record.record_id for found, _ in fitted.chosen)

    def _receipt(
        self,
        question: Question,
        draft: Draft,
        text: str,
        injected: tuple[str, ...],
        latency_us: int,
    ) -> Receipt:
        chosen = set(injected)
        return Receipt(
            receipt_id=ids.new_id(ids.RECEIPT),
            namespace=question.namespaces[0],
            session_id=question.session_id,
            event_id=question.event_id,
            trigger=question.trigger,
            query=question.text[:QUERY_KEPT],
            injected=injected,
            detail={
                "candidates": [
                    {
                        "record_id": found.record.record_id,
                        "title": found.record.title,
                        "score": round(found.score, 4),
                        "parts": found.parts,
                        "injected": found.record.record_id in chosen,
                        "why_not": found.why_not,
                    }
                    for found in draft.candidates[: 2 * CANDIDATES]
                ],
                "stages_us": draft.stages,
                "preferences": len(draft.preferences),
                **draft.notes,
            },
            tokens=count_tokens(text),
            latency_us=latency_us,
            created_at=self._clock.now(),
        )


def _drop_weak(candidates: Sequence[Found]) -> None:
    """Being above the floor is about the best one; the others must also hold something of their
    own, not only stand near it or in its session."""
    answered = [found for found in candidates if found.record.category != UNANSWERED]
    best = max((_own(found) for found in answered or candidates), default=0.0)
    for found in candidates:
        if answered and found.record.category == UNANSWERED:
            found.why_not = "a question that nobody answered"
        elif _own(found) < WEAK * best:
            found.why_not = "too weak beside the best one"
        elif _own(found) < (LEAST if "cosine" in found.parts else LEAST_WORDS):
            found.why_not = "too weak"


def _own(found: Found) -> float:
    return max(0.0, found.parts.get("cosine", 0.0)) + found.parts.get("grams", 0.0)


def _covering(hits: Sequence[Any], text: str) -> list[Any]:
    """Hits of the store's own search have no bound to compare with; keep those that hold at
    least half of the prompt's telling words."""
    words = {word.lower().strip(".,:;!?()\"'`") for word in text.split() if len(word) > 3}
    kept = []
    for hit in hits:
        record = hit.record
        held = " ".join((record.title, record.summary, record.detail, *record.facts)).lower()
        if words and sum(word in held for word in words) >= max(2, len(words) / 2):
            kept.append(hit)
    return kept
