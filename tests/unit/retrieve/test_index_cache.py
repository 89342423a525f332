"""The engine holds what the store holds, in little memory."""

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.core.settings import Settings
from recollect.ingest.memories import Memories
from recollect.retrieve import index
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index import Document
from recollect.retrieve.index_cache import IndexCache
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import delete_records
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.make import NAMESPACE, record

OTHERS = [f"/actor/ada/project/p{number}/" for number in range(4)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(Settings(home=str(tmp_path), reserve_mb=0))
    yield opened
    opened.close()


def filled(store: SqliteStore) -> tuple[SearchEngine, IndexCache, Memories]:
    """A shelf that hears of every write."""
    engine = SearchEngine()
    shelves = IndexCache(store, engine, cache_mb=100)
    memories = Memories(store)
    memories.listeners.append(shelves)
    shelves.fill([NAMESPACE])
    return engine, shelves, memories


def found(engine: SearchEngine, text: str, namespace: str = NAMESPACE) -> set[str]:
    ranked = engine.search(text, [namespace], limit=100, floor=False)
    return {result.id for result in ranked.results}


def fill_others(store: SqliteStore, shelves: IndexCache, words: int) -> list[int]:
    """Fills the shelves of all the others in turn; returns what each takes."""
    text = " ".join(f"word{number}" for number in range(words))
    sizes = []
    for namespace in OTHERS:
        store.records.put(
            [record(f"memory {n}", detail=text, namespace=namespace) for n in range(20)]
        )
        shelves.fill([namespace])
        memory = shelves._engine.memory()
        sizes.append(sum(memory[namespace].values()) if namespace in memory else 0)
    return sizes


def test_least_used_shelves_go_when_memory_is_short(store: SqliteStore) -> None:
    engine = SearchEngine()
    size = max(fill_others(store, IndexCache(store, engine, cache_mb=1000), words=4000))
    assert size > 4 << 20  # the table of grams alone
    fits = (3 * size + size // 2) >> 20
    engine = SearchEngine()
    shelves = IndexCache(store, engine, cache_mb=fits)
    for namespace in OTHERS[:3]:
        shelves.fill([namespace])
    assert shelves.ready(OTHERS[:1])  # asked for last, though filled first
    shelves.fill([OTHERS[3]])
    assert [namespace in engine for namespace in OTHERS] == [True, False, True, True]
    assert not shelves.ready([OTHERS[1]])
    assert sum(sum(parts.values()) for parts in engine.memory().values()) <= fits << 20


def test_two_shelves_stay_however_little_memory_there_is(store: SqliteStore) -> None:
    # A prompt asks its project and what is global; if one pushed out the other, each prompt
    # would fill both again.
    engine = SearchEngine()
    shelves = IndexCache(store, engine, cache_mb=1)
    fill_others(store, shelves, words=100)
    assert [namespace in engine for namespace in OTHERS] == [False, False, True, True]


def test_worn_shelf_is_built_anew_and_holds_what_the_store_holds(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "WASTE", 40)
    engine, shelves, memories = filled(store)
    live = [record(f"port {number}") for number in range(30)]
    memories.add(live)
    for turn in range(3):
        live = [msgspec.structs.replace(one, title=f"{one.title} again{turn}") for one in live]
        for one in live:
            memories.edit(one, "ada")
    wait_until(lambda: not shelves._rebuilding)
    assert len(engine._indexes[NAMESPACE].ids) < 90, "what was replaced is still held"
    assert list(engine._indexes) == [NAMESPACE]
    assert found(engine, "again2") == {one.record_id for one in live}


def test_writes_while_a_shelf_is_built_anew_are_seen_at_once_and_after(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "WASTE", 2)
    engine, shelves, memories = filled(store)
    reading, go_on = threading.Event(), threading.Event()
    documents = shelves._documents

    def slowly(namespace: str) -> Iterator[Any]:
        yield from documents(namespace)
        reading.set()
        assert go_on.wait(PATIENCE_S)

    monkeypatch.setattr(shelves, "_documents", slowly)
    kept, gone, doomed = record("kept port"), record("gone port"), record("doomed port")
    memories.add([kept, gone, doomed])
    memories.delete(NAMESPACE, [gone.record_id], "ada")
    memories.edit(msgspec.structs.replace(kept, title="kept port still"), "ada")
    assert reading.wait(PATIENCE_S), "nobody builds it anew"
    late = record("late port")
    memories.add([late])
    memories.delete(NAMESPACE, [doomed.record_id], "ada")
    assert found(engine, "port") == {kept.record_id, late.record_id}  # the old one serves
    go_on.set()
    wait_until(lambda: not shelves._rebuilding)
    assert found(engine, "port") == {kept.record_id, late.record_id}
    assert len(engine._indexes[NAMESPACE].ids) < 6


class Watched(SearchEngine):
    """An engine that lets something happen right after memories were added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.then: Callable[[], Any] = lambda: None

    def add(self, namespace: str, documents: Iterable[Document]) -> None:
        super().add(namespace, documents)
        self.then()


def test_an_answer_made_before_a_change_is_not_given_after_it(store: SqliteStore) -> None:
    """Answers are kept by the epoch in which they were asked for: one that was made while a
    memory was on its way to the index must not stand for those that come later."""
    engine = Watched()
    shelves = IndexCache(store, engine, 64)
    shelves.fill([NAMESPACE])
    during: list[int] = []
    engine.then = lambda: during.append(shelves.epoch)
    shelves.stored(made := store.records.put([record("The quokka gate")]))
    assert len(during) == 1 and shelves.epoch > during[0]
    before = shelves.epoch
    shelves.removed(NAMESPACE, [made[0].record_id])
    assert shelves.epoch > before


def test_what_changed_unheard_while_a_shelf_is_filled_is_read_again(store: SqliteStore) -> None:
    engine = Watched()
    shelves = IndexCache(store, engine, 64)
    kept, gone = store.records.put([record("The quokka gate"), record("The walrus door")])

    def unheard() -> None:
        engine.then = lambda: None
        delete_records(store, NAMESPACE, [gone.record_id], "ada")
        shelves.drop_all()  # the connection over which it would have been heard was lost

    engine.then = unheard
    shelves.fill([NAMESPACE])
    assert shelves.ready([NAMESPACE])
    assert found(engine, "quokka gate") == {kept.record_id}
    assert found(engine, "walrus door") == set()
