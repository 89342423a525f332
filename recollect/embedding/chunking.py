"""Splits a text for embedding.

In: a text of any length. Out: the texts to embed, one vector each: the whole, of which the model
reads the beginning, and the parts of a text that is longer than that. An empty text gives none.
"""

import re
from collections.abc import Iterator

LONG = 180  # words; about what 256 tokens hold
PART = 64  # words of one part, more where there would be too many
MOST = 8  # parts of one text

_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")


def parts(text: str) -> list[str]:
    """The whole and, for a text that is too long for the model, its parts in order."""
    if not text.strip():
        return []
    words = len(text.split())
    if words <= LONG:
        return [text]
    return [text, *_packed(text, max(PART, -(-words // (MOST - 1))))][: MOST + 1]


def _packed(text: str, size: int) -> Iterator[str]:
    """Sentences joined up to `size` words."""
    held: list[str] = []
    for piece in _pieces(text, size):
        fresh = piece.split()
        if held and len(held) + len(fresh) > size:
            yield " ".join(held)
            held = []
        held += fresh
    if held:
        yield " ".join(held)


def _pieces(text: str, size: int) -> Iterator[str]:
    """Sentences and lines; one longer than `size` words is cut."""
    for sentence in _BREAK.split(text):
        words = sentence.split()
        for first in range(0, len(words), size):
            yield " ".join(words[first : first + size])
