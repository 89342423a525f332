"""Fits the weights that tell which older statement a newer one ends or changes.

    .venv/bin/python -m tests.bench.fit_endings [LIST.json ...] [--check LIST.json]

In: `tests/bench/data/changes`: pairs in which the newer statement changes or withdraws the older
one, and pairs in which it leaves it as it is; and lists with `changed_minds` and `withdrawn`. Out:
weights for `ENDINGS` in `core/tuning.py`; and figures: in projects of 1, 10 and 40 beliefs, how
often the right one is found, and another one is taken, with and without the right one there.
Every fifth of the pairs is scored by a fit without it; those of `--check` are only scored.
"""

import json
import os
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import ENDINGS
from recollect.embedding.embedder import Embedder
from recollect.extract.rules.prose import sentences
from recollect.reconcile.ending_pairs import FEATURES, features, least_share, read

DATA = pathlib.Path("tests", "bench", "data", "changes")
POOLS = (1, 4, 12)
ROUNDS = 3
RIDGE = 0.0005
STEPS = 500
FOLDS = 5
Matrix = NDArray[np.float64]


class Pair(NamedTuple):
    old: str
    new: str
    ends: bool


def pairs(lists: Sequence[str]) -> Iterator[Pair]:
    for name, ends in (("changes", True), ("withdrawals", True), ("compatible", False)):
        for line in (DATA / f"{name}.txt").read_text("utf-8").splitlines():
            if not line.startswith("#"):
                old, new, *_ = line.split(" || ")
                yield Pair(old, new, ends)
    for path in lists:
        found = json.loads(pathlib.Path(path).read_text("utf-8"))
        for one in found["changed_minds"]:
            yield Pair(one["before"], one["after"], True)
        for one in found["withdrawn"]:
            yield Pair(one["rule"], one["withdrawal"], True)


class Table:
    """The features of every newer statement with every older one."""

    def __init__(self, some: Sequence[Pair], embedder: Embedder) -> None:
        self.pairs = some
        old = _unit(embedder, [one.old for one in some])
        new = _unit(embedder, [one.new for one in some])
        first = _unit(embedder, [sentences(one.new)[0] for one in some])
        near = np.maximum(new @ old.T, first @ old.T)
        self.rows = np.array(
            [
                [features(read(a.new), read(b.old), float(near[i, j])) for j, b in enumerate(some)]
                for i, a in enumerate(some)
            ]
        )


def _unit(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    made = np.vstack([embedder.embed(list(texts[at : at + 16])) for at in range(0, len(texts), 16)])
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))


def problems(
    table: Table, who: Sequence[int], dice: np.random.Generator
) -> Iterator[tuple[Matrix, int]]:
    """Newer statements, each with the older ones of a project, and which is meant; -1 if none."""
    everything = np.array(who)
    for _ in range(ROUNDS):
        for at in who:
            for size in POOLS:
                others = dice.permutation(everything[everything != at])[:size]
                if not table.pairs[at].ends:
                    yield table.rows[at][[at, *others[:-1]]], -1
                elif dice.random() < 0.6:
                    yield table.rows[at][[at, *others[:-1]]], 0
                else:
                    yield table.rows[at][others], -1


def fit(table: Table, who: Sequence[int]) -> Matrix:
    """Weights of the features, and last the score of "none of them"."""
    made = list(problems(table, who, np.random.default_rng(1)))
    most, wide = max(len(rows) for rows, _ in made) + 1, table.rows.shape[2] + 1
    rows = np.zeros((len(made), most, wide))
    there = np.zeros((len(made), most), dtype=bool)
    wanted = np.zeros((len(made), most))
    for at, (some, meant) in enumerate(made):
        rows[at, : len(some), :-1] = some
        rows[at, -1, -1] = 1  # none of them
        there[at, : len(some)] = there[at, -1] = True
        wanted[at, meant] = 1
    weights, first, second = np.zeros(wide), np.zeros(wide), np.zeros(wide)
    for step in range(1, STEPS + 1):  # Adam
        scores = np.where(there, rows @ weights, -1e9)
        parts = np.exp(scores - scores.max(1, keepdims=True))
        parts /= parts.sum(1, keepdims=True)
        slope = np.einsum("ij,ijk->k", parts - wanted, rows) / len(made) + RIDGE * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights = weights - 0.1 * (first / (1 - 0.9**step)) / (
            np.sqrt(second / (1 - 0.999**step)) + 1e-8
        )
    return weights


def report(table: Table, weights: Sequence[Matrix], who: Sequence[int]) -> None:
    dice = np.random.default_rng(2)
    everything = np.arange(len(table.pairs))
    ends = [at for at in who if table.pairs[at].ends]
    stay = [at for at in who if not table.pairs[at].ends]

    def taken(at: int, older: Sequence[int], least: float | None) -> list[int]:
        """Which of the older ones a newer one takes: for ended, or for disputed without `least`."""
        new = read(table.pairs[at].new)
        found = _shares(table.rows[at][list(older)], weights[at])
        return [
            one
            for one, share in zip(older, found, strict=True)
            if share >= (least or least_share(new, read(table.pairs[one].old)))
        ]

    for size in (1, 10, 40):
        for what, least in (("disputed", None), ("ended", ENDINGS.clear)):
            right = wrong = without = kept = 0
            for at in ends:
                others = [int(one) for one in dice.permutation(everything[everything != at])[:size]]
                found = taken(at, [at, *others[:-1]], least)
                right += at in found
                wrong += any(one != at for one in found)
                without += bool(taken(at, others, least))
            kept = sum(bool(taken(at, [at], least)) for at in stay)
            print(
                f"{size:3d} beliefs, {what}: right {right} of {len(ends)}, another {wrong}, and "
                f"without the right one {without}; both hold {kept} of {len(stay)}"
            )


def _shares(rows: Matrix, weights: Matrix) -> Matrix:
    scores = np.append(rows @ weights[:-1], weights[-1])
    parts = np.exp(scores - scores.max())
    return np.asarray((parts / parts.sum())[:-1])


def main() -> None:
    at = sys.argv.index("--check") if "--check" in sys.argv else len(sys.argv)
    own = list(pairs(sys.argv[1:at]))
    checked = list(pairs(sys.argv[at + 1 :]))[len(list(pairs([]))) :]
    embedder = Embedder(os.environ.get("RECOLLECT_MODEL_DIR", ".venv/models"), timeout=600)
    table = Table(own + checked, embedder)
    mine = np.random.default_rng(3).permutation(len(own))
    weights: list[Matrix] = [np.zeros(0)] * len(table.pairs)
    for fold in range(FOLDS):
        out = mine[fold::FOLDS]
        fitted = fit(table, [int(one) for one in mine if one not in out])
        for one in out:
            weights[int(one)] = fitted
    report(table, weights, range(len(own)))
    whole = fit(table, range(len(own)))
    for name, weight in zip((*FEATURES, "none"), whole, strict=True):
        print(f"{name} {weight:.2f}")
    if checked:
        print("checked:")
        report(table, [whole] * len(table.pairs), range(len(own), len(table.pairs)))


if __name__ == "__main__":
    main()
