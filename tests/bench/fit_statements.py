"""Fits the weights that tell what a sentence of a user states, if anything.

    .venv/bin/python -m tests.bench.fit_statements SESSIONS [MORE ...]            # figures only
    .venv/bin/python -m tests.bench.fit_statements SESSIONS [MORE ...] --write    # and the weights

In: `tests/bench/data/statements/<kind>.txt`, one sentence per line, and folders of real sessions,
which give sentences that state nothing (statements are rare there; sentences with a cue are left
out): every second session of the first folder, all of the others. Out: a softmax regression
on the features of `extract/rules/sentence_kind.py`: `extract/rules/sentence_kinds.json`. The
figures come from five folds, each left out of its own fit.
"""

import glob
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.values import TextBody
from recollect.extract.rules.cues import cue
from recollect.extract.rules.sentence_kind import KINDS, features, speaks_english, tokens
from recollect.extract.rules.statements import own_sentences
from recollect.extract.rules.vetoes import QUESTION
from tests.bench.gold import transcript

DATA = os.path.join("tests", "bench", "data", "statements")
WEIGHTS = os.path.join("recollect", "extract", "rules", "sentence_kinds.json")
FOLDS = 5
FEWEST = 5  # sentences with a word, for it to stay a word
RIDGE = 1.0
STEPS = 250
Matrix = NDArray[np.float32]


def main() -> None:
    texts, labels = sentences()
    first, *others = (one for one in sys.argv[1:] if not one.startswith("-"))
    real = list(real_sentences(first, half=1))
    real += [one for folder in others for one in real_sentences(folder)]
    texts += real
    labels = np.r_[labels, np.full(len(real), KINDS.index("none"))]
    guessed = np.zeros((len(texts), len(KINDS)), np.float32)
    order = np.random.default_rng(1).permutation(len(texts))
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        kept = np.setdiff1d(order, out)
        model = Fitted([texts[at] for at in kept], labels[kept])
        guessed[out] = model.predicted([texts[at] for at in out])
    print(table(guessed, labels))
    if "--write" in sys.argv:
        Fitted(texts, labels).write(WEIGHTS)


def sentences() -> tuple[list[str], NDArray[np.int64]]:
    texts: list[str] = []
    labels: list[int] = []
    for number, kind in enumerate(KINDS):
        with open(os.path.join(DATA, f"{kind}.txt"), encoding="utf-8") as file:
            lines = [line.strip() for line in file if speaks_english(line)]
        texts += lines
        labels += [number] * len(lines)
    return texts, np.array(labels)


def real_sentences(folder: str, half: int | None = None) -> Iterator[str]:
    """The users' sentences of the sessions or of one half of them, each once, without questions and
    cues."""
    seen: set[str] = set()
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl*"))):
        if half is not None and zlib.crc32(os.path.basename(path).encode()) % 2 != half:
            continue
        for draft in transcript(path):
            if draft.kind == "prompt" and isinstance(draft.body, TextBody):
                for one in own_sentences(draft.body.content):
                    if one not in seen and not QUESTION.search(one) and cue(one) is None:
                        seen.add(one)
                        yield one[:600]


def table(guessed: Matrix, labels: NDArray[np.int64]) -> str:
    none = KINDS.index("none")
    stated = 1 - guessed[:, none]
    lines = ["noticed at    stated found    others taken"]
    for bar in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        hit = stated >= bar
        of, wrong = labels != none, labels == none
        lines.append(f"{bar:10.1f} {hit[of].sum():8d} of {of.sum():4d} "
                     f"{hit[wrong].sum():6d} of {wrong.sum():4d}")  # fmt: skip
    for number, kind in enumerate(KINDS):
        own = labels == number
        right = (guessed[own].argmax(1) == number).sum()
        lines.append(f"{kind:10s} {right:8d} of {own.sum():4d} called so")
    return "\n".join(lines)


class Fitted:
    def __init__(self, texts: list[str], labels: NDArray[np.int64]) -> None:
        seen = Counter(word for text in texts for word in {one.lower() for one in tokens(text)})
        self.words = frozenset(word for word, count in seen.items() if count >= FEWEST)
        counted = Counter(f for text in texts for f in set(features(text, self.words)))
        self.names = sorted(name for name, count in counted.items() if count >= 3)
        self.place = {name: at for at, name in enumerate(self.names)}
        rows = self._matrix(texts)
        wanted = np.eye(len(KINDS), dtype=np.float32)[labels]
        self.weights = np.zeros((rows.shape[1], len(KINDS)), np.float32)
        self.bias: Matrix = np.log(wanted.mean(0)).astype(np.float32)
        speed: Any = np.zeros_like(self.weights)
        rate = 4.0 / float((rows**2).sum(1).max() + RIDGE)
        for _ in range(STEPS):  # accelerated gradient descent
            ahead = self.weights + 0.9 * speed
            wrong = _softmax(rows @ ahead + self.bias) - wanted
            speed = 0.9 * speed - rate * (rows.T @ wrong + RIDGE * ahead) / len(texts) * 30
            self.weights = (self.weights + speed).astype(np.float32)
            self.bias = (self.bias - 0.5 * wrong.mean(0)).astype(np.float32)

    def predicted(self, texts: list[str]) -> Matrix:
        return _softmax(self._matrix(texts) @ self.weights + self.bias)

    def write(self, path: str) -> None:
        kept = {
            name: [round(10 * float(one)) for one in row]
            for name, row in zip(self.names, self.weights, strict=True)
            if np.abs(row).max() >= 0.05
        }
        body = {
            "words": sorted(self.words),
            "bias": [round(float(one), 3) for one in self.bias],
            "scale": 10,
            "features": kept,
        }
        with open(path, "w", encoding="utf-8") as file:
            json.dump(body, file, ensure_ascii=False, separators=(",", ":"))
            file.write("\n")

    def _matrix(self, texts: list[str]) -> Matrix:
        rows = np.zeros((len(texts), len(self.names)), np.float32)
        for number, text in enumerate(texts):
            for feature in features(text, self.words):
                if (at := self.place.get(feature)) is not None:
                    rows[number, at] = 1
        return rows


def _softmax(scores: Matrix) -> Matrix:
    parts = np.exp(scores - scores.max(1, keepdims=True))
    softmax: Matrix = parts / parts.sum(1, keepdims=True)
    return softmax


if __name__ == "__main__":
    main()
