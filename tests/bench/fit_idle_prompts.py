"""Fits the weights that tell a prompt which only carries the conversation on from one with a topic.

    .venv/bin/python -m tests.bench.fit_idle_prompts           # figures only
    .venv/bin/python -m tests.bench.fit_idle_prompts --write   # and the file with the weights

In: `recollect/bench/data/prompts/{idle,topic}.txt`, one prompt per line. Out: a logistic regression
on the vectors of the shipped model: `recollect/inject/idle_prompts.f32`, 385 numbers. The figures
come from ten folds, each left out of its own fit.
"""

import os
import sys

import numpy as np
from numpy.typing import NDArray

from recollect.core.settings import Settings
from recollect.embedding.embedder import Embedder
from recollect.retrieve.query import parse

DATA = os.path.join("recollect", "bench", "data", "prompts")
WEIGHTS = os.path.join("recollect", "inject", "idle_prompts.f32")
RIDGE = 0.3
FOLDS = 10
Matrix = NDArray[np.float64]


def main() -> None:
    embedder = Embedder(os.environ.get("RECOLLECT_MODEL_DIR") or Settings().models, timeout=600)
    idle, topic = _lines("idle.txt"), _lines("topic.txt")
    vectors = np.vstack([_vectors(embedder, idle), _vectors(embedder, topic)])
    labels = np.array([1.0] * len(idle) + [0.0] * len(topic))
    guessed = np.zeros(len(labels))
    order = np.random.default_rng(1).permutation(len(labels))
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        kept = np.setdiff1d(order, out)
        guessed[out] = _predicted(vectors[out], fit(vectors[kept], labels[kept]))
    right = ((guessed > 0.5) == (labels > 0.5)).astype(int)
    print(f"idle {right[: len(idle)].sum()} of {len(idle)} right, left out")
    print(f"topic {right[len(idle) :].sum()} of {len(topic)} right, left out")
    if "--write" in sys.argv:
        with open(WEIGHTS, "wb") as file:
            file.write(fit(vectors, labels).astype("<f4").tobytes())


def fit(vectors: Matrix, labels: Matrix) -> Matrix:
    """Logistic regression by Newton's method; both classes weigh the same."""
    with_one = np.c_[vectors, np.ones(len(vectors))]
    weights = np.where(labels > 0.5, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    ridge = np.eye(with_one.shape[1]) * RIDGE
    ridge[-1, -1] = 1e-8
    found = np.zeros(with_one.shape[1])
    for _ in range(25):
        guessed = 1 / (1 + np.exp(-with_one @ found))
        slope = with_one.T @ (weights * (guessed - labels)) + ridge @ found
        bend = (with_one * (weights * guessed * (1 - guessed))[:, None]).T @ with_one + ridge
        found -= np.linalg.solve(bend, slope)
    return found


def _predicted(vectors: Matrix, weights: Matrix) -> Matrix:
    predicted: Matrix = 1 / (1 + np.exp(-(vectors @ weights[:-1] + weights[-1])))
    return predicted


def _lines(name: str) -> list[str]:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def _vectors(embedder: Embedder, texts: list[str]) -> Matrix:
    rows = [embedder.embed([parse(text).gist for text in texts[at : at + 16]])
            for at in range(0, len(texts), 16)]  # fmt: skip
    return np.vstack(rows).astype(np.float64)


if __name__ == "__main__":
    main()
