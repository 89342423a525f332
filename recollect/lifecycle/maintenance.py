"""One maintenance pass over old memories: summarise, shorten, forget, decay, purge.

In: the store and the time. Out: a report of what was done or, for a preview, of what would be. Both
ask the store the same questions, and no step makes work for another at the same time, so that a
preview equals the pass and a second pass finds nothing. Each step consists of small transactions
with pauses between them. A pass that is killed goes on where it was.
"""

import functools
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from recollect.core.bounded_wait import Late
from recollect.core.clock import Clock
from recollect.core.kinds import NOTE, Level
from recollect.core.settings import Settings
from recollect.core.values import Fact, Freshness, Record, Relationship
from recollect.ingest.memories import Memories
from recollect.lifecycle import consolidate, decay, digest, episode_compression, retention
from recollect.lifecycle.episode_compression import COMPRESS, DISTIL, StageLimits
from recollect.lifecycle.file_freshness import FreshnessChecker, freshness_of, in_background
from recollect.llm.base import Provider
from recollect.store.interface import Aged, Cursor, Forgetting, RecordFilter, Store, Transaction

T = TypeVar("T")

log = logging.getLogger(__name__)

ACTOR = "lifecycle"
BATCH = 25  # memories that one transaction merges
LEAVING = 10  # memories that one transaction archives: the index takes the time
LOOKED_UP = 400
PURGED = 200
PAGES = 256
DIGEST_MEMORIES = 200
CITING = 2000  # memories whose files one pass checks
STALE: tuple[Freshness, ...] = ("drifted", "orphaned")
NAMED = 5  # stale memories that a report names


@dataclass
class MaintenanceReport:
    """What a pass did, or would do, by step. `stale`: memories of which a cited file changed or is
    gone, with some of them, the latest to become so first."""

    at: datetime
    preview: bool
    counts: Counter[str] = field(default_factory=Counter)
    forgotten: Counter[str] = field(default_factory=Counter)
    memories: dict[str, dict[str, int]] = field(default_factory=dict)
    bytes: int = 0
    bytes_free: int = 0
    tight: bool = False
    finished: bool = True
    stale: int = 0
    stale_named: list[Record] = field(default_factory=list)
    mended: set[str] = field(default_factory=set)

    def note(self, record: Record, now: Freshness) -> None:
        """The freshness of a memory changed, or would."""
        self.counts["marked as stale" if now in STALE else "marked as up to date"] += 1
        if now in STALE:
            self.stale_named.append(record)
        else:
            self.mended.add(record.record_id)
        if self.preview:  # else it is counted when it is stored
            self.stale += (now in STALE) - (record.freshness in STALE)


class MaintenanceStopped(Exception):
    """The caller asked the pass to end; the next one goes on."""


def no_pause() -> None:
    return


class Maintenance:
    def __init__(
        self,
        store: Store,
        memories: Memories,
        clock: Clock,
        settings: Settings,
        provider: Callable[[], Provider | None] = lambda: None,
        *,
        visible: Callable[[Record], Record | None] = lambda record: record,
        size_limit: int = retention.SIZE_LIMIT,
    ) -> None:
        """`visible` gives a memory without what was forgotten: that is all a model sees."""
        self._visible = visible
        self._store = store
        self._memories = memories
        self._clock = clock
        self._settings = settings
        self._provider = provider
        self._size_limit = size_limit
        self.last: MaintenanceReport | None = None

    def preview(self) -> MaintenanceReport:
        """What a pass would do now. Writes nothing."""
        report = self._report(preview=True)
        for namespace in self._store.projects.namespaces():
            for what, count in self._due(namespace, report).items():
                report.counts[what] += count
        before = report.at - timedelta(days=self._settings.kept_days("archive"))
        report.counts["archived versions dropped"] += self._store.aging.purge(
            "archive", before, apply=False
        )
        return self._measured(report)

    def run(self, pause: Callable[[], None] = no_pause) -> MaintenanceReport:
        """One pass. `pause` is called between transactions and may wait or raise
        MaintenanceStopped."""
        report = self._report(preview=False)
        try:
            for namespace in self._store.projects.namespaces():
                for step in (
                    self._digests,
                    self._compressions,
                    self._distillations,
                    self._forgetting,
                    self._consolidation,
                    self._fading,
                    self._freshening,
                    self._receipts,
                ):
                    for _ in step(namespace, report):
                        pause()
            for _ in self._archive(report):
                pause()
            for _ in self._shrinking(report):
                pause()
        except MaintenanceStopped:
            report.finished = False
        self.last = self._measured(report)
        return self.last

    # --- preview and pass ---

    def _report(self, *, preview: bool) -> MaintenanceReport:
        now = self._store.upkeep.space()
        tight = now.bytes - now.free > self._size_limit
        return MaintenanceReport(self._clock.now(), preview, tight=tight)

    def _measured(self, report: MaintenanceReport) -> MaintenanceReport:
        now = self._store.upkeep.space()
        report.bytes, report.bytes_free = now.bytes, now.free
        for namespace in self._store.projects.namespaces():
            for state in STALE:
                where = RecordFilter(freshness=state)
                report.stale += sum(
                    one.count for one in self._store.records.counts(namespace, where)
                )
                page = self._store.records.page(namespace, where, limit=NAMED)
                report.stale_named += page.items
            ages = self._store.aging.ages(namespace)
            for kind, spans in decay.statistics(ages, report.at).items():
                known = Counter(report.memories.get(kind, {}))
                report.memories[kind] = dict(known + Counter(spans))
        seen = {one.record_id: self._visible(one) for one in report.stale_named}
        report.stale_named = [
            one for one in seen.values() if one is not None and one.record_id not in report.mended
        ][:NAMED]
        return report

    def _rules(self, report: MaintenanceReport) -> Forgetting:
        return retention.rules(self._settings, report.at, tight=report.tight)

    def _due(self, namespace: str, report: MaintenanceReport) -> Counter[str]:
        found: Counter[str] = Counter()
        found["digests written"] = sum(1 for _ in self._spans(namespace, report.at))
        found["turns compressed"] = sum(map(len, self._aged(namespace, "raw", report)))
        found["turns distilled"] = sum(map(len, self._aged(namespace, "compressed", report)))
        due = self._store.aging.forgettable(namespace, self._rules(report))
        report.forgotten.update(one.reason for one in due)
        found["memories forgotten"] = len(due)
        alike = self._alike(namespace, report)
        found["notes consolidated"] = sum(map(len, alike))
        gone = {one.record_id for one in due}.union(*alike)
        for changed in self._freshness_changes(namespace):
            for one, state in changed:
                if one.record_id not in gone:
                    report.note(one, state)
        found["inferred things faded"] = len(self._inferred(namespace, report))
        if before := self._receipts_before(report):
            found["receipts dropped"] = self._store.aging.purge(
                "receipts", before, namespace=namespace, apply=False
            )
        return found

    # --- digests ---

    def _spans(
        self, namespace: str, now: datetime
    ) -> Iterator[tuple[digest.Span, date, list[Record]]]:
        """Days and weeks that are over and have no summary yet, with their memories."""
        over = digest.spans(now)
        marks = [digest.mark(span, first) for span, first, _, _ in over]
        known = self._store.aging.gone(namespace, marks)
        for span, first, since, until in over:
            if digest.mark(span, first) in known:
                continue
            where = RecordFilter(since=since, until=until)
            page = self._store.records.page(namespace, where, limit=DIGEST_MEMORIES)
            found = [
                one for one in page.items if one.level == "raw" and one.category not in digest.CHARS
            ]
            if found:
                yield span, first, found

    def _digests(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        for span, first, found in list(self._spans(namespace, report.at)):
            made = digest.digest(span, first, found)
            marks = [digest.mark(span, first)]
            self._merge(namespace, [], made, marks, "what happened, in short")
            report.counts["digests written"] += 1
            yield

    # --- shortening turns ---

    def _aged(self, namespace: str, level: Level, report: MaintenanceReport) -> list[list[Aged]]:
        """Groups of turns of one session that are due for their next stage."""
        age = episode_compression.RAW_AGE if level == "raw" else episode_compression.COMPRESSED_AGE
        if report.tight and level == "compressed":
            age = timedelta(0)
        sessions: dict[str, list[Aged]] = {}
        for one in self._store.aging.episodes(namespace, level, report.at - age):
            sessions.setdefault(one.session_id, []).append(one)
        return [
            group
            for session in sessions.values()
            for group in episode_compression.chunks(session, [one.chars for one in session])
        ]

    def _compressions(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        """Turns stay beside their compressed form; forgetting removes them some days later."""
        for episodes, short in self._shortened(namespace, "raw", COMPRESS, report):
            self._merge(namespace, [], short, episodes, "a session in short")
            report.counts["turns compressed"] += len(episodes)
            yield

    def _distillations(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        for episodes, short in self._shortened(namespace, "compressed", DISTIL, report):
            self._merge(namespace, episodes, short, episodes, "a session, distilled")
            report.counts["turns distilled"] += len(episodes)
            yield

    def _shortened(
        self, namespace: str, level: Level, measure: StageLimits, report: MaintenanceReport
    ) -> Iterator[tuple[list[str], Record]]:
        """The ids of turns that are due, and the record that stands for them."""
        for group in self._aged(namespace, level, report):
            episodes = self._store.records.get(namespace, [one.record_id for one in group])
            if episodes:
                shown = [kept for one in episodes if (kept := self._visible(one)) is not None]
                yield (
                    [one.record_id for one in episodes],
                    episode_compression.compress(
                        episodes, measure, report.at, self._provider(), shown
                    ),
                )

    # --- forgetting ---

    def _forgetting(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        rules = self._rules(report)
        while due := self._store.aging.forgettable(namespace, rules, LOOKED_UP):
            for some in _batched(due, LEAVING):
                doomed = [one.record_id for one in some]
                reasons = Counter(one.reason for one in some)
                self._forget(namespace, doomed, reasons)
                report.forgotten += reasons
                report.counts["memories forgotten"] += len(doomed)
                yield

    def _forget(self, namespace: str, doomed: list[str], reasons: "Counter[str]") -> None:
        def work(tx: Transaction) -> None:
            operation = tx.log(
                "forget",
                namespace,
                ACTOR,
                targets=doomed,
                reason="; ".join(sorted(reasons)),
                detail=dict(reasons),
            )
            tx.change_records(operation)

        self._store.transaction(work)
        self._memories.changed(namespace, doomed)

    def _alike(self, namespace: str, report: MaintenanceReport) -> list[Sequence[str]]:
        """Groups of similar notes (ids only), each small enough for one transaction."""
        ever = datetime(1970, 1, 1, tzinfo=UTC)
        since = self._rules(report).retained.get(NOTE.name, ever)
        groups = self._store.aging.alike(
            namespace,
            since,
            report.at - episode_compression.RAW_AGE,
            consolidate.LEAST,
            episode_compression.IMPORTANT,
        )
        parts = [part for group in groups for part in _batched(group.record_ids, BATCH)]
        return [part for part in parts if len(part) >= consolidate.LEAST]

    def _consolidation(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        for group in self._alike(namespace, report):
            found = self._store.records.get(namespace, group)
            gone = [one.record_id for one in found]
            made = consolidate.merge_notes(found)
            self._merge(namespace, gone, made, gone, "the same files, the same kind")
            report.counts["notes consolidated"] += len(found)
            yield

    def _merge(
        self, namespace: str, gone: list[str], made: Record, marks: Sequence[str], reason: str
    ) -> None:
        """One transaction that removes, adds, and marks the merge as done. It is logged, so it can
        be undone."""

        def work(tx: Transaction) -> None:
            operation = tx.log(
                "merge", namespace, ACTOR, targets=gone, created=[made.record_id], reason=reason
            )
            tx.change_records(operation)
            tx.put_record(made, operation.op_id, stands_for=marks)

        self._store.transaction(work)
        self._memories.changed(namespace, [*gone, made.record_id])

    # --- fading, freshness ---

    def _fading(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        for some in _batched(self._inferred(namespace, report), PURGED):
            self._store.transaction(functools.partial(_fade, namespace, some, report.at))
            report.counts["inferred things faded"] += len(some)
            yield

    def _inferred(self, namespace: str, report: MaintenanceReport) -> list[Fact | Relationship]:
        """What was only inferred, and not touched since."""
        graph, before = self._store.graph, report.at - decay.STEP
        held: list[Fact | Relationship] = [*graph.all(namespace, Fact)]
        held += graph.all(namespace, Relationship)
        return [
            one
            for one in held
            if one.source_type == "inferred" and one.updated_at and one.updated_at <= before
        ]

    def _freshening(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        for changed in self._freshness_changes(namespace):
            if changed:
                states = {one.record_id: state for one, state in changed}
                self._store.records.touch(namespace, (), report.at, states)
                self._memories.changed(namespace, sorted(states))
                for one, state in changed:
                    report.note(one, state)
            yield

    def _freshness_changes(self, namespace: str) -> Iterator[list[tuple[Record, Freshness]]]:
        """Memories whose files are no longer in the state that is stored, page by page."""
        try:
            yield from self._freshness_changes_in_time(namespace)
        except Late:
            log.warning("a work tree does not answer: its memories keep their freshness")

    def _freshness_changes_in_time(
        self, namespace: str
    ) -> Iterator[list[tuple[Record, Freshness]]]:
        roots = in_background(FreshnessChecker.roots, self._store, namespace)
        where = RecordFilter(cites_files=True)
        after: Cursor | None = Cursor(-1, "")
        for _ in range(0, CITING, PURGED):
            if after is None or not roots:
                return
            page = self._store.records.page(namespace, where, after=after, limit=PURGED)
            found, after = page.items, page.next
            states = in_background(_states, found, roots)
            yield [
                (one, states[one.record_id])
                for one in found
                if states[one.record_id] not in ("unknown", one.freshness)
            ]

    # --- receipts, archive, size ---

    def _receipts_before(self, report: MaintenanceReport) -> datetime | None:
        days = self._settings.kept_days("turns")
        return report.at - timedelta(days=days) if days else None

    def _receipts(self, namespace: str, report: MaintenanceReport) -> Iterator[None]:
        before = self._receipts_before(report)
        purge = self._store.aging.purge
        while before and (gone := purge("receipts", before, namespace=namespace, limit=PURGED)):
            report.counts["receipts dropped"] += gone
            yield

    def _archive(self, report: MaintenanceReport) -> Iterator[None]:
        before = report.at - timedelta(days=self._settings.kept_days("archive"))
        while gone := self._store.aging.purge("archive", before, limit=PURGED):
            report.counts["archived versions dropped"] += gone
            yield

    def _shrinking(self, report: MaintenanceReport) -> Iterator[None]:
        """Return freed pages to the disk when the store is large; otherwise the next rows use
        them."""
        now = self._store.upkeep.space()
        if now.bytes <= self._size_limit:
            return
        while now.free and (now := self._store.upkeep.space(give_back=PAGES)).given_back:
            report.counts["pages given back"] += now.given_back
            yield


def _batched(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _states(found: Sequence[Record], roots: Sequence[str]) -> dict[str, Freshness]:
    return {one.record_id: freshness_of(one, roots).state for one in found}


def _fade(
    namespace: str, things: Sequence[Fact | Relationship], now: datetime, tx: Transaction
) -> None:
    """One operation for all of them, so that it is in the log and can be undone."""
    after = [decay.faded(thing, now) for thing in things]
    ended = sum(one.valid_until is not None for one in after)
    ids = [one.fact_id if isinstance(one, Fact) else one.relationship_id for one in things]
    operation = tx.log(
        "edit", namespace, ACTOR, targets=ids, reason="inferred, and not seen again for a week",
        detail={"faded": len(after) - ended, "no longer held": ended},
    )  # fmt: skip
    tx.put_graph(*after, operation=operation)
