"""Decides what becomes of each candidate: written, merged with a stored memory, or dropped as
known.

In: candidates with their vectors. Out: plans, one per cluster, and what was dropped and why. All
decisions are made here, before anything is written. Without a judge nothing is reworded: a
candidate that says the same as a stored memory is dropped, and of two such candidates the richer
one is kept.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from recollect.core.errors import BudgetSpent
from recollect.core.projects import everywhere
from recollect.core.values import Record
from recollect.embedding.embedder import MODEL, model_of
from recollect.extract.breaker import JudgeBreaker
from recollect.extract.interface import Dropped
from recollect.reconcile.cluster import Cluster, Row, clusters, unit
from recollect.reconcile.judge import JudgeFailed, Merge, MergeJudge
from recollect.reconcile.merge import alike_in_trust, mergeable, merged
from recollect.reconcile.neighbours import Neighbour, neighbours
from recollect.reconcile.record_vectors import RecordEmbedder, embedded
from recollect.store.interface import Store, with_content

log = logging.getLogger(__name__)

# From the original design (docs/decisions/extraction.md), chosen for all-MiniLM-L6-v2.
BATCH_COSINE = 0.85  # above it two new memories are merged
NEIGHBOUR_COSINE = 0.80  # above it a stored memory is shown to the judge
SAME = 0.95  # without a judge: so near is the same, if nothing countable differs
KNOWN = "known"
_WORD = re.compile(
    r"(?<![\w./:-])(?=[\w./:-]*\d)[\w./:-]++"
    r"|\b(?:not|no|never|don't|without|nicht|kein\w*|nie)\b"
)


@dataclass(frozen=True)
class EmbeddedRecord:
    """A record that is not written yet, with the vectors of its parts."""

    record: Record
    vectors: tuple[bytes, ...] = ()
    model: str = MODEL  # that made them


@dataclass(frozen=True)
class PlannedMerge:
    """A merge: the new record, the members in it, and the stored records that it replaces."""

    made: EmbeddedRecord
    members: tuple[str, ...]
    stored: tuple[Record, ...]


@dataclass(frozen=True)
class ClusterPlan:
    """What one cluster does. `derived` candidates replace their earlier version."""

    members: tuple[EmbeddedRecord, ...]
    fusion: PlannedMerge | None = None
    derived: bool = False


@dataclass
class Decisions:
    plans: list[ClusterPlan] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    clusters: int = 0
    judge_calls: int = 0
    judge_failures: int = 0


def direct(candidates: Sequence[EmbeddedRecord]) -> Decisions:
    """No dedupe: every candidate by itself, in order."""
    return Decisions(plans=[ClusterPlan((one,)) for one in candidates], clusters=len(candidates))


def by_similarity(store: Store, namespace: str, candidates: Sequence[EmbeddedRecord]) -> Decisions:
    """Deduplicate without a judge."""
    made = Decisions()
    fresh = _unknown(store, candidates, made)
    found = clusters([_whole(one) for one in fresh], BATCH_COSINE)
    made.clusters = len(found)
    units = [unit(_whole(one)) for one in fresh]
    near = neighbours(store, namespace, units, SAME, model=_model(fresh))
    for cluster in found:
        kept: list[int] = []
        for at in sorted(cluster.members, key=lambda at: (-_richness(fresh[at].record), at)):
            record = fresh[at].record
            double = any(
                _cosine(units[at], units[other]) >= SAME and _alike(record, fresh[other].record)
                for other in kept
            )
            known = any(
                _alike(record, one.record) and not record.outdoes(one.record) for one in near[at]
            )
            if double or known:
                made.dropped.append(Dropped(record.title, KNOWN if known else "double"))
            else:
                kept.append(at)
        if kept:
            made.plans.append(ClusterPlan(tuple(fresh[at] for at in sorted(kept))))
    return made


def _model(made: Sequence[EmbeddedRecord]) -> str:
    return made[0].model if made else MODEL


def by_judge(
    store: Store,
    namespace: str,
    candidates: Sequence[EmbeddedRecord],
    judge: MergeJudge,
    breaker: JudgeBreaker,
    embedder: RecordEmbedder | None,
    ended: Sequence[str] = (),
) -> Decisions:
    """What `ended` names ends with this batch: nothing is merged with it."""
    made = Decisions()
    fresh = _unknown(store, candidates, made)
    found = clusters([_whole(one) for one in fresh], BATCH_COSINE)
    made.clusters = len(found)
    centroids = [cluster.centroid for cluster in found]
    near = neighbours(store, namespace, centroids, NEIGHBOUR_COSINE, model=_model(fresh))
    taken = set(ended)  # and neighbours that a sibling cluster merges
    asking = True
    for cluster, around in zip(found, near, strict=True):
        members = tuple(fresh[at] for at in cluster.members)
        stored = [
            one for one in around if one.record.record_id not in taken and mergeable(one.record)
        ]
        fusion = None
        if stored and asking and not breaker.open(namespace):
            try:
                said = judge.decide(namespace, [one.record for one in members], stored)
                breaker.succeeded(namespace)
                fusion = said and _fusion(said, cluster, members, stored, embedder)
            except JudgeFailed as error:
                breaker.failed(namespace)
                made.judge_failures += 1
                log.warning("judge: %s", error)
            except BudgetSpent as error:
                asking = False
                log.warning("judge: %s", error)
        if fusion:
            taken.update(record.record_id for record in fusion.stored)
        made.plans.append(ClusterPlan(members, fusion or None))
    made.judge_calls = judge.calls
    return made


def _unknown(
    store: Store, candidates: Sequence[EmbeddedRecord], made: Decisions
) -> list[EmbeddedRecord]:
    """Candidates whose exact words are neither stored nor twice in the batch."""
    seen: set[str] = set()
    fresh = []
    for one in candidates:
        mark, here = one.record.content_hash, one.record.namespace
        known = with_content(store.records, here, mark) if mark else None
        if mark and known is None and one.record.traits.is_belief:
            known = with_content(store.records, everywhere(here), mark)
        if mark in seen or (known is not None and not one.record.outdoes(known)):
            made.dropped.append(Dropped(one.record.title, "double" if mark in seen else KNOWN))
        else:
            fresh.append(one)
        if mark:
            seen.add(mark)
    return fresh


def _fusion(
    said: Merge,
    cluster: Cluster,
    members: Sequence[EmbeddedRecord],
    stored: Sequence[Neighbour],
    embedder: RecordEmbedder | None,
) -> PlannedMerge | None:
    """The judge's merge, as far as it is allowed."""
    by_id = {one.record.record_id: one.record for one in members}
    by_id |= {one.record.record_id: one.record for one in stored}
    cited = [by_id[record_id] for record_id in said.ids]
    parts = [record for record in cited if alike_in_trust(record, cited[:1])]
    if len(parts) < 2:
        return None
    nearness = {one.record.record_id: one.similarity for one in stored}
    nearness |= {
        one.record.record_id: _cosine(unit(_whole(one)), cluster.centroid) for one in members
    }
    record = merged(said, parts, sorted(parts, key=lambda one: -nearness[one.record_id]))
    own = {one.record.record_id for one in members}
    return PlannedMerge(
        made=EmbeddedRecord(record, embedded(record, embedder), model_of(embedder)),
        members=tuple(part.record_id for part in parts if part.record_id in own),
        stored=tuple(part for part in parts if part.record_id not in own),
    )


def _whole(one: EmbeddedRecord) -> bytes | None:
    return one.vectors[0] if one.vectors else None


def _cosine(one: Row | None, other: Row | None) -> float:
    return 0.0 if one is None or other is None else float(one @ other)


def _alike(one: Record, other: Record) -> bool:
    """Similar texts are not the same where a number, a name with a digit or a "not" differs, or
    where only one of them is the user's words."""
    return _countable(one) == _countable(other) and alike_in_trust(one, [other])


def _countable(record: Record) -> frozenset[str]:
    return frozenset(_WORD.findall("\n".join((record.title, record.summary)).casefold()))


def _richness(record: Record) -> int:
    lists = (*record.facts, *record.concepts, *record.files)
    return len(record.title) + len(record.summary) + sum(map(len, lists))
