"""The backfill gives vectors once, survives failures, and can be stopped."""

import os
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.core.errors import ModelUnavailable
from recollect.core.values import Record
from recollect.embedding import backfill
from recollect.embedding.backfill import Backfill
from recollect.embedding.embedder import MODEL, Embedder
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import vectors_in
from tests.fakes.waiting import wait_until
from tests.make import NAMESPACE, record


class Failing:
    """An embedder that fails a number of times, then works."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls = 0
        self.ready = True

    def load(self) -> None:
        self.ready = True

    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        self.calls += 1
        if self.calls <= self.failures:
            raise ModelUnavailable("not now")
        return np.ones((len(texts), 384), dtype=np.float32)


def test_each_memory_gets_its_vectors_once(store: SqliteStore) -> None:
    store.records.put([record(f"memory {n}", summary="words " * 300) for n in range(3)])
    told: list[Record] = []
    worker = Backfill(
        store,
        Embedder(os.environ["RECOLLECT_MODEL_DIR"]),
        lambda records, rows: told.extend(records),
    )
    assert worker.step() == 3
    assert worker.step() == 0
    assert len(told) == 3
    vectors = vectors_in(store, NAMESPACE, MODEL)
    assert {one.part for one in vectors} >= {0, 1} and {one.dim for one in vectors} == {384}


def test_a_failing_model_is_asked_again_later(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill, "OPEN_S", 0.01)
    monkeypatch.setattr(backfill, "PAUSE_S", 0.01)
    store.records.put([record("memory")])
    embedder = Failing(failures=7)
    worker = Backfill(store, embedder, lambda records, rows: None)  # type: ignore[arg-type]
    worker.start()
    wait_until(lambda: worker.done == 1)
    assert embedder.calls > 7 and worker.aside == {}
    assert store.vectors.missing(NAMESPACE, MODEL, 5) == []
    worker.close()


class Broken(Failing):
    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        self.calls += 1
        raise RuntimeError("broken")


@pytest.mark.parametrize(("embedder", "calls"), [(Broken(0), 5), (Failing(100), 10)])
def test_five_failures_in_a_row_open_the_breaker(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, embedder: Failing, calls: int
) -> None:
    """A loaded model that is too slow is called twice each time: for the memory, and to see whether
    it is the memory's fault."""
    monkeypatch.setattr(backfill, "PAUSE_S", 0.01)
    store.records.put([record("memory")])
    worker = Backfill(store, embedder, lambda records, rows: None)  # type: ignore[arg-type]
    worker.start()
    wait_until(lambda: worker.state in ("open", "off"))
    assert (worker.state, embedder.calls) == ("open", calls)
    worker.close()


def test_vectors_of_another_model_are_made_anew(store: SqliteStore) -> None:
    from tests.make import vector

    one = store.records.put([record("memory")])[0]
    store.vectors.put([vector(one, model="older-model")])
    worker = Backfill(store, Failing(0), lambda records, rows: None)  # type: ignore[arg-type]
    assert worker.step() == 1
    assert [v.model for v in store.vectors.of(NAMESPACE, MODEL, [one.record_id])] == [MODEL]


def test_without_weights_it_waits_and_says_so(store: SqliteStore) -> None:
    worker = Backfill(store, Embedder("/nonexistent"), lambda records, rows: None)
    worker.start()
    wait_until(lambda: worker.state == "off")
    assert "missing" in worker.problem
    worker.close()


HARD = (
    " \n\t ",
    "\0\1\2\x1b",
    "x" * 1_000_000,
    "\u200b" * 50,
    "\ud7ff\ufffe\U0010ffff",
    "。" * 20_000,
)


def test_a_text_of_no_words_or_of_one_endless_word_blocks_nobody(store: SqliteStore) -> None:
    made = store.records.put(
        [record("a turn", kind="episode", detail=text) for text in HARD] + [record("plain words")]
    )
    worker = Backfill(
        store, Embedder(os.environ["RECOLLECT_MODEL_DIR"]), lambda records, rows: None
    )
    assert worker.step() == len(made)
    assert worker.step() == 0 and worker.aside == {}
    assert store.upkeep.stats(NAMESPACE).embedded == len(made)


class Choking(Failing):
    """An embedder that can do everything but one text."""

    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        if any("choke" in text for text in texts):
            raise ModelUnavailable("the model failed: choked")
        return super().embed(texts, timeout=timeout)


def test_a_text_that_the_model_cannot_do_is_set_aside_and_the_others_go_on(
    store: SqliteStore,
) -> None:
    bad, *good = store.records.put([record("choke on this"), *(record(str(n)) for n in range(40))])
    worker = Backfill(store, Choking(0), lambda records, rows: None)  # type: ignore[arg-type]
    while worker.step():
        pass
    assert worker.aside == {bad.record_id: "the model failed: choked"}
    assert worker.done == len(good) == store.upkeep.stats(NAMESPACE).embedded
    assert worker.step() == 0  # it ends, though one is missing still


def test_what_the_libraries_raise_leaves_the_room_as_one_kind_of_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = Embedder(os.environ["RECOLLECT_MODEL_DIR"])
    embedder.load()
    loaded = embedder._session()
    monkeypatch.setattr(loaded, "embed", lambda texts, deadline: 1 / 0)
    with pytest.raises(ModelUnavailable, match="division"):
        embedder.embed(["text"])
    assert embedder.embed(["text"]).shape == (1, 384)
