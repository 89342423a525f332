"""Laws of the store, for any data."""

import contextlib
import struct
import tempfile
from array import array
from collections.abc import Iterator

import apsw
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.core import ids, vector_bytes
from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput
from recollect.core.projects import namespace
from recollect.core.settings import Settings
from recollect.core.values import Record
from recollect.store.interface import Cursor, Transaction
from recollect.store.sql.search import terms
from recollect.store.sqlite import SqliteStore, search
from tests.fakes.stored import delete_records, edit_record, vectors_in
from tests.make import NAMESPACE, arrival, record, vector

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

text = st.text(max_size=40)
words = st.text(st.sampled_from("abcde é_%'\"()*:^-"), min_size=1, max_size=30).filter(
    lambda value: value.strip() != ""
)


@pytest.fixture(scope="module")
def shared() -> Iterator[SqliteStore]:
    with tempfile.TemporaryDirectory() as home:
        store = SqliteStore(Settings(home=home, reserve_mb=0), ManualClock())
        yield store
        store.close()


def fresh_namespace() -> str:
    return namespace("ada", ids.new_ulid())


# O02
@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=384, max_size=384))
def test_a_vector_survives_bit_for_bit(bits: list[int]) -> None:
    import numpy

    raw = struct.pack("<384I", *bits)
    as_numpy = numpy.frombuffer(raw, dtype="<f4")
    assert vector_bytes.encode(as_numpy) == raw
    assert vector_bytes.encode(array("f", raw)) == raw


# O04
@quick
@given(titles=st.lists(words, min_size=1, max_size=6), chosen=st.data())
def test_nothing_of_a_deleted_memory_is_found_again(
    shared: SqliteStore, titles: list[str], chosen: st.DataObject
) -> None:
    space = fresh_namespace()
    made = shared.records.put([record(title, namespace=space) for title in titles])
    shared.vectors.put([vector(one) for one in made])
    doomed = chosen.draw(st.sets(st.sampled_from([one.record_id for one in made])))
    for _ in range(2):
        delete_records(shared, space, sorted(doomed), "ada")
    kept = {one.record_id for one in made} - doomed
    assert {one.record_id for one in shared.records.page(space).items} == kept
    for title in titles:
        found = {hit.record.record_id for hit in shared.records.search([space], title, 50)}
        assert not found & doomed
    owners = {one.source_id for one in vectors_in(shared, space, "test-model")}
    assert owners == kept


class Injected(Exception):
    pass


# O05
@quick
@given(parts=st.integers(1, 4), fault=st.integers(0, 5))
def test_a_merge_happens_wholly_or_not_at_all(shared: SqliteStore, parts: int, fault: int) -> None:
    space = fresh_namespace()
    originals = shared.records.put([record(f"part {n}", namespace=space) for n in range(parts)])
    shared.vectors.put([vector(one) for one in originals])
    merged = record("whole", namespace=space)
    countdown = fault

    def step() -> None:
        nonlocal countdown
        if countdown == 0:
            raise Injected
        countdown -= 1

    def merge(tx: Transaction) -> None:
        step()
        operation = tx.log(
            "merge", space, "x", targets=[one.record_id for one in originals],
            created=[merged.record_id],
        )  # fmt: skip
        step()
        tx.change_records(operation)
        step()
        tx.put_record(merged, operation.op_id, vectors=[vector(merged)])
        step()

    try:
        shared.transaction(merge)
    except Injected:
        assert set(shared.records.page(space).items) == set(originals)
        assert len(vectors_in(shared, space, "test-model")) == parts
        assert shared.log.page(space).items == ()
    else:
        assert [one.title for one in shared.records.page(space).items] == ["whole"]
        owners = [one.source_id for one in vectors_in(shared, space, "test-model")]
        assert owners == [merged.record_id]


hostile_names = st.one_of(
    st.text(min_size=1, max_size=12),
    st.sampled_from(
        ["proj1", "proj10", "Proj1", "proj1 ", "my_app", "myXapp", "%", "_", "[", "a/b", "a/b2",
         "é", "é", "'", '"', "--", "\\", "*", "?", "p\x00q", "..", "1", "01"]
    ),
)  # fmt: skip


# O09
@settings(quick, max_examples=120)
@given(one=hostile_names, other=hostile_names, word=words)
def test_a_namespace_sees_only_itself_whatever_it_is_called(
    shared: SqliteStore, one: str, other: str, word: str
) -> None:
    actor = ids.new_ulid()
    try:
        mine, theirs = namespace(actor, one), namespace(actor, other)
        hidden = shared.records.put([record(f"secret {word}", namespace=theirs)])[0]
    except (BadInput, UnicodeEncodeError):
        return  # not valid Unicode: refused at the door
    shared.vectors.put([vector(hidden)])
    shared.events.put([arrival(f"secret {word}", namespace=theirs, actor_id=actor)])
    sees = mine == theirs
    assert bool(shared.records.page(mine).items) == sees
    assert bool(shared.records.search([mine], f"secret {word}", 5)) == sees
    assert bool(shared.records.search([mine], 'secret OR ns : "1"', 5, raw=True)) == sees
    assert bool(shared.records.get(mine, [hidden.record_id])) == sees
    assert bool(vectors_in(shared, mine, "test-model")) == sees
    assert bool(shared.events.page(mine).items) == sees
    assert bool(shared.events.claim(mine, 5, 1 << 20)) == sees
    if not sees:
        assert delete_records(shared, mine, [hidden.record_id], "thief") is None
        assert shared.records.get(theirs, [hidden.record_id]) == [hidden]


# O10
@settings(quick, max_examples=400)
@given(st.one_of(text, words, st.text(st.characters(codec=None), max_size=40)))
def test_no_text_upsets_the_search(shared: SqliteStore, query: str) -> None:
    shared.records.search([NAMESPACE], query, 5)
    with contextlib.suppress(BadInput):  # an expression that is none is refused, and no more
        shared.records.search([NAMESPACE], query, 5, raw=True)
    shared.graph.search(NAMESPACE, query, 5)


@quick
@given(st.lists(words, min_size=1, max_size=60))
def test_the_rewritten_query_is_always_accepted_by_fts5(
    shared: SqliteStore, parts: list[str]
) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
    with shared._engine.reader() as db:
        expression = search.any_of(search.rarest(db, terms(" ".join(parts))))
    if expression:
        list(connection.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)))
    connection.close()


# O16
@quick
@given(
    steps=st.lists(st.integers(0, 2), min_size=1, max_size=25),
    limit=st.integers(1, 7),
    meanwhile=st.integers(0, 3),
)
def test_pages_have_no_gaps_and_no_repeats_under_inserts(
    shared: SqliteStore, steps: list[int], limit: int, meanwhile: int
) -> None:
    space = fresh_namespace()
    clock = shared._engine.clock
    assert isinstance(clock, ManualClock)
    made: list[Record] = []
    for step in steps:
        clock.advance(seconds=step)
        made += shared.records.put([record("x", namespace=space)])
    seen: list[str] = []
    cursor: Cursor | None = None
    while True:
        page = shared.records.page(space, before=cursor, limit=limit)
        seen += [one.record_id for one in page.items]
        clock.advance(seconds=1)
        shared.records.put([record("late", namespace=space) for _ in range(meanwhile)])
        if page.next is None:
            break
        cursor = page.next
    assert sorted(seen) == sorted(one.record_id for one in made)


@settings(quick, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["add", "edit", "delete", "undo"])),
        max_size=12,
    )
)
def test_as_of_equals_a_replay_of_history(shared: SqliteStore, plan: list[tuple[int, str]]) -> None:
    space = fresh_namespace()
    clock = shared._engine.clock
    assert isinstance(clock, ManualClock)
    history = []
    for number, action in plan:
        live = shared.records.page(space).items
        if action == "add":
            shared.records.put([record(f"memory {number}", namespace=space)])
        elif action == "edit" and live:
            one = live[number % len(live)]
            edit_record(shared, msgspec.structs.replace(one, title=one.title + "!"), "ada")
        elif action == "delete" and live:
            delete_records(shared, space, [live[number % len(live)].record_id], "ada")
        elif action == "undo" and (done := shared.log.page(space, limit=1).items):
            shared.log.undo(space, done[0].op_id, "ada")
        history.append((clock.now(), set(shared.records.page(space).items)))
        clock.advance(seconds=1)
    for moment, told in history:
        assert set(shared.records.page(space, as_of=moment).items) == told
