"""Another embedding model on the same store: search goes on, and no vector meets a foreign one."""

import os
import pathlib
from typing import Any

import numpy as np
import pytest

from recollect.embedding import weights
from recollect.embedding.backfill import Backfill
from recollect.extract.sentence_meaning import SentenceMeaning
from recollect.service import alarms
from tests.fakes.models import with_multilingual
from tests.fakes.runtime import RuntimeHome
from tests.fakes.waiting import wait_until

NOTES = {
    "Die Wiederholungen der Abrechnung enden nach fünf Versuchen": "how often may billing retry?",
    "Le cache est vidé chaque nuit à trois heures": "when is the cache cleared?",
    "Nunca borramos facturas, solo las anulamos": "may an invoice be deleted?",
}


def opened(tmp_path: pathlib.Path, model: str) -> RuntimeHome:
    return RuntimeHome(
        tmp_path / "home", embedding=True, embedding_model=model, model_dir=with_multilingual()
    )


def search(home: RuntimeHome, query: str) -> Any:
    return home.client.get("/api/search", query=query, project="all")


def test_switching_embeds_anew_while_search_goes_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `embed` below does its work: the thread would be done, or not, before the first search.
    monkeypatch.setattr(Backfill, "start", lambda backfill: None)
    before = opened(tmp_path, weights.NAME)
    for title in NOTES:
        before.client.ask("POST", "/api/observations", {"title": title})
    before.embed()
    stats = before.client.get("/api/embeddings/stats")
    assert (stats["embedded"], stats["coverage"], stats["dimensions"]) == (3, 1.0, 384)
    before.close()

    home = opened(tmp_path, weights.MULTILINGUAL)
    try:
        home.runtime.recall().embedder.load()  # type: ignore[union-attr]
        # Nothing is embedded with the new model yet: words alone find, and the job is listed.
        stats = home.client.get("/api/embeddings/stats")
        assert (stats["model"], stats["embedded"], stats["missing"]) == (weights.MULTILINGUAL, 0, 3)
        (job,) = [
            one for one in home.client.get("/api/jobs")["items"] if one["kind"] == "embedding"
        ]
        assert (job["done"], job["total"]) == (0, 3)
        found = search(home, "facturas")
        assert not found["semantic"] and "Nunca" in found["items"][0]["record"]["title"]

        home.embed()
        stats = home.client.get("/api/embeddings/stats")
        assert (stats["embedded"], stats["missing"]) == (3, 0)
        for title, query in NOTES.items():
            found = search(home, query)
            assert found["semantic"] and found["items"][0]["record"]["title"] == title, query
        namespace = found["items"][0]["record"]["namespace"]
        ids = [one["record"]["record_id"] for one in search(home, "cache")["items"]]
        vectors = home.runtime.store.vectors
        assert vectors.of(namespace, weights.NAME, ids) == []
        assert {one.dim for one in vectors.of(namespace, weights.MULTILINGUAL, ids)} == {512}
    finally:
        home.close()


def test_what_is_fitted_to_the_default_model_reads_no_other_vectors(
    tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    home = opened(tmp_path, weights.MULTILINGUAL)
    try:
        home.client.ask("POST", "/api/observations", {"title": "Retries are capped at five"})
        home.embed()
        embedder = home.runtime.recall().embedder
        assert SentenceMeaning(embedder)(["Retries are capped at five"]) == []
        seen: list[Any] = []

        def idleness(text: str, vector: Any) -> float:
            seen.append(vector)
            return 0.0

        monkeypatch.setattr("recollect.inject.gather.idleness", idleness)
        told = home.client.get("/api/context", query="how many retries?", token_budget=500)
        assert "capped at five" in told["context"] and seen == [None]
    finally:
        home.close()


def test_an_index_takes_vectors_of_any_length() -> None:
    from recollect.retrieve.arrays import VectorIndex

    for size in (100, 384, 512, 1024):
        rows = np.random.default_rng(size).normal(size=(50, size)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        index = VectorIndex()
        index.add([None, *(row[None] for row in rows), None])
        near = index.cosines(np.arange(52), rows[7])
        assert int(np.nanargmax(near)) == 8 and np.isnan(near[[0, 51]]).all()
        assert 8 in index.nearest(rows[7], 5)


def test_beside_a_damaged_model_the_other_one_is_named_and_not_taken(
    tmp_path: pathlib.Path,
) -> None:
    """Taking it would replace every vector, and again when the model is repaired."""
    models = tmp_path / "models"
    (models / weights.MULTILINGUAL).mkdir(parents=True)
    whole = pathlib.Path(os.environ["RECOLLECT_MODEL_DIR"]) / weights.NAME
    (models / weights.NAME).symlink_to(whole)
    home = RuntimeHome(
        tmp_path / "home", embedding=True, embedding_model=weights.MULTILINGUAL,
        model_dir=str(models),
    )  # fmt: skip
    try:
        home.client.ask("POST", "/api/observations", {"title": "Retries are capped at five"})
        wait_until(lambda: bool(home.runtime.recall().health()["problem"]))
        (alarm,) = alarms.alarms(alarms.alarm_inputs(home.runtime))
        assert "words only" in alarm.message and f"{weights.NAME} is here" in alarm.message
        assert alarm.hint.endswith(f"recollect settings set embedding_model {weights.NAME}")
        found = search(home, "retries")
        assert not found["semantic"] and len(found["items"]) == 1
        stats = home.client.get("/api/embeddings/stats")
        assert (stats["model"], stats["embedded"]) == (weights.MULTILINGUAL, 0)
    finally:
        home.close()
