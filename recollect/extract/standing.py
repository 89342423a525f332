"""Detects prompts that may set, change or end a standing rule, decision, preference or fact.

In: a prompt, and its vector if there is one. Out: the sentence that most likely does so, and how
likely it is. Fitted for recall: quotes, jokes and one-off requests are often taken for statements,
so nothing may become a belief by this alone. How it is fitted, and how often it is right:
docs/decisions/beliefs.md.
"""

import math
import os
import re
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from recollect.core import safe_files
from recollect.core.text_words import words
from recollect.core.tuning import STATEMENTS
from recollect.core.vector_bytes import DIMENSIONS
from recollect.extract.rules.prose import sentences, without_own_command

FIRES = 0.5  # `tests/bench/fit_standing.py` sets the bias so that this is the threshold
BUCKETS = 2048  # of the hashed forms
NUMBERS = 4
WEIGHTS_FILE = os.path.join(os.path.dirname(__file__), "standing.f32")
WORDS_FILE = os.path.join(os.path.dirname(__file__), "standing_words.txt")
_WEIGHT_BYTES = 4 * (DIMENSIONS + BUCKETS + NUMBERS + 1)
_WORDS_BYTES = 1 << 16
_READ = 400  # characters of a sentence

_DOCUMENT = re.compile(r"^\s*+implement the following plan|^\s*+#{1,3} |\n#{1,3} \S", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_]++(?:'[^\W\d_]++)*+|\d[\d.,:]*+|[?!？！:\"“”`…]|[./@_#-]++")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_QUESTION = re.compile(r"[?？]")


@dataclass(frozen=True)
class Standing:
    """The sentence of a prompt that most likely states what holds from now on."""

    sentence: str
    probability: float

    @property
    def fires(self) -> bool:
        return self.probability >= FIRES


def standing(text: str, vector: Any = None) -> Standing:
    """How likely it is that a prompt states what holds from now on, or ends it."""
    weights = _weights()
    base = float(weights[-1])
    if vector is not None:
        base += float(vector @ weights[:DIMENSIONS])
    best = Standing("", 0.0)
    for sentence in own_sentences(text):
        logit = base
        forms = sorted(forms_of(sentence, form_words()))
        for at, share in hashed(forms):
            logit += share * float(weights[DIMENSIONS + at])
        for at, number in enumerate(numbers(sentence, text)):
            logit += number * float(weights[DIMENSIONS + BUCKETS + at])
        probability = 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))
        if probability > best.probability:
            best = Standing(sentence, probability)
    return best


def own_sentences(text: str) -> list[str]:
    """What the user wrote, as far as it can be told from what was pasted."""
    text = without_own_command(text)
    found = list(sentences(text))
    if _DOCUMENT.search(text[:4000]):
        return found[:1]
    if len(text) > STATEMENTS.document_chars:
        return found[:2] + found[2:][-1:]
    return found if len(found) <= 8 else found[:5] + found[-3:]


def tokens(sentence: str) -> list[str]:
    """Words, with 0 for numbers and @ for what names are joined with."""
    low = sentence[:_READ].lower().replace("’", "'")
    if _UNSPACED.search(low):
        return words(low)
    found: list[str] = []
    for token in _TOKEN.findall(low):
        if token[0].isdigit():
            found.append("0")
        elif token[0] not in "./@_#-":
            found.append(token)
        elif found and found[-1] != "@":
            found.append("@")
    return found


def forms_of(sentence: str, vocabulary: Collection[str]) -> set[str]:
    """What a sentence is built like: one to three neighbouring words, where words that few people
    use are left open. So "we use Jest here" and "we use tabs here" are one form."""
    run = ["^"]
    for token in tokens(sentence):
        token = token if token in vocabulary or token in "0@?!" else "_"
        if token != "_" or run[-1] != "_":
            run.append(token)
    run.append("$")
    pairs = pairwise(run)
    triples = zip(run, run[1:], run[2:], strict=False)
    found = {*run, *map(" ".join, pairs), *map(" ".join, triples)}
    return found - {"^", "$", "_"}


def hashed(forms: Collection[str]) -> list[tuple[int, float]]:
    """The forms as a sparse vector of length 1."""
    buckets: dict[int, int] = {}
    for form in forms:
        digest = zlib.crc32(form.encode("utf-8", "replace"))
        at = digest % BUCKETS
        buckets[at] = buckets.get(at, 0) + (1 if digest >> 31 else -1)
    length = math.sqrt(sum(count * count for count in buckets.values())) or 1.0
    return [(at, count / length) for at, count in buckets.items() if count]


def numbers(sentence: str, text: str) -> tuple[float, ...]:
    return (
        min(len(sentence), 200) / 200,
        min(len(text), 1000) / 1000,
        float(_QUESTION.search(sentence) is not None),
        float(len(tokens(sentence)) <= 3),
    )


@cache
def _weights() -> Any:
    import numpy as np

    return np.frombuffer(safe_files.read_whole(WEIGHTS_FILE, _WEIGHT_BYTES), dtype="<f4")


@cache
def form_words() -> frozenset[str]:
    """Words that many use; others are left open in forms."""
    return frozenset(safe_files.read_whole(WORDS_FILE, _WORDS_BYTES).decode().split())
