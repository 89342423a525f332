"""An embedding model that the user brings: a folder as sentence-transformers exports it to ONNX.

In: its path. Out: rows of length 1. The folder holds `model.onnx` (or `onnx/model.onnx`),
`tokenizer.json`, `config.json` and `1_Pooling/config.json`. What does not fit is said when it is
loaded, in words, as ModelUnavailable; nothing in the folder is run but the graph.
"""

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core import safe_files
from recollect.core.errors import ModelUnavailable
from recollect.core.tuning import CosineScale
from recollect.core.vector_bytes import own_model
from recollect.embedding.embedder import OnnxModel, Pooling, batches, pooled
from recollect.embedding.weights import digest

GRAPHS = ("onnx/model.onnx", "model.onnx")
MOST_TOKENS = 512
LEAST_DIFFERENCE = 0.05
_CONFIG_BYTES = 1 << 20
_PROBE = "a sentence that every model can read"
# Questions with their answers. By the default model the cosine of an answer to its question is .699
# on average, and that of another answer .081.
_QUESTIONS = (
    "How often may a payment be tried again?",
    "Why did we not choose a message queue?",
    "Who takes care of the mobile app?",
    "When does the nightly backup run?",
    "What made the login page slow?",
    "Where are user pictures stored?",
)
_ANSWERS = (
    "Payments are retried at most five times.",
    "We decided against a message queue because a table is enough.",
    "Jana is responsible for the phone application.",
    "The backup starts at three in the morning.",
    "The login page was slow because an index was missing.",
    "Photos of users are kept in an object store.",
)
_RELATED, _UNRELATED = 0.699, 0.081
_POOLINGS: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
}


def name_of(folder: str) -> str:
    """What vectors of this model are stored under: the folder's name and what the graph holds, so
    that vectors of another one are never compared with them."""
    path = _graph(folder)
    found = digest(path)
    if not found:
        raise ModelUnavailable(f"{path} cannot be read")
    return own_model(os.path.basename(folder), found, _pooling(folder)[1])


class OnnxFolder:
    def __init__(self, folder: str, deadline: float) -> None:
        self._pooling, wanted = _pooling(folder)
        self._tokenizer = _tokenizer(folder)
        self._model = OnnxModel(folder, _graph(folder))
        found = self.embed([_PROBE], deadline).shape[1]
        if found != wanted:
            raise ModelUnavailable(
                f"{folder}: the model gives {found} numbers, 1_Pooling/config.json says {wanted}"
            )
        if not 8 <= found <= 4096:
            raise ModelUnavailable(f"{folder}: {found} numbers are no embedding")
        self.dimensions = found
        self.scale = _scale(self.embed([*_QUESTIONS, *_ANSWERS], deadline))

    def embed(self, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        ids = [self._tokenizer.encode(text).ids or [0] for text in texts]
        parts: dict[int, NDArray[np.float32]] = {}
        for batch in batches([len(one) for one in ids]):
            found, mask = self._model.run([ids[at] for at in batch], deadline)
            rows = pooled(found, mask, self._pooling if found.ndim > 2 else "graph")
            parts.update(zip(batch, rows, strict=True))
        return np.stack([parts[at] for at in range(len(texts))])


def _scale(rows: NDArray[np.float32]) -> CosineScale:
    """How this model's cosines compare with those of the default one; of some models unrelated
    texts have a cosine of .7."""
    near = rows[: len(_QUESTIONS)] @ rows[len(_QUESTIONS) :].T
    related = float(np.diag(near).mean())
    unrelated = float(near[~np.eye(len(near), dtype=bool)].mean())
    if related - unrelated < LEAST_DIFFERENCE:
        raise ModelUnavailable(
            f"the model does not tell answers from other sentences ({related:.2f} and "
            f"{unrelated:.2f}): is it an embedding model, and is its pooling right?"
        )
    stretch = min(3.0, max(0.5, (_RELATED - _UNRELATED) / (related - unrelated)))
    return CosineScale(stretch=stretch, shift=_UNRELATED - stretch * unrelated)


def _graph(folder: str) -> str:
    for name in GRAPHS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise ModelUnavailable(f"{folder} holds neither {' nor '.join(GRAPHS)}")


def _pooling(folder: str) -> tuple[Pooling, int]:
    """How states of tokens become one row, and how many numbers it has."""
    config = _config(folder, "1_Pooling/config.json")
    chosen = [name for name, used in config.items() if name.startswith("pooling_mode") and used]
    if len(chosen) != 1 or chosen[0] not in _POOLINGS:
        raise ModelUnavailable(
            f"{folder}: 1_Pooling/config.json asks for {', '.join(chosen) or 'no pooling'}; "
            f"supported is one of {', '.join(_POOLINGS)}"
        )
    size = config.get("word_embedding_dimension")
    if not isinstance(size, int):
        raise ModelUnavailable(f"{folder}: 1_Pooling/config.json has no word_embedding_dimension")
    return _POOLINGS[chosen[0]], size


def _tokenizer(folder: str) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ModelUnavailable(
            "a model of your own needs the package tokenizers: pip install 'recollect[models]'"
        ) from error
    path = os.path.join(folder, "tokenizer.json")
    if not os.path.isfile(path):
        raise ModelUnavailable(f"{folder} holds no tokenizer.json")
    try:
        found = Tokenizer.from_file(path)
    except Exception as error:
        raise ModelUnavailable(f"{path} cannot be read: {error}") from error
    found.no_padding()
    most = _config(folder, "config.json").get("max_position_embeddings", MOST_TOKENS)
    found.enable_truncation(min(most if isinstance(most, int) else MOST_TOKENS, MOST_TOKENS))
    return found


def _config(folder: str, name: str) -> dict[str, Any]:
    path = os.path.join(folder, name)
    try:
        found = json.loads(safe_files.read_whole(path, _CONFIG_BYTES))
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ModelUnavailable(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ModelUnavailable(f"{path} holds no object")
    return found
