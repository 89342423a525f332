"""Runs a transformer in ONNX: tokens in, one state per token out.

In: a graph and token numbers. Out: rows of float32. A call runs in the caller's thread and is
stopped by onnxruntime itself when its time is over; ModelUnavailable is all that it raises.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core import oslayer
from recollect.core.errors import ModelUnavailable

WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
BATCH_TOKENS = 1024  # a larger batch is no faster on one thread, and its buffers stay


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


def mean_pooled(hidden: Any, mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean over a text's tokens, at length 1."""
    share = mask.astype(np.float32)[..., None]
    return at_length_1((hidden * share).sum(axis=1) / share.sum(axis=1))


def at_length_1(rows: Any) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


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
