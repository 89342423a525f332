"""What every backend does with the graph."""

from datetime import timedelta

import msgspec
import pytest

from recollect.core import errors
from recollect.core.clock import ManualClock
from recollect.core.values import (
    Entity,
    Fact,
    Preference,
    Procedure,
    Relationship,
)
from recollect.store.interface import Store
from tests.make import NAMESPACE, NOON

OTHER = "/actor/ada/project/engine2/"


class GraphContract:
    def things(self, namespace: str = NAMESPACE, tag: str = "") -> dict[str, object]:
        return {
            "api": Entity(entity_id=f"ent_api{tag}", namespace=namespace, name="billing-api",
                          type="project", description="payments", aliases=("billing",)),
            "db": Entity(entity_id=f"ent_db{tag}", namespace=namespace, name="Postgres",
                         type="tool"),
            "uses": Relationship(relationship_id=f"rel_1{tag}", namespace=namespace,
                                 source_id=f"ent_api{tag}", target_id=f"ent_db{tag}", type="uses",
                                 confidence=0.5, valid_from=NOON),
            "fact": Fact(fact_id=f"fact_1{tag}", namespace=namespace, entity_id=f"ent_api{tag}",
                         subject="billing-api", predicate="runs on", object="Fly", valid_from=NOON),
            "proc": Procedure(procedure_id=f"proc_1{tag}", namespace=namespace, name="Release",
                              trigger="when tagging", steps=("make check", "push tag")),
            "pref": Preference(preference_id=f"pref_1{tag}", namespace=namespace, category="tools",
                               key="package_manager", value="pnpm"),
        }  # fmt: skip

    def test_things_come_back_and_put_again_replaces_them(
        self, store: Store, clock: ManualClock
    ) -> None:
        things = self.things()
        store.graph.put(*things.values())  # type: ignore[arg-type]
        entity = store.graph.get_entity(NAMESPACE, "ent_api")
        assert entity is not None and entity.aliases == ("billing",)
        clock.advance(hours=1)
        store.graph.put(msgspec.structs.replace(entity, mentions=7))
        again = store.graph.get_entity(NAMESPACE, "ent_api")
        assert again is not None
        assert (again.mentions, again.created_at) == (7, entity.created_at)
        assert again.updated_at == clock.now()
        assert [one.name for one in store.graph.entities(NAMESPACE)] == ["Postgres", "billing-api"]
        assert len(store.graph.relationships(NAMESPACE, "ent_db")) == 1
        assert [one.name for one in store.graph.procedures(NAMESPACE)] == ["Release"]
        assert [one.value for one in store.graph.preferences(NAMESPACE)] == ["pnpm"]

    def test_only_current_facts_are_told_unless_asked_as_of(
        self, store: Store, clock: ManualClock
    ) -> None:
        things = self.things()
        store.graph.put(*things.values())  # type: ignore[arg-type]
        old = store.graph.facts(NAMESPACE)[0]
        ended = msgspec.structs.replace(
            old, valid_until=NOON + timedelta(days=1), superseded_by="fact_2"
        )
        store.graph.put(ended)
        assert store.graph.facts(NAMESPACE) == []
        assert len(store.graph.facts(NAMESPACE, as_of=NOON + timedelta(hours=1))) == 1
        assert store.graph.facts(NAMESPACE, as_of=NOON + timedelta(days=2)) == []

    def test_things_are_found_by_words(self, store: Store) -> None:
        store.graph.put(*self.things().values())  # type: ignore[arg-type]
        found = store.graph.search(NAMESPACE, "where does billing-api run? tagging", 5)
        assert {type(one).__name__ for one in found} == {"Entity", "Fact", "Procedure"}

    def test_a_relationship_needs_both_ends(self, store: Store) -> None:
        with pytest.raises(errors.BadInput):
            store.graph.put(self.things()["uses"])  # type: ignore[arg-type]

    def test_an_id_of_another_namespace_is_neither_read_nor_overwritten(self, store: Store) -> None:
        store.graph.put(*self.things().values())  # type: ignore[arg-type]
        thief = Entity(entity_id="ent_api", namespace=OTHER, name="mine now", type="x")
        with pytest.raises(errors.Conflict):
            store.graph.put(thief)
        assert store.graph.get_entity(OTHER, "ent_api") is None
        kept = store.graph.get_entity(NAMESPACE, "ent_api")
        assert kept is not None and kept.name == "billing-api"

    def test_delete_takes_what_hangs_on_it(self, store: Store) -> None:
        store.graph.put(*self.things().values())  # type: ignore[arg-type]
        assert store.graph.delete(NAMESPACE, ["ent_db", "unknown"]) == 1
        assert store.graph.relationships(NAMESPACE, "ent_api") == []
        assert store.graph.search(NAMESPACE, "Postgres", 5) == []
