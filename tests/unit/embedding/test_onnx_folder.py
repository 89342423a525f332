"""A model that the user brings, made here of the published MiniLM, which holds a graph too."""

import json
import os
import pathlib
from typing import Any

import numpy as np
import pytest

from recollect.core.errors import ModelUnavailable
from recollect.embedding import weights
from recollect.embedding.embedder import Embedder


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    published = pathlib.Path(weights.directory(os.environ["RECOLLECT_MODEL_DIR"])).resolve()
    made = tmp_path / "my-model"
    (made / "1_Pooling").mkdir(parents=True)
    (made / "onnx").mkdir()
    (made / "onnx" / "model.onnx").symlink_to(published / "model.onnx")
    (made / "tokenizer.json").symlink_to(published / "tokenizer.json")
    write(made, "config.json", {"max_position_embeddings": 512})
    write(made, "1_Pooling/config.json", pooling())
    return made


def pooling(mode: str = "mean_tokens", size: int = 384) -> dict[str, Any]:
    return {"word_embedding_dimension": size, f"pooling_mode_{mode}": True,
            "pooling_mode_max_tokens": mode == "max_tokens"}  # fmt: skip


def write(folder: pathlib.Path, name: str, config: Any) -> None:
    (folder / name).write_text(json.dumps(config))


def test_a_folder_gives_the_vectors_of_its_model(folder: pathlib.Path) -> None:
    own = Embedder("/nowhere", str(folder), timeout=60)
    ours = Embedder(os.environ["RECOLLECT_MODEL_DIR"], timeout=60)
    texts = ["A man is eating food.", "retry storm " * 50, "", "日本語"]
    assert np.abs(own.embed(texts) - ours.embed(texts)).max() < 1e-4
    assert own.dimensions == 384
    assert own.scale.stretch == pytest.approx(1.0, abs=0.02)  # it is the default model, after all
    assert own.scale.shift == pytest.approx(0.0, abs=0.02)


def test_its_vectors_are_never_taken_for_those_of_another(folder: pathlib.Path) -> None:
    name = Embedder("/nowhere", str(folder)).model
    assert name.startswith("my-model@") and name != weights.NAME
    graph = folder / "onnx" / "model.onnx"
    graph.unlink()
    graph.write_bytes(b"another one")
    assert Embedder("/nowhere", str(folder)).model not in (name, weights.NAME)


def test_cls_pooling_gives_other_vectors(folder: pathlib.Path) -> None:
    mean = Embedder("/nowhere", str(folder), timeout=60).embed(["retry storm"])
    write(folder, "1_Pooling/config.json", pooling("cls_token"))
    first = Embedder("/nowhere", str(folder), timeout=60).embed(["retry storm"])
    assert first.shape == mean.shape and np.abs(first - mean).max() > 0.01


def test_what_does_not_fit_is_said_in_words(folder: pathlib.Path) -> None:
    def refused(match: str) -> None:
        with pytest.raises(ModelUnavailable, match=match):
            Embedder("/nowhere", str(folder)).load()

    write(folder, "1_Pooling/config.json", pooling(size=512))
    refused(r"gives 384 numbers, 1_Pooling/config\.json says 512")
    write(folder, "1_Pooling/config.json", pooling("max_tokens"))
    refused(r"asks for pooling_mode_max_tokens.*supported is")
    (folder / "1_Pooling" / "config.json").write_text("[")
    refused(r"1_Pooling/config\.json is not JSON")
    (folder / "1_Pooling" / "config.json").unlink()
    refused(r"1_Pooling/config\.json cannot be read")
    write(folder, "1_Pooling/config.json", pooling())
    (folder / "tokenizer.json").unlink()
    refused(r"holds no tokenizer\.json")
    (folder / "onnx" / "model.onnx").unlink()
    refused(r"holds neither onnx/model\.onnx nor model\.onnx|holds no tokenizer")
