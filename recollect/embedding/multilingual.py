"""Universal Sentence Encoder multilingual v3, in numpy: sixteen languages, 512 numbers.

In: the published weights and texts. Out: rows of length 1. A text's pieces are looked up in a table
of bytes, read in windows of two, three and five, added up, and passed through four small layers.
"""

import io
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core import safe_files
from recollect.core.errors import ModelUnavailable
from recollect.core.tuning import MULTILINGUAL
from recollect.embedding.unigram import Unigram

DIMENSIONS = 512
MAX_TOKENS = 512
_FIRST, _LAST = 1, 2  # pieces around every text
_TABLES = 17  # piece n is row n // 17 of table n % 17
_WIDTH = 256
_FILE_BYTES = 64 << 20
_WINDOWS = ((2, 0), (3, 1), (5, 2))  # pieces in a window, and how many of them come before
_LAYERS = ("cnn_W", "cnn_b", "ln_g", "ln_b", "d0", "d1", "d2", "d3", "p1", "p3")

Rows = NDArray[np.float32]


class Multilingual:
    dimensions = DIMENSIONS
    scale = MULTILINGUAL

    def __init__(self, directory: str) -> None:
        try:
            self._pieces = Unigram(_file(directory, "sp.model"))
            whole = io.BytesIO(_file(directory, "weights.npz"))
            with np.load(whole, allow_pickle=False) as saved:
                self._read(saved)
        except (OSError, KeyError, ValueError) as error:
            raise ModelUnavailable(f"the weights in {directory} cannot be read: {error}") from error

    def _read(self, saved: Any) -> None:
        first = saved["q1"]
        # One byte for each number: as float32 the table would take 262 MB.
        self._table = np.empty((_TABLES * len(first), DIMENSIONS), dtype=np.uint8)
        for number in range(_TABLES):
            self._table[number::_TABLES] = saved[f"q{number + 1}"]
        self._scale, self._least = saved["scale"], saved["lo"]
        names = ("proj", "proj_b", "ln_g", "ln_b", "w1_", "b1_", "w2_", "b2_")
        self._windows = [{name: saved[f"{name}{size}"] for name in names} for size, _ in _WINDOWS]
        self._layers = {name: saved[name] for name in _LAYERS}
        self._epsilon = float(saved["eps"])

    def embed(self, texts: Sequence[str], deadline: float) -> Rows:
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for at, text in enumerate(texts):
            if time.monotonic() > deadline:
                raise ModelUnavailable("embedding took too long")
            rows[at] = self._row(text)
        return rows

    def _row(self, text: str) -> Rows:
        pieces = np.array([_FIRST, *self._pieces.encode(text, MAX_TOKENS), _LAST])
        table = pieces % _TABLES
        said = self._table[pieces].astype(np.float32)
        said = said * self._scale[table, None] + self._least[table, None]
        parts = [said]
        # The three windows share one normalisation of all that they read.
        read = np.concatenate([said @ one["proj"] + one["proj_b"] for one in self._windows], axis=1)
        gain, shift = (
            np.concatenate([one[name] for one in self._windows]) for name in ("ln_g", "ln_b")
        )
        read = self._normal(read, gain, shift)
        for number, (size, before) in enumerate(_WINDOWS):
            one = self._windows[number]
            seen = read[:, number * _WIDTH : (number + 1) * _WIDTH]
            for step in ("1", "2"):
                around = _window(seen, size, before) @ one[f"w{step}_"] + one[f"b{step}_"]
                seen = seen + np.maximum(around, 0)
            parts.append(seen)
        by = self._layers
        whole = self._normal(np.concatenate(parts, axis=1), by["ln_g"], by["ln_b"])
        count = np.float32(len(pieces))
        mean = (whole.sum(axis=0) @ by["cnn_W"] + count * by["cnn_b"]) / np.sqrt(count)
        first = np.maximum(mean @ by["p1"] + np.maximum(mean @ by["d0"], 0) @ by["d1"], 0)
        last = np.tanh(first @ by["p3"] + np.maximum(first @ by["d2"], 0) @ by["d3"])
        length = np.linalg.norm(last)
        return np.asarray(last / length if length > 0 else last, dtype=np.float32)

    def _normal(self, rows: Rows, gain: Rows, shift: Rows) -> Rows:
        centred = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + self._epsilon)
        return np.asarray(centred / spread * gain + shift, dtype=np.float32)


def _file(directory: str, name: str) -> bytes:
    return safe_files.read_whole(os.path.join(directory, name), _FILE_BYTES)


def _window(rows: Rows, size: int, before: int) -> Rows:
    """Each row with its neighbours, side by side; beyond the ends there is nothing but zeros."""
    padded = np.pad(rows, ((before, size - 1 - before), (0, 0)))
    return np.concatenate([padded[at : at + len(rows)] for at in range(size)], axis=1)
