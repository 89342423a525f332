"""What sentences mean, asked of the model: kept, and nothing without a model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.core.vector_bytes import DIMENSIONS
from recollect.embedding.embedder import Embedder
from recollect.extract import sentence_meaning
from recollect.extract.sentence_meaning import SentenceMeaning


class Counting(Embedder):
    """Gives a text a vector by its length."""

    def __init__(self) -> None:
        super().__init__("/nowhere")
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, timeout: float | None = None) -> NDArray[np.float32]:
        self.texts += texts
        return np.array([[len(one)] + [0] * (DIMENSIONS - 1) for one in texts], dtype=np.float32)


def test_without_a_model_there_is_no_meaning() -> None:
    assert SentenceMeaning(None)(["a"]) == []
    assert SentenceMeaning(Embedder("/nowhere"))(["a"]) == []


def test_a_text_is_asked_for_once() -> None:
    embedder = Counting()
    meaning = SentenceMeaning(embedder)
    one, two, again = meaning(["a", "bb", "a"])
    assert one == again != two
    assert meaning(["bb"]) == [two]
    assert embedder.texts == ["a", "bb"]


def test_only_so_many_are_kept() -> None:
    meaning = SentenceMeaning(Counting())
    meaning([str(number) for number in range(sentence_meaning.MOST_KEPT + 5)])
    assert len(meaning._kept) == sentence_meaning.MOST_KEPT
