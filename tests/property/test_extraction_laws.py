"""Laws of extraction: it writes nothing before it pushes, it pushes all or nothing, and no answer
of a model, however mad, becomes an invalid row or an exception."""

import contextlib
import itertools
import math
import random
import struct
import tempfile
from collections.abc import Iterator
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput, ExtractionFailed
from recollect.core.projects import namespace as namespace_of
from recollect.core.settings import Settings
from recollect.core.values import Record, check
from recollect.core.vector_bytes import DIMENSIONS
from recollect.embedding.embedder import MODEL, vector_rows
from recollect.extract.model import ModelExtractor
from recollect.extract.model_answer import UnreadableAnswer, parse
from recollect.extract.rules.extractor import RulesExtractor
from recollect.extract.rules.store_reads import StoreReads
from recollect.reconcile.cluster import clusters, unit
from recollect.reconcile.extraction_run import ExtractionOptions
from recollect.reconcile.judge import Merge, verdict
from recollect.reconcile.neighbours import neighbours
from recollect.store.interface import Batch, Transaction
from recollect.store.sql import transaction
from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite.transaction import SqliteTransaction
from tests.fakes.extraction import Scripted, memory, worker
from tests.make import arrival, record

quick = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
COMPLETIONS = 5000
words = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1)


@pytest.fixture(scope="module")
def shared() -> Iterator[SqliteStore]:
    with tempfile.TemporaryDirectory() as home:
        store = SqliteStore(Settings(home=home, reserve_mb=0), ManualClock())
        yield store
        store.close()


def fresh_namespace() -> str:
    return namespace_of("ada", ids.new_ulid())


def everything(store: SqliteStore) -> list[object]:
    """All rows of all tables."""
    db = apsw.Connection(store._engine.path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        tables = [
            name
            for (name,) in db.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
            )
        ]
        return [(name, list(db.execute(f'SELECT * FROM "{name}"'))) for name in tables]
    finally:
        db.close()


def at(degrees: float) -> bytes:
    row = [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]
    return struct.pack("<384f", *row, *[0.0] * (DIMENSIONS - 2))


def claimed(store: SqliteStore, *texts: str) -> Batch:
    namespace = fresh_namespace()
    store.events.put([arrival(text, namespace=namespace) for text in texts or ("one",)])
    batch = store.events.claim(namespace, 100, 1 << 20)
    assert batch is not None
    return batch


# --- O03 / D13 ---


@quick
@given(
    answer=st.one_of(st.text(max_size=200), st.builds(memory, st.text(max_size=40))),
    said=st.lists(
        st.one_of(
            st.text(min_size=1, max_size=80),
            st.sampled_from(["always use pnpm here, never npm", "billing is deployed on fly.io"]),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_extracting_writes_nothing(answer: str, said: list[str], shared: SqliteStore) -> None:
    batch = claimed(shared, *said)
    before = everything(shared)
    with contextlib.suppress(ExtractionFailed):
        ModelExtractor(Scripted(answer)).extract(batch)
    # The default, which alone has the store at hand.
    RulesExtractor(StoreReads(shared), ManualClock()).extract(batch)
    assert everything(shared) == before


def test_rules_find_what_the_law_above_says_is_not_written(shared: SqliteStore) -> None:
    batch = claimed(shared, "always use pnpm here, never npm", "billing is deployed on fly.io")
    found = RulesExtractor(StoreReads(shared), ManualClock()).extract(batch)
    assert found.candidates and found.claims


# --- O06 / E10 ---


@quick
@given(
    texts=st.lists(st.text(st.characters(codec="ascii", categories=["L"]), min_size=1), max_size=6)
)
def test_direct_commit_writes_the_same_sequence_each_time(
    texts: list[str], shared: SqliteStore
) -> None:
    written: list[list[Any]] = []
    put = SqliteTransaction.put_record
    for _ in range(2):
        calls: list[Any] = []

        def note(self: SqliteTransaction, one: Record, **how: Any) -> Record:
            calls.append(("record", one.title))  # noqa: B023 - it is used within this round
            calls.extend(("vector", part.part, part.vector) for part in how["vectors"])  # noqa: B023
            return put(self, one, **how)

        namespace = fresh_namespace()
        shared.events.put([arrival(text, namespace=namespace) for text in texts])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SqliteTransaction, "put_record", note)
            one = worker(shared, ManualClock(), options=ExtractionOptions(reconcile=False))
            one.run(namespace)
        written.append(calls)
    assert written[0] == written[1]
    assert [call[1] for call in written[0] if call[0] == "record"] == texts


# --- O05 / E05, E08 ---


@pytest.mark.parametrize("fault", range(16))
def test_a_merge_is_all_or_nothing_wherever_it_fails(fault: int, shared: SqliteStore) -> None:
    namespace = fresh_namespace()
    old = [record(f"old{n} @{n} ", namespace=namespace, author="assistant") for n in (0, 5)]
    shared.records.put(
        old, [row for n, one in zip((0, 5), old, strict=True) for row in vector_rows(one, [at(n)])]
    )
    shared.events.put([arrival("new", namespace=namespace)])
    steps = itertools.count()
    struck: list[str] = []

    def strike(name: str) -> None:
        if next(steps) == fault:
            struck.append(name)
            raise BadInput("no further")

    def broken(name: str, owner: Any = SqliteTransaction) -> Any:
        real = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            strike(name)
            done = real(*given, **named)
            strike(name)
            return done

        return call

    def merge(request: Any) -> str:
        shown = [part.split('"')[0] for part in request.prompt.split('<memory id="')[1:]]
        cited = "".join(f"<id>{one}</id>" for one in shown)
        return f"<merge>{cited}<title>Fused</title></merge>"

    provider = Scripted(memory("new @2 "), judge=[merge])
    with pytest.MonkeyPatch.context() as patch:
        for name in ("records", "put_record", "log", "change_records"):
            patch.setattr(SqliteTransaction, name, broken(name))
        patch.setattr(transaction, "put_vector", broken("put_vector", transaction))
        worker(shared, ManualClock(), provider=lambda: provider).run(namespace)
    live = {one.title for one in shared.records.page(namespace).items}
    vectors = {one for one, _ in shared.vectors.knowledge(namespace, MODEL)}
    if struck:
        assert live == {"old0 @0 ", "old5 @5 "} and shared.events.backlog()
        assert [op for op in shared.log.page(namespace).items if op.kind == "merge"] == []
    else:
        assert live == {"Fused"} and fault >= 12
    assert shared.upkeep.check() == []
    assert len(vectors) == len(live)


# --- E01 ---


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 359)), max_size=12),
    st.sampled_from([0.5, 0.85, 0.99]),
)
def test_clusters_are_the_connected_parts_of_what_is_near(
    degrees: list[int | None], threshold: float
) -> None:
    blobs = [None if one is None else at(one) for one in degrees]
    found = clusters(blobs, threshold)
    members = [index for cluster in found for index in cluster.members]
    assert sorted(members) == list(range(len(degrees)))
    assert [cluster.members[0] for cluster in found] == sorted(c.members[0] for c in found)
    where = {index: n for n, cluster in enumerate(found) for index in cluster.members}
    units = [unit(blob) for blob in blobs]
    for one, other in itertools.combinations(range(len(degrees)), 2):
        a, b = units[one], units[other]
        if a is not None and b is not None and float(a @ b) >= threshold + 1e-9:
            assert where[one] == where[other]
    for cluster in found:
        alone = len(cluster.members) == 1
        if any(degrees[index] is None for index in cluster.members):
            assert alone and cluster.centroid is None
        elif cluster.centroid is not None:
            assert np.linalg.norm(cluster.centroid) == pytest.approx(1.0)
        for index in cluster.members:
            if not alone:  # somebody in the cluster is near
                mine = units[index]
                assert mine is not None
                near = [units[other] for other in cluster.members if other != index]
                assert any(n is not None and float(mine @ n) >= threshold - 1e-9 for n in near)


# --- E02 ---


@quick
@given(degrees=st.lists(st.integers(0, 90), max_size=25), asked=st.integers(0, 90))
def test_neighbours_are_the_nearest_ten_above_the_threshold(
    degrees: list[int], asked: int, shared: SqliteStore
) -> None:
    namespace, other = fresh_namespace(), fresh_namespace()
    made = [record(f"{n}", namespace=namespace) for n in degrees]
    episode = record("e", namespace=namespace, kind="episode")
    foreign = record("f", namespace=other)
    all_rows = [
        row for n, one in zip(degrees, made, strict=True) for row in vector_rows(one, [at(n)])
    ]
    shared.records.put(
        [*made, episode, foreign],
        [*all_rows, *vector_rows(episode, [at(asked)]), *vector_rows(foreign, [at(asked)])],
    )
    (found,) = neighbours(shared, namespace, [unit(at(asked))], 0.80)
    cosines = sorted((math.cos(math.radians(n - asked)) for n in degrees), reverse=True)
    expected = [one for one in cosines if one >= 0.80 + 1e-6]
    got = [one.similarity for one in found]
    assert got == sorted(got, reverse=True) and len(got) <= 10
    assert len(got) >= min(10, len(expected)) and all(one >= 0.80 for one in got)
    assert got == pytest.approx(cosines[: len(got)], abs=1e-6)
    assert {one.record.namespace for one in found} <= {namespace}
    assert neighbours(shared, namespace, [None], 0.80) == [[]]


# --- D07: 5,000 answers ---

PIECES = [
    "<memory>", "</memory>", '<memory type="decision" importance="99">', "<title>", "</title>",
    "<summary>", "</summary>", "<fact>", "</fact>", "<source>", "</source>", "<skip/>", "<merge>",
    "</merge>", "<id>", "</id>", "<entity name='a' type='b'>", "</entity>", "<claim subject=",
    "&lt;", "&amp;", "&#x41;", "&bomb;", "<![CDATA[", "]]>", "<!DOCTYPE a>", "\x00", "\ud800", "é",
    "\u202e", "\ufeff", "x" * 5000, " ", "\n", '"', "'", "<", ">", "/>", "<separate/>", "mr_", "=",
    '<memory sort="preference">', '<memory sort="constraint" type="nonsense">', "a word", "💥",
    '<relation from="a" to="b" type="c">', "</relation>", "</memories>", "<memories>", "﷽" * 300,
]  # fmt: skip


def completion(chance: random.Random, batch: Batch) -> str:
    known = [one.event.event_id for one in batch.events]
    if chance.random() < 0.4:  # mostly well-formed, then broken somewhere
        sources = [chance.choice([*known, ids.new_ulid(), "", "../x"]) for _ in range(3)]
        text = memory("".join(chance.choices(PIECES, k=chance.randrange(4))), *sources)
        text += memory("Plain", *sources, sort=chance.choice(["constraint", "decision", "?"]))
        cut = chance.randrange(len(text) + 1)
        return text[:cut] + chance.choice(PIECES) + text[cut + chance.randrange(3) :]
    return "".join(chance.choices(PIECES, k=chance.randrange(1, 40)))


def test_no_answer_becomes_an_exception_or_an_invalid_row(shared: SqliteStore) -> None:
    chance = random.Random(5)
    batch = claimed(shared, "a prompt", "another")
    kept: list[Record] = []
    readable = 0
    for _ in range(COMPLETIONS):
        text = completion(chance, batch)
        read = verdict(text, ["mr_a", "mr_b"])
        assert read is None or not isinstance(read, Merge) or read.title
        try:
            found = parse(text, batch)
        except UnreadableAnswer:
            continue
        readable += 1
        for one in found.candidates:
            check(one.record)
            assert one.record.namespace == batch.namespace
            assert set(one.record.source_event_ids) <= {e.event.event_id for e in batch.events}
            kept.append(one.record)
    assert readable > COMPLETIONS / 4 and len(kept) > COMPLETIONS / 4

    def put(tx: Transaction) -> None:
        for one in kept:
            tx.put_record(one)

    shared.transaction(put)
    assert shared.upkeep.stats(batch.namespace).records == len(kept)
