"""The embedding model, with its real weights (RECOLLECT_MODEL_DIR)."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from recollect.core.clock import EPOCH
from recollect.core.errors import ModelUnavailable
from recollect.core.values import Record
from recollect.embedding.embedder import BATCH_TOKENS, MAX_CHARS, Embedder, batches, text_of


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    made = Embedder(os.environ["RECOLLECT_MODEL_DIR"], timeout=60)
    assert not made.ready
    made.load()
    return made


def test_known_pair_has_its_known_cosine(embedder: Embedder) -> None:
    rows = embedder.embed(["A man is eating food.", "A man is eating a piece of bread."])
    assert rows.shape == (2, 384)
    assert rows.dtype == np.float32
    assert float(rows[0] @ rows[1]) == pytest.approx(0.755, abs=0.003)


def test_text_has_the_same_vector_in_any_company(embedder: Embedder) -> None:
    texts = ["retry storm", "", "日本語 🙂", "x" * 20_000, "a long note " * 100, "\ud800"]
    together = embedder.embed(texts)
    for number, text in enumerate(texts):
        assert np.abs(embedder.embed([text])[0] - together[number]).max() < 1e-5
    assert np.abs(np.linalg.norm(together, axis=1) - 1).max() < 1e-5


def test_no_texts_need_no_model() -> None:
    assert Embedder("/nowhere").embed([]).shape == (0, 384)


def test_without_weights_it_says_what_is_missing() -> None:
    with pytest.raises(ModelUnavailable, match=r"model.onnx is missing"):
        Embedder("/nowhere").embed(["text"])


def test_a_call_may_take_two_seconds_unless_its_caller_says_otherwise() -> None:
    assert Embedder("/nowhere").timeout == 2.0


def test_call_that_takes_too_long_is_stopped(embedder: Embedder) -> None:
    with pytest.raises(ModelUnavailable, match="too long"):
        embedder.embed(["a long note " * 100] * 40, timeout=0.05)
    assert embedder.ready
    assert embedder.embed(["and goes on"]).shape == (1, 384)


def test_single_long_run_is_stopped_midway(embedder: Embedder) -> None:
    with pytest.raises(ModelUnavailable, match="too long"):
        embedder.embed(["a long note " * 100] * 4, timeout=0.01)


def test_model_that_fails_is_loaded_again(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def run(self, *_: object) -> None:
            raise RuntimeError("out of memory")

    assert embedder._loaded is not None
    monkeypatch.setattr(embedder._loaded, "_model", Broken())
    with pytest.raises(ModelUnavailable, match="out of memory"):
        embedder.embed(["text"])
    assert not embedder.ready
    assert embedder.embed(["text"]).shape == (1, 384)


def test_batches_hold_all_texts_of_like_length_within_their_limit() -> None:
    lengths = [3, 200, 5, 256, 4, 256, 256, 256, 256, 7]
    made = list(batches(lengths))
    assert sorted(at for batch in made for at in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[at] for at in batch) <= BATCH_TOKENS for batch in made)


def test_text_of_a_memory_is_title_summary_facts_concepts() -> None:
    record = Record(
        record_id="mr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        namespace="/actor/a/",
        kind="knowledge",
        title="Retry storm",
        summary="It came back.",
        facts=("jitter was missing", "x" * 500),
        concepts=("retries", "billing"),
        strategy="user",
        author="user",
        valid_from=EPOCH,
    )
    assert text_of(record).startswith("Retry storm\nIt came back.\njitter was missing\n")
    assert text_of(record).endswith("\nretries, billing")
    assert len(text_of(record)) <= MAX_CHARS


def test_nothing_is_written_at_home_and_nobody_is_told(tmp_path: pathlib.Path) -> None:
    """onnxruntime has telemetry of its own: it must be off before it is imported."""
    code = (
        "import os, sys; from recollect.embedding.embedder import Embedder;"
        "Embedder(os.environ['RECOLLECT_MODEL_DIR']).embed(['hello']);"
        "assert os.environ['ORT_DISABLE_TELEMETRY'] == '1'"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []
