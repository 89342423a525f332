"""Writes what a run decided: one transaction, with a savepoint per cluster.

In: plans. Out: what was written, replaced and what failed. A cluster that cannot be written fails
alone; the batch is finished in the same transaction unless all of them failed. So a crash leaves
either everything of a run or nothing, with its events still waiting.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from recollect.core.errors import RecollectError
from recollect.core.values import Checkpoint, Record
from recollect.embedding.embedder import vector_rows
from recollect.extract.interface import Claim, Dropped
from recollect.extract.rules.store_reads import OURSELVES
from recollect.reconcile.belief_changes import BeliefChange, apply
from recollect.reconcile.dedupe import ClusterPlan, PlannedMerge
from recollect.store.interface import Batch, Store, Transaction

log = logging.getLogger(__name__)

ACTOR = OURSELVES
_SETTLED = "later turns of the session changed it"


@dataclass(frozen=True)
class Learned:
    """What was made of claims: a function that writes it in the transaction, and what was kept
    out."""

    write: Callable[[Transaction], object]
    dropped: Sequence[Dropped] = ()


Knowledge = Callable[[str, Sequence[Claim], Mapping[str, str]], Learned]
"""Reads the graph and decides what claims mean for it, before the transaction; the mapping says
of an event to which turn it belongs."""


@dataclass
class Pushed:
    written: list[Record] = field(default_factory=list)
    changed: list[Record] = field(default_factory=list)  # beliefs that ended or are disputed
    displaced: list[str] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    merged: int = 0
    failed: int = 0
    reasons: list[str] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    finished: bool = False


def push(
    store: Store,
    batch: Batch,
    plans: Sequence[ClusterPlan],
    *,
    claims: Sequence[Claim] = (),
    turns: Mapping[str, str] | None = None,
    checkpoints: Sequence[Checkpoint] = (),
    knowledge: Knowledge | None = None,
    changes: Sequence[BeliefChange] = (),
    reworded: Sequence[Record] = (),
    ended: Sequence[str] = (),
) -> Pushed:
    """Raises StoreError when the transaction itself failed: then nothing was written."""
    learned = knowledge(batch.namespace, claims, turns or {}) if knowledge and claims else None

    def work(tx: Transaction) -> Pushed:
        done = _push(tx, batch, plans, checkpoints, learned, changes)
        if done.finished:
            _settle(tx, batch.namespace, reworded, ended, done)
        return done

    return store.transaction(work)


def _push(
    tx: Transaction,
    batch: Batch,
    plans: Sequence[ClusterPlan],
    checkpoints: Sequence[Checkpoint],
    learned: Learned | None,
    changes: Sequence[BeliefChange],
) -> Pushed:
    done = Pushed()
    for plan in plans:
        try:
            part = tx.attempt(partial(_cluster, tx, batch.namespace, plan))
        except RecollectError as error:
            done.failed += 1
            done.reasons.append(str(error))
            ids = " ".join(one.record.record_id for one in plan.members)
            log.error("a cluster was not written: %s (%s)", error, ids)
            continue
        done.written += part.written
        done.displaced += part.displaced
        done.merged += part.merged
    if plans and done.failed == len(plans):
        return done
    for checkpoint in checkpoints:
        with _reported(done, "a checkpoint was not written"):
            done.checkpoints.append(tx.attempt(partial(tx.put_checkpoint, checkpoint)))
    for change in changes:
        with _reported(done, "a belief was not changed"):
            tx.attempt(partial(apply, tx, change, ACTOR))
            done.changed += change.changed
    if learned is not None:
        with _reported(done, "claims were not written"):
            tx.attempt(partial(learned.write, tx))
            done.dropped += learned.dropped
    tx.finish(batch)
    done.finished = True
    return done


@contextlib.contextmanager
def _reported(done: Pushed, problem: str) -> Iterator[None]:
    """A part that fails is told, and the rest is written."""
    try:
        yield
    except RecollectError as error:
        done.reasons.append(str(error))
        log.error("%s: %s", problem, error)


def _settle(
    tx: Transaction,
    namespace: str,
    reworded: Sequence[Record],
    ended: Sequence[str],
    done: Pushed,
) -> None:
    """Bring notes of earlier turns to the state of their session: new words, or the archive."""
    there = {one.record_id for one in tx.records(namespace, [one.record_id for one in reworded])}
    changed = [one for one in reworded if one.record_id in there]
    gone = [one.record_id for one in tx.records(namespace, ended)]
    with _reported(done, "notes were not settled"):
        if changed:
            targets = [one.record_id for one in changed]
            operation = tx.log("supersede", namespace, ACTOR, targets=targets, reason=_SETTLED)
            done.changed += tx.attempt(partial(tx.change_records, operation, changed))
        if gone:
            operation = tx.log("supersede", namespace, ACTOR, targets=gone, reason=_SETTLED)
            tx.attempt(partial(tx.change_records, operation))
            done.displaced += gone


def _cluster(tx: Transaction, namespace: str, plan: ClusterPlan) -> Pushed:
    done = Pushed()
    fusion = plan.fusion if plan.fusion and _unchanged(tx, namespace, plan.fusion) else None
    for one in plan.members:
        vectors = vector_rows(one.record, one.vectors, one.model)
        done.written.append(tx.put_record(one.record, vectors=vectors, over=plan.derived))
    if fusion is not None:
        _fuse(tx, namespace, fusion, done)
    return done


def _fuse(tx: Transaction, namespace: str, fusion: PlannedMerge, done: Pushed) -> None:
    """Write the members before they are replaced, so that an undo brings all of them back."""
    record = fusion.made.record
    gone = [*fusion.members, *(one.record_id for one in fusion.stored)]
    operation = tx.log(
        "merge", namespace, ACTOR, targets=gone, created=[record.record_id],
        reason="said the same", detail={"members": list(fusion.members)},
    )  # fmt: skip
    tx.change_records(operation)
    done.written = [one for one in done.written if one.record_id not in gone]
    vectors = vector_rows(record, fusion.made.vectors, fusion.made.model)
    done.written.append(tx.put_record(record, operation.op_id, vectors=vectors))
    done.displaced += [one.record_id for one in fusion.stored]
    done.merged += 1


def _unchanged(tx: Transaction, namespace: str, fusion: PlannedMerge) -> bool:
    """Whether everything that the judge saw is unchanged; otherwise its text may hold what a person
    has deleted or corrected meanwhile, and nothing is merged."""
    now = tx.records(namespace, [one.record_id for one in fusion.stored])
    seen = {one.record_id: (one.version, one.updated_at) for one in fusion.stored}
    return {one.record_id: (one.version, one.updated_at) for one in now} == seen
