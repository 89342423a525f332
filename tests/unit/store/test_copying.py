"""A store copied there and back is the same store."""

import pathlib

import pytest

from recollect.core import errors
from recollect.core.clock import ManualClock
from recollect.core.projects import ProjectPlace
from recollect.core.settings import Settings
from recollect.core.values import (
    Checkpoint,
    Entity,
    ExtractionRun,
    Fact,
    Preference,
    Procedure,
    Receipt,
    Relationship,
    Usage,
)
from recollect.store import copying
from recollect.store.interface import Counted, RecordFilter, Selection, Store, Transaction, Waiting
from recollect.store.sqlite import SqliteStore
from tests.fakes.checkpoints import put_checkpoint
from tests.fakes.stored import delete_records, put_graph
from tests.make import NAMESPACE, NOON, arrival, record, vector
from tests.unit.store.conftest import Opener

OTHER = "/actor/ada/"


def fill(store: Store, clock: ManualClock) -> None:
    """Something in every table, in states that only time brings about."""
    store.projects.resolve(
        ProjectPlace(root="/src/a", git_dir="/src/a/.git", remote="example.org/a")
    )
    store.events.put([arrival(str(number)) for number in range(1203)])
    store.events.put([arrival("nul \0 here", kind="note", namespace=OTHER, session_id="s2")])
    batch = store.events.claim(NAMESPACE, 700, 1 << 20)
    assert batch is not None
    store.transaction(lambda tx: tx.finish(batch))
    poison = store.events.claim(NAMESPACE, 2, 1 << 20, Counted("it never ended", 1))
    assert poison is not None
    store.events.release(poison, failed="garbage")
    store.sessions.end([(NAMESPACE, "session-1")], "completed", clock.now())
    made = store.records.put([record(f"memory {number}") for number in range(20)])
    store.records.put([record("nul \0 title", facts=("a\0b",), detail="back\\slash \\u0000")])
    store.vectors.put([vector(one, part=part) for one in made for part in (0, 1)])
    clock.advance(hours=1)
    delete_records(store, NAMESPACE, [made[0].record_id], "ada")
    undone = delete_records(store, NAMESPACE, [made[1].record_id], "ada")
    assert undone is not None
    store.log.undo(NAMESPACE, undone.op_id, "ada")
    put_graph(store,
        Entity(entity_id="en_1", namespace=NAMESPACE, name="api", type="t", aliases=("a", "b")),
        Relationship(relationship_id="re_1", namespace=NAMESPACE, source_id="en_1",
                     target_id="en_1", type="is", source_type="stated", valid_from=NOON),
        Procedure(procedure_id="pr_1", namespace=NAMESPACE, name="ship", trigger="done",
                  steps=("tag",)),
        Preference(preference_id="pf_1", namespace=NAMESPACE, category="tools", key="pm",
                   value="pnpm", source_type="stated"),
        Fact(fact_id="fa_1", namespace=NAMESPACE, entity_id="en_1", subject="api",
             predicate="is", object="up", source_type="stated", author="user", valid_from=NOON),
    )  # fmt: skip
    store.runs.put(
        ExtractionRun(
            run_id="ru_1", namespace=NAMESPACE, started_at=NOON, provider="none", outcome="direct"
        )
    )
    waits = Waiting("key", "name", ("turn",), ({"a": 1},), NOON)

    def more(tx: Transaction) -> None:
        tx.keep_waiting(NAMESPACE, [waits], [], 10)
        tx.put_record(made[4], over=True, stands_for=[made[3].record_id])

    store.transaction(more)
    put_checkpoint(
        store, Checkpoint(checkpoint_id="cp_1", namespace=NAMESPACE, session_id="s", task="t")
    )
    store.receipts.put(
        Receipt(receipt_id="rc_1", namespace=NAMESPACE, trigger="prompt", query="q", tokens=1,
                latency_us=2, detail={"a": [1, None]})
    )  # fmt: skip
    store.usage.reserve(
        Usage(day="2026-01-01", namespace=NAMESPACE, provider="p", model="m", purpose="x",
              calls=1, input_tokens=5, output_tokens=6, cost_micros=7),
        most_tokens=100, most_micros=100,
    )  # fmt: skip


def test_there_and_back_is_identity(
    store: SqliteStore, opened: Opener, tmp_path: pathlib.Path, clock: ManualClock
) -> None:
    fill(store, clock)
    server = opened()
    done = {one.table: one for one in copying.copy(store, server, "ada")}
    assert (done["events"].rows, done["events"].new) == (1204, 1204)
    assert done["projects"].rows == 1 and done["project_identities"].rows == 3
    back = SqliteStore(Settings(home=str(tmp_path / "back"), actor="ada", reserve_mb=0), clock)
    try:
        copying.copy(server, back, "ada")
        for namespace in (NAMESPACE, OTHER):
            for table in copying.TABLES:
                ours = copying.digests(store, back, table, namespace)
                assert ours == copying.digests(back, store, table, namespace), table
                assert ours or namespace == OTHER, f"nothing in {table}: the test says nothing"
        assert back.projects.all() == store.projects.all()
        assert [one.backlog() for one in (back.events,)] == [store.events.backlog()]
        assert back.upkeep.stats() == store.upkeep.stats() == server.upkeep.stats()
        assert back.upkeep.scrub(None, 5000).damaged == ()
        assert server.upkeep.scrub(None, 5000).damaged == ()
        assert server.upkeep.scrub(("memory_records", 0), 5000).damaged == ()
        # and life goes on there, after the numbers that came along
        (outcome,) = server.events.put([arrival("new")])
        assert outcome.status == "stored" and outcome.seq is not None and outcome.seq > 1204
        assert server.vectors.nearest(NAMESPACE, "test-model", vector(record()).vector, 3)
    finally:
        back.close()


def test_a_copy_that_was_broken_off_is_begun_again(
    store: SqliteStore, opened: Opener, clock: ManualClock
) -> None:
    fill(store, clock)
    server = opened()

    def break_off(table: str, rows: int) -> None:
        if table == "embeddings":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copying.copy(store, server, "ada", break_off)
    done = {one.table: one for one in copying.copy(store, server, "ada")}
    assert done["events"].new == 0 and done["operations"].new == done["operations"].rows > 0
    again = copying.copy(store, server, "ada")
    assert all(one.new == 0 for one in again)


def test_a_target_with_other_events_is_refused(store: SqliteStore, opened: Opener) -> None:
    store.events.put([arrival("mine")])
    server = opened()
    server.events.put([arrival("theirs")])
    with pytest.raises(errors.Conflict, match="other events"):
        copying.copy(store, server, "ada")


def test_a_row_that_differs_is_found(store: SqliteStore, opened: Opener) -> None:
    one = store.records.put([record("mine")])[0]
    server = opened()
    copying.copy(store, server, "ada")
    server.records.touch(NAMESPACE, [one.record_id], NOON)
    with pytest.raises(errors.StoreError, match="memory_records"):
        copying.copy(store, server, "ada")


def test_what_only_the_target_has_is_counted_and_told(
    store: SqliteStore, opened: Opener, clock: ManualClock
) -> None:
    store.records.put([record(f"memory {number}") for number in range(4)])
    (secret,) = store.records.put([record("secret", namespace=OTHER)])
    server = opened()
    copying.copy(store, server, "ada")
    kept = [one.record_id for one in store.records.page(NAMESPACE, RecordFilter()).items]
    store.bulk.erase(NAMESPACE, Selection(record_ids=tuple(kept[:3])), "ada")
    store.bulk.erase(OTHER, Selection(everything=True), "ada")
    with pytest.raises(errors.StoreError, match="also has what is not here: 4 memories;") as told:
        copying.copy(store, server, "ada")
    assert "empty store" in told.value.hint
    assert server.records.get(OTHER, [secret.record_id]), "a copy erases nothing by itself"
