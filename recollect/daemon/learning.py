"""The parts of extraction: watcher, worker, rules, model and gates, put together.

In: the runtime and the embedder of recall. Out: memories, a while after events came in. It is a
module of its own because it imports numpy, which hooks must not wait for.
"""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.core.values import Checkpoint, ExtractionRun
from recollect.embedding.embedder import Embedder
from recollect.extract.interface import Extraction
from recollect.extract.quality_gate import filter_candidates, filter_claims
from recollect.extract.rules.store_reads import StoreReads
from recollect.extract.rules_worker import RulesWorker
from recollect.extract.sentence_meaning import SentenceMeaning
from recollect.extract.watcher import ExtractionWatcher
from recollect.ingest.messages import Notice
from recollect.lifecycle.file_freshness import cite
from recollect.llm.choose import budget, choose
from recollect.llm.meter import report
from recollect.reconcile import graph_claims
from recollect.reconcile.extraction_run import ExtractionOptions, ExtractionWorker
from recollect.reconcile.push import ACTOR
from recollect.store.interface import with_content

if TYPE_CHECKING:
    from recollect.daemon.runtime import Runtime


class Learning:
    def __init__(self, runtime: "Runtime", embedder: Embedder | None) -> None:
        settings, clock, store = runtime.settings, runtime.clock, runtime.store
        tombstones = runtime.tombstones
        self._settings = settings
        self._clock = clock
        self._store = store
        self._counters = runtime.counters
        self._publish = runtime.publish
        self.provider = choose(settings, store.usage, clock, runtime.plugins.complete)
        recall = runtime.loaded_recall
        unrecorded = (recall.hints.propose_unrecorded,) if recall is not None else ()
        reads = StoreReads(store, tombstones.refused, SentenceMeaning(embedder))
        self._apart = RulesWorker(reads, clock)
        self.worker = ExtractionWorker(
            store,
            clock,
            runtime.memories,
            self._apart,
            provider=lambda: self.provider,
            gates=(*unrecorded, tombstones.gate, self._quality),
            embedder=embedder,
            knowledge=graph_claims.ClaimLearner(store.graph, clock, ACTOR),
            cite=cite,
            options=ExtractionOptions(
                compact=settings.compact_backlog, idle_s=settings.extract_idle_s
            ),
            on_run=self._on_run,
        )
        self._watcher = ExtractionWatcher(
            store,
            clock,
            self.worker.run,
            idle_s=settings.extract_idle_s,
        )

    def start(self) -> None:
        self._watcher.start()

    def close(self) -> None:
        """Ends the rules' worker and a model's children at once; what is being written is
        finished."""
        self.worker.close()
        self._apart.close()
        if self.provider is not None:
            self.provider.close()
        self._watcher.close()

    def on_event(self, notice: Notice) -> None:
        self._watcher.on_event(notice.stored.event)
        if notice.signal == "session-end":  # the next session may begin at once
            self._watcher.request([notice.stored.event.namespace])

    # --- for commands and routes ---

    def run_now(self, namespaces: Sequence[str], wait_s: float) -> bool:
        """Extract what waits there, now; False when that takes longer than `wait_s`."""
        wanted = list(namespaces)
        self._watcher.request(wanted)
        return self._watcher.wait(wanted, wait_s)

    @property
    def busy(self) -> frozenset[str]:
        """The namespaces that are being extracted."""
        return self._watcher.busy

    def retry(self, namespace: str) -> int:
        """Put what was set aside back in line; returns how many events."""
        count = self._store.events.retry(namespace)
        self._watcher.load_backlog()
        return count

    def status(self) -> dict[str, Any]:
        return {
            "provider": self.provider.name if self.provider else "none",
            "budget": report(self._store.usage, self._clock, budget(self._settings)),
            "running": sorted(self._watcher.busy),
            "worker": self._apart.status(),
            **self.worker.status(),
        }

    # --- callbacks of the worker ---

    def _quality(self, extraction: Extraction, namespace: str) -> Extraction:
        """The quality gate for what a model found (rules apply their own). What follows directly
        from events is not gated."""
        if extraction.sifted:
            return extraction
        fresh = [
            one for one in extraction.candidates if one.record.record_id not in extraction.derived
        ]
        kept, dropped = filter_candidates(
            fresh,
            known=lambda digest: with_content(self._store.records, namespace, digest),
            turns=extraction.turns,
        )
        claims, empty = filter_claims(extraction.claims)
        stays = {one.record.record_id for one in kept} | extraction.derived
        return dataclasses.replace(
            extraction,
            candidates=tuple(one for one in extraction.candidates if one.record.record_id in stays),
            claims=tuple(claims),
            dropped=(*extraction.dropped, *dropped, *empty),
        )

    def _on_run(self, run: ExtractionRun, checkpoints: Sequence[Checkpoint]) -> None:
        self._counters.count("extraction runs")
        self._counters.count("memories extracted", run.kept)
        if run.outcome in ("failed", "uncommitted"):
            self._counters.error(f"extraction: {run.reason}")
        self._publish("run", run)
        for checkpoint in checkpoints:
            self._publish(
                "checkpoint",
                {
                    "checkpoint_id": checkpoint.checkpoint_id,
                    "namespace": checkpoint.namespace,
                    "session_id": checkpoint.session_id,
                    "task": checkpoint.task,
                },
            )
