"""A graph that is kept in step by reading only what changed is the graph that is read anew."""

import tempfile
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.core.settings import Settings
from recollect.core.values import Entity, Fact, Preference, Procedure, Relationship
from recollect.reconcile.entity_names import EntityNames, EntityNamesCache
from recollect.retrieve.graph import GraphCache, NamespaceGraph, content_stems
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import delete_things, put_graph
from tests.make import NAMESPACE, NOON

WHO = st.integers(0, 4)
NAMES = st.sampled_from(["billing", "ledger", "acme/web", "web", "gull wing", "src/retry.py"])
EVENTS = [f"{number:026d}" for number in range(6)]


def entity(who: int, name: str, alias: str, mentions: int) -> Entity:
    return Entity(
        entity_id=f"ent_{who}", namespace=NAMESPACE, name=name, type="tool" if who % 2 else "thing",
        aliases=(alias,) if alias != name else (), mentions=mentions,
    )  # fmt: skip


def fact(number: int, who: int, said: str, ended: bool, later: int, event: int) -> Fact:
    return Fact(
        fact_id=f"fact_{number}", namespace=NAMESPACE, entity_id=f"ent_{who}", subject=f"s{who}",
        predicate="depends_on", object=said, valid_from=NOON,
        valid_until=NOON + timedelta(days=1) if ended else None,
        superseded_by=f"fact_{later}" if ended else None, source_event_ids=(EVENTS[event],),
    )  # fmt: skip


STEPS = st.one_of(
    st.tuples(st.just("entity"), WHO, NAMES, NAMES, st.integers(1, 9)),
    st.tuples(st.just("fact"), WHO, WHO, NAMES, st.booleans(), WHO, st.integers(0, 5)),
    st.tuples(st.just("relation"), WHO, WHO, WHO),
    st.tuples(st.just("habit"), WHO, NAMES),
    st.tuples(st.just("gone"), st.sampled_from(["ent_", "fact_", "rel_", "proc_", "pref_"]), WHO),
)


def change(store: SqliteStore, step: Any) -> None:
    there = {one.entity_id for one in store.graph.all(NAMESPACE, Entity)}
    match step:
        case ("entity", *given):
            put_graph(store, entity(*given))
        case ("fact", _, who, *_) if f"ent_{who}" in there:
            put_graph(store, fact(*step[1:]))
        case ("relation", number, one, other) if {f"ent_{one}", f"ent_{other}"} <= there:
            put_graph(store, Relationship(
                relationship_id=f"rel_{number}", namespace=NAMESPACE, source_id=f"ent_{one}",
                target_id=f"ent_{other}", type="uses", confidence=0.6, valid_from=NOON,
            ))  # fmt: skip
        case ("habit", number, name):
            put_graph(store,
                Procedure(procedure_id=f"proc_{number}", namespace=NAMESPACE, name=f"Ship {name}",
                          trigger="shipping", steps=("make", "push")),
                Preference(preference_id=f"pref_{number}", namespace=NAMESPACE, category="tools",
                           key="editor", value=name),
            )  # fmt: skip
        case ("gone", prefix, number):
            delete_things(store, NAMESPACE, [f"{prefix}{number}"])


def told(graph: NamespaceGraph) -> Any:
    walk = graph.walk("what of billing, ledger, acme/web, web, gull wing and retry.py? depends on")
    stems = content_stems("depends billing ledger web gull wing shipping")
    return (
        walk.named, walk.entities, walk.facts, walk.events,
        sorted(one.fact_id for one in graph.successors_of_facts(EVENTS)),
        sorted(one.fact_id for one, _ in graph.fact_words.sharing(stems, 1, 99)),
        sorted(one.procedure_id for one, _ in graph.procedure_words.sharing(stems, 1, 99)),
        graph.procedures, graph.preferences, sorted(graph._facts), sorted(graph._relations),
        {one: sorted(graph.neighbours(one)) for one in graph.entities},
    )  # fmt: skip


@given(st.lists(STEPS, min_size=1, max_size=14))
@settings(deadline=None, max_examples=40)
def test_following_changes_gives_what_reading_anew_gives(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as home:
        store = SqliteStore(Settings(home=home, actor="ada", reserve_mb=0))
        try:
            kept, held = GraphCache(store), EntityNamesCache(store.graph)
            first = kept.of(NAMESPACE)
            for step in steps:
                change(store, step)
                names = held.names(NAMESPACE)
            assert kept.of(NAMESPACE) is first, "it was read anew"
            fresh = GraphCache(store)
            assert told(first) == told(fresh.of(NAMESPACE))
            anew = EntityNames(store.graph.all(NAMESPACE, Entity))
            for name in ("billing", "ledger", "acme/web", "web", "gullwing", "retry.py", "none"):
                assert names.find(name) == anew.find(name)
        finally:
            store.close()
