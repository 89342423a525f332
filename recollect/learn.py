"""Extraction put together: watcher, worker, rules, model and gates, as one thing.

In: the store and what else the daemon has. Out: memories, a while after events came in. It stands
beside the daemon because it imports numpy, which hooks must not wait for.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from recollect.core.clock import Clock
from recollect.core.settings import Settings
from recollect.core.values import Checkpoint, ExtractionRun
from recollect.embedding.embedder import Embedder
from recollect.extract.interface import Extraction
from recollect.extract.quality_gate import sift, sift_claims
from recollect.extract.rules import StoreReads
from recollect.extract.rules_worker import RulesWorker
from recollect.extract.tombstones import Tombstones
from recollect.extract.watcher import ExtractionWatcher
from recollect.ingest.counters import Counters
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Notice
from recollect.lifecycle.file_freshness import cite
from recollect.llm.choose import budget, choose
from recollect.llm.meter import report
from recollect.reconcile import knowledge
from recollect.reconcile.extraction_run import ExtractionOptions, ExtractionWorker
from recollect.reconcile.push import ACTOR
from recollect.store.interface import Store

Publish = Callable[[str, Any], None]


class Learning:
    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        store: Store,
        memories: Memories,
        counters: Counters,
        *,
        embedder: Embedder | None,
        tombstones: Tombstones,
        publish: Publish,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._store = store
        self._counters = counters
        self._publish = publish
        self.provider = choose(settings, store.usage, clock)
        self._apart = RulesWorker(StoreReads(store, tombstones.refused), clock)
        self.worker = ExtractionWorker(
            store,
            clock,
            memories,
            self._apart,
            provider=lambda: self.provider,
            gates=(tombstones.gate, self._quality),
            embedder=embedder,
            knowledge=knowledge.ClaimLearner(store.graph, clock, ACTOR),
            cite=cite,
            options=ExtractionOptions(
                compact=settings.compact_backlog, idle_s=settings.extract_idle_s
            ),
            told=self._told,
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

    def heard(self, notice: Notice) -> None:
        self._watcher.on_event(notice.stored.event)

    # --- asked by people ---

    def run_now(self, namespaces: Sequence[str], wait_s: float) -> bool:
        """Extract what waits there, now; False when that takes longer than `wait_s`."""
        wanted = list(namespaces)
        self._watcher.ask(wanted)
        return self._watcher.wait(wanted, wait_s)

    def retry(self, namespace: str) -> int:
        """Put what was set aside back in line; returns how many events."""
        count = self._store.events.retry(namespace)
        self._watcher.arm()
        return count

    def status(self) -> dict[str, Any]:
        return {
            "provider": self._settings.provider,
            "budget": report(self._store.usage, self._clock, budget(self._settings)),
            "running": sorted(self._watcher.busy),
            "worker": self._apart.status(),
            **self.worker.status(),
        }

    # --- handed to the worker ---

    def _quality(self, extraction: Extraction, namespace: str) -> Extraction:
        """The gate, for what a model found; rules have their own. What follows from events by
        itself goes around it."""
        if extraction.sifted:
            return extraction
        fresh = [
            one for one in extraction.candidates if one.record.record_id not in extraction.derived
        ]
        kept, dropped = sift(
            fresh, known=lambda digest: self._store.records.by_hash(namespace, digest)
        )
        claims, empty = sift_claims(extraction.claims)
        stays = {one.record.record_id for one in kept} | extraction.derived
        return dataclasses.replace(
            extraction,
            candidates=tuple(one for one in extraction.candidates if one.record.record_id in stays),
            claims=tuple(claims),
            dropped=(*extraction.dropped, *dropped, *empty),
        )

    def _told(self, run: ExtractionRun, checkpoints: Sequence[Checkpoint]) -> None:
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
