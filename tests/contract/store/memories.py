"""What every backend does with memories: versions, undo, as-of."""

import random
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from recollect.core import errors, ids
from recollect.core.clock import ManualClock, to_micros
from recollect.core.values import Citation, Operation, Record
from recollect.store.interface import (
    Cursor,
    RecordCount,
    RecordFilter,
    Selection,
    Store,
    Transaction,
    undoable,
    with_content,
)
from tests.fakes.stored import delete_records, edit_record, miscount, vectors_in
from tests.make import NAMESPACE, NOON, record, vector

OTHER = "/actor/ada/project/engine2/"
ACTS = ("put", "put", "put", "over", "edit", "touch", "forget", "merge", "undo", "move", "erase")


class RecordsContract:
    def test_a_change_in_a_transaction_is_one_operation_and_keeps_the_vectors_of_the_same_text(
        self, store: Store
    ) -> None:
        one, other = store.records.put([record("One", kind="knowledge"), record("Other")])
        store.vectors.put([vector(one), vector(other)])

        def work(tx: Transaction) -> str:
            targets = [one.record_id, other.record_id]
            operation = tx.log("supersede", NAMESPACE, "ada", targets=targets)
            ended = msgspec.structs.replace(one, state="ended", ended_by="user", subject="x")
            reworded = msgspec.structs.replace(other, title="Reworded")
            changed = tx.change_records(operation, [ended, reworded])
            assert [row.version for row in changed] == [2, 2]
            return operation.op_id

        op_id = store.transaction(work)
        ended = RecordFilter(state="ended")
        assert [row.record_id for row in store.records.page(NAMESPACE, ended).items] == [
            one.record_id
        ]
        found = store.vectors.of(NAMESPACE, "test-model", [one.record_id, other.record_id])
        assert [row.source_id for row in found] == [one.record_id]
        store.log.undo(NAMESPACE, op_id, "ada")
        assert store.records.get(NAMESPACE, [one.record_id, other.record_id]) == [one, other]
        assert len(store.vectors.of(NAMESPACE, "test-model", [other.record_id])) == 1

    def test_a_kind_that_is_added_later_needs_no_change_of_the_database(self, store: Store) -> None:
        later = record(kind="of 2031")
        (stored,) = store.records.put([later])
        assert store.records.get(NAMESPACE, [later.record_id]) == [stored]
        assert stored.kind == later.kind

    def test_a_memory_comes_back_as_it_was_with_its_times_stamped(
        self, store: Store, clock: ManualClock
    ) -> None:
        full = record(
            "Full", summary="s", detail="d\nd", facts=("f1", "f\n2"), concepts=("c",),
            files=("src/a.py",), observation_type="decision", tool_class="command",
            knowledge_type="heuristic", category="db", level="compressed", strategy="llm-summary",
            author="assistant", session_id="s", position=3, importance=9, confidence=0.25,
            valid_until=NOON, expires_at=NOON, citations=(Citation(path="a", sha256="b"),),
            freshness="drifted", pinned=True, source_event_ids=(ids.new_ulid(),),
            content_hash="h",
        )  # fmt: skip
        stored = store.records.put([full])[0]
        assert stored.created_at == stored.updated_at == clock.now()
        assert store.records.get(NAMESPACE, [full.record_id]) == [stored]
        assert msgspec.structs.replace(stored, created_at=None, updated_at=None) == full

    def test_a_collision_is_an_error_and_nothing_of_that_put_is_kept(self, store: Store) -> None:
        one = store.records.put([record()])[0]
        with pytest.raises(errors.RecordExists, match=one.record_id):
            store.records.put([record("other"), one])
        assert store.records.page(NAMESPACE).items == (one,)

    def test_a_value_out_of_range_is_refused_by_the_store_itself(self, store: Store) -> None:
        for bad in (record(importance=11), record(title="x" * 201), record(confidence=1.5)):
            with pytest.raises(errors.BadInput, match=bad.record_id):
                store.records.put([bad])

    def test_what_comes_right_after_a_place_is_oldest_first(
        self, store: Store, clock: ManualClock
    ) -> None:
        made = []
        for number in range(6):
            kind = "knowledge" if number % 2 else "observation"
            made += store.records.put([record(str(number), kind=kind)])
            clock.advance(seconds=1)
        store.records.put([record("elsewhere", namespace=OTHER)])
        assert made[1].created_at is not None
        place = Cursor(to_micros(made[1].created_at), made[1].record_id)
        assert list(store.records.page(NAMESPACE, after=place, limit=3).items) == made[2:5]
        assert list(store.records.page(NAMESPACE, after=place).items) == made[2:]
        known = RecordFilter(kind="knowledge")
        page = store.records.page(NAMESPACE, known, after=place, limit=1)
        rest = store.records.page(NAMESPACE, known, after=page.next, limit=1)
        assert [*page.items, *rest.items] == [made[3], made[5]] and rest.next is None

    def test_pages_meet_every_memory_once_while_others_arrive(
        self, store: Store, clock: ManualClock
    ) -> None:
        wanted = []
        for number in range(23):
            wanted += store.records.put([record(str(number))])
            if number % 3 == 0:
                clock.advance(seconds=1)
        seen, cursor = [], None
        while True:
            page = store.records.page(NAMESPACE, before=cursor, limit=5)
            seen += [one.record_id for one in page.items]
            clock.advance(seconds=1)
            store.records.put([record("meanwhile")])
            if page.next is None:
                break
            cursor = Cursor.parse(str(page.next))
        assert sorted(seen) == sorted(one.record_id for one in wanted)
        assert len(seen) == len(set(seen))

    def test_a_listing_is_narrowed_by_each_filter(self, store: Store, clock: ManualClock) -> None:
        plain = store.records.put([record("plain", valid_from=clock.now())])[0]
        clock.advance(hours=1)
        rich = store.records.put([
            record("rich", kind="knowledge", session_id="s", observation_type="error",
                   valid_from=clock.now(),
                   concepts=("db", "api"), files=("a.py",)),
        ])[0]  # fmt: skip
        narrowed = [
            RecordFilter(kind="knowledge"), RecordFilter(session_id="s"),
            RecordFilter(type="error"), RecordFilter(concept="api"),
            RecordFilter(file="a.py"), RecordFilter(since=clock.now()),
        ]  # fmt: skip
        for where in narrowed:
            assert store.records.page(NAMESPACE, where).items == (rich,)
        assert store.records.page(NAMESPACE, RecordFilter(until=clock.now())).items == (plain,)

    def test_what_happened_earlier_and_was_stored_later_has_its_place_by_when_it_happened(
        self, store: Store, clock: ManualClock
    ) -> None:
        days = [clock.now() + timedelta(days=day) for day in range(5)]
        clock.advance(days=9)
        stored = {}
        for day in (3, 1, 4, 0):  # the order of storing
            stored[day] = store.records.put([record(str(day), valid_from=days[day])])[0]
            clock.advance(minutes=1)
        place = Cursor(to_micros(days[2]), "")

        def asked(where: RecordFilter | None = None, **given: Any) -> list[int]:
            page = store.records.page(NAMESPACE, where, by_happening=True, **given)
            return [int(one.title) for one in page.items]

        assert asked() == [4, 3, 1, 0] and asked(before=place, limit=1) == [1]
        assert asked(after=place) == [3, 4] and asked(after=place, limit=1) == [3]
        first = store.records.page(NAMESPACE, limit=3, by_happening=True)
        assert asked(before=first.next) == [0]
        part = RecordFilter(since=days[1], until=days[4])
        assert asked(part) == [3, 1] and asked(part, as_of=clock.now()) == [3, 1]
        assert [one.title for one in store.records.page(NAMESPACE, part).items] == ["1", "3"]
        delete_records(store, NAMESPACE, [stored[1].record_id], "user")
        assert asked(part) == [3]
        assert asked(part, as_of=clock.now() - timedelta(seconds=1)) == [3, 1]

    def test_memories_are_counted_by_what_they_are_and_by_the_files_they_name(
        self, store: Store, clock: ManualClock
    ) -> None:
        rule = record("a", kind="knowledge", knowledge_type="constraint", session_id="s")
        cited = Citation(path="src/a.py", sha256="1" * 64)
        fix = record("b", observation_type="error", files=("src/a.py",), freshness="drifted",
                     citations=(cited,))  # fmt: skip
        other = Citation(path="b.py", sha256="2" * 64)
        store.records.put([rule, fix, record("c", files=("src/a.py", "b.py"), citations=(other,))])
        store.records.touch(NAMESPACE, [rule.record_id], clock.now())
        found = store.records.counts(NAMESPACE)
        assert {(one.kind, one.type, one.freshness, one.used): one.count for one in found} == {
            ("knowledge", "constraint", "unknown", True): 1,
            ("observation", "error", "drifted", False): 1,
            ("observation", "", "unknown", False): 1,
        }
        for where, count in (
            (RecordFilter(used=True), 1), (RecordFilter(used=False), 2),
            (RecordFilter(freshness="drifted"), 1), (RecordFilter(sessions=("s", "t")), 1),
            (RecordFilter(sessions=()), 0), (RecordFilter(file="a.py"), 2),
            (RecordFilter(file="src/a.py", type="error"), 1), (RecordFilter(file="c.py"), 0),
        ):  # fmt: skip
            assert sum(one.count for one in store.records.counts(NAMESPACE, where)) == count
            assert len(store.records.page(NAMESPACE, where).items) == count, where
        files = store.records.files(NAMESPACE)
        assert sorted(files.named) == [("b.py", 1), ("src/a.py", 2)]
        assert files.cited == [(cited, 1)]

    def test_kept_counts_are_those_of_all_rows_whatever_was_done_and_can_be_made_anew(
        self, store: Store, other_store: Store, clock: ManualClock
    ) -> None:
        dice = random.Random(2)

        def counted(at: Store, namespace: str, where: RecordFilter) -> set[RecordCount]:
            return set(at.records.counts(namespace, where))

        def agree(*stores: Store) -> bool:
            every = RecordFilter(until=NOON + timedelta(days=9999))  # which only rows can answer
            return all(
                counted(at, one, RecordFilter()) == counted(at, one, every)
                for at in stores
                for one in (NAMESPACE, OTHER)
            )

        def merge(some: list[Record]) -> None:
            made = record("Merged", kind="knowledge", knowledge_type="decision")

            def work(tx: Transaction) -> None:
                targets = [one.record_id for one in some]
                operation = tx.log(
                    "merge", NAMESPACE, "ada", targets=targets, created=[made.record_id]
                )
                tx.change_records(operation)
                tx.put_record(made, operation.op_id)

            store.transaction(work)

        for step in range(60):
            live = list(store.records.page(NAMESPACE, limit=100).items)
            some = dice.sample(live, min(len(live), 3))
            names = [one.record_id for one in some]
            done = [one.op_id for one in store.log.page(NAMESPACE, limit=5).items]
            undone = sorted(undoable(store.log, NAMESPACE, done))
            match dice.choice(ACTS):
                case "put":
                    store.records.put([
                        record(f"{step}", kind="knowledge", knowledge_type="constraint",
                               state=dice.choice(["current", "proposed"])),
                        record(f"{step}", observation_type=dice.choice(["error", "discovery"])),
                    ])  # fmt: skip
                case "over" if some:
                    turned = msgspec.structs.replace(some[0], freshness="orphaned")
                    store.records.put([turned], over=True)
                case "edit" if some:
                    edit_record(store, msgspec.structs.replace(some[0], state="ended"), "ada")
                case "touch" if some:
                    store.records.touch(NAMESPACE, names, clock.now(), {names[0]: "drifted"})
                case "forget" if some:
                    delete_records(store, NAMESPACE, names, "ada")
                case "merge" if some:
                    merge(some)
                case "undo" if undone:
                    store.log.undo(NAMESPACE, undone[0], "ada")
                case "move" if len(live) > 6:
                    store.bulk.move(NAMESPACE, Selection(record_ids=tuple(names)), OTHER, "ada")
                case "erase" if len(live) > 6:
                    store.bulk.erase(NAMESPACE, Selection(record_ids=tuple(names)), "ada")
            clock.advance(seconds=1)
            assert agree(store), step
        assert store.records.counts(NAMESPACE) and store.records.counts(OTHER)
        other_store.bulk.load(list(store.bulk.dump(NAMESPACE)))
        assert counted(other_store, NAMESPACE, RecordFilter()) and agree(other_store)
        miscount(store)
        assert not agree(store)
        store.upkeep.repair("index")
        assert agree(store) and store.upkeep.check() == []
        store.bulk.erase(NAMESPACE, Selection(everything=True), "ada")
        assert store.records.counts(NAMESPACE) == [] and agree(store)

    def test_beliefs_of_a_type_or_category_are_found_behind_any_number_of_others(
        self, store: Store
    ) -> None:
        rule = {"kind": "knowledge", "knowledge_type": "constraint"}
        store.records.put([
            record("a rule", **rule),
            record("one that ended", state="ended", **rule),
            record("a line of the profile", kind="knowledge", knowledge_type="heuristic",
                   category="profile"),
            *(record(f"decision {number}", kind="knowledge", knowledge_type="decision",
                     category="tools", valid_from=NOON + timedelta(hours=number))
              for number in range(30)),
        ])  # fmt: skip

        def titles(**given: Any) -> list[str]:
            return [one.title for one in store.records.beliefs(NAMESPACE, limit=2, **given)]

        assert titles(type="constraint", state="current") == ["a rule"]
        assert titles(type="constraint", state="ended") == ["one that ended"]
        assert titles(category="profile", state="current") == ["a line of the profile"]
        assert titles(category="tools", type="decision") == ["decision 29", "decision 28"]
        assert titles(category="tools", type="constraint") == []

    def test_beliefs_are_listed_by_their_state_and_by_when_they_ended_or_were_used(
        self, store: Store
    ) -> None:
        days = [NOON + timedelta(days=number) for number in range(4)]
        old, _, over, *_ = store.records.put([
            record("old", kind="knowledge", valid_from=days[0]),
            record("new", kind="knowledge", valid_from=days[2]),
            record("over", kind="knowledge", state="ended", valid_from=days[1],
                   valid_until=days[3]),
            record("asked", kind="knowledge", state="proposed", valid_from=days[3]),
            record("no belief", valid_until=days[3]),
        ])  # fmt: skip
        store.records.touch(NAMESPACE, [old.record_id], days[1])
        store.records.touch(NAMESPACE, [over.record_id], days[2])

        def titles(**given: Any) -> list[str]:
            return [one.title for one in store.records.beliefs(NAMESPACE, **given)]

        assert titles(limit=9) == ["asked", "new", "over", "old"]
        assert titles(state="current", limit=9) == ["new", "old"]
        assert titles(state="current", used=False, limit=9) == ["new"]
        assert titles(limit=1, since=days[2]) == ["asked"]
        assert titles(by="valid_until", limit=9) == ["over"]
        assert titles(by="valid_until", since=days[3] + timedelta(seconds=1), limit=9) == []
        assert titles(by="last_accessed", limit=9) == ["over", "old"]
        assert titles(by="last_accessed", since=days[1], limit=9) == ["over", "old"]
        assert titles(by="last_accessed", since=days[2], limit=9) == ["over"]
        assert store.records.beliefs(OTHER, limit=9) == []

    def test_what_was_stored_since_is_counted_and_listed(
        self, store: Store, clock: ManualClock
    ) -> None:
        store.records.put([record(f"old {number}", kind="knowledge") for number in range(4)])
        clock.advance(days=1)
        (late, _) = store.records.put([record("late", kind="knowledge"), record("a note")])
        assert late.created_at is not None
        for since, many in ((late.created_at, 1), (NOON - timedelta(999), 5)):
            where = RecordFilter(kind="knowledge", stored_since=since)
            assert sum(one.count for one in store.records.counts(NAMESPACE, where)) == many
            assert len(store.records.page(NAMESPACE, where).items) == many

    def test_a_derived_memory_is_replaced_without_a_trace(
        self, store: Store, clock: ManualClock
    ) -> None:
        one = store.records.put([record("half a turn")])[0]
        store.vectors.put([vector(one)])
        clock.advance(minutes=1)
        whole = msgspec.structs.replace(
            one, title="the whole turn", created_at=None, updated_at=None
        )
        (replaced,) = store.records.put([whole], over=True)
        assert (replaced.created_at, replaced.updated_at) == (one.created_at, clock.now())
        assert store.records.get(NAMESPACE, [one.record_id]) == [replaced]
        assert store.records.search([NAMESPACE], "half", 5) == []
        assert store.vectors.missing(NAMESPACE, "test-model", 5) == [replaced]
        assert store.log.versions(NAMESPACE, one.record_id) == []
        (fresh,) = store.records.put([record("new")], over=True)
        assert store.records.get(NAMESPACE, [fresh.record_id]) == [fresh]

    def test_delete_takes_row_index_and_vector_and_twice_is_fine(self, store: Store) -> None:
        one = store.records.put([record("zebra")])[0]
        store.vectors.put([vector(one)])
        operation = delete_records(store, NAMESPACE, [one.record_id, "mr_unknown"], "ada", "wrong")
        assert operation is not None and operation.targets == (one.record_id,)
        assert store.records.get(NAMESPACE, [one.record_id]) == []
        assert store.records.search([NAMESPACE], "zebra", 5) == []
        assert vectors_in(store, NAMESPACE, "test-model") == []
        assert delete_records(store, NAMESPACE, [one.record_id], "ada") is None

    def test_undo_of_a_delete_brings_back_row_index_and_vector_exactly(
        self, store: Store, clock: ManualClock
    ) -> None:
        one = store.records.put([record("zebra", facts=("stripes",))])[0]
        store.vectors.put([vector(one), vector(one, part=1)])
        vectors = vectors_in(store, NAMESPACE, "test-model")
        clock.advance(hours=1)
        operation = delete_records(store, NAMESPACE, [one.record_id], "ada")
        assert operation is not None
        clock.advance(hours=1)
        undo = store.log.undo(NAMESPACE, operation.op_id, "ada")
        assert store.records.get(NAMESPACE, [one.record_id]) == [one]
        assert [hit.record for hit in store.records.search([NAMESPACE], "stripes", 5)] == [one]
        assert vectors_in(store, NAMESPACE, "test-model") == vectors
        assert undo.undoes == operation.op_id
        # and an undo can itself be undone
        store.log.undo(NAMESPACE, undo.op_id, "ada")
        assert store.records.get(NAMESPACE, [one.record_id]) == []

    def test_an_edit_keeps_the_earlier_version_and_can_be_undone(
        self, store: Store, clock: ManualClock
    ) -> None:
        one = store.records.put([record("old words")])[0]
        clock.advance(hours=1)
        operation = edit_record(
            store, msgspec.structs.replace(one, title="new words", importance=8), "ada", "clearer"
        )
        edited = store.records.get(NAMESPACE, [one.record_id])[0]
        assert (edited.title, edited.version, edited.created_at) == ("new words", 2, one.created_at)
        assert store.records.search([NAMESPACE], "old", 5) == []
        assert [version.record for version in store.log.versions(NAMESPACE, one.record_id)] == [one]
        store.log.undo(NAMESPACE, operation.op_id, "ada")
        assert store.records.get(NAMESPACE, [one.record_id]) == [one]
        assert store.records.search([NAMESPACE], "new", 5) == []

    def test_a_version_number_is_never_used_twice(self, store: Store) -> None:
        one = record("A first wording")
        store.records.put([one])
        undone = edit_record(store, msgspec.structs.replace(one, title="A second wording"), "ada")
        second = store.records.get(NAMESPACE, [one.record_id])[0].version
        store.log.undo(NAMESPACE, undone.op_id, "ada")
        edit_record(store, msgspec.structs.replace(one, title="A third wording"), "ada")
        third = store.records.get(NAMESPACE, [one.record_id])[0].version
        assert third > second, "who read the second wording would overwrite the third"

    def test_editing_what_is_not_there_is_an_error(self, store: Store) -> None:
        with pytest.raises(errors.NotFound):
            edit_record(store, record(), "ada")

    def test_undo_refuses_to_trample_on_a_later_change(self, store: Store) -> None:
        one = store.records.put([record("a")])[0]
        first = edit_record(store, msgspec.structs.replace(one, title="b"), "ada")
        second = edit_record(store, msgspec.structs.replace(one, title="c"), "ada")
        with pytest.raises(errors.CannotUndo, match=second.op_id):
            store.log.undo(NAMESPACE, first.op_id, "ada")
        store.log.undo(NAMESPACE, second.op_id, "ada")
        with pytest.raises(errors.CannotUndo, match="undone already"):
            store.log.undo(NAMESPACE, second.op_id, "ada")
        with pytest.raises(errors.NotFound):
            store.log.undo(NAMESPACE, "op_unknown", "ada")

    def test_an_edit_of_a_memory_that_was_deleted_since_is_undone_after_the_deletion(
        self, store: Store
    ) -> None:
        one = store.records.put([record("a")])[0]
        first = edit_record(store, msgspec.structs.replace(one, title="b"), "ada")
        second = edit_record(store, msgspec.structs.replace(one, title="c"), "ada")
        gone = delete_records(store, NAMESPACE, [one.record_id], "ada")
        assert gone is not None
        for early in (first, second):
            with pytest.raises(errors.CannotUndo, match=f"is gone since .*{gone.op_id}") as why:
                store.log.undo(NAMESPACE, early.op_id, "ada")
            assert why.value.hint == f"recollect undo {gone.op_id}"
        assert store.records.get(NAMESPACE, [one.record_id]) == []
        for op_id, title in ((gone.op_id, "c"), (second.op_id, "b"), (first.op_id, "a")):
            store.log.undo(NAMESPACE, op_id, "ada")
            assert [now.title for now in store.records.page(NAMESPACE).items] == [title]

    def test_what_can_be_undone_is_known_beforehand(self, store: Store) -> None:
        one = store.records.put([record("first")])[0]
        edited = edit_record(store, msgspec.structs.replace(one, title="second"), "ada")
        gone = delete_records(store, NAMESPACE, [one.record_id], "ada")
        assert gone is not None
        every = [edited.op_id, gone.op_id, "op_unknown"]
        assert undoable(store.log, NAMESPACE, every) == {gone.op_id}
        back = store.log.undo(NAMESPACE, gone.op_id, "ada")
        every.append(back.op_id)
        assert undoable(store.log, NAMESPACE, every) == {edited.op_id, back.op_id}
        again = store.log.undo(NAMESPACE, back.op_id, "ada")
        every.append(again.op_id)
        assert undoable(store.log, NAMESPACE, every) == {again.op_id}
        assert undoable(store.log, "/actor/else/", every) == set()

    def test_undo_refuses_when_the_archive_is_purged(
        self, store: Store, clock: ManualClock
    ) -> None:
        one = store.records.put([record("a")])[0]
        operation = delete_records(store, NAMESPACE, [one.record_id], "ada")
        assert operation is not None
        clock.advance(days=31)
        assert store.aging.purge("archive", clock.now() - timedelta(days=30)) == 1
        with pytest.raises(errors.CannotUndo, match="archive"):
            store.log.undo(NAMESPACE, operation.op_id, "ada")

    def test_a_merge_can_be_undone(self, store: Store) -> None:
        parts = store.records.put([record("part one"), record("part two")])
        merged = record("both parts", strategy="llm-reconciled")

        def merge(tx: Transaction) -> str:
            operation = tx.log(
                "merge", NAMESPACE, "extraction",
                targets=[one.record_id for one in parts], created=[merged.record_id],
            )  # fmt: skip
            tx.change_records(operation)
            tx.put_record(merged, operation.op_id)
            return operation.op_id

        def makers(record_id: str) -> list[Operation]:
            return list(store.log.page(NAMESPACE, made=record_id).items)

        op_id = store.transaction(merge)
        assert [one.title for one in store.records.page(NAMESPACE).items] == ["both parts"]
        made = makers(merged.record_id)
        assert [one.op_id for one in made] == [op_id]
        assert makers(parts[0].record_id) == []
        undone = store.log.undo(NAMESPACE, op_id, "ada")
        assert set(store.records.page(NAMESPACE).items) == set(parts)
        # Also of what is gone; the parts are as the undo made them.
        assert makers(merged.record_id) == made
        assert makers(parts[0].record_id) == [undone]

    def test_as_of_gives_what_memory_held_at_that_moment(
        self, store: Store, clock: ManualClock
    ) -> None:
        moments: list[tuple[datetime, set[str]]] = []

        def remember() -> None:
            moments.append(
                (clock.now(), {one.title for one in store.records.page(NAMESPACE).items})
            )
            clock.advance(minutes=1)

        remember()
        kept, gone = store.records.put([record("kept"), record("gone")])
        remember()
        edit_record(store, msgspec.structs.replace(kept, title="kept, edited"), "ada")
        remember()
        operation = delete_records(store, NAMESPACE, [gone.record_id], "ada")
        remember()
        assert operation is not None
        store.log.undo(NAMESPACE, operation.op_id, "ada")
        remember()
        for moment, titles in moments:
            page = store.records.page(NAMESPACE, as_of=moment)
            assert {one.title for one in page.items} == titles

    def test_touch_counts_an_access_and_is_no_edit(self, store: Store, clock: ManualClock) -> None:
        one = store.records.put([record()])[0]
        clock.advance(hours=1)
        store.records.touch(NAMESPACE, [one.record_id], clock.now())
        touched = store.records.get(NAMESPACE, [one.record_id])[0]
        assert (touched.access_count, touched.last_accessed) == (1, clock.now())
        assert (touched.version, touched.updated_at) == (one.version, one.updated_at)
        assert store.upkeep.scrub(("memory_records", 0), 10).damaged == ()

    def test_the_newest_memory_with_the_same_content_is_found(self, store: Store) -> None:
        one = store.records.put([record(content_hash="h1")])[0]
        assert with_content(store.records, NAMESPACE, "h1") == one
        assert with_content(store.records, NAMESPACE, "h2") is None
