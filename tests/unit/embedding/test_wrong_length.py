"""F07, G09: a vector that is not as long as its model's breaks nothing, is named, and is made anew.

Such a row cannot be stored; here it is put in as an older version, or a damaged disk, would have.
"""

import pathlib
from collections.abc import Iterator

import pytest

from recollect.cli import doctor
from recollect.core import vector_bytes
from recollect.core.values import Record
from recollect.embedding import weights
from recollect.embedding.backfill import Backfill
from recollect.embedding.embedder import MODEL, Embedder
from tests.fakes.runtime import RuntimeHome
from tests.fakes.waiting import wait_until
from tests.make import vector


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RuntimeHome]:
    monkeypatch.setattr(Backfill, "start", lambda backfill: None)
    made = RuntimeHome(tmp_path / "home", embedding=True)
    yield made
    made.close()


def spoil(home: RuntimeHome, title: str) -> Record:
    """Give a memory vectors of ten numbers, more of them than it had."""
    store = home.runtime.store
    (namespace,) = store.projects.namespaces()
    page = store.records.page(namespace, limit=10)
    one = next(each for each in page.items if each.title == title)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_bytes, "_OF_MODEL", {})
        bad = [
            vector(one, model=MODEL, dim=10, vector=b"\x00\x00\x80\x3f" * 10, part=part)
            for part in range(3)
        ]
        assert store.vectors.put(bad) == 3
    return one


def test_search_goes_on_the_doctor_names_it_and_the_backfill_makes_it_anew(
    home: RuntimeHome,
) -> None:
    for title in ("Retries are capped at five", "The cache is cleared at night"):
        home.client.ask("POST", "/api/observations", {"title": title})
    home.embed()
    bad = spoil(home, "Retries are capped at five")
    home.runtime.recall().index_cache.drop_all()

    for question in ("how often is it tried again?", "when is the cache cleared?", "retries"):
        found = home.client.get("/api/search", query=question, project="all")
        assert found["semantic"] and found["items"], question
    health = home.client.get("/healthz")
    findings = {one.what: one for one in doctor._database(home.client, health)}
    assert findings["vectors"].verdict == "warn" and bad.record_id in findings["vectors"].told

    stats = home.client.ask("POST", "/api/embeddings/backfill")
    assert (stats["embedded"], stats["missing"]) == (1, 1)
    home.embed()
    assert home.client.get("/api/embeddings/stats")["missing"] == 0
    assert home.client.get("/api/doctor")["misfits"] == []
    found = home.client.get("/api/search", query="what is the most retries?", project="all")
    assert found["items"][0]["record"]["record_id"] == bad.record_id


def test_an_edit_and_its_undo_pass_such_a_vector_over(home: RuntimeHome) -> None:
    home.client.ask("POST", "/api/observations", {"title": "Retries are capped at five"})
    home.embed()
    bad = spoil(home, "Retries are capped at five")
    edited = home.client.ask("PATCH", f"/api/memories/{bad.record_id}", {"importance": 9})
    home.client.ask("POST", f"/api/operations/{edited['op_id']}/undo")
    home.embed()
    (only,) = home.runtime.store.vectors.of(bad.namespace, MODEL, [bad.record_id])
    assert only.dim == 384


def test_the_backfill_looks_for_them_when_it_starts(
    home: RuntimeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.client.ask("POST", "/api/observations", {"title": "Retries are capped at five"})
    home.embed()
    bad = spoil(home, "Retries are capped at five")
    store, embedder = home.runtime.store, home.runtime.recall().embedder
    assert embedder is not None
    worker = Backfill(store, embedder, lambda records, rows: None)
    monkeypatch.undo()
    worker.start()
    wait_until(lambda: bool(store.vectors.of(bad.namespace, MODEL, [bad.record_id])))
    worker.close()


@pytest.mark.parametrize(
    ("on", "model", "due"),
    [(False, MODEL, 384), (False, weights.MULTILINGUAL, 512), (True, weights.MULTILINGUAL, 512)],
)
def test_the_statistics_know_the_length_of_a_model_that_is_not_loaded(
    tmp_path: pathlib.Path, on: bool, model: str, due: int
) -> None:
    home = RuntimeHome(
        tmp_path / "home", embedding=on, embedding_model=model, model_dir=str(tmp_path / "none")
    )
    try:
        home.runtime.load_recall()
        assert home.client.get("/api/embeddings/stats")["dimensions"] == due
    finally:
        home.close()


def test_a_model_of_the_users_has_its_length_in_the_name() -> None:
    name = vector_bytes.own_model("bge@small-2", "0123456789abcdef", 768)
    assert name == "bge@small-2@0123456789ab-768"
    lengths = [vector_bytes.dimensions_of(one) for one in (name, MODEL, weights.MULTILINGUAL, "x")]
    assert lengths == [768, 384, 512, 0]
    assert Embedder("/nowhere", weights.MULTILINGUAL).dimensions == 512
