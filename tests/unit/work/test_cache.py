"""The work of projects is loaded beside those who ask, and stays bounded."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import apsw
import pytest

from recollect.core.clock import ManualClock
from recollect.core.ids import new_ulid
from recollect.core.settings import Settings
from recollect.core.values import Action, TurnWork
from recollect.store.sqlite import DATABASE, SqliteStore
from recollect.work import cache as module
from recollect.work.cache import WorkCache
from recollect.work.index import ProjectWork
from tests.make import NAMESPACE

OTHER = "/actor/ada/project/other/"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST", 3)
    monkeypatch.setattr(module, "FIRST_WAIT_S", 60.0)
    monkeypatch.setattr(module, "MOST_TURNS", 10)
    monkeypatch.setattr(module, "SLACK", 2)


@pytest.fixture
def turns(clock: ManualClock) -> Iterator[TurnWork]:
    """One after another."""
    return (
        TurnWork(
            turn_id=new_ulid(),
            namespace=NAMESPACE,
            session_id=f"s{number}",
            at=clock.now() + timedelta(minutes=number),
            actions=(Action(how="edit", path=f"src/f{number}.py"),),
            terms={"word": 1},
        )
        for number in range(100)
    )


def files(work: ProjectWork) -> list[str]:
    return [path.removeprefix("src/").removesuffix(".py") for path in work.path]


def some(turns: Iterator[TurnWork], count: int) -> list[TurnWork]:
    return [next(turns) for _ in range(count)]


def test_the_newest_turns_answer_until_all_are_read(
    store: SqliteStore, turns: Iterator[TurnWork]
) -> None:
    store.turn_works.put(some(turns, 6))
    cache = WorkCache(store)
    with cache.loading_lock:
        assert cache.ask(NAMESPACE, files) == ["f3", "f4", "f5"]
        cache.put(some(turns, 1))
        assert cache.ask(NAMESPACE, files) == ["f3", "f4", "f5", "f6"]
        assert not cache.ready(NAMESPACE)
    cache.fill([NAMESPACE])
    assert cache.ready(NAMESPACE)
    assert cache.ask(NAMESPACE, files) == ["f0", "f1", "f2", "f3", "f4", "f5", "f6"]


def test_a_turn_that_is_put_is_known_at_once(store: SqliteStore, turns: Iterator[TurnWork]) -> None:
    cache = WorkCache(store)
    assert cache.ask(NAMESPACE, files) == []
    cache.put(some(turns, 1))
    assert cache.ask(NAMESPACE, files) == ["f0"]


def test_what_was_taken_away_is_not_told_of(store: SqliteStore, turns: Iterator[TurnWork]) -> None:
    cache = WorkCache(store)
    cache.put(some(turns, 5))
    with cache.loading_lock:
        cache.prepare(NAMESPACE)  # and waits for the lock with what it has read
        assert len(cache.ask(NAMESPACE, files)) == 3
        store.turn_works.delete(NAMESPACE)
        cache.drop(NAMESPACE)
        assert cache.ask(NAMESPACE, files) == []
    cache.fill([NAMESPACE])
    assert cache.ask(NAMESPACE, files) == []


def test_the_oldest_turns_are_dropped_beyond_the_bound(
    store: SqliteStore, turns: Iterator[TurnWork]
) -> None:
    cache = WorkCache(store)
    cache.put(some(turns, 30))
    cache.fill([NAMESPACE])
    assert cache.ask(NAMESPACE, files) == [f"f{number}" for number in range(20, 30)]
    cache.put(some(turns, 2))
    cache.fill([NAMESPACE])
    assert len(cache.ask(NAMESPACE, files)) == 12
    cache.put(some(turns, 1))
    cache.fill([NAMESPACE])
    assert cache.ask(NAMESPACE, files) == [f"f{number}" for number in range(23, 33)]


def test_a_long_question_holds_up_nobody_in_another_project(
    store: SqliteStore, turns: Iterator[TurnWork]
) -> None:
    cache = WorkCache(store)
    cache.fill([NAMESPACE, OTHER])
    asked, answered = threading.Event(), threading.Event()

    def question(work: ProjectWork) -> bool:
        asked.set()
        return answered.wait(60)

    thread = threading.Thread(target=cache.ask, args=(OTHER, question))
    thread.start()
    try:
        assert asked.wait(60)
        cache.put(some(turns, 1))
        assert cache.ask(NAMESPACE, files) == ["f0"]
    finally:
        answered.set()
        thread.join()


def test_what_cannot_be_read_is_tried_again(
    store: SqliteStore, settings: Settings, turns: Iterator[TurnWork]
) -> None:
    cache = WorkCache(store)
    store.turn_works.put(some(turns, 1))
    other = apsw.Connection(settings.path(DATABASE))
    other.execute("ALTER TABLE turn_work RENAME TO elsewhere")
    assert cache.ask(NAMESPACE, files) == []
    other.execute("ALTER TABLE elsewhere RENAME TO turn_work")
    assert cache.ask(NAMESPACE, files) == ["f0"]
