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

import msgspec

from recollect.core import ids
from recollect.core import vector_bytes as layout
from recollect.core.clock import Clock, to_micros
from recollect.core.settings import Settings
from recollect.core.values import Freshness, Receipt, Record
from recollect.embedding.embedder import MODEL
from recollect.ingest.counters import Counters
from recollect.ingest.pipeline import Notice, Recalled, RecallQuestion
from recollect.ingest.turns import UNANSWERED
from recollect.inject import context, fence, known
from recollect.inject.budget import allot, count_tokens, fit
from recollect.inject.echoes import drop_echoes, newest_first
from recollect.inject.feedback import Feedback, factor
from recollect.inject.known import Item
from recollect.inject.own_text import OwnText
from recollect.inject.private import SENSITIVE, Private
from recollect.inject.receipts import TEXT_KEPT, Receipts
from recollect.inject.rule_cache import RuleCache
from recollect.inject.says import says
from recollect.inject.shadow import Shadow
from recollect.inject.triggers import Said, Topics, asks_to_remember
from recollect.lifecycle.file_freshness import FreshnessChecker as WorkTrees
from recollect.privacy.sensitive import is_sensitive
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.graph import GraphCache, Rival
from recollect.retrieve.index_cache import IndexCache
from recollect.retrieve.priors import STALE
from recollect.retrieve.query import intent
from recollect.retrieve.result_cache import ResultCache
from recollect.retrieve.results import Ranked
from recollect.retrieve.start_ranking import rank_for_start
from recollect.store.interface import Store

log = logging.getLogger(__name__)

CANDIDATES = 30
LIMIT_MS = 500  # then the prompt goes on without memory: the hook's own limit is 2 s (H02)
DEEP_CANDIDATES = 90  # for explicit recall
DEEP_TOKENS = 2.0  # explicit recall may take so much more
START_POOL = 200
START_SUMMARIES = 3
QUERY_KEPT = 2000
DIGESTS = ("daily", "weekly")
_MINUTE_US = 60_000_000
_HEADS = "\n".join((context.PREFERENCES, context.KNOWN, context.HISTORY, context.PROCEDURES))
EARLY_TERMS = 8  # SQLite scores every row that holds any of them, so only the rarest
WEAK = 0.5
NEAR = 0.55  # a cosine that says enough by itself
NO_SESSION = ""  # of a preview: nothing was said to it, and it has no topic
# The floor looks at the best one, which may be one that is not to be said: so each must also hold
# this much by itself.
LEAST = 0.30
LEAST_WORDS = 0.08
BY_GRAPH = 0.5  # what it counts as own that the graph leads to a memory


@dataclass
class Found:
    """One candidate on its way: why it may be injected, or why not."""

    record: Record
    score: float
    parts: dict[str, float] = field(default_factory=dict)
    why_not: str = ""
    stale: str = ""  # the file that changed since or is gone
    older: bool = False  # something newer, said before it, is much like it


@dataclass
class Draft:
    """What one retrieval found, before it is cut to its budget."""

    candidates: list[Found] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)  # preferences, facts, things, procedures
    first: list[str] = field(default_factory=list)  # lines that stand before the history
    rivals: list[Rival] = field(default_factory=list)  # what is not so of the things named


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
        engine: SearchEngine,
        index_cache: IndexCache,
        graphs: GraphCache,
        feedback: Feedback,
        receipts: Receipts,
        counters: Counters,
        clock: Clock,
        settings: Settings,
        rules: RuleCache | None = None,
    ) -> None:
        self._store = store
        self._rules = rules or RuleCache(store)
        self._engine = engine
        self._index_cache = index_cache
        self._graphs = graphs
        self._feedback = feedback
        self._receipts = receipts
        self._counters = counters
        self._clock = clock
        self._settings = settings
        self.limit_ms = LIMIT_MS
        self._said = Said(store)
        self._shadow = Shadow(settings)
        self._topics = Topics()
        self._cache: ResultCache[Ranked] = ResultCache()
        self.own_text = OwnText()
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="recollect-recall")
        self._lock = threading.Lock()
        self._work_trees = WorkTrees(store)
        self._private = Private()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def __call__(self, question: RecallQuestion) -> Recalled:
        if question.trigger == "tool" and not self._has_rules_for(question):
            return Recalled()
        began = self._clock.mono_ns()
        work: Future[tuple[Draft, str, tuple[str, ...]]] = self._pool.submit(self._work, question)
        draft, text = Draft(), ""
        injected: tuple[str, ...] = ()  # memories
        try:
            draft, text, injected = work.result(self.limit_ms / 1000)
        except Late:
            draft.notes["late"] = f"not done after {self.limit_ms} ms"
            self._counters.count("recall: late")
        except Exception as error:
            # Whatever it is, the agent's turn goes on; the log and the receipt keep the reason.
            log.exception("recall failed")
            draft.notes["failed"] = type(error).__name__
            self._counters.error(f"recall failed: {type(error).__name__}")
        text, injected = self._shadow.applied(question.session_id, draft.notes, text, injected)
        latency = (self._clock.mono_ns() - began) // 1000
        if question.trigger == "tool" and not text and not draft.notes.get("shadow"):
            return Recalled(latency_us=latency)  # the same command may come a hundred times
        receipt = self._receipt(question, draft, text, injected, latency)
        seen: dict[str, dict[str, Freshness]] = {}
        for found in draft.candidates:
            one = found.record
            seen.setdefault(one.namespace, {})[one.record_id] = one.freshness
        self._receipts.keep(receipt, seen)
        if text:
            told = (*injected, *(item.id for item in draft.items if not item.why_not))
            self._said.add(question.namespaces[0], question.session_id, told)
            self.own_text.injected(question.session_id, text)
        self._counters.count("recall: injected" if text else "recall: nothing to say")
        return Recalled(text, injected, latency, receipt.receipt_id)

    def preview(self, question: RecallQuestion, tokens: int | None = None) -> Preview:
        """What would be said to this question now, and why: no receipt is written, no session
        hears of it, and nothing counts as said. It may take its time, and it raises."""
        began = self._clock.mono_ns()
        draft, text, injected = self._work(question, tokens)
        took = (self._clock.mono_ns() - began) // 1000
        return Preview(text, injected, self._receipt(question, draft, text, injected, took))

    def on_event(self, notice: Notice) -> None:
        """A host compacted its context: what it was told is gone from it."""
        if notice.signal == "compaction":
            event = notice.stored.event
            self._said.forget(event.namespace, event.session_id)

    # --- the work ---

    def _work(
        self, question: RecallQuestion, tokens: int | None = None
    ) -> tuple[Draft, str, tuple[str, ...]]:
        if question.trigger == "session-start":
            if question.reason != "resume":
                self._said.forget(question.namespaces[0], question.session_id)
            draft = self._start(question, Draft())
            room = self._settings.start_tokens
        elif question.trigger == "tool":
            draft = self._command(question)
            room = self._settings.prompt_tokens
        else:
            draft = self._prompt(question)
            room = self._settings.prompt_tokens
            if draft.notes.get("explicit"):
                room = int(room * DEEP_TOKENS)
        return draft, *self._fitted(question, draft, room if tokens is None else tokens)

    def _has_rules_for(self, question: RecallQuestion) -> bool:
        """Whether a command brings rules that its session was not told. Asked for every command:
        nothing is searched, and no receipt is written for a command that brings none."""
        if self._settings.prompt_tokens == 0:
            return False
        try:
            found = self._rules.for_command(question.namespaces, question.text)
        except Exception as error:
            # As above: a command's result reaches the agent whatever fails here.
            log.exception("the rules about a command could not be found")
            self._counters.error(f"recall failed: {type(error).__name__}")
            return False
        told = self._said.to(question.namespaces[0], question.session_id) if found else ()
        return any(one.id not in told for one in found)

    def _command(self, question: RecallQuestion) -> Draft:
        """The rules and procedures about what a command does, and nothing else."""
        draft = Draft()
        found = self._rules.for_command(question.namespaces, question.text)
        draft.items = [one.item for one in found if one.item is not None]
        draft.candidates = [Found(one.record, 1.0) for one in found if one.record is not None]
        draft.notes["rules"] = {one.id: one.reason for one in found}
        self._judge(question, draft, repeat=False)
        return draft

    def _prompt(self, question: RecallQuestion) -> Draft:
        """What is new to this session and above the floor; often nothing."""
        draft = Draft()
        text = question.text
        if not text.strip() or self._settings.prompt_tokens == 0:
            return draft
        explicit = asks_to_remember(text)
        if explicit:
            draft.notes["explicit"] = True
        named = says(text)
        if explicit and named == "nothing":
            # "Where were we?" is answered by what a session starts with.
            return self._start(question, draft)
        if named == "nothing":
            draft.notes["left_out"] = {"all": "the prompt names nothing to look for"}
            self._index_cache.prepare(question.namespaces)  # the next prompt may
            return draft
        draft.notes["intent"] = intent(text)
        bonus = self._knowledge(question, draft)
        if self._index_cache.ready(question.namespaces):
            ranked = self._search(
                text, question.namespaces, bonus, DEEP_CANDIDATES if explicit else CANDIDATES
            )
            told = question.session_id != NO_SESSION
            if told and self._topics.changed(question.session_id, ranked.vector):
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
            draft.candidates += self._nearest(text, question.namespaces, draft.candidates)
            # Only now: whoever fills would slow this very search down.
            self._index_cache.prepare(question.namespaces)
        self._judge(question, draft, repeat=explicit)
        if named == "chore" and not explicit:
            _drop_turns(draft.candidates)
        _drop_weak([one for one in draft.candidates if one.parts and not one.why_not])
        said = [one for one in draft.candidates if not one.why_not]
        newest_first(said)
        draft.candidates = said + [one for one in draft.candidates if one.why_not]
        return draft

    def _nearest(self, text: str, namespaces: Sequence[str], known: Sequence[Found]) -> list[Found]:
        """What the store's own index, if it has one, finds by meaning while ours is filled. There
        is no floor to compare with, so only what is very near counts."""
        vector = self._engine.vector(text) if self._store.vectors.indexed else None
        if vector is None:
            return []
        blob = layout.encode(vector)
        near: dict[str, float] = {}
        for namespace in namespaces:
            for owner, cosine in self._store.vectors.nearest(namespace, MODEL, blob, CANDIDATES):
                near[owner] = max(cosine, near.get(owner, 0.0))
        have = {one.record.record_id for one in known}
        ids = [owner for owner, cosine in near.items() if cosine >= NEAR and owner not in have]
        return [Found(one, near[one.record_id]) for one in self._records(namespaces, ids)]

    def _knowledge(self, question: RecallQuestion, draft: Draft) -> dict[str, float]:
        """What the graph has to say; returns the memories it leads to, each with its bonus."""
        text, namespaces = question.text, question.namespaces
        walks, bonus = self._graphs.walk(text, namespaces)
        named = [words for walk in walks for words in walk.named.values()]
        if named:
            draft.notes["named"] = named
        draft.rivals = [rival for walk in walks for rival in walk.rivals]
        draft.items = known.asked_preferences(self._graphs, namespaces, text)
        draft.items += known.facts(walks)
        have = {item.id for item in draft.items}
        draft.items += known.by_words(self._graphs, namespaces, text, intent(text), have)
        return bonus

    def _search(
        self, text: str, namespaces: tuple[str, ...], bonus: dict[str, float], limit: int
    ) -> Ranked:
        now = to_micros(self._clock.now())
        epochs = (self._index_cache.epoch, self._graphs.version(namespaces))
        key = (text, namespaces, epochs, limit, now // _MINUTE_US)
        return self._cache.get(
            key,
            lambda: self._engine.search(text, namespaces, limit=limit, now=now, reached=bonus),
        )

    def _start(self, question: RecallQuestion, draft: Draft) -> Draft:
        """No question yet: preferences, the last summaries, and what four signals say matters."""
        if self._settings.start_tokens == 0:
            return draft
        draft.items = known.preferences(self._graphs, question.namespaces)
        checkpoint = self._store.sessions.last_checkpoint(question.namespaces[0])
        if checkpoint is not None:
            checkpoint = self._feedback.tombstones.visible_checkpoint(checkpoint)
        if checkpoint is not None and checkpoint.session_id != question.session_id:
            draft.first.append(context.checkpoint_line(checkpoint))
        pool = [
            record
            for namespace in question.namespaces
            for record in self._store.records.page(namespace, limit=START_POOL).items
            if record.category != UNANSWERED
        ]
        # At the start a session in short is worth more than its turns.
        short = {one.session_id for one in pool if one.is_short_turn}
        pool = [one for one in pool if not one.is_whole_turn or one.session_id not in short]
        summaries = [one for one in pool if one.traits.is_summary and one.category not in DIGESTS][
            :START_SUMMARIES
        ]
        first = {record.record_id for record in summaries}
        ranked = rank_for_start(pool, self._clock.now())
        ranked.sort(key=lambda one: one.record.record_id not in first)
        draft.candidates = [Found(one.record, one.score, one.parts) for one in ranked]
        self._judge(question, draft, repeat=False)
        return draft

    def _judge(self, question: RecallQuestion, draft: Draft, *, repeat: bool) -> None:
        """Say of each candidate why it may not be injected, if so; the rest is put in order."""
        self._look_at_files(draft, again=question.trigger != "session-start")
        told = self._said.to(question.namespaces[0], question.session_id)
        now = self._clock.now()
        consent = self._settings.share_sensitive
        known.judge(draft.items, told, consent=consent, repeat=repeat)
        wishes = {known.value_of(item) for item in draft.items if item.kind == "preferences"}
        in_full = {
            found.record.session_id for found in draft.candidates if found.record.level == "raw"
        }
        for found in draft.candidates:
            record = found.record
            verdicts = self._feedback.of(record.namespace)
            weight = factor(verdicts, record.record_id)
            found.score *= weight
            told_form = self._feedback.tombstones.visible_record(record)
            if weight == 0:
                found.why_not = "you said: never again"
                continue
            if told_form is None:
                found.why_not = "forgotten, with what was made of it"
                found.record = msgspec.structs.replace(record, title="(forgotten)")
                continue
            found.record = record = told_form
            if record.session_id == question.session_id:
                found.why_not = "said in this very session"
            elif record.record_id in told and not repeat:
                found.why_not = "injected earlier in this session"
            elif record.is_short_turn and record.session_id in in_full:
                found.why_not = "its session is here in full"
            elif record.traits.is_belief and known.plain(record.title) in wishes:
                found.why_not = "told as a preference"
            elif record.category == UNANSWERED and record.title.rstrip().endswith("?"):
                found.why_not = "a question that nobody answered"
            elif not record.traits.section:
                found.why_not = "a kind of memory that no brief holds"
            elif record.expires_at and record.expires_at <= now:
                found.why_not = "expired"
            elif record.valid_until and record.valid_until <= now:
                found.why_not = "no longer holds"
            elif not consent and self._private.holds(record):
                found.why_not = SENSITIVE
        if not consent:
            draft.first = [line for line in draft.first if not is_sensitive(line)]
        earlier = [] if repeat or not told else self._records(question.namespaces, sorted(told))
        whole = question.trigger == "session-start"
        drop_echoes([one for one in draft.candidates if not one.why_not], earlier, whole=whole)

    def _look_at_files(self, draft: Draft, *, again: bool) -> None:
        """A memory whose files changed or are gone says so, and sinks a little; `again` puts them
        in order once more."""
        standing = self._work_trees.freshness_of([found.record for found in draft.candidates])
        for found in draft.candidates:
            now = standing.get(found.record.record_id)
            if now is None or now.state == "unknown":
                continue
            before = STALE.get(found.record.freshness, 1.0)
            found.score *= STALE.get(now.state, 1.0) / before
            found.stale = now.path
            found.record = msgspec.structs.replace(found.record, freshness=now.state)
        if standing and again:
            draft.candidates.sort(key=lambda found: -found.score)

    def _records(self, namespaces: Sequence[str], record_ids: list[str]) -> list[Record]:
        found = {
            record.record_id: record
            for namespace in namespaces
            for record in self._store.records.get(namespace, record_ids)
        }
        return [found[record_id] for record_id in record_ids if record_id in found]

    def _fitted(
        self, question: RecallQuestion, draft: Draft, tokens: int
    ) -> tuple[str, tuple[str, ...]]:
        """The text, cut to its budget, and the memories in it."""
        mark = fence.nonce()
        frame = fence.fence(_HEADS, mark)
        room = tokens - count_tokens(frame)
        chars = question.limit_chars - len(frame)
        allowed = [found for found in draft.candidates if not found.why_not]
        items = [item for item in draft.items if not item.why_not]
        forms = {id(found): self._forms(found, draft.rivals) for found in allowed}
        wanted: dict[str, list[Any]] = {"history": [*draft.first]}
        for found in allowed:
            wanted.setdefault(found.record.traits.section, []).append(found)
        for item in items:
            wanted.setdefault(item.kind, []).append(item)

        def texts(one: Any) -> tuple[str, ...]:
            if isinstance(one, Found):
                return forms[id(one)]
            return (fence.disarm(one if isinstance(one, str) else one.line),)

        longest = {kind: [texts(one)[0] for one in some] for kind, some in wanted.items()}
        may = allot(
            room, {k: sum(count_tokens(t) + 1 for t in some) for k, some in longest.items()}
        )
        may_chars = allot(chars, {k: sum(len(t) + 1 for t in some) for k, some in longest.items()})
        lines: dict[str, list[str]] = {}
        injected = []
        for kind, some in wanted.items():
            fitted = fit(some, texts, tokens=may[kind], chars=may_chars[kind])
            lines[kind] = [text for _, text in fitted.chosen]
            injected += [one.record.record_id for one, _ in fitted.chosen if isinstance(one, Found)]
            for one, reason in fitted.left_out:
                if not isinstance(one, str):
                    one.why_not = reason
        if not any(lines.values()):
            return "", ()
        content = context.assembled(
            lines.get("preferences", []),
            [*lines.get("known", []), *lines.get("related", [])],
            lines["history"],
            lines.get("procedures", []),
        )
        text = f'<recollect id="{mark}">\n{fence.HEAD}\n{content}\n</recollect id="{mark}">'
        return text, tuple(injected)

    def _forms(self, found: Found, rivals: Sequence[Rival]) -> tuple[str, ...]:
        """A memory as text, long and short; one that says what no longer holds says so, and one
        that speaks of what was found not to be so is told with what is."""
        record = found.record
        forms: tuple[str, ...] = context.forms(record, found.stale)
        later = self._graphs.of(record.namespace).successors_of_facts(record.source_event_ids)
        if later:
            forms = tuple(context.no_longer(form, later) for form in forms)
        elif rivals:
            said = forms[0].casefold()
            facts = {one.current.fact_id: one.current for one in rivals if one.is_stated_in(said)}
            if facts:
                forms = tuple(context.beside(form, list(facts.values())) for form in forms)
        if found.older and not later:
            forms = tuple(context.older(form) for form in forms)
        return tuple(fence.disarm(form) for form in forms)

    def _receipt(
        self,
        question: RecallQuestion,
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
                "text": text[:TEXT_KEPT],
                "candidates": [
                    {
                        "record_id": found.record.record_id,
                        "title": "" if found.why_not == SENSITIVE else found.record.title,
                        "score": round(found.score, 4),
                        "parts": found.parts,
                        "injected": found.record.record_id in chosen,
                        "freshness": found.record.freshness,
                        "why_not": found.why_not,
                    }
                    for found in draft.candidates[: 2 * CANDIDATES]
                ],
                "stages_us": draft.stages,
                "known": [
                    {
                        "id": item.id,
                        "kind": item.kind,
                        "text": "" if item.sensitive else item.line,
                        "score": item.score,
                        "why": item.why,
                        "injected": bool(text) and not item.why_not,
                        "why_not": item.why_not,
                    }
                    for item in draft.items[: 2 * CANDIDATES]
                ],
                **draft.notes,
            },
            tokens=count_tokens(text),
            latency_us=latency_us,
            created_at=self._clock.now(),
        )


def _drop_turns(candidates: Sequence[Found]) -> None:
    """For a chore of every day only what holds in general counts, and what was put in by hand."""
    for found in candidates:
        general = found.record.traits.is_belief or found.record.strategy == "user"
        if not general and not found.why_not:
            found.why_not = "the prompt names a chore, no topic"


def _drop_weak(candidates: Sequence[Found]) -> None:
    """Being above the floor is about the best one; the others must also hold something of their
    own, not only stand near it or in its session."""
    answered = [
        found
        for found in candidates
        if found.record.category != UNANSWERED and _own(found) >= _least(found)
    ]
    best = max((_own(found) for found in answered or candidates), default=0.0)
    for found in candidates:
        if answered and found.record.category == UNANSWERED:
            found.why_not = "a prompt that got no answer"
        elif _own(found) < WEAK * best:
            found.why_not = "too weak beside the best one"
        elif _own(found) < _least(found):
            found.why_not = "too weak"


def _least(found: Found) -> float:
    return LEAST if "cosine" in found.parts else LEAST_WORDS


def _own(found: Found) -> float:
    own = max(0.0, found.parts.get("cosine", 0.0)) + found.parts.get("grams", 0.0)
    return own + BY_GRAPH * found.parts.get("graph", 0.0)


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
