"""Sessions, projects, transactions and the life of a store, for every backend."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from recollect.core import errors
from recollect.core.clock import ManualClock
from recollect.core.projects import WINDOW, ProjectPlace
from recollect.core.values import (
    Checkpoint,
    Entity,
    EventSource,
    ExtractionRun,
    Receipt,
)
from recollect.store.interface import Stats, Store, Tallied, Transaction, details_of, known_project
from tests.fakes.checkpoints import put_checkpoint
from tests.fakes.stored import delete_records, runs_in
from tests.make import NAMESPACE, NOON, arrival, record, vector

OTHER = "/actor/ada/project/engine2/"


class SessionsContract:
    def test_a_session_is_seen_with_its_first_event_and_ends_when_told(
        self, store: Store, clock: ManualClock
    ) -> None:
        assert store.sessions.get(NAMESPACE, "session-1") is None
        store.events.put([arrival(), arrival(valid_time=NOON + timedelta(hours=1))])
        session = store.sessions.get(NAMESPACE, "session-1")
        assert session is not None
        assert (session.status, session.started_at) == ("active", NOON)
        assert session.last_event_at == NOON + timedelta(hours=1)
        at = NOON + timedelta(hours=2)
        assert store.sessions.end([(NAMESPACE, "session-1")], "completed", at)
        ended = store.sessions.get(NAMESPACE, "session-1")
        assert ended is not None and (ended.status, ended.ended_at) == ("completed", at)
        assert not store.sessions.end([(NAMESPACE, "nobody")], "completed", at)

    def test_a_session_that_goes_on_after_its_end_runs_again(self, store: Store) -> None:
        def state() -> tuple[str, datetime | None]:
            session = store.sessions.get(NAMESPACE, "session-1")
            assert session is not None
            return session.status, session.ended_at

        mine, at = [(NAMESPACE, "session-1")], NOON + timedelta(hours=2)
        store.events.put([arrival()])
        store.sessions.end(mine, "failed", at)
        store.events.put([arrival(valid_time=at - timedelta(minutes=1))])  # it was on its way
        assert state() == ("failed", at)
        store.events.put([arrival(valid_time=at + timedelta(minutes=1))])
        assert state() == ("active", None)
        assert not store.sessions.end(mine, "completed", at)  # told late
        assert state() == ("active", None)

    def test_silent_sessions_end_with_their_last_event(self, store: Store) -> None:
        later = NOON + timedelta(hours=3)
        store.events.put([arrival(), arrival(session_id="b", namespace=OTHER, valid_time=later)])
        store.events.put([arrival(session_id="failed")])
        store.sessions.end([(NAMESPACE, "failed")], "failed", NOON)
        assert store.sessions.end(None, "completed", later) == 1
        told = [store.sessions.get(NAMESPACE, "session-1"), store.sessions.get(OTHER, "b"),
                store.sessions.get(NAMESPACE, "failed")]  # fmt: skip
        assert [(one.status, one.ended_at) for one in told if one is not None] == [
            ("completed", NOON), ("active", None), ("failed", NOON),
        ]  # fmt: skip
        assert store.sessions.end(None, "completed", later) == 0

    def test_each_host_is_known_by_when_it_was_last_heard(self, store: Store) -> None:
        later = NOON + timedelta(hours=1)
        store.events.put([arrival(), arrival(session_id="b", namespace=OTHER, valid_time=later)])
        for nobodys in ("prove-1", "demo-1"):
            store.events.put([arrival(session_id=nobodys, source=EventSource(surface="other"))])
        assert store.sessions.last_heard() == {"test": later}

    def test_sessions_are_paged_newest_first(self, store: Store) -> None:
        for number in range(5):
            moment = NOON + timedelta(hours=number // 2)
            store.events.put([arrival(session_id=f"s{number}", valid_time=moment)])
        seen, cursor = [], None
        while True:
            page = store.sessions.page(NAMESPACE, before=cursor, limit=2)
            seen += [one.session_id for one in page.items]
            if page.next is None:
                break
            cursor = page.next
        assert seen == ["s4", "s3", "s2", "s1", "s0"]

    def test_the_last_checkpoint_is_found_by_project_and_by_session(
        self, store: Store, clock: ManualClock
    ) -> None:
        for number, session in enumerate(["a", "b"]):
            put_checkpoint(
                store,
                Checkpoint(
                    checkpoint_id=f"chk_{number}",
                    namespace=NAMESPACE,
                    session_id=session,
                    task=f"task {number}",
                    next_steps=("go on",),
                    files=("a.py",),
                ),
            )
            clock.advance(minutes=1)
        newest = store.sessions.last_checkpoint(NAMESPACE)
        of_a = store.sessions.last_checkpoint(NAMESPACE, "a")
        assert newest is not None and newest.task == "task 1"
        assert of_a is not None and (of_a.task, of_a.next_steps) == ("task 0", ("go on",))
        assert store.sessions.last_checkpoint(NAMESPACE, "c") is None

    def test_receipts_are_kept_and_paged(self, store: Store, clock: ManualClock) -> None:
        for number in range(3):
            receipt = Receipt(
                receipt_id=f"rcp_{number}", namespace=NAMESPACE, session_id="s", trigger="prompt",
                query="q", detail={"scores": [number]}, tokens=5, latency_us=1200,
            )  # fmt: skip
            store.receipts.put(receipt)
            clock.advance(seconds=1)
        one = store.receipts.get(NAMESPACE, "rcp_1")
        assert one is not None and one.detail == {"scores": [1]}
        page = store.receipts.page(NAMESPACE, session_id="s", limit=2)
        assert [one.receipt_id for one in page.items] == ["rcp_2", "rcp_1"]
        rest = store.receipts.page(NAMESPACE, before=page.next, limit=2)
        assert [one.receipt_id for one in rest.items] == ["rcp_0"]


class ProjectsContract:
    def test_a_place_is_known_by_where_it_lies_and_not_by_what_it_says(self, store: Store) -> None:
        first = ProjectPlace(root="/src/a", git_dir="/src/a/.git", remote="example.org/team/a")
        renamed = ProjectPlace(root="/src/a", git_dir="/src/a/.git", remote="example.org/team/b")
        project_id = store.projects.resolve(first)
        assert store.projects.resolve(renamed) == project_id
        work_tree = ProjectPlace(root="/elsewhere", git_dir="/src/a/.git")
        assert store.projects.resolve(work_tree) == project_id
        clone = ProjectPlace(root="/x/b", git_dir="/x/b/.git", remote="example.org/team/b")
        pointer = ProjectPlace(root="/x/c", remote="example.org/team/a", claimed="/src/a/.git")
        own = {store.projects.resolve(clone), store.projects.resolve(pointer)}
        assert len(own) == 2 and project_id not in own
        (known,) = [one for one in store.projects.all() if one.project_id == project_id]
        assert {value for kind, value in known.identities if kind == "remote"} == {
            "example.org/team/a", "example.org/team/b",
        }  # fmt: skip

    def test_what_is_no_repository_takes_no_remote(self, store: Store) -> None:
        store.projects.resolve(
            ProjectPlace(root="/x/c", remote="example.org/a", claimed="/src/a/.git")
        )
        (known,) = store.projects.all()
        assert known.identities == (("root", "/x/c"),)

    def test_the_latest_commits_of_a_project_are_known(self, store: Store) -> None:
        one = store.projects.resolve(ProjectPlace(root="/src/a"))
        two = store.projects.resolve(ProjectPlace(root="/src/b"))
        commits = [f"{number:040x}" for number in range(100, 0, -1)]
        store.projects.update(one, commits=commits[-10:])
        store.projects.update(one, commits=commits[-10:])
        assert sorted(store.projects.commits(one), reverse=True) == commits[-10:]
        store.projects.update(one, commits=commits[:10])
        known = store.projects.commits(one)
        assert {*commits[:10]} < {*known} and len(known) == WINDOW
        assert store.projects.commits(two) == ()
        store.projects.update(two, commits=commits[:3])
        assert {*store.projects.commits(two)} == {*commits[:3]}, "a history may be shared"
        assert sorted(info.identities for info in store.projects.all()) == [
            (("root", "/src/a"),), (("root", "/src/b"),),
        ]  # fmt: skip

    def test_a_place_can_be_made_a_project_of_its_own_again(self, store: Store) -> None:
        first = ProjectPlace(root="/src/a", git_dir="/src/a/.git", remote="example.org/a")
        second = ProjectPlace(root="/src/b", git_dir="/src/b/.git", remote="example.org/a")
        one = store.projects.resolve(first)
        for kind, value in second.identities:
            store.projects.update(one, mark=(kind, value))
        assert store.projects.resolve(second) == one
        two = store.projects.resolve(second, apart=True)
        assert two != one
        assert store.projects.resolve(second) == two and store.projects.resolve(first) == one
        assert store.projects.resolve(second, apart=True) == two, "it is alone already"
        assert {info.project_id: info.apart for info in store.projects.all()} == {
            one: (), two: ("/src/b",),
        }  # fmt: skip

    def test_different_places_are_different_projects_and_none_is_global(self, store: Store) -> None:
        one = store.projects.resolve(ProjectPlace(root="/src/a"))
        two = store.projects.resolve(ProjectPlace(root="/src/a2"))
        assert one != two
        assert store.projects.resolve(ProjectPlace()) == ""
        assert {info.name for info in store.projects.all()} == {"a", "a2"}

    def test_two_known_projects_are_never_merged_silently(self, store: Store) -> None:
        one = store.projects.resolve(ProjectPlace(root="/src/a"))
        two = store.projects.resolve(ProjectPlace(root="/src/b", git_dir="/src/b/.git"))
        # /src/a is now given b's remote: it stays what it was
        store.projects.update(two, mark=("remote", "example.org/b"))
        assert (
            store.projects.resolve(ProjectPlace(root="/src/a", remote="example.org/b"))
            == one
            != two
        )

    def test_a_project_can_be_renamed(self, store: Store) -> None:
        project_id = store.projects.resolve(ProjectPlace(root="/src/a"))
        store.projects.update(project_id, name="Alpha")
        assert [info.name for info in store.projects.all()] == ["Alpha"]
        with pytest.raises(errors.NotFound):
            store.projects.update("prj_unknown", name="x")

    def test_a_project_can_be_given_another_place(self, store: Store) -> None:
        one = store.projects.resolve(ProjectPlace(root="/src/a"))
        two = store.projects.resolve(ProjectPlace(root="/src/b"))
        store.projects.update(one, mark=("root", "/work/a"))
        store.projects.update(one, mark=("root", "/tmp/a"))
        store.projects.update(one, unmark=[("root", "/tmp/a")])
        assert known_project(store.projects, ProjectPlace(root="/tmp/a")) is None
        store.projects.update(one, mark=("root", "/work/a"))
        assert store.projects.resolve(ProjectPlace(root="/work/a")) == one
        with pytest.raises(errors.Conflict, match=one):
            store.projects.update(two, mark=("root", "/work/a"))
        with pytest.raises(errors.NotFound):
            store.projects.update("prj_unknown", mark=("root", "/work/c"))


class TransactionContract:
    def test_all_or_nothing(self, store: Store) -> None:
        def failing(tx: Transaction) -> None:
            tx.put_record(record("a"))
            tx.put_record(record("b", importance=99))

        with pytest.raises(errors.BadInput):
            store.transaction(failing)
        assert store.records.page(NAMESPACE).items == ()

    def test_an_attempt_fails_alone(self, store: Store) -> None:
        def run(tx: Transaction) -> None:
            tx.put_record(record("kept"))

            def bad() -> None:
                tx.put_record(record("lost"))
                raise ValueError("this part")

            with pytest.raises(ValueError, match="this part"):
                tx.attempt(bad)
            tx.attempt(lambda: tx.put_record(record("also kept")))

        store.transaction(run)
        titles = {one.title for one in store.records.page(NAMESPACE).items}
        assert titles == {"kept", "also kept"}

    def test_a_transaction_takes_all_that_one_batch_gives_or_nothing(self, store: Store) -> None:
        first = store.records.put([record(title="as it was")])[0]
        entity = Entity(entity_id="en_1", namespace=NAMESPACE, name="billing-api", type="service")
        checkpoint = Checkpoint(
            checkpoint_id="cp_1", namespace=NAMESPACE, session_id="session-1", task="ship"
        )

        def work(tx: Transaction) -> None:
            tx.put_record(msgspec.structs.replace(first, title="as it is"), over=True)
            tx.put_graph(entity)
            tx.put_checkpoint(checkpoint)

        def failing(tx: Transaction) -> None:
            work(tx)
            raise errors.BadInput("on purpose")

        with pytest.raises(errors.BadInput):
            store.transaction(failing)
        assert store.records.get(NAMESPACE, [first.record_id])[0].title == "as it was"
        assert store.graph.all(NAMESPACE, Entity) == []
        assert store.sessions.last_checkpoint(NAMESPACE) is None
        store.transaction(work)
        assert store.records.get(NAMESPACE, [first.record_id])[0].title == "as it is"
        assert [one.name for one in store.graph.all(NAMESPACE, Entity)] == ["billing-api"]
        assert store.sessions.last_checkpoint(NAMESPACE) is not None

    def test_a_transaction_reads_what_it_wrote_and_no_other_namespace(self, store: Store) -> None:
        there = store.records.put([record("there")])[0]

        def work(tx: Transaction) -> list[list[str]]:
            fresh = tx.put_record(record("fresh"))
            both = [fresh.record_id, "mr_" + "0" * 26, there.record_id]
            return [
                [one.title for one in tx.records(NAMESPACE, both)],
                [one.title for one in tx.records(OTHER, both)],
            ]

        assert store.transaction(work) == [["fresh", "there"], []]

    def test_transactions_do_not_nest(self, store: Store) -> None:
        with pytest.raises(RuntimeError, match="nest"):
            store.transaction(lambda tx: store.transaction(lambda inner: None))
        nesting: Callable[[Transaction], object] = lambda tx: store.records.put([record()])  # noqa: E731
        with pytest.raises(RuntimeError, match="nest"):
            store.transaction(nesting)


class RunsContract:
    def test_runs_are_paged_newest_first_and_the_latest_of_each_namespace_is_known(
        self, store: Store, clock: ManualClock
    ) -> None:
        made = []
        for number in range(3):
            made.append(
                ExtractionRun(
                    run_id=f"run_{number}",
                    namespace=NAMESPACE,
                    started_at=clock.now(),
                    provider="none",
                    outcome="committed",
                    events=number,
                    dropped={"known": number},
                    latency_us={"extract": 12},
                )
            )
            store.runs.put(made[-1])
            clock.advance(seconds=1)
        other = msgspec.structs.replace(made[0], run_id="run_x", namespace=OTHER, outcome="failed")
        store.runs.put(other)
        assert runs_in(store, NAMESPACE) == made[::-1]
        assert store.runs.latest() == [made[2], other]

    def test_tombstones_are_read_in_order_and_within_their_namespace(
        self, store: Store, clock: ManualClock
    ) -> None:
        def bury(tx: Transaction) -> None:
            for what in ("a", "b"):
                tx.log("tombstone", NAMESPACE, "ada", detail={"fingerprints": [what]})
            tx.log("feedback", NAMESPACE, "ada", detail={"fingerprints": ["c"]})

        store.transaction(bury)
        found = details_of(store.log, NAMESPACE, "tombstone")
        assert found == [{"fingerprints": ["a"]}, {"fingerprints": ["b"]}]
        assert details_of(store.log, OTHER, "tombstone") == []
        assert details_of(store.log, NAMESPACE, "feedback") == [{"fingerprints": ["c"]}]
        assert details_of(store.log, OTHER, "feedback") == []


class LifeContract:
    def test_close_twice_is_fine_and_afterwards_nothing_works(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(errors.StoreClosed):
            store.records.put([record()])
        with pytest.raises(errors.StoreClosed):
            store.records.page(NAMESPACE)

    def test_a_tally_counts_by_stretches_of_time_and_kind(
        self, store: Store, clock: ManualClock
    ) -> None:
        began = clock.now()
        store.events.put([
            arrival(valid_time=began), arrival(valid_time=began, kind="note"),
            arrival(valid_time=began + timedelta(hours=2)), arrival(namespace=OTHER,
                                                                    valid_time=began),
        ])  # fmt: skip
        store.records.put([record(title="four", summary="é", detail="", facts=())])
        for tokens, took in ((10, 100), (20, 300)):
            store.receipts.put(
                Receipt(receipt_id=f"rcp_{tokens}", namespace=NAMESPACE, trigger="prompt",
                        query="q", detail={}, tokens=tokens, latency_us=took)
            )  # fmt: skip
        until = began + timedelta(days=1)

        def tally(what: Tallied, namespace: str | None = NAMESPACE) -> list[tuple[Any, ...]]:
            found = store.upkeep.tally(what, began, until, namespace=namespace)
            return [(one.at, one.kind, one.count) for one in found]

        later = began + timedelta(hours=2)
        assert tally("events") == [(began, "note", 1), (began, "prompt", 1), (later, "prompt", 1)]
        assert sum(count for _, _, count in tally("events", None)) == 4
        (mine,) = store.upkeep.tally("records", began, until, namespace=NAMESPACE)
        assert (mine.kind, mine.count, mine.size) == ("observation", 1, 4 + 2 + 2)
        imported = began - timedelta(days=3)  # of what happened then, as events are
        store.records.put([record("imported", valid_from=imported)])
        (old,) = store.upkeep.tally("records", imported, began, namespace=NAMESPACE)
        assert (old.at, old.count) == (imported, 1)
        assert len(store.upkeep.tally("records", began, until, namespace=NAMESPACE)) == 1
        (spent,) = store.upkeep.tally("receipts", began, until, namespace=NAMESPACE)
        assert (spent.size, spent.took_us, spent.longest_us) == (30, 400, 300)
        (session,) = store.upkeep.tally("sessions", began, until, namespace=NAMESPACE)
        assert (session.kind, session.size) == ("test", 7200)
        assert store.upkeep.tally("events", until, until + timedelta(days=1)) == []

    def test_stats_count_what_is_there(self, store: Store) -> None:
        store.events.put([arrival(), arrival(kind="note", namespace=OTHER)])
        one = store.records.put([record(concepts=("db",), observation_type="error")])[0]
        store.vectors.put([vector(one)])
        mine, everything = store.upkeep.stats(NAMESPACE), store.upkeep.stats()
        assert (mine.events, everything.events) == (1, 2)
        assert mine.record_kinds == {"observation": 1}
        assert mine.observation_types == {"error": 1}
        assert (mine.concepts, mine.embedded) == ({"db": 1}, 1)
        assert store.upkeep.stats(NAMESPACE, by_kind=False) == Stats(1, 1, mine.sessions)
        assert store.projects.namespaces() == [NAMESPACE, OTHER]

    def test_operations_are_paged_newest_first(self, store: Store) -> None:
        made = store.records.put([record(str(number)) for number in range(5)])
        done = [delete_records(store, NAMESPACE, [one.record_id], "ada") for one in made]
        page = store.log.page(NAMESPACE, limit=3)
        rest = store.log.page(NAMESPACE, before=page.next, limit=3)
        assert [*page.items, *rest.items] == done[::-1]
        assert rest.next is None
        first = done[0]
        assert first is not None and store.log.get(NAMESPACE, first.op_id) == first

    def test_work_that_one_process_does_is_had_alone(self, store: Store) -> None:
        with store.upkeep.alone("sweeping") as first:
            assert first
        with store.upkeep.alone("sweeping") as again:
            assert again

    def test_now_is_utc(self, store: Store) -> None:
        stored = store.records.put([record(valid_from=datetime(2026, 1, 1, tzinfo=UTC))])[0]
        assert stored.created_at is not None and stored.created_at.tzinfo == UTC

    def test_a_check_finds_nothing_wrong_while_others_write(self, store: Store) -> None:
        for number in range(60):
            made = store.records.put([record(f"alpha beta {number}")])[0]
            store.records.search([NAMESPACE], "alpha", 3)
            if number % 3 == 0:
                delete_records(store, NAMESPACE, [made.record_id], "ada")
            assert store.upkeep.check() == []
