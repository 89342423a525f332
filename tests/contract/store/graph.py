"""What every backend does with the graph."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from recollect.core import errors, ids
from recollect.core.clock import ManualClock
from recollect.core.values import (
    Entity,
    Fact,
    Operation,
    Preference,
    Procedure,
    Relationship,
)
from recollect.store.interface import Selection, Store, Transaction, Waiting
from tests.fakes.stored import delete_records, delete_things, put_graph
from tests.make import NAMESPACE, NOON, record

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

    def test_a_preference_alone_makes_its_namespace_known(self, store: Store) -> None:
        assert store.projects.namespaces() == []
        put_graph(store, self.things()["pref"])  # type: ignore[arg-type]
        assert store.projects.namespaces() == [NAMESPACE]

    def test_things_come_back_and_put_again_replaces_them(
        self, store: Store, clock: ManualClock
    ) -> None:
        things = self.things()
        put_graph(store, *things.values())  # type: ignore[arg-type]
        (entity,) = store.graph.things(NAMESPACE, ["ent_api"])
        assert isinstance(entity, Entity) and entity.aliases == ("billing",)
        clock.advance(hours=1)
        put_graph(store, msgspec.structs.replace(entity, mentions=7))
        (again,) = store.graph.things(NAMESPACE, ["ent_api"])
        assert isinstance(again, Entity)
        assert (again.mentions, again.created_at) == (7, entity.created_at)
        assert again.updated_at == clock.now()
        assert [one.name for one in store.graph.all(NAMESPACE, Entity)] == [
            "Postgres",
            "billing-api",
        ]
        assert len(store.graph.all(NAMESPACE, Relationship, of="ent_db")) == 1
        assert [one.name for one in store.graph.all(NAMESPACE, Procedure)] == ["Release"]
        assert [one.value for one in store.graph.all(NAMESPACE, Preference)] == ["pnpm"]

    def test_only_current_facts_are_told_unless_asked_as_of(
        self, store: Store, clock: ManualClock
    ) -> None:
        things = self.things()
        put_graph(store, *things.values())  # type: ignore[arg-type]
        old = store.graph.facts(NAMESPACE)[0]
        ended = msgspec.structs.replace(
            old, valid_until=NOON + timedelta(days=1), superseded_by="fact_2"
        )
        put_graph(store, ended)
        assert store.graph.facts(NAMESPACE) == []
        assert len(store.graph.facts(NAMESPACE, as_of=NOON + timedelta(hours=1))) == 1
        assert store.graph.facts(NAMESPACE, as_of=NOON + timedelta(days=2)) == []

    def test_things_are_found_by_words(self, store: Store) -> None:
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        found = store.graph.search(NAMESPACE, "where does billing-api run? tagging", 5)
        assert {type(one).__name__ for one in found} == {"Entity", "Fact", "Procedure"}

    def test_a_relationship_needs_both_ends(self, store: Store) -> None:
        with pytest.raises(errors.BadInput):
            put_graph(store, self.things()["uses"])  # type: ignore[arg-type]

    def test_an_id_of_another_namespace_is_neither_read_nor_overwritten(self, store: Store) -> None:
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        thief = Entity(entity_id="ent_api", namespace=OTHER, name="mine now", type="x")
        with pytest.raises(errors.Conflict):
            put_graph(store, thief)
        assert store.graph.things(OTHER, ["ent_api"]) == []
        (kept,) = store.graph.things(NAMESPACE, ["ent_api"])
        assert isinstance(kept, Entity) and kept.name == "billing-api"

    def test_delete_takes_what_hangs_on_it(self, store: Store) -> None:
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        delete_things(store, NAMESPACE, ["ent_db", "unknown"])
        assert store.graph.all(NAMESPACE, Relationship, of="ent_api") == []
        assert store.graph.search(NAMESPACE, "Postgres", 5) == []

    def test_a_change_goes_to_the_archive_and_undo_restores_every_kind(
        self, store: Store, clock: ManualClock
    ) -> None:
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        clock.advance(hours=1)
        graph = store.graph

        def state() -> list[Any]:
            return [
                graph.all(NAMESPACE, Entity), graph.all(NAMESPACE, Relationship),
                graph.facts(NAMESPACE, ["ent_api", "ent_db"], ended=True),
                graph.all(NAMESPACE, Procedure), graph.all(NAMESPACE, Preference),
            ]  # fmt: skip

        before = state()
        gone = ["rel_1", "fact_1", "proc_1", "pref_1"]
        (api,) = [one for one in graph.all(NAMESPACE, Entity) if one.entity_id == "ent_api"]
        renamed = msgspec.structs.replace(api, name="payments-api")

        def work(tx: Transaction) -> Operation:
            made = Preference(
                preference_id="pref_2", namespace=NAMESPACE, category="tools", key="editor",
                value="Zed",
            )  # fmt: skip
            operation = tx.log(
                "supersede", NAMESPACE, "ada", targets=["ent_api", *gone], created=["pref_2"]
            )
            tx.put_graph(renamed, made, operation=operation)
            return operation

        operation = store.transaction(work)
        after = state()
        assert [one.name for one in after[0]] == ["Postgres", "payments-api"]
        assert after[1:4] == [[], [], []] and [one.value for one in after[4]] == ["Zed"]
        assert graph.search(NAMESPACE, "Fly", 5) == []
        undo = store.log.undo(NAMESPACE, operation.op_id, "ada")
        assert state() == before
        assert len(graph.search(NAMESPACE, "Fly", 5)) == 1
        store.log.undo(NAMESPACE, undo.op_id, "ada")
        assert state() == after

    def test_things_are_told_as_they_were(self, store: Store, clock: ManualClock) -> None:
        def held(moment: Any) -> list[str]:
            found: Any = store.graph.all(NAMESPACE, Preference, as_of=moment)
            return [one.value for one in found]

        before = clock.now()
        clock.advance(hours=1)
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        first = clock.now()
        clock.advance(hours=1)
        made = Preference(preference_id="pref_2", namespace=NAMESPACE, category="tools",
                          key="package_manager", value="bun", created_at=first)  # fmt: skip

        def work(tx: Transaction) -> Operation:
            operation = tx.log(
                "supersede", NAMESPACE, "ada", targets=["pref_1"], created=["pref_2"]
            )
            tx.put_graph(made, operation=operation)
            return operation

        operation = store.transaction(work)
        second = clock.now()
        clock.advance(hours=1)
        store.log.undo(NAMESPACE, operation.op_id, "ada")
        third = clock.now()
        assert [held(moment) for moment in (before, first, second, third)] \
            == [[], ["pnpm"], ["bun"], ["pnpm"]]  # fmt: skip
        assert len(store.graph.all(NAMESPACE, Procedure, as_of=first)) == 1
        assert store.graph.all(NAMESPACE, Procedure, as_of=before) == []
        assert store.graph.all(OTHER, Preference, as_of=third) == []

    def test_the_version_grows_with_every_committed_change(self, store: Store) -> None:
        seen = [store.graph.changes(NAMESPACE).version]
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        seen.append(store.graph.changes(NAMESPACE).version)
        entity = store.graph.all(NAMESPACE, Entity)[0]
        store.transaction(lambda tx: tx.put_graph(entity))
        seen.append(store.graph.changes(NAMESPACE).version)
        delete_things(store, NAMESPACE, ["fact_1"])
        seen.append(store.graph.changes(NAMESPACE).version)
        assert seen == sorted(set(seen)) and store.graph.changes(OTHER).version == 0

    def test_what_changed_since_a_version_is_told_by_id(self, store: Store) -> None:
        graph = store.graph
        before = graph.changes(NAMESPACE).version
        assert graph.changes(NAMESPACE, before).ids == frozenset()
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        made = frozenset({"ent_api", "ent_db", "rel_1", "fact_1", "proc_1", "pref_1"})
        assert graph.changes(NAMESPACE, before).ids == made
        put = graph.changes(NAMESPACE).version

        def work(tx: Transaction) -> Operation:
            operation = tx.log("supersede", NAMESPACE, "ada", targets=["pref_1"])
            tx.put_graph(operation=operation)
            return operation

        operation = store.transaction(work)
        delete_things(store, NAMESPACE, ["fact_1"])
        assert graph.changes(NAMESPACE, put).ids == frozenset({"pref_1", "fact_1"})
        assert graph.changes(NAMESPACE, before).ids == made
        late = graph.changes(NAMESPACE).version
        store.log.undo(NAMESPACE, operation.op_id, "ada")
        assert graph.changes(NAMESPACE, late).ids == frozenset({"pref_1"})
        there = graph.things(NAMESPACE, ["pref_1", "fact_1", "ent_db", "nobody"])
        assert [type(one).__name__ for one in there] == ["Entity", "Preference"]
        assert graph.things(OTHER, ["pref_1", "ent_db"]) == []

    def test_what_was_erased_or_moved_may_have_changed_anything(self, store: Store) -> None:
        graph = store.graph
        put_graph(store, *self.things().values())  # type: ignore[arg-type]
        seen, other = graph.changes(NAMESPACE).version, graph.changes(OTHER).version
        store.bulk.move(NAMESPACE, Selection(everything=True), OTHER, "ada")
        assert (
            graph.changes(NAMESPACE, seen).ids is None and graph.changes(OTHER, other).ids is None
        )
        assert graph.changes(NAMESPACE).version > seen and graph.changes(OTHER).version > other
        other = graph.changes(OTHER).version
        store.bulk.erase(OTHER, Selection(everything=True), "ada")
        assert graph.changes(OTHER).version > other and graph.changes(OTHER, other).ids is None

    def test_the_size_counts_things_and_facts_up_to_a_bound(self, store: Store) -> None:
        assert store.graph.size(NAMESPACE, 10) == 0
        for number in range(4):
            put_graph(
                store,
                Entity(entity_id=f"ent_{number}", namespace=NAMESPACE, name=f"n{number}", type="x"),
            )
        assert store.graph.size(NAMESPACE, 10) == 4 and store.graph.size(NAMESPACE, 3) == 3
        assert store.graph.size(OTHER, 10) == 0

    def test_what_waits_is_kept_dropped_and_bounded(self, store: Store) -> None:
        def waiting(number: int) -> Waiting:
            at = NOON + timedelta(minutes=number)
            return Waiting(f"key{number}", f"Key {number}", ("t1",), (["fact", {"n": 1}],), at)

        store.transaction(
            lambda tx: tx.keep_waiting(NAMESPACE, [waiting(n) for n in range(5)], [], 3)
        )
        assert [one.key for one in store.graph.waiting(NAMESPACE)] == ["key2", "key3", "key4"]
        assert store.graph.waiting(NAMESPACE)[0] == waiting(2)
        assert store.graph.waiting(NAMESPACE, ["key3", "key9"]) == [waiting(3)]
        assert store.graph.waiting(NAMESPACE, []) == []
        store.transaction(lambda tx: tx.keep_waiting(NAMESPACE, [], ["key3"], 3))
        assert [one.key for one in store.graph.waiting(NAMESPACE)] == ["key2", "key4"]
        assert store.graph.waiting(OTHER) == []

    def test_memories_are_found_by_the_events_they_come_from(self, store: Store) -> None:
        one, two = ids.new_ulid(), ids.new_ulid()
        first = record("a", source_event_ids=(one, two))
        second = record("b", source_event_ids=(two,))
        store.records.put([first, second])
        both = tuple(sorted((first.record_id, second.record_id)))
        asked = [one, two, ids.new_ulid()]
        assert store.records.of_events(NAMESPACE, asked) == {one: (first.record_id,), two: both}
        assert store.records.of_events(OTHER, asked) == {}
        operation = delete_records(store, NAMESPACE, [first.record_id], "ada")
        assert store.records.of_events(NAMESPACE, asked) == {two: (second.record_id,)}
        assert operation is not None
        store.log.undo(NAMESPACE, operation.op_id, "ada")
        assert store.records.of_events(NAMESPACE, [two]) == {two: both}
