"""How likely a sentence of a user sets a rule, decides, states a fact, or ends one of these.

In: one sentence. Out: a probability for each kind. Logistic regression on the grammar of the
sentence: words that many sentences have in common stay, all others are reduced to their form (a
name, a plural, a path), so that it hardly matters what a sentence is about. Weights are fitted by
`tests/bench/fit_statements.py` on `tests/bench/data/statements`.
"""

import itertools
import json
import math
import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from recollect.core import safe_files
from recollect.extract.normalised_text import word_set

KINDS = ("rule", "decision", "fact", "end", "none")
_WEIGHTS = os.path.join(os.path.dirname(__file__), "sentence_kinds.json")
_MOST_BYTES = 4_000_000
_MOST_WORDS = 60
_TOKEN = re.compile(
    r"`[^`\n]{1,80}`|https?://\S++|(?<![\w@~.+-])[\w@~.+-]{0,60}+/[\w@~./+*-]+|\d[\d.,:%]*\w{0,3}|"
    r"\w++(?:[-'’]\w++)*+(?:\.\w++)*+|[.,;:?!—]"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")  # scripts without spaces
# Short words that other languages have in every sentence, and English has not.
_OTHERS = word_set(
    """der die das und ist nicht wir ich du den dem ein eine einen für auf bitte immer nie kein
    keine zu von noch mehr uns le la les des est pas une un nous vous je et en du pour avec dans
    sur que ne plus toujours jamais désormais el los las es y una con por para nunca siempre del si
    usa o os não é uma com em sempre gli il lo che non di più mai solo questo ho"""
)
_PATH = re.compile(r"/|\w\.[a-z]{1,4}$|^`|_|\w\(")
_SHAPES = (
    (re.compile(r"^\d"), "<num>"),
    (re.compile(r".{2}ing$"), "<ing>"),
    (re.compile(r".{2}ed$"), "<ed>"),
    (re.compile(r".{2}ly$"), "<ly>"),
    (re.compile(r".{2}[^su]s$"), "<s>"),
)


class Weights(NamedTuple):
    """What the fit found: the words that stay, and a weight per feature and kind."""

    words: frozenset[str]
    bias: list[float]
    scale: int
    features: dict[str, list[int]]


def tokens(sentence: str) -> list[str]:
    return _TOKEN.findall(sentence.replace("’", "'"))[:_MOST_WORDS]


def features(sentence: str, words: frozenset[str]) -> Iterator[str]:
    """Runs of up to three words or forms, and how the sentence begins, ends and how long it is."""
    forms = ["^", *(_form(one, at, words) for at, one in enumerate(tokens(sentence)))]
    while forms[-1] in (".", "!"):
        forms.pop()
    forms.append("$")
    for size in (1, 2, 3):
        for at in range(len(forms) - size + 1):
            yield " ".join(forms[at : at + size])
    known = [one for one in forms if one in words]
    for first, then in itertools.pairwise(known):
        yield f"{first} .. {then}"
    yield f"#{min(len(forms) // 4, 6)}"


@lru_cache(maxsize=4096)
def kinds(sentence: str) -> dict[str, float]:
    """The probability of each kind."""
    weights = _weights()
    scores = list(weights.bias)
    for feature in set(features(sentence, weights.words)):
        for at, weight in enumerate(weights.features.get(feature, ())):
            scores[at] += weight / weights.scale
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    return {kind: part / sum(parts) for kind, part in zip(KINDS, parts, strict=True)}


def speaks_english(sentence: str) -> bool:
    """Whether no more than a tenth of the words and no character are of another language."""
    words = [one.lower() for one in tokens(sentence) if one[0].isalpha()]
    others = sum(one in _OTHERS for one in words)
    return others * 10 <= len(words) and not _UNSPACED.search(sentence)


def _form(token: str, at: int, words: frozenset[str]) -> str:
    small = token.lower()
    if small in words:
        return small
    if _PATH.search(token):
        return "<path>"
    if not token[1:].islower() and len(token) > 1 and not token[0].isdigit():
        return "<Name>"
    if at and token[0].isupper():
        return "<Name>"
    return next((name for pattern, name in _SHAPES if pattern.search(small)), "<w>")


@cache
def _weights() -> Weights:
    read = json.loads(safe_files.read_whole(_WEIGHTS, _MOST_BYTES))
    return Weights(frozenset(read["words"]), read["bias"], read["scale"], read["features"])
