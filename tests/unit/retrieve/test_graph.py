"""The entity index, the walk and its caps, intent, times, and what a memory is worth beforehand."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from recollect.core.values import Entity, Fact, Relationship
from recollect.retrieve import graph as graphs
from recollect.retrieve import score
from recollect.retrieve.graph import GraphCache, NamespaceGraph
from recollect.retrieve.graph_index import EntityIndex
from recollect.retrieve.index import Document, Index
from recollect.retrieve.query import anchors_in, intent, spans_in
from recollect.store.interface import Selection
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import put_graph
from tests.make import NAMESPACE, NOON


def thing(name: str, *aliases: str) -> Entity:
    return Entity(
        entity_id=f"ent_{name}", namespace=NAMESPACE, name=name, type="thing", aliases=aliases
    )


def fact(subject: str, said: str, **fields: Any) -> Fact:
    chosen = {"predicate": "depends_on", "valid_from": NOON, **fields}
    return Fact(
        fact_id=fields.pop("fact_id", f"fact_{subject}_{said}"), namespace=NAMESPACE,
        entity_id=f"ent_{subject}", subject=subject, object=said,
        **{name: value for name, value in chosen.items() if name != "fact_id"},
    )  # fmt: skip


def relation(source: str, target: str, confidence: float) -> Relationship:
    return Relationship(
        relationship_id=f"rel_{source}_{target}", namespace=NAMESPACE, source_id=f"ent_{source}",
        target_id=f"ent_{target}", type="uses", confidence=confidence, valid_from=NOON,
    )  # fmt: skip


def made(*things: Any) -> NamespaceGraph:
    found = NamespaceGraph()
    for one in things:
        found.put(one)
    return found


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Is Billing_API down?", {"ent_billing-api"}),
        ("what did the payments gateway's log say", {"ent_gullwing"}),
        ("(see `src/charge/retry.kt`)", {"ent_src/charge/retry.kt"}),
        ("open retry.kt please", {"ent_src/charge/retry.kt"}),
        ("clone git@github.com:acme/contracts.git", {"ent_acme/contracts"}),
        ("the contracts repo", {"ent_acme/contracts"}),
        ("billing and gateways", set()),
        ("", set()),
    ],
)
def test_things_are_found_by_any_form_of_their_name(text: str, named: set[str]) -> None:
    index = EntityIndex()
    for one in (thing("billing-api"), thing("gullwing", "payments gateway"),
                thing("src/charge/retry.kt"), thing("acme/contracts")):  # fmt: skip
        index.add(one)
    assert set(index.named_in(text)) == named


def test_a_renamed_or_removed_thing_is_no_longer_found_by_its_old_name() -> None:
    index = EntityIndex()
    index.add(thing("shipit"))
    index.add(Entity(entity_id="ent_shipit", namespace=NAMESPACE, name="rigging", type="tool"))
    assert index.named_in("shipit") == {} and set(index.named_in("rigging")) == {"ent_shipit"}
    index.remove("ent_shipit")
    assert index.named_in("rigging") == {} and len(index) == 0


def test_the_walk_goes_two_steps_in_both_directions_and_meets_each_thing_once() -> None:
    chain = ["alpha", "bravo", "charlie", "delta"]
    found = made(*map(thing, chain), *(fact(a, b) for a, b in pairwise(chain)),
                 fact("charlie", "alpha"))  # fmt: skip
    walk = found.walk("what about alpha?")
    depths = {one: depth for one, (_, depth) in walk.entities.items()}
    assert depths == {"ent_alpha": 0, "ent_bravo": 1, "ent_charlie": 1, "ent_delta": 2}
    back = found.walk("what about delta?")
    assert back.entities["ent_bravo"][1] == 2


def test_the_walk_keeps_its_caps() -> None:
    hub = [fact("hub", f"spoke{n}x", confidence=0.5, fact_id=f"fact_{n:03d}") for n in range(40)]
    spokes = [thing(f"spoke{n}x") for n in range(40)]
    walk = made(thing("hub"), *spokes, *hub).walk("hub", depth=1)
    assert len([one for one in walk.facts if one.depth == 0]) == graphs.FACTS
    assert len(walk.entities) == 1 + graphs.RELATIONS


def test_doubtful_relationships_are_no_way_and_ended_facts_are_gone() -> None:
    ended = fact("alpha", "delta", valid_until=NOON)
    things = map(thing, ["alpha", "bravo", "charlie", "delta"])
    found = made(*things, relation("alpha", "bravo", 0.3),
                 relation("charlie", "alpha", 0.31), ended)  # fmt: skip
    assert set(found.walk("alpha").entities) == {"ent_alpha", "ent_charlie"}
    assert found.paths("ent_bravo", "ent_alpha") == []
    assert found.paths("ent_charlie", "ent_alpha") == [["ent_charlie", "ent_alpha"]]


def test_a_graph_is_read_anew_after_a_write_and_after_five_minutes(store: SqliteStore) -> None:
    now = [0.0]
    kept = GraphCache(store, clock=lambda: now[0])
    assert len(kept.of(NAMESPACE)) == 0
    put_graph(store, thing("alpha"))
    first = kept.of(NAMESPACE)
    assert len(first) == 1 and kept.of(NAMESPACE) is first
    now[0] += graphs.SECONDS
    assert kept.of(NAMESPACE) is not first


def test_a_large_graph_is_never_read_in_a_prompts_way(store: SqliteStore) -> None:
    put_graph(store, *[thing(f"thing{number}") for number in range(graphs.LARGE + 1)])
    kept = GraphCache(store)
    assert len(kept.of(NAMESPACE)) == 0  # it is being read behind
    kept = GraphCache(store)
    kept.fill([NAMESPACE])
    known = kept.of(NAMESPACE)
    assert len(known) == graphs.LARGE + 1
    put_graph(store, thing("one_more"))
    assert kept.of(NAMESPACE) is known and len(known) == graphs.LARGE + 2  # only that was read


def test_a_large_change_is_not_read_in_a_prompts_way_either(store: SqliteStore) -> None:
    put_graph(store, *[thing(f"thing{number}") for number in range(graphs.LARGE + 1)])
    kept = GraphCache(store)
    kept.fill([NAMESPACE])
    known = kept.of(NAMESPACE)
    put_graph(store, *[thing(f"new{number}") for number in range(graphs.LARGE + 1)])
    assert len(known) == graphs.LARGE + 1
    assert len(kept.of(NAMESPACE)) in (graphs.LARGE + 1, 2 * graphs.LARGE + 2)
    kept.fill([NAMESPACE])
    assert len(kept.of(NAMESPACE)) == 2 * graphs.LARGE + 2


def test_what_was_erased_is_known_no_more(store: SqliteStore) -> None:
    put_graph(store, thing("alpha"), thing("bravo"), fact("alpha", "bravo"))
    kept = GraphCache(store)
    assert kept.of(NAMESPACE).walk("alpha").facts
    store.bulk.erase(NAMESPACE, Selection(everything=True), "ada")
    assert not kept.of(NAMESPACE).walk("alpha").facts


def test_a_list_of_words_that_changes_often_does_not_grow() -> None:
    found = made(thing("alpha"))
    for number in range(5000):
        found.put(fact("alpha", f"bravo{number}", fact_id="fact_1"))
    assert len(found.fact_words._things) < 1100
    sharing = found.fact_words.sharing(graphs.content_stems("bravo4999"), 1, 9)
    assert [one.object for one, _ in sharing] == ["bravo4999"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("remember when we fixed it", "recall"), ("how do I release?", "procedure"),
        ("who owns ledger", "person"), ("where is the loader", "place"), ("why so slow", "reason"),
        ("when was it moved", "time"), ("my usual editor", "preference"), ("add a button", "task"),
    ],
)  # fmt: skip
def test_intent_is_told_by_rules(text: str, wanted: str) -> None:
    assert intent(text) == wanted


NOW = datetime(2026, 11, 12, 15, 30, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("yesterday", "2026-11-11", "2026-11-11"), ("today", "2026-11-12", "2026-11-12"),
        ("the day before yesterday", "2026-11-10", "2026-11-10"),
        ("last week", "2026-11-02", "2026-11-08"), ("this week", "2026-11-09", "2026-11-12"),
        ("last month", "2026-10-01", "2026-10-31"), ("last year", "2025-01-01", "2025-12-31"),
        ("two days ago", "2026-11-10", "2026-11-10"), ("on Tuesday", "2026-11-10", "2026-11-10"),
        ("last Thursday", "2026-11-05", "2026-11-05"), ("3 weeks ago", "2026-10-19", "2026-10-25"),
        ("since Monday", "2026-11-09", "2026-11-12"), ("since 3 Dec", "2025-12-03", "2026-11-12"),
        ("since last week", "2026-11-02", "2026-11-12"),
        ("since March 2026", "2026-03-01", "2026-11-12"),
    ],
)  # fmt: skip
def test_times_are_seen_from_now(
    text: str, first: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    micros = round(NOW.timestamp() * 1e6)
    (span,) = spans_in(f"what did we do {text}?", micros)
    days = [
        datetime.fromtimestamp(at / 1e6).date().isoformat() for at in (span.start, span.end - 1)
    ]
    assert days == [first, last]


def test_what_names_no_time_has_none() -> None:
    for text in (
        "",
        "the last commit",
        "a week of work",
        "this function",
        "ago",
        "in March 2026",
        "since 31 Feb",
    ):
        assert spans_in(text, round(NOW.timestamp() * 1e6)) == ()


def test_events_can_be_what_a_prompt_dates_by() -> None:
    assert anchors_in("what broke before the migration?") == [("before", "migration")]
    assert anchors_in("since the move to Fly, what changed") == [("after", "move to Fly")]
    assert anchors_in("before lunch in March") == []
    assert anchors_in("who looks after the ledger, and what is it named after the move?") == []


def test_importance_and_confidence_are_worth_what_they_are_said_to_be() -> None:
    index = Index()
    index.add([Document(id=f"i{value}", text="a", importance=value) for value in (1, 5, 10)])
    index.add([Document(id="unsure", text="a", confidence=0.0)])
    worth = score.prior(index, np.arange(4), None)
    assert worth.round(2).tolist() == [0.92, 1.0, 1.1, 0.8]
