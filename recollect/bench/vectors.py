"""Vectors of benchmark texts, computed once and cached.

In: texts. Out: their vectors, from the cache directory or from the model. Without a model and a
cache there are none, and rows that need them are left out.
"""

import hashlib
import os
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import ModelUnavailable
from recollect.core.tuning import CosineScale
from recollect.embedding.embedder import Embedder

_STEP = 64


class CachedVectors:
    """An embedder that answers from the cache."""

    def __init__(self, embedder: Embedder, directory: str) -> None:
        self._embedder = embedder
        self._directory = directory
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def ready(self) -> bool:
        return bool(self._known) or self._embedder.ready

    @property
    def scale(self) -> CosineScale:
        return self._embedder.scale

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        unknown = [text for text in texts if text not in self._known]
        if unknown:
            for text, row in zip(unknown, self._embedder.embed(unknown, timeout=600), strict=True):
                self._known[text] = row
        return np.array([self._known[text] for text in texts], dtype=np.float32)

    def prepare(self, texts: Sequence[str], progress: Callable[[int, int], None]) -> None:
        """Load or compute the vectors of all these texts."""
        wanted = sorted(set(texts))
        path = os.path.join(self._directory, _name(self._embedder.model, wanted))
        if os.path.exists(path):
            rows = np.load(path)
        else:
            rows = self._computed(wanted, progress)
            os.makedirs(self._directory, exist_ok=True)
            np.save(path, rows)
        self._known.update(zip(wanted, rows, strict=True))

    def forget(self) -> None:
        self._known.clear()

    def _computed(
        self, texts: list[str], progress: Callable[[int, int], None]
    ) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self._embedder.dimensions), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for first in range(0, len(order), _STEP):
            some = order[first : first + _STEP]
            rows[some] = self._embedder.embed([texts[at] for at in some], timeout=600)
            progress(first + len(some), len(order))
        return rows


def _name(model: str, texts: list[str]) -> str:
    digest = hashlib.sha256(model.encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
    return digest.hexdigest()[:32] + ".npy"


def available(models: str) -> Embedder:
    """The embedder, loaded; raises ModelUnavailable."""
    embedder = Embedder(models)
    embedder.load()
    if not embedder.ready:
        raise ModelUnavailable
    return embedder
