"""Laws of growing old, for any history."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import msgspec
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Record
from recollect.core.vector_bytes import DIMENSIONS
from recollect.embedding.backfill import searchable
from recollect.embedding.embedder import MODEL
from recollect.ingest.memories import Memories
from recollect.lifecycle.maintenance import Maintenance
from recollect.retrieve.as_of import engine_as_of
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index_cache import IndexCache
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import vectors_in
from tests.make import NAMESPACE, record, vector

_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # no sync to wait for

quick = settings(max_examples=25, deadline=None)

memories: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    kind=st.sampled_from(["episode", "episode", "observation", "knowledge", "summary"]),
    level=st.sampled_from(["raw", "raw", "compressed"]),
    session_id=st.sampled_from(["s1", "s2", "s3"]),
    importance=st.sampled_from([3, 5, 5, 8]),
    pinned=st.booleans(),
    detail=st.sampled_from(
        ["We decided to use Redis 7 for sessions.", "ok", "The build failed with E1234 in a.py."]
    ),
    files=st.sampled_from([(), ("a.py",)]),
    observation_type=st.sampled_from([None, "error"]),
    age=st.integers(0, 400),
    life=st.sampled_from([None, None, 5, 200]),
)
rules: st.SearchStrategy[dict[str, Any]] = st.tuples(
    st.sampled_from(["notes:0", "notes:10", "notes:90"]),
    st.sampled_from(["summaries:0", "summaries:30", "summaries:365"]),
    st.sampled_from(["turns:0", "turns:7", "turns:30"]),
    st.sampled_from(["beliefs:0", "beliefs:100"]),
).map(lambda entries: {"retention": entries})


@contextmanager
def a_store(given: list[dict[str, Any]], chosen: dict[str, Any]) -> Iterator[Maintenance]:
    with tempfile.TemporaryDirectory(dir=_MEMORY) as home:
        clock = ManualClock()
        start = clock.now()
        wanted = Settings(home=home, reserve_mb=0, **chosen)
        store = SqliteStore(wanted, clock)
        try:
            for fields in sorted(given, key=lambda one: -one["age"]):
                fields = dict(fields)
                age, life = fields.pop("age"), fields.pop("life")
                clock.jump(
                    seconds=(start + timedelta(days=400 - age) - clock.now()).total_seconds()
                )
                if life is not None:
                    fields["expires_at"] = clock.now() + timedelta(days=life)
                made = record("A memory", valid_from=clock.now(), **fields)
                store.records.put([made])
                store.vectors.put([vector(made)])
            clock.jump(seconds=(start + timedelta(days=400) - clock.now()).total_seconds())
            yield Maintenance(store, Memories(store), clock, wanted)
        finally:
            store.close()


def state(store: SqliteStore) -> set[Record]:
    return set(store.records.page(NAMESPACE, limit=1000).items)


# O17, I06, I09
@quick
@given(st.lists(memories, max_size=14), rules)
def test_a_preview_equals_the_pass_and_a_second_pass_finds_nothing(
    given: list[dict[str, Any]], chosen: dict[str, Any]
) -> None:
    with a_store(given, chosen) as it:
        store: Any = it._store
        for _ in range(3):
            before = state(store)
            looked = it.preview()
            assert state(store) == before
            done = it.run()
            assert +done.counts == +looked.counts
            assert done.forgotten == looked.forgotten
            after = state(store)
            assert not +it.preview().counts and not +it.run().counts
            assert state(store) == after
            assert not [one for one in before - after if one.pinned], "a pinned memory went"
            it._clock.jump(days=8)  # type: ignore[attr-defined]


# P07
@quick
@given(st.lists(memories, min_size=1, max_size=10), rules)
def test_undoing_every_step_of_a_pass_gives_every_row_entry_and_vector_back(
    given: list[dict[str, Any]], chosen: dict[str, Any]
) -> None:
    with a_store(given, chosen) as it:
        store: Any = it._store
        before = state(store)
        vectors = vectors_in(store, NAMESPACE, "test-model")
        told = {hit.record.record_id for hit in store.records.search([NAMESPACE], "memory", 100)}
        it.run()
        for operation in store.log.page(NAMESPACE, limit=200).items:
            store.log.undo(NAMESPACE, operation.op_id, "ada")
        assert state(store) == before
        assert vectors_in(store, NAMESPACE, "test-model") == vectors
        again = {hit.record.record_id for hit in store.records.search([NAMESPACE], "memory", 100)}
        assert again == told


# P07, F26
@quick
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["add", "add", "edit", "delete", "undo"])),
        min_size=1,
        max_size=10,
    )
)
# The second edit after the undo was version 2 again, and was given the vector of the first.
@example([(0, "add"), (0, "edit"), (0, "undo"), (3, "edit")])
@example([(0, "add"), (0, "edit"), (0, "add"), (0, "add"), (0, "add"), (0, "undo"), (3, "edit")])
def test_a_search_as_of_a_moment_finds_what_it_found_then(plan: list[tuple[int, str]]) -> None:
    with a_store([], {}) as it:
        store: Any = it._store
        clock: Any = it._clock
        engine = SearchEngine(Meaning())
        shelves = IndexCache(store, engine, 64)
        memories = Memories(store)
        memories.listeners.append(shelves)
        shelves.fill([NAMESPACE])
        words = ["redis", "nginx", "courier", "lisbon", "retry", "cache"]
        history = []
        for number, action in plan:
            live = store.records.page(NAMESPACE).items
            if action == "add":
                text = f"{words[number]} is {words[(number + 1) % 6]}"
                memories.add([record(text, detail=text, valid_from=clock.now())])
            elif action == "edit" and live:
                one = live[number % len(live)]
                changed = msgspec.structs.replace(one, title=f"{one.title} {words[number]}")
                memories.edit(changed, "ada")
            elif action == "delete" and live:
                memories.delete(NAMESPACE, [live[number % len(live)].record_id], "ada")
            elif action == "undo" and (done := store.log.page(NAMESPACE, limit=1).items):
                memories.undo(NAMESPACE, done[0].op_id, "ada")
            now = clock.now()
            _embed(store, shelves)
            told = [_found(engine, word, now) for word in words]
            history.append((now, told, set(store.records.page(NAMESPACE).items)))
            clock.advance(minutes=1)
        for moment, told, live in history:
            then, known = engine_as_of(store, [NAMESPACE], moment, Meaning())
            assert set(known.values()) == live
            for word, wanted in zip(words, told, strict=True):
                assert _found(then, word, moment) == wanted


def _found(engine: SearchEngine, word: str, now: datetime) -> list[tuple[str, float]]:
    ranked = engine.search(word, [NAMESPACE], floor=False, now=int(now.timestamp() * 1e6))
    assert ranked.semantic or not ranked.results
    return [(one.id, round(one.score, 5)) for one in ranked.results]


class Meaning:
    """A small model of meaning: a text is where the letters of its words point."""

    ready = True

    def embed(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for place, char in enumerate(text):
                row[(ord(char) * 7 + place) % DIMENSIONS] += 1
            row /= max(1.0, float(np.linalg.norm(row)))
        return rows


def _embed(store: SqliteStore, shelves: IndexCache) -> None:
    """Give every memory that has none its vector, as the backfill does."""
    missing = store.vectors.missing(NAMESPACE, MODEL, 100)
    rows = {one.record_id: Meaning().embed([searchable(one)]) for one in missing}
    store.vectors.put(
        [
            vector(one, model=MODEL, vector=rows[one.record_id][0].astype("<f4").tobytes())
            for one in missing
        ]
    )
    shelves.embedded(missing, rows)
