"""What grows old, for every backend: what is due, marks, freshness, size."""

from datetime import timedelta

import msgspec

from recollect.core.clock import ManualClock
from recollect.core.values import Receipt, Record
from recollect.store.interface import Forgetting, Store, Transaction
from tests.fakes.stored import delete_records
from tests.make import NAMESPACE, record

OTHER = "/actor/ada/project/engine2/"


def _episode(**fields: object) -> Record:
    return record("turn", kind="episode", session_id="s", **fields)


def _stand_in(store: Store, level: str, taken: Record) -> Record:
    """A shorter episode that stands for another one."""
    short = _episode(level=level)
    return store.transaction(lambda tx: tx.put_record(short, stands_for=[taken.record_id]))


class AgingContract:
    def test_aged_episodes_are_those_that_no_mark_names(
        self, store: Store, clock: ManualClock
    ) -> None:
        late = store.records.put([_episode(position=2, detail="later")])[0]
        early = store.records.put([_episode(position=1)])[0]
        store.records.put([record("no episode"), _episode(namespace=OTHER)])
        clock.advance(hours=1)
        store.records.put([_episode(position=3)])
        edge = clock.now() - timedelta(minutes=1)
        found = store.aging.episodes(NAMESPACE, "raw", edge)
        assert [one.record_id for one in found] == [early.record_id, late.record_id]
        assert (found[1].session_id, found[1].chars) == ("s", 5)
        assert store.aging.episodes(NAMESPACE, "compressed", edge) == []

        def work(tx: Transaction) -> None:
            tx.put_record(late, over=True, stands_for=[early.record_id])

        store.transaction(work)
        assert [x.record_id for x in store.aging.episodes(NAMESPACE, "raw", edge)] == [
            late.record_id
        ]
        store.records.put(
            [msgspec.structs.replace(early, detail="more", updated_at=None)], over=True
        )
        clock.advance(minutes=1)
        aged = store.aging.episodes(NAMESPACE, "raw", clock.now())
        assert early.record_id in [one.record_id for one in aged], "its mark is gone"

    def test_a_turn_may_go_only_while_something_stands_for_it(
        self, store: Store, clock: ManualClock
    ) -> None:
        (turn,) = store.records.put([_episode()])
        short = _stand_in(store, "compressed", turn)
        now = clock.now()
        rules = Forgetting(now=now, replaced=now, distilled=now - timedelta(days=1))
        found = store.aging.forgettable(NAMESPACE, rules)
        assert [one.record_id for one in found] == [turn.record_id]
        assert store.aging.forgettable(OTHER, rules) == []
        earlier = Forgetting(now=now, replaced=now - timedelta(seconds=1), distilled=now)
        assert store.aging.forgettable(NAMESPACE, earlier) == []
        delete_records(store, NAMESPACE, [short.record_id], "ada")
        assert store.aging.forgettable(NAMESPACE, rules) == []
        _stand_in(store, "distilled", short)
        assert len(store.aging.forgettable(NAMESPACE, rules)) == 1

    def test_gone_are_those_that_were_there_once(self, store: Store) -> None:
        here, deleted = store.records.put([record("here"), record("deleted")])
        delete_records(store, NAMESPACE, [deleted.record_id], "ada")
        digest = record("a day in short")
        store.transaction(lambda tx: tx.put_record(digest, stands_for=["day:2026-03-06"]))
        asked = [here.record_id, deleted.record_id, record("never").record_id, "day:2026-03-06"]
        assert store.aging.gone(NAMESPACE, asked) == {deleted.record_id, "day:2026-03-06"}
        assert store.aging.gone(OTHER, asked) == set()

    def test_alike_observations_are_grouped_by_type_and_files(
        self, store: Store, clock: ManualClock
    ) -> None:
        same = [record(observation_type="error", files=("a.py",)) for _ in range(3)]
        store.records.put([*same, record(observation_type="error", files=("b.py",))])
        since = clock.now() - timedelta(days=1)
        (group,) = store.aging.alike(NAMESPACE, since, clock.now(), 3, 8)
        assert (group.observation_type, group.files) == ("error", ("a.py",))
        assert set(group.record_ids) == {one.record_id for one in same}
        assert store.aging.alike(NAMESPACE, since, clock.now(), 4, 8) == []

    def test_freshness_is_noted_without_an_edit(self, store: Store, clock: ManualClock) -> None:
        one = store.records.put([record("a")])[0]
        now = clock.now()
        assert store.records.touch(NAMESPACE, (), now, {one.record_id: "drifted"}) == 1
        assert store.records.touch(NAMESPACE, (), now, {one.record_id: "drifted"}) == 0
        assert store.records.touch(OTHER, (), now, {one.record_id: "fresh"}) == 0
        (found,) = store.records.get(NAMESPACE, [one.record_id])
        assert found == msgspec.structs.replace(one, freshness="drifted")
        assert store.log.versions(NAMESPACE, one.record_id) == []

    def test_archive_and_receipts_are_purged_a_few_at_a_time(
        self, store: Store, clock: ManualClock
    ) -> None:
        made = store.records.put([record(str(n)) for n in range(5)])
        delete_records(store, NAMESPACE, [one.record_id for one in made], "ada")
        for number in range(5):
            name = f"rcp_{number}"
            store.receipts.put(
                Receipt(receipt_id=name, namespace=NAMESPACE, trigger="prompt", query="q")
            )
        clock.advance(days=1)
        purge, now = store.aging.purge, clock.now()
        assert purge("archive", now, apply=False) == 5
        assert [purge("archive", now, limit=3) for _ in range(3)] == [3, 2, 0]
        assert purge("receipts", now, namespace=NAMESPACE, apply=False) == 5
        assert purge("receipts", now, namespace=OTHER, apply=False) == 0
        gone = [purge("receipts", now, namespace=NAMESPACE, limit=3) for _ in range(3)]
        assert gone == [3, 2, 0]

    def test_ages_and_size_are_told(self, store: Store, clock: ManualClock) -> None:
        store.records.put([record("a"), _episode(level="distilled")])
        ages = store.aging.ages(NAMESPACE)
        assert {(one.kind, one.level) for one in ages} == {
            ("observation", "raw"),
            ("episode", "distilled"),
        }
        assert all(one.created_at == clock.now() for one in ages)
        space = store.upkeep.space()
        assert space.bytes > space.free >= 0
