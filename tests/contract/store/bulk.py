"""What every backend promises of rows as rows: carried away, brought in, erased, cleaned, moved."""

from typing import Any

import msgspec
import pytest

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput, NotFound
from recollect.core.event_identity import mark
from recollect.core.projects import ProjectPlace
from recollect.core.values import Checkpoint, Entity, Fact, Receipt, Relationship
from recollect.store.interface import Selection, Store
from tests.fakes.checkpoints import put_checkpoint
from tests.fakes.stored import delete_records, edit_record, put_graph, vectors_in
from tests.make import NAMESPACE, NOON, arrival, record, vector

OTHER = "/actor/ada/project/other/"


class BulkContract:
    store: Store
    clock: ManualClock

    def _turn(self, store: Store, words: str = "sealed orders") -> tuple[str, str]:
        """An event and the memory that was made of it, with all that can hang on them."""
        one = arrival(f"about {words}", session_id="s1")
        store.events.put([one])
        event_id = one.event.event_id
        made = record(f"Learned {words}", session_id="s1", source_event_ids=(event_id,))
        store.records.put([made], [vector(made)])
        entity = Entity(entity_id="ent_1", namespace=NAMESPACE, name="Nelson", type="person")
        far = Entity(entity_id="ent_2", namespace=NAMESPACE, name="Victory", type="ship")
        fact = Fact(
            fact_id="fact_1", namespace=NAMESPACE, entity_id="ent_1", subject="Nelson",
            predicate="gave", object=words, valid_from=NOON, source_event_ids=(event_id,),
        )  # fmt: skip
        tie = Relationship(
            relationship_id="rel_1", namespace=NAMESPACE, source_id="ent_1", target_id="ent_2",
            type="commands", valid_from=NOON, source_event_ids=(event_id,),
        )  # fmt: skip
        put_graph(store, entity, far, fact, tie)
        store.receipts.put(
            Receipt(receipt_id="rcp_1", namespace=NAMESPACE, session_id="s1", trigger="prompt",
                    query=words, injected=(made.record_id,), detail={"title": words})
        )  # fmt: skip
        put_checkpoint(
            store,
            Checkpoint(checkpoint_id="chk_1", namespace=NAMESPACE, session_id="s1", task=words),
        )
        return event_id, made.record_id

    # --- out and in ---

    def test_what_is_dumped_and_loaded_elsewhere_is_dumped_the_same(
        self, store: Store, other_store: Store
    ) -> None:
        project = store.projects.resolve(ProjectPlace(root="/srv/engine"))
        self._turn(store)
        kept = record("Edited")
        store.records.put([kept])
        edit_record(store, msgspec.structs.replace(kept, title="Edited once"), "ada", "better")
        dumped = list(store.bulk.dump(NAMESPACE))
        kinds = {kind for kind, _ in dumped}
        assert {"event", "memory", "fact", "receipt", "operation", "version"} <= kinds
        other_store.bulk.load(dumped)
        assert list(other_store.bulk.dump(NAMESPACE)) == dumped
        assert project

    def test_loading_again_changes_nothing(self, store: Store) -> None:
        self._turn(store)
        dumped = list(store.bulk.dump(NAMESPACE))
        assert store.bulk.load(dumped) == {}
        assert list(store.bulk.dump(NAMESPACE)) == dumped

    def test_a_project_travels_with_its_marks(self, store: Store, other_store: Store) -> None:
        project = store.projects.resolve(ProjectPlace(root="/srv/engine", remote="host/engine"))
        namespace = f"/actor/ada/project/{project}/"
        store.events.put([arrival(namespace=namespace)])
        other_store.bulk.load(list(store.bulk.dump(namespace)))
        assert other_store.projects.resolve(ProjectPlace(root="/srv/engine")) == project

    def test_what_was_extracted_is_not_extracted_again_elsewhere(
        self, store: Store, other_store: Store
    ) -> None:
        store.events.put([arrival("one"), arrival("two")])
        batch = store.events.claim(NAMESPACE, 1, 10_000)
        assert batch is not None
        store.transaction(lambda tx: tx.finish(batch))
        other_store.bulk.load(list(store.bulk.dump(NAMESPACE)))
        (left,) = other_store.events.backlog()
        assert left.count == 1

    @pytest.mark.parametrize(
        "change",
        [
            {"kind": "nonsense"},
            {"valid_time": "yesterday"},
            {"body": {"type": "unknown"}},
            {"session_id": None},
            {"namespace": "everywhere"},
        ],
    )
    def test_a_row_that_does_not_fit_is_refused_and_nothing_of_its_batch_stays(
        self, store: Store, change: dict[str, Any]
    ) -> None:
        store.events.put([arrival()])
        ((kind, row),) = [row for row in store.bulk.dump(NAMESPACE) if row[0] == "event"]
        good = {**row, "event_id": ids.new_ulid(), "seq": None}
        bad = {**row, "event_id": ids.new_ulid(), "seq": None, **change}
        with pytest.raises(BadInput):
            store.bulk.load([(kind, good), (kind, bad)])
        with pytest.raises(BadInput, match="not known"):
            store.bulk.load([("unheard-of", {})])
        assert store.upkeep.stats().events == 1

    # --- erasing ---

    @pytest.mark.parametrize("by", ["record", "session", "words", "everything"])
    def test_what_is_erased_is_gone_with_all_that_hangs_on_it(self, store: Store, by: str) -> None:
        _, record_id = self._turn(store)
        store.events.put([arrival("something else", session_id="s2")])
        what = {
            "record": Selection(record_ids=(record_id,)),
            "session": Selection(session_id="s1"),
            "words": Selection(words=("Sealed Orders",)),
            "everything": Selection(everything=True),
        }[by]
        foreseen = store.bulk.erase(NAMESPACE, what, "ada", apply=False)
        done = store.bulk.erase(NAMESPACE, what, "ada")
        assert foreseen == done and record_id in done.record_ids
        assert "sealed" not in str(list(store.bulk.dump(NAMESPACE))).lower()
        assert store.records.search([NAMESPACE], "sealed orders", 5) == []
        assert vectors_in(store, NAMESPACE, "test-model") == []
        assert (
            store.graph.facts(NAMESPACE) == [] and store.graph.search(NAMESPACE, "sealed", 5) == []
        )
        left = store.upkeep.stats(NAMESPACE).events
        assert left == (0 if by == "everything" else 1)
        assert store.upkeep.check() == []

    def test_versions_and_the_words_of_operations_go_too(self, store: Store) -> None:
        kept = record("A sealed order")
        store.records.put([kept])
        edit_record(store, msgspec.structs.replace(kept, title="Order"), "ada", "sealed no more")
        store.bulk.erase(NAMESPACE, Selection(record_ids=(kept.record_id,)), "ada")
        assert store.log.versions(NAMESPACE, kept.record_id) == []
        told = store.log.page(NAMESPACE).items
        assert [one.kind for one in told] == ["forget", "edit"]
        assert told[1].reason == "" and told[1].targets == (kept.record_id,)

    def test_age_is_about_when_things_happened_and_spares_what_is_pinned(
        self, store: Store
    ) -> None:
        old = record("Old", valid_from=NOON)
        pinned = record("Pinned", valid_from=NOON, pinned=True)
        young = record("Young", valid_from=NOON.replace(year=2027))
        store.records.put([old, pinned, young])
        store.events.put([arrival("old event")])
        store.bulk.erase(NAMESPACE, Selection(before=NOON.replace(month=6)), "ada")
        left = {one.title for one in store.records.page(NAMESPACE).items}
        assert left == {"Pinned", "Young"} and store.upkeep.stats().events == 0

    def test_another_namespace_is_not_touched(self, store: Store) -> None:
        store.records.put([record("sealed here"), record("sealed there", namespace=OTHER)])
        store.bulk.erase(NAMESPACE, Selection(words=("sealed",)), "ada")
        assert store.records.page(NAMESPACE).items == ()
        assert len(store.records.page(OTHER).items) == 1

    def test_whole_words_are_whole(self, store: Store) -> None:
        store.records.put([record("The port is open"), record("The portal is open")])
        store.bulk.erase(NAMESPACE, Selection(words=("port",), whole=True), "ada")
        assert [one.title for one in store.records.page(NAMESPACE).items] == ["The portal is open"]

    def test_a_mark_of_what_was_erased_stays(self, store: Store) -> None:
        one = arrival("about sealed orders", session_id="s1")
        store.events.put([one])
        marked = mark("s1", "prompt", one.event.body)
        assert marked is not None
        asked = iter([marked])
        assert store.bulk.forgotten(asked) == set() and next(asked) == marked, "none was needed"
        store.bulk.erase(NAMESPACE, Selection(session_id="s1"), "ada")
        assert store.bulk.forgotten([marked, b"x" * 16]) == {marked}

    # --- cleaning ---

    def test_cleaning_changes_every_text_and_no_name(self, store: Store) -> None:
        event_id, record_id = self._turn(store, "sealed orders")

        def clean(tree: Any) -> tuple[Any, dict[str, int]]:
            raw = msgspec.json.encode(tree)
            return msgspec.json.decode(raw.replace(b"sealed", b"[x]")), {"x": raw.count(b"sealed")}

        def only_hits(tree: Any) -> tuple[Any, dict[str, int]]:
            cleaned, found = clean(tree)
            return cleaned, {name: count for name, count in found.items() if count}

        shown = store.bulk.rewrite(NAMESPACE, only_hits, apply=False)
        assert shown.rows["event"] == 1 and shown.records == {NAMESPACE: (record_id,)}
        assert "sealed" in str(list(store.bulk.dump(NAMESPACE)))
        done = store.bulk.rewrite(NAMESPACE, only_hits, apply=True)
        assert done == shown
        assert "sealed" not in str(list(store.bulk.dump(NAMESPACE)))
        assert store.records.search([NAMESPACE], "sealed", 5) == []
        assert store.events.get(NAMESPACE, event_id) is not None
        assert vectors_in(store, NAMESPACE, "test-model") == []
        assert store.upkeep.scrub(None, 100).damaged == ()

    # --- moving ---

    @pytest.mark.parametrize("what", [Selection(session_id="s1"), Selection(everything=True)])
    def test_what_is_moved_is_there_and_no_longer_here(self, store: Store, what: Selection) -> None:
        event_id, record_id = self._turn(store)
        foreseen = store.bulk.erase(NAMESPACE, what, "ada", apply=False)
        moved = store.bulk.move(NAMESPACE, what, OTHER, "ada")
        assert moved == foreseen
        assert store.records.get(NAMESPACE, [record_id]) == []
        assert [one.record_id for one in store.records.get(OTHER, [record_id])] == [record_id]
        assert store.events.get(OTHER, event_id) is not None
        assert [hit.record.record_id for hit in store.records.search([OTHER], "sealed", 5)]
        assert store.records.search([NAMESPACE], "sealed", 5) == []
        assert len(vectors_in(store, OTHER, "test-model")) == 1
        assert store.sessions.get(OTHER, "s1") and not store.sessions.get(NAMESPACE, "s1")
        assert [one.count for one in store.events.backlog() if one.namespace == OTHER] == [1]
        assert store.upkeep.check() == [] and store.upkeep.scrub(None, 100).damaged == ()
        assert store.log.page(OTHER).items[0].kind == "move"

    def test_moving_all_of_a_project_takes_its_marks_along(self, store: Store) -> None:
        first = store.projects.resolve(ProjectPlace(root="/srv/old"))
        second = store.projects.resolve(ProjectPlace(root="/srv/new"))
        here, there = (f"/actor/ada/project/{one}/" for one in (first, second))
        store.events.put([arrival(namespace=here)])
        store.bulk.move(here, Selection(everything=True), there, "ada")
        assert store.projects.resolve(ProjectPlace(root="/srv/old")) == second
        assert here not in store.projects.namespaces()

    def test_what_is_there_already_cannot_be_moved_there(self, store: Store) -> None:
        with pytest.raises(BadInput):
            store.bulk.move(NAMESPACE, Selection(everything=True), NAMESPACE, "ada")

    def test_a_deleted_memory_is_chosen_by_its_id_until_it_is_erased(self, store: Store) -> None:
        one = store.records.put([record("Sealed orders")])[0]
        assert delete_records(store, NAMESPACE, [one.record_id], "ada") is not None
        what = Selection(record_ids=(one.record_id,))
        assert store.bulk.erase(OTHER, what, "ada", apply=False).total == 0
        foreseen = store.bulk.erase(NAMESPACE, what, "ada", apply=False)
        assert foreseen.counts == {"operation": 1, "version": 1}
        store.bulk.erase(NAMESPACE, what, "ada")
        assert store.bulk.erase(NAMESPACE, what, "ada", apply=False).total == 0

    def test_a_moved_edit_can_still_be_undone(self, store: Store) -> None:
        kept = record("Before", session_id="s1")
        store.records.put([kept])
        edit = edit_record(store, msgspec.structs.replace(kept, title="After"), "ada")
        store.bulk.move(NAMESPACE, Selection(session_id="s1"), OTHER, "ada")
        with pytest.raises(NotFound):
            store.log.undo(NAMESPACE, edit.op_id, "ada")
        store.log.undo(OTHER, edit.op_id, "ada")
        assert store.records.get(OTHER, [kept.record_id])[0].title == "Before"

    # --- orphans ---

    def test_a_store_that_was_used_rightly_has_no_orphans(self, store: Store) -> None:
        self._turn(store)
        store.bulk.erase(NAMESPACE, Selection(session_id="s1"), "ada")
        assert store.upkeep.repair("orphans", apply=False) == {} == store.upkeep.repair("orphans")
