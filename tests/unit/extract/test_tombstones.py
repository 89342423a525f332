"""P02: what was refused stays refused."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.core.clock import ManualClock
from recollect.core.values import Candidate
from recollect.extract.interface import Extraction, FactClaim, PreferenceClaim
from recollect.extract.tombstone_entry import fingerprint
from recollect.extract.tombstones import Tombstones
from recollect.inject.judge import Feedback
from recollect.store.interface import details_of
from recollect.store.sqlite import SqliteStore
from tests.fakes.extraction import worker
from tests.fakes.stored import delete_records, runs_in
from tests.make import NAMESPACE, NOON, arrival, record

OTHER = "/actor/ada/project/other/"


def test_case_punctuation_and_articles_do_not_matter_but_order_does() -> None:
    assert fingerprint("Use the tabs, not spaces!") == fingerprint("use TABS not   spaces")
    assert fingerprint("tabs not spaces") != fingerprint("spaces not tabs")
    assert fingerprint(" .,! ") == ""


def test_a_stone_holds_in_its_namespace_after_a_restart_and_until_it_is_lifted(
    store: SqliteStore,
) -> None:
    refused = record("Use yarn", facts=("yarn is fast",))
    stones = Tombstones(store)
    stones.refuse(refused, "ada")
    for reader in (stones, Tombstones(store)):
        assert reader.refused(NAMESPACE, "use yarn.") and reader.refused(NAMESPACE, "Yarn is fast")
        assert not reader.refused(OTHER, "use yarn") and not reader.refused(NAMESPACE, "")
    stones.lift(NAMESPACE, refused.record_id, "verdict", "ada")
    assert not stones.refused(NAMESPACE, "use yarn")
    assert "yarn" not in str(details_of(store.log, NAMESPACE, "tombstone"))


def test_the_gate_takes_out_memories_facts_and_claims(store: SqliteStore) -> None:
    stones = Tombstones(store)
    stones.refuse(record("Use yarn", facts=("billing uses yarn",)), "ada")
    kept = record("Something else", facts=("Billing uses yarn", "it is late"))
    claims = (
        FactClaim("billing", "uses", "yarn", NOON, "user", "stated"),
        PreferenceClaim("tool", "manager", "use yarn", NOON, "stated"),
        FactClaim("billing", "uses", "npm", NOON, "user", "stated"),
    )
    given_ = Extraction(
        candidates=(Candidate(record=record("use Yarn")), Candidate(record=kept)), claims=claims
    )
    left = stones.gate(given_, NAMESPACE)
    assert [one.record.facts for one in left.candidates] == [("it is late",)]
    assert left.claims == claims[2:]
    assert [(one.title, one.reason) for one in left.dropped] == [("use Yarn", "refused")]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(
        lambda text: fingerprint(text) != ""
    )
)
def test_what_was_refused_by_never_is_not_extracted_again(
    text: str, store: SqliteStore, clock: ManualClock
) -> None:
    title = text.encode("utf-8", "ignore").decode().strip()[:200] or "x1"
    if not fingerprint(title):
        return
    feedback = Feedback(store)
    known = store.records.put([record(title)])[0]
    feedback.give(NAMESPACE, known.record_id, "never", "ada")
    delete_records(store, NAMESPACE, [known.record_id], "ada")
    stones = Tombstones(store)
    before = store.upkeep.stats(NAMESPACE).records
    store.events.put(
        [arrival(title.upper() if title.upper().casefold() == title.casefold() else title)]
    )
    worker(store, clock, gates=(stones.gate,)).run(NAMESPACE)
    assert store.upkeep.stats(NAMESPACE).records == before
    run = runs_in(store, NAMESPACE)[0]
    assert run.dropped == {"refused": 1} and run.outcome == "nothing"


def test_a_verdict_that_changes_lifts_the_stone(store: SqliteStore, clock: ManualClock) -> None:
    feedback = Feedback(store)
    known = store.records.put([record("Use yarn")])[0]
    feedback.give(NAMESPACE, known.record_id, "never", "ada")
    assert Tombstones(store).refused(NAMESPACE, "use yarn")
    feedback.give(NAMESPACE, known.record_id, "useful", "ada")
    assert not Tombstones(store).refused(NAMESPACE, "use yarn")


def test_an_unknown_verdict_is_no_stone(store: SqliteStore, clock: ManualClock) -> None:
    with pytest.raises(Exception, match="no memory"):
        Feedback(store).give(NAMESPACE, "mr_" + "0" * 26, "never", "ada")
    assert details_of(store.log, NAMESPACE, "tombstone") == []
