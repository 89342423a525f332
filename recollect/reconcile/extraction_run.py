"""One run of extraction: claim, extract, gate, embed, dedupe, push, and a log line.

In: a namespace. Out: what the watcher needs to know. Whatever goes wrong, the events are either
finished together with their results, or still waiting; and the run is recorded.
"""

import contextlib
import dataclasses
import functools
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from recollect.core import ids
from recollect.core.clock import Clock
from recollect.core.errors import (
    BudgetSpent,
    ProviderDown,
    ProviderError,
    ProviderRefused,
    RecollectError,
    StoreError,
)
from recollect.core.values import (
    IMPORTED,
    Candidate,
    Checkpoint,
    Citation,
    ExtractionRun,
    RunOutcome,
)
from recollect.embedding.embedder import model_of
from recollect.extract.breaker import Breaker, JudgeBreaker
from recollect.extract.condense import OVERSIZED, Condenser
from recollect.extract.interface import (
    EndClaim,
    Extraction,
    Extractor,
    PreferenceClaim,
    ProcedureClaim,
)
from recollect.extract.model import ModelExtractor, known_memories
from recollect.extract.watcher import RunFollowUp
from recollect.ingest.memories import Memories
from recollect.llm.base import Completion, ModelRequest, Provider
from recollect.reconcile.belief_plan import plan_beliefs
from recollect.reconcile.dedupe import (
    ClusterPlan,
    Decisions,
    EmbeddedRecord,
    by_judge,
    by_similarity,
    direct,
)
from recollect.reconcile.judge import MergeJudge
from recollect.reconcile.promotion import promote
from recollect.reconcile.push import Knowledge, Pushed, push
from recollect.reconcile.record_vectors import RecordEmbedder, prepared
from recollect.reconcile.unread_statements import unread
from recollect.store.interface import Batch, Counted, Store

log = logging.getLogger(__name__)

BATCH_EVENTS = 500
BATCH_BYTES = 256 << 10
LARGE_EVENTS = 4000  # of an oversized backlog that is condensed
QUARANTINE_AFTER = 3
NEVER_ENDED = "extraction of these began and did not end: the daemon was killed, or froze"
NO_MODEL = "none"

Gate = Callable[[Extraction, str], Extraction]
Cite = Callable[[Iterable[str], str | None], tuple[Citation, ...]]


@dataclass(frozen=True)
class ExtractionOptions:
    """How runs are made."""

    reconcile: bool = True
    compact: bool = False
    idle_s: float = 30.0


@dataclass
class _Counts:
    """The counts of a run in progress."""

    namespace: str
    provider: str = NO_MODEL
    outcome: RunOutcome = "nothing"
    reason: str = ""
    events: int = 0
    candidates: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    clusters: int = 0
    failed: int = 0
    merged: int = 0
    judge_calls: int = 0
    judge_failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    latency_us: dict[str, int] = field(default_factory=dict)


class ExtractionWorker:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        memories: Memories,
        rules: Extractor,
        *,
        provider: Callable[[], Provider | None] = lambda: None,
        gates: Sequence[Gate] = (),
        embedder: RecordEmbedder | None = None,
        knowledge: Knowledge | None = None,
        cite: Cite = lambda paths, where: (),
        options: ExtractionOptions | None = None,
        on_run: Callable[[ExtractionRun, Sequence[Checkpoint]], None] = lambda run, stops: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._memories = memories
        self._rules = rules
        self._provider = provider
        self._gates = gates
        self._embedder = embedder
        self._knowledge = knowledge
        self._cite = cite
        self._options = options or ExtractionOptions()
        self._on_run = on_run
        self._breaker = Breaker(clock)
        self._judging = JudgeBreaker()
        self._condenser = Condenser(Breaker(clock))
        self._stopping = threading.Event()
        self._by_rules: dict[str, str] = {}

    def close(self) -> None:
        """Runs may finish, but their failures no longer count."""
        self._stopping.set()

    def status(self) -> dict[str, Any]:
        """The state of extraction, for people."""
        return {
            "breakers": self._breaker.states(),
            "judge_breakers": self._judging.states(),
            "by_rules_because": dict(self._by_rules),
        }

    def run(self, namespace: str) -> RunFollowUp:
        """One run. Raises StoreError when the store cannot be read or written now."""
        if self._stopping.is_set():
            return RunFollowUp()
        choice = self._choose(namespace)
        if choice.nobody and not self._breaker.allows(namespace):
            return RunFollowUp(again=True, wait_s=self._breaker.opens_in_s(namespace))
        waiting = {one.namespace: one for one in self._store.events.backlog()}.get(namespace)
        if waiting is None or not waiting.count:
            return RunFollowUp()
        large = choice.model is not None and self._options.compact and waiting.bytes >= OVERSIZED
        batch = self._store.events.claim(
            namespace,
            LARGE_EVENTS if large else BATCH_EVENTS,
            OVERSIZED if large else BATCH_BYTES,
            # Counted before it starts: what ends the daemon has no other way to count.
            Counted(NEVER_ENDED, QUARANTINE_AFTER),
        )
        if batch is None:
            return RunFollowUp()
        if any(one.event.source.client_id == IMPORTED for one in batch.events):
            choice = _Choice()
        return self._batch(batch, choice, more=waiting.count > len(batch.events))

    # --- one batch ---

    def _batch(self, batch: Batch, choice: "_Choice", *, more: bool) -> RunFollowUp:
        counts = _Counts(batch.namespace, events=len(batch.events))
        started = self._clock.now()
        finished: Pushed | None = None
        try:
            finished = self._phases(batch, choice, counts)
        except StoreError as error:
            self._give_back(batch)
            counts.outcome, counts.reason = "uncommitted", str(error)
        except Exception as error:  # noqa: BLE001 - a thread that dies of one event helps nobody
            self._failed(batch, counts, error)
        finally:
            self._record(counts, started, choice.model, finished)
        if self._stopping.is_set():
            return RunFollowUp()
        if finished is not None and finished.finished:
            return RunFollowUp(again=more)
        return RunFollowUp(again=True, wait_s=self._options.idle_s)

    def _phases(self, batch: Batch, choice: "_Choice", counts: _Counts) -> Pushed:
        extraction, judge = self._extract(batch, choice, counts)
        with self._timed(counts, "gate"):
            for gate in self._gates:
                extraction = gate(extraction, batch.namespace)
        counts.candidates = len(extraction.candidates) + len(extraction.dropped)
        counts.dropped.update(one.reason for one in extraction.dropped)
        with self._timed(counts, "embed"):
            where = {
                one.event.session_id: one.event.source.project_path or "" for one in batch.events
            }
            made = [
                self._made(candidate, where)
                for candidate in extraction.candidates
                if candidate.record.record_id not in extraction.reworded
            ]
            perhaps = [self._made(candidate, where) for candidate in unread(extraction, batch)]
        with self._timed(counts, "dedupe"):
            decisions = self._dedupe(batch.namespace, made, extraction, judge, counts)
        with self._timed(counts, "beliefs"):
            plan = plan_beliefs(
                self._store, batch.namespace, decisions.plans, extraction.claims, perhaps
            )
        with self._timed(counts, "push"):
            pushed = push(
                self._store,
                batch,
                plan.plans,
                claims=plan.claims,
                changes=plan.changes,
                turns=extraction.turns,
                checkpoints=extraction.checkpoints,
                knowledge=self._knowledge,
                reworded=[
                    one.record
                    for one in extraction.candidates
                    if one.record.record_id in extraction.reworded
                ],
                ended=extraction.ended,
            )
        self._settle(batch, choice, counts, decisions, pushed)
        self._notify(batch.namespace, pushed)
        for record in pushed.written:
            promote(self._store, self._memories, record)
        return pushed

    def _notify(self, namespace: str, pushed: Pushed) -> None:
        """What holds everywhere is written to the actor's namespace, not to the project's."""
        touched: dict[str, list[str]] = {}
        for record in (*pushed.written, *pushed.changed):
            touched.setdefault(record.namespace, []).append(record.record_id)
        if pushed.displaced:
            touched.setdefault(namespace, []).extend(pushed.displaced)
        for where, ids_there in touched.items():
            self._memories.changed(where, ids_there)

    def _extract(
        self, batch: Batch, choice: "_Choice", counts: _Counts
    ) -> tuple[Extraction, "_Tally | None"]:
        """By the model if one may be asked, else by rules; also returns who may judge."""
        with self._timed(counts, "extract"):
            counts.reason = choice.why
            if choice.model is not None:
                model = choice.model
                counts.provider = model.name
                condense = functools.partial(self._condenser, model)
                known = functools.partial(known_memories, self._store.records)
                by_model = ModelExtractor(model, condense if self._options.compact else None, known)
                try:
                    found = by_model.extract(batch)
                except BudgetSpent as error:
                    counts.reason = self._by_rules[batch.namespace] = str(error)
                else:
                    return self._with_rules(found, batch), model
            counts.provider = NO_MODEL
            return self._rules.extract(batch), None

    def _with_rules(self, found: Extraction, batch: Batch) -> Extraction:
        """Add what rules derive from events, whoever extracts the rest: summaries, checkpoints,
        procedures, and what the user asked for in plain words."""
        plain = self._rules.extract(batch)
        kept = plain.derived | plain.reworded
        derived = tuple(one for one in plain.candidates if one.record.record_id in kept)
        claims = tuple(
            one
            for one in plain.claims
            if isinstance(one, (EndClaim, PreferenceClaim, ProcedureClaim))
        )
        return dataclasses.replace(
            found,
            candidates=(*derived, *found.candidates),
            claims=(*found.claims, *claims),
            checkpoints=plain.checkpoints,
            derived=plain.derived,
            reworded=plain.reworded,
            ended=(*found.ended, *plain.ended),
            turns=plain.turns,
        )

    def _made(self, candidate: Candidate, where: Mapping[str, str]) -> EmbeddedRecord:
        """A candidate with its vectors and the current content of its files."""
        ready, vectors = prepared(candidate, self._embedder)
        record = ready.record
        if record.files and not record.citations:
            cited = self._cite(record.files, where.get(record.session_id or ""))
            record = msgspec.structs.replace(record, citations=cited)
        return EmbeddedRecord(record, vectors, model_of(self._embedder))

    def _dedupe(
        self,
        namespace: str,
        made: Sequence[EmbeddedRecord],
        extraction: Extraction,
        judge: "_Tally | None",
        counts: _Counts,
    ) -> Decisions:
        derived = extraction.derived
        standing = [
            ClusterPlan((one,), derived=True) for one in made if one.record.record_id in derived
        ]
        fresh = [one for one in made if one.record.record_id not in derived]
        if not self._options.reconcile or (judge is not None and self._judging.open(namespace)):
            decisions = direct(fresh)
            counts.outcome = "direct"
        elif judge is None:
            decisions = by_similarity(self._store, namespace, fresh)
            counts.outcome = "committed"
        else:
            decisions = by_judge(
                self._store,
                namespace,
                fresh,
                MergeJudge(judge),
                self._judging,
                self._embedder,
                extraction.ended,
            )
            counts.outcome = "committed"
        decisions.plans[:0] = standing
        decisions.clusters += len(standing)
        counts.dropped.update(one.reason for one in decisions.dropped)
        counts.clusters = decisions.clusters
        counts.judge_calls = decisions.judge_calls
        counts.judge_failures = decisions.judge_failures
        if not made:
            counts.outcome = "nothing"
        return decisions

    # --- how it ended ---

    def _settle(
        self,
        batch: Batch,
        choice: "_Choice",
        counts: _Counts,
        decisions: Decisions,
        pushed: Pushed,
    ) -> None:
        counts.failed, counts.merged = pushed.failed, pushed.merged
        counts.kept = len(pushed.written)
        counts.dropped.update(one.reason for one in pushed.dropped)
        if pushed.reasons:
            counts.reason = pushed.reasons[0]
        if not pushed.finished:
            counts.outcome = "uncommitted"
            self._breaker.failed(batch.namespace)
            self._store.events.release(batch, failed=counts.reason)
            return
        self._judging.run_ended(batch.namespace, decisions.judge_failures)
        if counts.provider != NO_MODEL or choice.nobody:
            self._breaker.succeeded(batch.namespace)

    def _failed(self, batch: Batch, counts: _Counts, error: Exception) -> None:
        """No usable answer. An unreachable provider does not count against the events: they wait,
        and rules take over when it stays away. Any other failure counts."""
        counts.outcome = "failed"
        ours = isinstance(error, RecollectError)
        counts.reason = str(error) if ours else f"{type(error).__name__} in extraction"
        if not ours:
            log.error("extraction failed unexpectedly", exc_info=error)
        if self._stopping.is_set() or isinstance(error, (ProviderDown, ProviderRefused)):
            self._give_back(batch)
        else:
            self._store.events.release(batch, failed=counts.reason)
        if not self._stopping.is_set():
            self._breaker.failed(batch.namespace)

    def _give_back(self, batch: Batch) -> None:
        """Release the events unchanged, unless the store cannot write even that."""
        try:
            self._store.events.release(batch)
        except StoreError as error:
            log.error("a run stays counted against %d events: %s", len(batch.events), error)

    def _choose(self, namespace: str) -> "_Choice":
        """Whom to ask, decided anew for each run."""
        choice = _Choice()
        try:
            provider = self._provider()
        except ProviderError as error:
            choice = _Choice(why=str(error))
        else:
            if provider is not None and self._breaker.allows(namespace):
                choice = _Choice(_Tally(provider))
            elif provider is not None:
                choice = _Choice(why=f"{provider.name} failed several times in a row")
        if choice.why:
            self._by_rules[namespace] = choice.why
        else:
            self._by_rules.pop(namespace, None)
        return choice

    def _record(
        self, counts: _Counts, started: datetime, model: "_Tally | None", pushed: Pushed | None
    ) -> None:
        if model is not None:
            counts.input_tokens, counts.output_tokens = model.input_tokens, model.output_tokens
        counts.latency_us["all"] = sum(counts.latency_us.values())
        run = ExtractionRun(
            run_id=ids.new_id(ids.RUN),
            started_at=started,
            **{**dataclasses.asdict(counts), "dropped": dict(counts.dropped)},
        )
        log.info("run %s", _line(run))
        try:
            self._store.runs.put(run)
        except StoreError as error:
            log.error("a run could not be recorded: %s", error)
        self._on_run(run, pushed.checkpoints if pushed else ())

    @contextlib.contextmanager
    def _timed(self, counts: _Counts, phase: str) -> Iterator[None]:
        began = self._clock.mono_ns()
        try:
            yield
        finally:
            counts.latency_us[phase] = (self._clock.mono_ns() - began) // 1000


@dataclass(frozen=True)
class _Choice:
    """The model to ask, or the rules; and why the rules, when a model was configured."""

    model: "_Tally | None" = None
    why: str = ""

    @property
    def nobody(self) -> bool:
        """Nobody wants a model."""
        return self.model is None and not self.why


class _Tally:
    """A provider that counts what one run used."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.name = provider.name
        self.model = provider.model
        self.input_tokens = 0
        self.output_tokens = 0

    def complete(self, request: ModelRequest) -> Completion:
        done = self._provider.complete(request)
        self.input_tokens += done.input_tokens
        self.output_tokens += done.output_tokens
        return done

    def close(self) -> None:
        self._provider.close()


def _line(run: ExtractionRun) -> str:
    """A run as `name=value` pairs, always the same names."""
    dropped = ",".join(f"{name}:{count}" for name, count in sorted(run.dropped.items()))
    latency = ",".join(f"{name}:{took}" for name, took in run.latency_us.items())
    first = ("namespace", "provider", "outcome", "events", "candidates", "kept")
    then = ("clusters", "failed", "merged", "judge_calls", "judge_failures")
    fields = {
        **{name: getattr(run, name) for name in first},
        "dropped": dropped or "-",
        **{name: getattr(run, name) for name in then},
        "tokens": f"{run.input_tokens}+{run.output_tokens}",
        "latency_us": latency,
    }
    line = " ".join(f"{name}={value}" for name, value in fields.items())
    return f'{line} reason="{run.reason}"' if run.reason else line
