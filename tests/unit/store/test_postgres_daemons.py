"""Several daemons on one server: claims, clocks, and what each hears of the others."""

import json
import threading
from datetime import timedelta

import msgspec
import pytest

from recollect.core import errors
from recollect.core.clock import ManualClock
from recollect.core.projects import ProjectPlace
from recollect.core.values import Entity
from recollect.extract.tombstone_entry import fingerprint
from recollect.extract.tombstones import Tombstones
from recollect.inject.judge import Feedback
from recollect.store.interface import Change, Selection
from recollect.store.postgres import events as claims
from tests.fakes.postgres import Server
from tests.fakes.stored import delete_records, edit_record, put_graph
from tests.fakes.waiting import PATIENCE_S
from tests.make import NAMESPACE, NOON, arrival, record, vector
from tests.unit.store.conftest import Opener

MIB = 1 << 20


def contents(batch: object) -> list[str]:
    events = getattr(batch, "events", ())
    return [getattr(one.event.body, "content", "") for one in events]


def test_two_daemons_never_claim_the_same_event(opened: Opener) -> None:
    first, second = opened(), opened()
    first.events.put([arrival(str(number)) for number in range(200)])
    taken: list[str] = []
    lock = threading.Lock()

    def run(store: object) -> None:
        while batch := store.events.claim(NAMESPACE, 7, MIB):  # type: ignore[attr-defined]
            with lock:
                taken.extend(contents(batch))
            store.transaction(lambda tx, batch=batch: tx.finish(batch))  # type: ignore[attr-defined]

    threads = [threading.Thread(target=run, args=(one,)) for one in (first, second) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=int) == [str(number) for number in range(200)]
    assert first.events.backlog() == []


def test_a_claim_outlives_its_connections_but_not_its_daemon(
    opened: Opener, postgres_server: Server, database: str
) -> None:
    first, second = opened(), opened()
    first.events.put([arrival("a")])
    batch = first.events.claim(NAMESPACE, 5, MIB)
    assert batch is not None
    postgres_server.admin(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{database}' AND pid <> pg_backend_pid()"
    )
    assert second.events.claim(NAMESPACE, 5, MIB) is None
    # The daemon is not heard of any more: its claim is free, and it cannot finish it.
    postgres_server.admin(
        "UPDATE recollect.runners SET seen_at = seen_at - interval '1 hour'"
        f" WHERE runner_id = '{first.engine.origin}'",
        database,
    )
    again = second.events.claim(NAMESPACE, 5, MIB)
    assert contents(again) == ["a"] and again is not None

    def late(tx: object) -> None:
        tx.put_record(record("late"))  # type: ignore[attr-defined]
        tx.finish(batch)  # type: ignore[attr-defined]

    with pytest.raises(errors.StoreBusy, match="claim"):
        first.transaction(late)
    assert first.events.release(batch, failed="late") == 0
    first.events.release(batch)
    assert first.events.claim(NAMESPACE, 5, MIB) is None
    second.transaction(lambda tx: tx.finish(again))
    assert second.records.page(NAMESPACE).items == ()


def test_a_daemon_that_stops_gives_its_claims_back_at_once(opened: Opener) -> None:
    first, second = opened(), opened()
    first.events.put([arrival("a")])
    assert first.events.claim(NAMESPACE, 5, MIB) is not None
    first.close()
    assert contents(second.events.claim(NAMESPACE, 5, MIB)) == ["a"]


def test_an_hour_of_clock_skew_neither_frees_nor_holds_a_claim(opened: Opener) -> None:
    """Whose clock is wrong does not matter: the server's decides who is alive."""
    ahead = opened(clock=ManualClock(NOON + timedelta(hours=1)))
    behind = opened(clock=ManualClock(NOON - timedelta(hours=1)))
    behind.events.put([arrival("a"), arrival("b")])
    held = behind.events.claim(NAMESPACE, 1, MIB)
    assert contents(held) == ["a"] and held is not None
    assert contents(ahead.events.claim(NAMESPACE, 5, MIB)) == ["b"]
    assert ahead.events.claim(NAMESPACE, 5, MIB) is None
    behind.transaction(lambda tx: tx.finish(held))
    # Edits of both are kept in the order in which they were made.
    one = ahead.records.put([record("first")])[0]
    edit_record(behind, msgspec.structs.replace(one, title="second"), "ada")
    edit_record(ahead, msgspec.structs.replace(one, title="third"), "ada")
    assert ahead.records.get(NAMESPACE, [one.record_id])[0].version == 3
    kept = behind.log.versions(NAMESPACE, one.record_id)
    assert {version.record.title for version in kept if version.record} == {"first", "second"}


def test_prompts_of_one_session_are_numbered_once_by_two_daemons(opened: Opener) -> None:
    stores = [opened(), opened()]

    def put(store: object) -> None:
        for _ in range(20):
            store.events.put([arrival()])  # type: ignore[attr-defined]

    threads = [threading.Thread(target=put, args=(one,)) for one in stores * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    page = stores[0].events.page(NAMESPACE, limit=100)
    numbers = [one.prompt_number or 0 for one in page.items]
    assert sorted(numbers) == list(range(1, 81))


def test_two_daemons_give_a_project_one_id_and_a_budget_one_limit(opened: Opener) -> None:
    stores = [opened(), opened()]
    found: list[str] = []
    place = ProjectPlace(root="/src/a", remote="example.org/a")

    def resolve(store: object) -> None:
        found.append(store.projects.resolve(place))  # type: ignore[attr-defined]

    threads = [threading.Thread(target=resolve, args=(one,)) for one in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(stores[0].projects.all()) == 1


def test_only_one_daemon_maintains_at_a_time(opened: Opener) -> None:
    first, second = opened(), opened()
    with first.upkeep.alone("maintenance") as ours:
        assert ours
        with second.upkeep.alone("maintenance") as theirs:
            assert not theirs
        with second.upkeep.alone("something else") as other:
            assert other
    with second.upkeep.alone("maintenance") as now:
        assert now


class Heard:
    """What a daemon heard, and a way to wait for it."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._news = threading.Condition()

    def __call__(self, change: Change) -> None:
        with self._news:
            self.changes.append(change)
            self._news.notify_all()

    def wait_for(self, kind: str, *ids: str) -> bool:
        def there() -> bool:
            known = {one for change in self.changes if change.kind == kind for one in change.ids}
            return known.issuperset(ids) and any(one.kind == kind for one in self.changes)

        with self._news:
            return self._news.wait_for(there, 20)


def test_each_daemon_hears_what_the_others_write_and_nothing_of_its_own(opened: Opener) -> None:
    writer, listener = opened(), opened()
    heard, own = Heard(), Heard()
    listener.changes.subscribe(heard)
    writer.changes.subscribe(own)
    assert listener.changes.listening.wait(PATIENCE_S) and writer.changes.listening.wait(PATIENCE_S)
    event = arrival()
    writer.events.put([event])
    one, two = writer.records.put([record("one"), record("two")])
    writer.vectors.put([vector(one)])
    put_graph(writer, Entity(entity_id="en_1", namespace=NAMESPACE, name="n", type="t"))
    operation = delete_records(writer, NAMESPACE, [two.record_id], "ada")
    assert operation is not None
    assert heard.wait_for("events", event.event.event_id)
    assert heard.wait_for("records", one.record_id, two.record_id)
    assert heard.wait_for("vectors", one.record_id)
    assert heard.wait_for("graph", "en_1")
    assert {change.namespace for change in heard.changes} == {NAMESPACE}
    writer.records.touch(NAMESPACE, [one.record_id], NOON)
    last = writer.records.put([record("last")])[0]
    assert heard.wait_for("records", last.record_id)
    assert sum(one.record_id in change.ids for change in heard.changes) == 2  # put, and its vector
    assert own.changes == []


def test_decisions_projects_and_changed_knowledge_are_heard(opened: Opener) -> None:
    writer, listener = opened(), opened()
    project = writer.projects.resolve(ProjectPlace(root="/src/a"))
    thing = Entity(entity_id="en_1", namespace=NAMESPACE, name="n", type="t")
    put_graph(writer, thing)
    known = listener.graph.changes(NAMESPACE).version
    heard = Heard()
    listener.changes.subscribe(heard)
    assert listener.changes.listening.wait(PATIENCE_S)
    stone = writer.transaction(lambda tx: tx.log("tombstone", NAMESPACE, "ada", detail={}))
    verdict = writer.transaction(lambda tx: tx.log("feedback", NAMESPACE, "ada", detail={}))
    writer.transaction(lambda tx: tx.log("add", NAMESPACE, "ada"))
    assert heard.wait_for("decisions", stone.op_id, verdict.op_id)
    assert sum(len(one.ids) for one in heard.changes) == 2, "what is only logged is nobody's news"
    put_graph(writer, msgspec.structs.replace(thing, aliases=("another name",)))
    assert heard.wait_for("graph", "en_1")
    assert listener.graph.changes(NAMESPACE).version > known
    writer.projects.update(project, mark=("root", "/src/b"))
    assert heard.wait_for("projects", project)
    heard.changes.clear()
    writer.projects.update(project, name="a better name")
    assert heard.wait_for("projects", project)
    assert [one.name for one in listener.projects.all()] == ["a better name"]


def test_a_project_that_another_daemon_erased_is_not_written_to_again(opened: Opener) -> None:
    writer, listener = opened(), opened()
    place = ProjectPlace(root="/src/a")
    first = listener.projects.resolve(place)
    heard = Heard()
    listener.changes.subscribe(heard)
    assert listener.changes.listening.wait(PATIENCE_S)
    assert listener.projects.resolve(place) == first
    heard.changes.clear()
    writer.bulk.erase(f"/actor/ada/project/{first}/", Selection(everything=True), "ada")
    assert heard.wait_for("projects", first)
    second = listener.projects.resolve(place)
    assert second != first and writer.projects.resolve(place) == second


def test_what_was_decided_while_the_connection_was_lost_is_read_again(
    opened: Opener, postgres_server: Server, database: str
) -> None:
    """As the daemon wires it: stones, verdicts and projects of the store that listens."""
    writer, listener = opened(), opened()
    kept = writer.records.put([record("Tabs are wider than spaces")])[0]
    place = ProjectPlace(root="/src/a")
    project = listener.projects.resolve(place)
    stones = Tombstones(listener)
    verdicts = Feedback(listener, stones)
    heard = Heard()

    def told(change: Change) -> None:
        stones.reload()
        verdicts.forget_known()
        heard(change)

    listener.changes.subscribe(told)
    assert listener.changes.listening.wait(PATIENCE_S)
    assert not stones.refused(NAMESPACE, kept.title) and verdicts.of(NAMESPACE).given == {}
    assert listener.projects.resolve(place) == project
    # Nothing can be heard: the listener may not log in for a while, and its connections are cut.
    postgres_server.admin(f"ALTER DATABASE {database} CONNECTION LIMIT 0")
    try:
        postgres_server.admin(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{database}' AND pid <> pg_backend_pid()"
        )
        with postgres_server._connected(database) as owner:  # the owner is let in all the same
            owner.execute("SET search_path = recollect, public")
            owner.execute(
                "INSERT INTO operations (op_id, namespace, kind, actor, at, targets,"
                " created, reason, detail) VALUES ('op_1', %s, 'tombstone', 'ada', 1, '[]', '[]',"
                " '', %s), ('op_2', %s, 'feedback', 'ada', 1, '[]', '[]', '', %s)",
                [
                    NAMESPACE,
                    json.dumps({"fingerprints": [fingerprint(kept.title)], "lifted": False}),
                    NAMESPACE,
                    json.dumps({"record_id": kept.record_id, "verdict": "never"}),
                ],
            )
            owner.execute("DELETE FROM project_identities")
        assert heard.changes == []
    finally:
        postgres_server.admin(f"ALTER DATABASE {database} CONNECTION LIMIT -1")
    assert heard.wait_for("all")
    assert stones.refused(NAMESPACE, kept.title)
    assert verdicts.of(NAMESPACE).given == {kept.record_id: "never"}
    assert listener.projects.resolve(place) != project


def test_after_a_lost_connection_anything_may_have_changed(
    opened: Opener, postgres_server: Server, database: str
) -> None:
    writer, listener = opened(), opened()
    heard = Heard()
    listener.changes.subscribe(heard)
    assert listener.changes.listening.wait(PATIENCE_S)
    postgres_server.admin(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{database}' AND pid <> pg_backend_pid()"
    )
    assert heard.wait_for("all")
    made = writer.records.put([record()])[0]
    assert heard.wait_for("records", made.record_id)


def test_the_lease_is_longer_than_the_beat() -> None:
    from recollect.store.postgres.changes import BEAT_S

    assert BEAT_S * 3 < claims.LEASE_S


def test_a_connection_cut_in_a_transaction_leaves_nothing_behind(
    opened: Opener, postgres_server: Server, database: str
) -> None:
    store = opened()

    def cut(tx: object) -> None:
        tx.put_record(record("half"))  # type: ignore[attr-defined]
        postgres_server.admin(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{database}' AND state = 'idle in transaction'"
        )
        tx.put_record(record("other half"))  # type: ignore[attr-defined]

    with pytest.raises(errors.StoreBusy):
        store.transaction(cut)
    assert store.records.page(NAMESPACE).items == ()
    store.records.put([record("whole")])  # and it goes on
    assert [one.title for one in store.records.page(NAMESPACE).items] == ["whole"]


def test_an_attempt_that_lost_its_connection_takes_the_whole_with_it(
    opened: Opener, postgres_server: Server, database: str
) -> None:
    store = opened()

    def work(tx: object) -> None:
        tx.put_record(record("first"))  # type: ignore[attr-defined]

        def part() -> None:
            postgres_server.admin(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                f" WHERE datname = '{database}' AND state = 'idle in transaction'"
            )
            tx.put_record(record("second"))  # type: ignore[attr-defined]

        with pytest.raises(errors.StoreBusy):
            tx.attempt(part)  # type: ignore[attr-defined]

    with pytest.raises(errors.StoreBusy):
        store.transaction(work)
    assert store.records.page(NAMESPACE).items == ()
