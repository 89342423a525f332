"""What the meaning of a sentence says about whether it is worth keeping.

In: texts. Out: four numbers each, for `rules/sentence_ranker.py`, or nothing without a model. It
runs in the daemon, which has the model; the rules ask for it from their own process. Scores are
kept, because the turns of a session are read again with each batch.
"""

import os
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from recollect.core import safe_files
from recollect.core.errors import ModelUnavailable
from recollect.core.vector_bytes import DIMENSIONS
from recollect.embedding.embedder import MODEL, Embedder
from recollect.extract.rules.sentence_ranker import Meaning

MOST_KEPT = 10_000  # texts
_AT_ONCE = 16
_TIMEOUT = 20.0  # nobody waits for it
_WEIGHTS = os.path.join(os.path.dirname(__file__), "sentence_meaning.f32")


class SentenceMeaning:
    def __init__(self, embedder: Embedder | None) -> None:
        # The weights were fitted to vectors of one model.
        self._embedder = embedder if embedder is not None and embedder.model == MODEL else None
        self._lock = threading.Lock()
        self._kept: dict[str, Meaning] = {}

    def __call__(self, texts: Sequence[str]) -> list[Meaning]:
        """One for each text, or none at all."""
        if self._embedder is None:
            return []
        with self._lock:
            found = {one: self._kept[one] for one in texts if one in self._kept}
        new = [one for one in dict.fromkeys(texts) if one not in found]
        try:
            for at in range(0, len(new), _AT_ONCE):
                part = new[at : at + _AT_ONCE]
                rows = self._embedder.embed(part, timeout=_TIMEOUT) @ _weights()
                for text, row in zip(part, rows.tolist(), strict=True):
                    found[text] = tuple(row)
        except ModelUnavailable:
            return []
        with self._lock:
            self._kept.update((one, found[one]) for one in new)
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return [found[one] for one in texts]


@cache
def _weights() -> Any:
    numbers = np.frombuffer(safe_files.read_whole(_WEIGHTS, 16 * DIMENSIONS), dtype="<f4")
    return numbers.reshape(DIMENSIONS, 4)
