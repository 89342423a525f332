"""What a run hands on to learning: turns, files as they are, and the count of what was kept out."""

from datetime import UTC, datetime

import pytest

from recollect.core.clock import ManualClock
from recollect.core.values import Candidate, Citation, Entity
from recollect.extract.interface import Claim, EntityClaim, Extraction, FactClaim
from recollect.reconcile.graph_claims import ClaimLearner
from recollect.store.interface import Batch
from recollect.store.sqlite import SqliteStore
from tests.fakes.extraction import worker
from tests.fakes.stored import runs_in
from tests.make import NAMESPACE, arrival, record

THEN = datetime(2026, 1, 1, tzinfo=UTC)


class Gives:
    """An extractor with a fixed answer."""

    def __init__(self, extraction: Extraction) -> None:
        self._extraction = extraction

    def extract(self, batch: Batch) -> Extraction:
        return self._extraction


def run(store: SqliteStore, clock: ManualClock, extraction: Extraction, **more: object) -> None:
    store.events.put([arrival("hello")])
    learning = ClaimLearner(store.graph, clock, "ada")
    worker(store, clock, rules=Gives(extraction), knowledge=learning, **more).run(NAMESPACE)


@pytest.mark.parametrize(("second", "known"), [("turn-1", 0), ("turn-2", 1)])
def test_two_events_of_one_turn_are_one_mention(
    store: SqliteStore, clock: ManualClock, second: str, known: int
) -> None:
    claims: tuple[Claim, ...] = (
        EntityClaim("ledger", "service", event_ids=("e1",)),
        EntityClaim("ledger", "service", event_ids=("e2",)),
    )
    run(store, clock, Extraction(claims=claims, turns={"e1": "turn-1", "e2": second}))
    assert len(store.graph.all(NAMESPACE, Entity)) == known


def test_what_learning_keeps_out_is_counted(store: SqliteStore, clock: ManualClock) -> None:
    said = FactClaim("ledger", "is", "there", THEN, "user", "stated", event_ids=("e1",))
    run(store, clock, Extraction(claims=(said,)))
    assert runs_in(store, NAMESPACE)[0].dropped == {"empty predicate": 1}


def test_a_memory_with_files_cites_them_as_they_are(store: SqliteStore, clock: ManualClock) -> None:
    made = record("Retry cap raised in the client", files=("src/retry.py",))
    cited = Citation(path="src/retry.py", sha256="0" * 64, commit="")
    run(
        store, clock, Extraction(candidates=(Candidate(record=made),)),
        cite=lambda paths, where: (cited,) if tuple(paths) == ("src/retry.py",) else (),
    )  # fmt: skip
    (stored,) = store.records.get(NAMESPACE, [made.record_id])
    assert stored.citations == (cited,)
