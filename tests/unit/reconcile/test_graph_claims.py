"""Claims become knowledge, with the real store: the gate, contradictions, what waits, undo."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect.core import errors, ids
from recollect.core.clock import ManualClock
from recollect.core.values import Entity, Fact, Operation, Preference, Procedure, Relationship
from recollect.extract.interface import (
    Claim,
    EntityClaim,
    FactClaim,
    PreferenceClaim,
    ProcedureClaim,
    RelationClaim,
)
from recollect.reconcile import graph_claims
from recollect.reconcile.plan import apply
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import put_graph
from tests.make import NAMESPACE, NOON

GLOBAL = "/actor/ada/"


def fact(subject: str, predicate: str, said: str, days: int = 0, **fields: Any) -> FactClaim:
    chosen: dict[str, Any] = {"author": "user", "source_type": "stated", **fields}
    chosen.setdefault("event_ids", (ids.new_ulid(),))
    return FactClaim(subject, predicate, said, NOON + timedelta(days=days), **chosen)


def seen(subject: str, predicate: str, said: str, days: int = 0, **fields: Any) -> FactClaim:
    return fact(subject, predicate, said, days, author="tool", source_type="observed", **fields)


class Learned:
    def __init__(self, store: SqliteStore, clock: ManualClock) -> None:
        self.store, self.clock = store, clock
        self.dropped: list[str] = []

    def __call__(self, *claims: Claim, turns: dict[str, str] | None = None) -> list[Operation]:
        plan = graph_claims.learn(self.store.graph, NAMESPACE, claims, self.clock.now(), turns)
        self.dropped = [one.reason for one in plan.dropped]
        self.clock.advance(seconds=1)
        return self.store.transaction(lambda tx: apply(tx, plan, "ada"))

    def facts(self, as_of: datetime | None = None) -> list[tuple[str, str, str]]:
        return sorted(
            (one.subject, one.predicate, one.object)
            for one in self.store.graph.facts(NAMESPACE, as_of=as_of)
        )

    def names(self) -> list[str]:
        return sorted(one.name for one in self.store.graph.all(NAMESPACE, Entity))

    def all_facts(self) -> list[Fact]:
        entities = [one.entity_id for one in self.store.graph.all(NAMESPACE, Entity)]
        return self.store.graph.facts(NAMESPACE, entities, ended=True)


@pytest.fixture
def learned(store: SqliteStore, clock: ManualClock) -> Learned:
    return Learned(store, clock)


def test_a_later_statement_takes_the_place_of_an_earlier_one(learned: Learned) -> None:
    learned(fact("billing-api", "uses_database", "MySQL"))
    (operation,) = learned(fact("The Billing API", "uses_database", "Postgres", 30))
    assert learned.facts() == [("billing-api", "uses_database", "Postgres")]
    old, new = learned.all_facts()
    assert (old.object, old.superseded_by) == ("MySQL", new.fact_id)
    assert old.valid_until == new.valid_from == NOON + timedelta(days=30)
    assert operation.kind == "supersede" and operation.detail["by"] == "recency"
    assert learned.facts(as_of=NOON + timedelta(days=3))[0][2] == "MySQL"
    kept = learned.store.log.page(NAMESPACE).items
    assert [one.op_id for one in kept] == [operation.op_id]


def test_undo_of_a_contradiction_restores_both_rows_exactly(learned: Learned) -> None:
    learned(fact("billing-api", "uses_database", "MySQL"))
    before = learned.all_facts()
    (operation,) = learned(fact("billing-api", "uses_database", "Postgres", 30))
    after = learned.all_facts()
    undo = learned.store.log.undo(NAMESPACE, operation.op_id, "ada")
    assert learned.all_facts() == before
    assert [type(one).__name__ for one in learned.store.graph.search(NAMESPACE, "MySQL", 5)] == [
        "Entity",
        "Fact",
    ]
    with pytest.raises(errors.CannotUndo):
        learned.store.log.undo(NAMESPACE, operation.op_id, "ada")
    learned.store.log.undo(NAMESPACE, undo.op_id, "ada")
    assert learned.all_facts() == after


def test_undo_does_not_trample_on_a_later_decision(learned: Learned) -> None:
    learned(fact("billing-api", "uses_database", "MySQL"))
    (first,) = learned(fact("billing-api", "uses_database", "Postgres", 30))
    learned(fact("billing-api", "uses_database", "SQLite", 60))
    with pytest.raises(errors.CannotUndo):
        learned.store.log.undo(NAMESPACE, first.op_id, "ada")
    assert learned.facts()[0][2] == "SQLite"


def test_a_weaker_source_does_not_win_however_late(learned: Learned) -> None:
    learned(fact("audit", "uses_database", "Postgres"))
    learned(seen("audit", "uses_database", "SQLite", 90))
    assert learned.facts() == [("audit", "uses_database", "Postgres")]
    weak = next(one for one in learned.all_facts() if one.object == "SQLite")
    assert weak.valid_until == weak.valid_from and weak.superseded_by is not None


def test_there_and_back_again(learned: Learned) -> None:
    for day, name in enumerate(["Redis", "Postgres", "Redis"]):
        learned(fact("quota", "uses_database", name, day))
    assert [one[2] for one in learned.facts()] == ["Redis"]
    assert [one.object for one in learned.all_facts()] == ["Redis", "Postgres", "Redis"]


def test_the_same_fact_again_is_surer_up_to_one_and_a_repeat_changes_nothing(
    learned: Learned,
) -> None:
    once = fact("audit", "uses_database", "Postgres", confidence=0.9)
    learned(once)
    learned(once)
    assert [one.confidence for one in learned.all_facts()] == [0.9]
    for day in range(1, 4):
        learned(fact("audit", "uses_database", "postgres", day, confidence=0.9))
    (known,) = learned.all_facts()
    assert known.confidence == 1.0 and len(known.source_event_ids) == 4


def test_many_objects_of_a_predicate_that_takes_many_all_stand(learned: Learned) -> None:
    learned(fact("web", "uses", "React"), fact("web", "uses", "Vite"))
    assert [one[2] for one in learned.facts()] == ["React", "Vite"]
    learned(fact("web", "no longer uses", "React", 3))
    assert [one[2] for one in learned.facts()] == ["Vite"]
    learned(fact("Vite", "replaced_by", "esbuild", 5))
    assert ("web", "uses", "esbuild") in learned.facts()
    assert ("web", "uses", "Vite") not in learned.facts()


def test_owners_are_facts_of_what_they_own(learned: Learned) -> None:
    learned(fact("Tomasz", "owns", "ledger"))
    learned(fact("Aiko", "owns", "ledger", 3))
    assert learned.facts() == [("ledger", "owned_by", "Aiko")]


def test_what_was_seen_once_waits_and_what_it_said_is_kept(learned: Learned) -> None:
    learned(seen("crawler", "python_version", "3.11"))
    assert learned.names() == [] and learned.facts() == []
    assert [one.name for one in learned.store.graph.waiting(NAMESPACE)] == ["crawler"]
    learned(seen("Crawler", "default_branch", "main", 1))
    assert learned.names() == ["Crawler"]
    assert [one[1:] for one in learned.facts()] == [
        ("default_branch", "main"),
        ("python_version", "3.11"),
    ]
    assert learned.store.graph.waiting(NAMESPACE) == []


def test_two_events_of_one_turn_are_one_mention(learned: Learned) -> None:
    one, two = ids.new_ulid(), ids.new_ulid()
    claims = [EntityClaim("crawler", "service", event_ids=(event,)) for event in (one, two)]
    learned(*claims, turns={one: "turn", two: "turn"})
    assert learned.names() == []


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (fact("it", "uses", "Redis"), "names nothing"),
        (fact("web", "is", "nice"), "empty predicate"),
        (fact("web", "uses", "..."), "says nothing"),
        (fact("web", "uses", "Web"), "of itself"),
        (RelationClaim("web", "this", "uses", NOON, "stated"), "names nothing"),
        (PreferenceClaim("tools", "editor", "Zed", NOON, "observed"), "not the user's own words"),
        (ProcedureClaim("Release", "", ("make",), NOON), "too few steps"),
    ],
)
def test_the_gate_names_its_reason(learned: Learned, claim: Claim, reason: str) -> None:
    learned(claim)
    assert learned.dropped == [reason]
    assert learned.facts() == [] and learned.store.graph.all(NAMESPACE, Preference) == []


def test_a_batch_can_only_make_so_many_things(learned: Learned) -> None:
    learned(*(fact(f"noise{number}x", "port", str(8000 + number)) for number in range(300)))
    assert len(learned.names()) == graph_claims.MOST_ENTITIES
    assert "too many new things in one batch" in learned.dropped


@pytest.mark.parametrize(
    ("predicate", "said", "sensitive"),
    [
        ("salary", "90000 a year", True), ("lives_at", "12 Harbour Street", True),
        ("phone_number", "+44 20 7946 0958", True), ("diagnosed_with", "asthma", True),
        ("config", "call +49 30 901820-11", True), ("port", "8443", False),
        ("version", "1.2.3-4567-8901", False), ("health_endpoint", "/status", False),
    ],
)  # fmt: skip
def test_private_matters_are_marked(
    learned: Learned, predicate: str, said: str, sensitive: bool
) -> None:
    learned(fact("Mateo", predicate, said))
    assert [one.sensitive for one in learned.all_facts()] == [sensitive]


def test_the_newest_preference_stands_and_the_old_one_can_come_back(learned: Learned) -> None:
    def wish(value: str, days: int, **fields: Any) -> PreferenceClaim:
        at = NOON + timedelta(days=days)
        events = (ids.new_ulid(),)
        return PreferenceClaim("tools", "editor", value, at, "stated", event_ids=events, **fields)

    def held(namespace: str = NAMESPACE) -> list[str]:
        return [one.value for one in learned.store.graph.all(namespace, Preference)]

    learned(wish("Vim", 1))
    before = learned.store.graph.all(NAMESPACE, Preference)
    (operation,) = learned(wish("Zed", 2))
    assert held() == ["Zed"]
    learned(wish("Emacs", 0))
    assert held() == ["Zed"] and learned.dropped == ["older than what is held"]
    learned(wish("Helix", 3, everywhere=True))
    assert held() == ["Zed"] and held(GLOBAL) == ["Helix"]
    learned.store.log.undo(NAMESPACE, operation.op_id, "ada")
    assert learned.store.graph.all(NAMESPACE, Preference) == before


def test_procedures_count_what_came_of_them(learned: Learned) -> None:
    def run(successes: int, failures: int) -> ProcedureClaim:
        return ProcedureClaim(
            "Release", "when tagging", ("make  check", "git push --tags"), NOON,
            successes=successes, failures=failures, event_ids=(ids.new_ulid(),),
        )  # fmt: skip

    learned(run(1, 0), run(1, 0), run(0, 1))
    (known,) = learned.store.graph.all(NAMESPACE, Procedure)
    assert (known.successes, known.failures, known.confidence) == (2, 1, 0.6)
    assert known.steps == ("make check", "git push --tags")


def test_an_alias_makes_two_things_one_and_that_can_be_undone(learned: Learned) -> None:
    learned(fact("gullwing", "port", "8080"), fact("pay gateway", "uses_database", "Postgres"))
    entities = learned.store.graph.all(NAMESPACE, Entity)
    facts = learned.all_facts()
    (operation,) = learned(
        EntityClaim("gullwing", "service", aliases=("pay gateway",), event_ids=(ids.new_ulid(),))
    )
    assert operation.kind == "merge"
    merged = [one for one in learned.store.graph.all(NAMESPACE, Entity) if one.name != "Postgres"]
    assert len(merged) == 1
    assert {one.entity_id for one in learned.all_facts()} == {merged[0].entity_id}
    put_graph(learned.store, merged[0])
    learned.store.log.undo(NAMESPACE, operation.op_id, "ada")
    assert {one.entity_id: one.name for one in learned.store.graph.all(NAMESPACE, Entity)} == {
        one.entity_id: one.name for one in entities
    }
    assert {one.fact_id: one.entity_id for one in learned.all_facts()} == {
        one.fact_id: one.entity_id for one in facts
    }


def test_a_renamed_thing_answers_to_both_names(learned: Learned) -> None:
    learned(fact("shipit", "port", "1234"), fact("shipit", "renamed_to", "rigging", 3))
    (entity,) = learned.store.graph.all(NAMESPACE, Entity)
    assert isinstance(entity, Entity) and (entity.name, entity.aliases) == ("rigging", ("shipit",))


def test_relationships_have_one_owner_at_a_time_and_grow_surer(learned: Learned) -> None:
    def owns(who: str, days: int) -> RelationClaim:
        at = NOON + timedelta(days=days)
        return RelationClaim(who, "ledger", "owns", at, "stated", 0.7, (ids.new_ulid(),))

    learned(owns("Tomasz", 0))
    learned(owns("Tomasz", 1))
    (known,) = learned.store.graph.all(NAMESPACE, Relationship)
    assert known.confidence == 0.75
    (operation,) = learned(owns("Aiko", 2))
    live = [r for r in learned.store.graph.all(NAMESPACE, Relationship) if r.valid_until is None]
    assert len(live) == 1 and live[0].source_id != known.source_id
    learned.store.log.undo(NAMESPACE, operation.op_id, "ada")
    assert learned.store.graph.all(NAMESPACE, Relationship) == [known]


def test_what_is_not_so_any_more_ends_whatever_its_version(learned: Learned) -> None:
    """E14: "checkout uses Valkey 8, not Redis" is about another predicate than what it ends."""
    learned(fact("checkout", "uses_database", "Redis 7"), fact("checkout", "linter", "ruff 1"))
    learned(
        fact("checkout", "cache", "Valkey 8", 1, source_type="corrected"),
        fact("checkout", "no_longer_uses_database", "Redis", 1, source_type="corrected"),
        fact("checkout", "no_longer_linter", "ruff 2", 1),
    )
    assert learned.facts() == [("checkout", "cache", "Valkey 8"), ("checkout", "linter", "ruff 1")]
