"""Embeds text as numbers: 384 by the default model, 512 by the multilingual one.

In: texts, or a Record. Out: float32 rows of length 1. Without verified weights, or when a call
takes too long, ModelUnavailable is raised and the next call starts again; no other error leaves
this room.
"""

import os
import threading
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.core import oslayer, safe_files
from recollect.core.errors import ModelUnavailable
from recollect.core.tuning import AS_IT_IS, CosineScale
from recollect.core.values import Record, Vector
from recollect.core.vector_bytes import DIMENSIONS, dimensions_of
from recollect.embedding import weights
from recollect.embedding.wordpiece import WordPieces

MODEL = weights.NAME
MAX_TOKENS = 256
MAX_CHARS = 10_000
TIMEOUT = 2.0
LOAD_S = 30.0
TOKENIZER_BYTES = 8 << 20
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
BATCH_TOKENS = 1024  # a larger batch is no faster on one thread, and its buffers stay

Pooling = Literal["mean", "first", "graph"]


class Embedder:
    """Loads on first use; any thread may call it. After a failure it loads again."""

    def __init__(self, models: str, chosen: str = MODEL, *, timeout: float = TIMEOUT) -> None:
        """`chosen` is the name of a model that we know, or the path of a folder with another."""
        self._models = models
        self._chosen = os.path.expanduser(chosen)
        self.timeout = timeout
        self._lock = threading.Lock()
        self._loaded: _Model | None = None
        self.ready = False  # whether it is loaded
        # The words that the default model has whole; names, mostly, it has in pieces only. None:
        # it is another model, or not loaded.
        self.words: Container[str] | None = None
        # How its cosines compare with those of the default model.
        self.scale = AS_IT_IS

    @cached_property
    def model(self) -> str:
        """What its vectors are stored under. Those of two models are never compared."""
        if not os.path.isabs(self._chosen):
            return self._chosen
        from recollect.embedding import onnx_folder

        try:
            return onnx_folder.name_of(self._chosen)
        except ModelUnavailable:
            return self._chosen  # loading it says what is wrong

    @property
    def dimensions(self) -> int:
        """Of its vectors, loaded or not; 0 for a folder that cannot be read."""
        return self._loaded.dimensions if self._loaded else dimensions_of(self.model)

    def load(self) -> None:
        """Load the weights; raises ModelUnavailable if they are missing or damaged."""
        self._session()

    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        """One row per text. A text gives the same row whatever the others, within 1e-6."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        loaded = self._loaded or self._session()
        cut = [text[:MAX_CHARS].encode("utf-8", "replace").decode() for text in texts]
        try:
            return loaded.embed(cut, time.monotonic() + (timeout or self.timeout))
        except ModelUnavailable:
            raise
        except Exception as error:  # whatever a text makes the libraries raise
            self._loaded, self.ready, self.words, self.scale = None, False, None, AS_IT_IS
            raise ModelUnavailable(f"the model failed: {error}") from error

    def _session(self) -> "_Model":
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()
                self.ready, self.scale = True, self._loaded.scale
                if isinstance(self._loaded, _MiniLM):
                    self.words = self._loaded.pieces.vocabulary
            return self._loaded

    def _open(self) -> "_Model":
        if os.path.isabs(self._chosen):
            from recollect.embedding.onnx_folder import OnnxFolder

            return OnnxFolder(self._chosen, time.monotonic() + LOAD_S)
        state = weights.status(self._models, self._chosen)
        if not state.ready:
            faults = ", ".join(f"{name} is {how}" for name, how in state.files.items())
            raise ModelUnavailable(f"{self._chosen} in {state.directory}: {faults}")
        if self._chosen == weights.MULTILINGUAL:
            from recollect.embedding.multilingual import Multilingual

            return Multilingual(state.directory)
        return _MiniLM(state)


class _Model(Protocol):
    dimensions: int
    scale: CosineScale

    def embed(self, texts: Sequence[str], deadline: float) -> NDArray[np.float32]: ...


class _MiniLM:
    dimensions = DIMENSIONS
    scale = AS_IT_IS

    def __init__(self, state: weights.Status) -> None:
        self._model = OnnxModel(MODEL, weights.graph(state), state.directory)
        path = os.path.join(state.directory, weights.TOKENIZER_FILE.name)
        self.pieces = WordPieces(safe_files.read_whole(path, TOKENIZER_BYTES))

    def embed(self, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        ids = [self.pieces.ids(text, MAX_TOKENS) for text in texts]
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for batch in batches([len(one) for one in ids]):
            rows[batch] = pooled(*self._model.run([ids[at] for at in batch], deadline))
        return rows


# --- running a transformer ------------------------------------------------------------------------


class OnnxModel:
    def __init__(self, name: str, graph: bytes | str, folder: str = "") -> None:
        """`folder` holds the weights that a graph names by their place in a file."""
        # onnxruntime reports to its maker unless told not to, before it is imported.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:  # 30 MB and 0.3 s that a process without a model need not spend
            import onnxruntime
        except ImportError as error:  # not installed, or no memory left for it
            raise ModelUnavailable(f"{name} cannot be loaded: {error}") from error
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        if folder:
            options.add_session_config_entry(WEIGHTS_FOLDER, folder)
        self._failures = _failures()
        try:
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except self._failures as error:
            raise ModelUnavailable(f"{name} cannot be loaded: {error}") from error
        # Matrices of int8 were expanded to float32 while loading: 40 MB of blocks are free again.
        oslayer.give_memory_back()
        self._run_options = onnxruntime.RunOptions
        self._inputs = {one.name for one in self._session.get_inputs()}

    def run(
        self, ids: Sequence[Sequence[int]], deadline: float
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The first output of the graph, and which tokens are there."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise ModelUnavailable("embedding took too long")
        tokens = np.zeros((len(ids), max(map(len, ids))), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        options = self._run_options()
        # The arena keeps its largest run for ever unless told to give it back.
        if tokens.size > 64:
            options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": tokens * 0}
        inputs = {name: value for name, value in given.items() if name in self._inputs}
        timer = threading.Timer(left, setattr, (options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            found: Any = self._session.run(None, inputs, options)[0]
        except self._failures as error:
            if options.terminate:
                raise ModelUnavailable("embedding took too long") from error
            raise
        finally:
            timer.cancel()
        return found, mask


def _failures() -> tuple[type[Exception], ...]:
    """Everything onnxruntime raises: its own classes, which share no base, and RuntimeError."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    named = (value for value in vars(state).values() if isinstance(value, type))
    return (RuntimeError, *(kind for kind in named if issubclass(kind, Exception)))


def pooled(found: Any, mask: NDArray[np.int64], by: Pooling = "mean") -> NDArray[np.float32]:
    """A row per text, at length 1: the mean over its tokens, its first token, or what the graph
    made of it."""
    if by == "mean":
        share = mask.astype(np.float32)[..., None]
        found = (found * share).sum(axis=1) / share.sum(axis=1)
    elif by == "first":
        found = found[:, 0]
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Batches of texts of similar length within BATCH_TOKENS, so that little is padding."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
        if batch and (len(batch) + 1) * lengths[at] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


# --- what of a memory is embedded, and its rows ---------------------------------------------------


def model_of(embedder: object) -> str:
    """The model whose vectors it makes; without one, the default."""
    return getattr(embedder, "model", MODEL)


def text_of(record: Record) -> str:
    """What of a memory is embedded: title, summary, facts, concepts; the same each time."""
    parts = [record.title, record.summary, *record.facts]
    if record.concepts:
        parts.append(", ".join(record.concepts))
    return "\n".join(part for part in parts if part)[:MAX_CHARS]


def vector_rows(record: Record, parts: Iterable[bytes], model: str = MODEL) -> list[Vector]:
    """The vectors of a memory, of the whole and of its parts, as they are stored."""
    return [
        Vector(
            namespace=record.namespace,
            source_kind="record",
            source_id=record.record_id,
            part=part,
            model=model,
            dim=len(blob) // 4,
            vector=blob,
        )
        for part, blob in enumerate(parts)
    ]
