"""Embeds text as 384 numbers.

In: texts, or a Record. Out: float32 rows of length 1. Without verified weights, or when a call
takes too long, ModelUnavailable is raised and the next call starts again; no other error leaves
this room.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core import oslayer
from recollect.core.errors import ModelUnavailable
from recollect.core.values import Record, Vector
from recollect.core.vector_bytes import DIMENSIONS
from recollect.embedding import weights
from recollect.embedding.wordpiece import WordPieces

MODEL = weights.NAME
MAX_TOKENS = 256
MAX_CHARS = 10_000
TIMEOUT = 2.0
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
BATCH_TOKENS = 1024  # a larger batch is no faster on one thread, and its buffers stay


class Embedder:
    """Loads on first use; any thread may call it. After a failure it loads again."""

    def __init__(self, models: str, *, threads: int = 1, timeout: float = TIMEOUT) -> None:
        self._models = models
        self._threads = threads
        self.timeout = timeout
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def ready(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        """Load the weights; raises ModelUnavailable if they are missing or damaged."""
        self._session()

    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        """One row per text. A text gives the same row whatever the others, within 1e-6."""
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        loaded = self._session()
        try:
            return loaded.embed(texts, time.monotonic() + (timeout or self.timeout))
        except ModelUnavailable:
            raise
        except Exception as error:  # whatever a text makes the libraries raise
            self._loaded = None
            raise ModelUnavailable(f"the model failed: {error}") from error

    def _session(self) -> "_Loaded":
        with self._lock:
            if self._loaded is None:
                self._loaded = _Loaded(self._models, self._threads)
            return self._loaded


class _Loaded:
    def __init__(self, models: str, threads: int) -> None:
        state = weights.status(models)
        if not state.ready:
            faults = ", ".join(f"{name} is {how}" for name, how in state.files.items())
            raise ModelUnavailable(f"{MODEL} in {state.directory}: {faults}")
        # onnxruntime reports to its maker unless told not to, before it is imported.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:  # 30 MB and 0.3 s that a process without a model need not spend
            import onnxruntime
        except ImportError as error:  # not installed, or no memory left for it
            raise ModelUnavailable(f"{MODEL} cannot be loaded: {error}") from error
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.add_session_config_entry(WEIGHTS_FOLDER, state.directory)
        self.failures = _failures()
        try:
            self._session = onnxruntime.InferenceSession(
                weights.graph(state), options, providers=["CPUExecutionProvider"]
            )
        except self.failures as error:
            raise ModelUnavailable(f"{MODEL} cannot be loaded: {error}") from error
        # The int8 matrices were expanded to float32 while loading: 40 MB of blocks are free again.
        oslayer.give_memory_back()
        self._run_options = onnxruntime.RunOptions
        with open(os.path.join(state.directory, weights.TOKENIZER_FILE.name), "rb") as file:
            self._pieces = WordPieces(file.read())

    def embed(self, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        cut = [text[:MAX_CHARS].encode("utf-8", "replace").decode() for text in texts]
        ids = [self._pieces.ids(text, MAX_TOKENS) for text in cut]
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for batch in batches([len(one) for one in ids]):
            rows[batch] = self._run([ids[at] for at in batch], deadline)
        return rows

    def _run(self, ids: list[list[int]], deadline: float) -> NDArray[np.float32]:
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
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": tokens * 0}
        timer = threading.Timer(left, setattr, (options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            hidden = self._session.run(None, inputs, options)[0]
        except self.failures as error:
            if options.terminate:
                raise ModelUnavailable("embedding took too long") from error
            raise
        finally:
            timer.cancel()
        return _pooled(hidden, mask)


def _failures() -> tuple[type[Exception], ...]:
    """Everything onnxruntime raises: its own classes, which share no base, and RuntimeError."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    named = (value for value in vars(state).values() if isinstance(value, type))
    return (RuntimeError, *(kind for kind in named if issubclass(kind, Exception)))


def _pooled(hidden: Any, mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean over a text's tokens, at length 1."""
    share = mask.astype(np.float32)[..., None]
    mean = (hidden * share).sum(axis=1) / share.sum(axis=1)
    return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), dtype=np.float32)


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


def text_of(record: Record) -> str:
    """What of a memory is embedded: title, summary, facts, concepts; the same each time."""
    parts = [record.title, record.summary, *record.facts]
    if record.concepts:
        parts.append(", ".join(record.concepts))
    return "\n".join(part for part in parts if part)[:MAX_CHARS]


def vector_rows(record: Record, parts: Iterable[bytes]) -> list[Vector]:
    """The vectors of a memory, of the whole and of its parts, as they are stored."""
    return [
        Vector(
            namespace=record.namespace,
            source_kind="record",
            source_id=record.record_id,
            part=part,
            model=MODEL,
            dim=DIMENSIONS,
            vector=blob,
        )
        for part, blob in enumerate(parts)
    ]
