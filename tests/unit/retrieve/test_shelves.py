"""Shelves keep up with writes, also with those that come at a bad moment."""

from collections.abc import Callable, Iterable
from typing import Any

from recollect.retrieve.engine import Engine
from recollect.retrieve.index import Document
from recollect.retrieve.shelves import Shelves
from recollect.store.sqlite import SqliteStore
from tests.make import NAMESPACE, record


class Watched(Engine):
    """An engine that lets something happen right after memories were added to it."""

    def __init__(self) -> None:
        super().__init__(None)
        self.then: Callable[[], Any] = lambda: None

    def add(self, namespace: str, documents: Iterable[Document]) -> None:
        super().add(namespace, documents)
        self.then()


def found(engine: Engine, text: str) -> list[str]:
    return [one.id for one in engine.search(text, (NAMESPACE,), limit=5, now=0).results]


def test_an_answer_made_before_a_change_is_not_given_after_it(store: SqliteStore) -> None:
    """Answers are kept by the epoch in which they were asked for: one that was made while a
    memory was on its way to the index must not stand for those that come later."""
    engine = Watched()
    shelves = Shelves(store, engine, 64)
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
    shelves = Shelves(store, engine, 64)
    kept, gone = store.records.put([record("The quokka gate"), record("The walrus door")])

    def unheard() -> None:
        engine.then = lambda: None
        store.records.delete(NAMESPACE, [gone.record_id], "ada")
        shelves.drop_all()  # the connection over which it would have been heard was lost

    engine.then = unheard
    shelves.fill([NAMESPACE])
    assert shelves.ready([NAMESPACE])
    assert found(engine, "quokka gate") == [kept.record_id]
    assert found(engine, "walrus door") == []
