"""Entities, neighbourhoods, paths and odd sessions, on a real store and a real engine."""

from datetime import timedelta

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import NotFound
from recollect.core.values import Entity, Fact, Relationship
from recollect.daemon.runtime import Runtime
from recollect.service import analytics, graph, tools, write
from recollect.service.scope import Scope
from tests.fakes.stored import put_graph
from tests.make import NAMESPACE, NOON, arrival

HERE = Scope(namespace=NAMESPACE)


@pytest.fixture
def known(runtime: Runtime, clock: ManualClock) -> Runtime:
    """billing - uses -> postgres - runs on -> fly; shop - uses -> postgres; island alone."""
    names = ("billing", "postgres", "fly", "shop", "island")
    things = [
        Entity(entity_id=f"ent_{name}", namespace=NAMESPACE, name=name, type="service",
               aliases=(f"{name}-api",), mentions=5 - number)
        for number, name in enumerate(names)
    ]  # fmt: skip
    ways = [("billing", "postgres", "uses"), ("postgres", "fly", "runs on"),
            ("shop", "postgres", "uses")]  # fmt: skip
    relations = [
        Relationship(relationship_id=f"rel_{number}", namespace=NAMESPACE,
                     source_id=f"ent_{one}", target_id=f"ent_{other}", type=kind,
                     valid_from=clock.now())
        for number, (one, other, kind) in enumerate(ways)
    ]  # fmt: skip
    then = clock.now() - timedelta(days=10)
    old = Fact(fact_id="fact_1", namespace=NAMESPACE, entity_id="ent_postgres", subject="postgres",
               predicate="version", object="15", valid_from=then,
               valid_until=clock.now() - timedelta(days=5))  # fmt: skip
    since = clock.now() - timedelta(days=5)
    new = Fact(fact_id="fact_2", namespace=NAMESPACE, entity_id="ent_postgres", subject="postgres",
               predicate="version", object="16", valid_from=since)  # fmt: skip
    put_graph(runtime.store, *things, *relations, old, new)
    write.add_note(runtime, write.NewNote(text="postgres needs a vacuum", namespace=NAMESPACE))
    write.add_note(runtime, write.NewNote(text="nothing of the kind", namespace=NAMESPACE))
    return runtime


def test_an_entity_comes_with_facts_relations_and_memories(
    known: Runtime, clock: ManualClock
) -> None:
    asked = graph.EntityQuery(namespace=NAMESPACE, entity_id="postgres")
    found = graph.entity(known, asked)
    assert [fact.object for fact in found.facts] == ["16"]
    assert found.metadata == {"version": "16"}
    assert {(one.source, one.relationship.type, one.target) for one in found.relations} == {
        ("billing", "uses", "postgres"), ("postgres", "runs on", "fly"),
        ("shop", "uses", "postgres"),
    }  # fmt: skip
    assert [record.title for record in found.memories] == ["postgres needs a vacuum"]
    then = clock.now() - timedelta(days=7)
    past = graph.entity(known, graph.EntityQuery(namespace=NAMESPACE, entity_id="ent_postgres",
                                                 as_of=then))  # fmt: skip
    assert [fact.object for fact in past.facts] == ["15"]


def test_entities_are_paged_by_mentions(known: Runtime) -> None:
    seen: list[str] = []
    before = None
    while True:
        page = graph.entities(known, graph.EntitiesQuery(namespace=NAMESPACE, limit=2,
                                                         before=before))  # fmt: skip
        seen += [one.name for one in page.items]
        before = page.next
        if before is None:
            break
    assert seen == ["billing", "postgres", "fly", "shop", "island"]
    named = graph.entities(known, graph.EntitiesQuery(namespace=NAMESPACE, query="shop"))
    assert [one.name for one in named.items] == ["shop"]


def test_neighbours_reach_as_far_as_the_depth(known: Runtime) -> None:
    def names(depth: int, limit: int = 100) -> set[str]:
        asked = graph.NeighboursQuery(namespace=NAMESPACE, entity_id="billing", depth=depth,
                                      limit=limit)  # fmt: skip
        return {one.name for one in graph.neighbours(known, asked).entities}

    assert names(1) == {"billing", "postgres"}
    assert names(2) == {"billing", "postgres", "fly", "shop"}
    assert len(names(2, limit=2)) == 2


def test_paths_are_the_shortest_ways(known: Runtime) -> None:
    def ways(target: str, depth: int = 4) -> list[tuple[str, ...]]:
        asked = graph.PathsQuery(namespace=NAMESPACE, source="billing", target=target, depth=depth)
        return [one.entities for one in graph.paths(known, asked).paths]

    assert ways("fly") == [("ent_billing", "ent_postgres", "ent_fly")]
    assert ways("fly", depth=1) == []
    assert ways("island") == []
    with pytest.raises(NotFound, match="nowhere"):
        ways("nowhere")


def test_a_fact_that_names_an_entity_connects_it(known: Runtime) -> None:
    fact = Fact(fact_id="fact_3", namespace=NAMESPACE, entity_id="ent_island", subject="island",
                predicate="depends_on", object="Billing", valid_from=NOON,
                source_event_ids=("01JABCDEFGHJKMNPQRSTVWXYZ0",), created_at=NOON)  # fmt: skip
    put_graph(known.store, fact)
    asked = graph.NeighboursQuery(namespace=NAMESPACE, entity_id="island", depth=1)
    found = graph.neighbours(known, asked)
    assert {one.name for one in found.entities} == {"island", "billing"}
    assert [(one.type, one.target_id) for one in found.relationships] == [
        ("depends_on", "ent_billing")
    ]
    for name in ("island", "billing"):  # the same edge at both ends, with what it was made of
        detail = graph.entity(known, graph.EntityQuery(namespace=NAMESPACE, entity_id=name))
        (edge,) = [one for one in detail.relations if one.source == "island"]
        assert edge.target == "billing"
        assert edge.relationship == found.relationships[0]
        assert edge.relationship.source_event_ids == fact.source_event_ids
        assert edge.relationship.created_at is not None
    assert tools.call(known, "recall_entity", {"name": "island"}, None).count("Billing") == 1
    assert "island depends on billing" in tools.call(
        known, "recall_entity", {"name": "billing"}, None
    )
    way = graph.PathsQuery(namespace=NAMESPACE, source="billing", target="island")
    assert [one.entities for one in graph.paths(known, way).paths] == [
        ("ent_billing", "ent_island")
    ]


def test_everything_about_a_name_is_recalled_by_its_aliases_too(known: Runtime) -> None:
    found = graph.recall_entity(known, "Postgres-API", HERE)
    assert [one.entity.name for one in found.entities] == ["postgres"]
    by_memories = graph.recall_entity(known, "vacuum", HERE)
    assert by_memories.entities == () and len(by_memories.memories) == 1
    with pytest.raises(NotFound):
        graph.recall_entity(known, "nobody", HERE)


def test_a_session_far_from_the_usual_is_noticed(runtime: Runtime, clock: ManualClock) -> None:
    began = clock.now() - timedelta(days=2)
    for number in range(12):
        minutes = 600 if number == 7 else 10 + number % 2
        for offset in (0, minutes):
            moment = began + timedelta(minutes=offset)
            runtime.store.events.put([arrival(session_id=f"s{number}", valid_time=moment)])
    (odd,) = analytics.anomalies(runtime, analytics.AnalyticsQuery(namespace=NAMESPACE))
    assert (odd.session_id, odd.what, odd.value) == ("s7", "minutes", 600.0) and odd.z > 2.5
