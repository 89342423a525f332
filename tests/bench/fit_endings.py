"""Fits what tells which older statement a newer one ends or changes.

    .venv/bin/python -m tests.bench.fit_endings [LIST.json ...] [--sessions FOLDER] [--write]

In: `tests/bench/data/changes`: pairs in which the newer statement changes or withdraws the older
one, and pairs in which it leaves it as it is; sentences of `data/statements`; real prompts of the
sessions, which change nothing; and lists with `changed_minds` and `withdrawn`. Out: how likely a
statement tells of a change (with `--write` in `recollect/reconcile/changes.f32`), weights for
`ENDINGS` in `core/tuning.py` (`none` is set lower there: of the pairs that both hold most are hard
ones, and people seldom say such things), and figures of what was left out of the fit: every list by
a fit without any list, every fifth of our own pairs by a fit without it.
"""

import argparse
import json
import math
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.core.tuning import ENDINGS
from recollect.embedding.embedder import Embedder
from recollect.extract.rules.prose import sentences
from recollect.extract.standing import BUCKETS
from recollect.reconcile.ending_pairs import (
    CHANGE_FILE,
    FEATURES,
    change_forms,
    features,
    least_share,
    read,
)
from tests.bench.fit_standing import _of_sessions
from tests.bench.fit_standing import fit as fit_change

DATA = pathlib.Path("tests", "bench", "data")
OF_VECTOR, OF_FORMS = 1.3, 1.5  # how much each part counts: a unit of it costs less ridge
POOLS = (1, 4, 12, 40)
ROUNDS = 2
RIDGE = 0.0005
STEPS = 400
FOLDS = 5
OTHER_SIDE = FEATURES.index("other_side")
LEFT_OUT = 1500  # characters of a real prompt that are read
Matrix = NDArray[np.float64]


class Pair(NamedTuple):
    old: str
    new: str
    ends: bool
    source: str  # "own", or the list


def own_pairs() -> Iterator[Pair]:
    for name, ends in (("changes", True), ("withdrawals", True), ("compatible", False)):
        for line in (DATA / "changes" / f"{name}.txt").read_text("utf-8").splitlines():
            if not line.startswith("#"):
                old, new, *_ = line.split(" || ")
                yield Pair(old, new, ends, "own")


def list_pairs(path: str) -> Iterator[Pair]:
    found = json.loads(pathlib.Path(path).read_text("utf-8"))
    name = pathlib.Path(path).stem
    for one in found["changed_minds"]:
        yield Pair(one["before"], one["after"], True, name)
    for one in found["withdrawn"]:
        yield Pair(one["rule"], one["withdrawal"], True, name)


class Sentences:
    """Texts with their vectors, each made once."""

    def __init__(self) -> None:
        folder = os.environ.get("RECOLLECT_MODEL_DIR", ".venv/models")
        self._embedder = Embedder(folder, timeout=600)
        self._known: dict[str, Matrix] = {}

    def vectors(self, texts: Sequence[str]) -> Matrix:
        fresh = [one for one in dict.fromkeys(texts) if one not in self._known]
        for at in range(0, len(fresh), 16):
            some = fresh[at : at + 16]
            for text, vector in zip(some, self._embedder.embed(some), strict=True):
                self._known[text] = np.asarray(vector / np.linalg.norm(vector))
        return np.vstack([self._known[one] for one in texts])

    def change_rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self.vectors(texts)
        rows = np.zeros((len(texts), vectors.shape[1] + BUCKETS), dtype=np.float32)
        rows[:, : vectors.shape[1]] = vectors * OF_VECTOR
        for row, text in zip(rows, texts, strict=True):
            for at, share in change_forms(text):
                row[vectors.shape[1] + at] = share * OF_FORMS
        return rows

    def near(self, news: Sequence[str], olds: Sequence[str]) -> Matrix:
        """How near each newer text is to each older one: all of it, or its first sentence."""
        old = self.vectors(olds)
        first = self.vectors([(*sentences(one), one)[0] for one in news])
        return np.maximum(self.vectors(news) @ old.T, first @ old.T)


class ChangeModel:
    """How likely statements tell of a change; each text is judged by a fit without its fold."""

    def __init__(self, made: Sentences, pairs: Sequence[Pair], real: Sequence[str]) -> None:
        self._made = made
        rows = [(one.new, one.ends, at) for at, one in enumerate(pairs)]
        rows += [(one.old, False, at) for at, one in enumerate(pairs)]
        for name in ("decision", "end", "fact", "none", "rule"):
            lines = (DATA / "statements" / f"{name}.txt").read_text("utf-8").splitlines()
            rows += [(one, name == "end", at) for at, one in enumerate(lines) if one]
        rows += [(one, False, at) for at, one in enumerate(real)]
        table = made.change_rows([text for text, _, _ in rows])
        label = np.array([float(one) for _, one, _ in rows])
        fold = np.array([at % FOLDS for _, _, at in rows])
        self.whole = fit_change(table, label)
        self._average = table[label == 0, :-BUCKETS].mean(0)  # where there is no vector
        self._left_out = [fit_change(table[fold != at], label[fold != at]) for at in range(FOLDS)]

    def of(self, texts: Sequence[str], *, left_out: bool) -> Matrix:
        rows = self._made.change_rows(texts)
        some = [self._left_out[at % FOLDS] if left_out else self.whole for at in range(len(texts))]
        logits = [float(row @ one[:-1] + one[-1]) for row, one in zip(rows, some, strict=True)]
        return np.asarray(1 / (1 + np.exp(-np.array(logits))))

    def write(self) -> None:
        scaled = self.whole.copy()
        scaled[: -1 - BUCKETS] *= OF_VECTOR
        scaled[-1 - BUCKETS : -1] *= OF_FORMS
        without = self.whole[-1] + self._average @ self.whole[: -1 - BUCKETS]
        scaled = np.append(scaled, without)
        pathlib.Path(CHANGE_FILE).write_bytes(scaled.astype("<f4").tobytes())


def table_of(made: Sentences, news: Sequence[str], changes: Matrix, olds: Sequence[str]) -> Matrix:
    """The features of every newer statement with every older one."""
    near = made.near(news, olds)
    return np.array([
        [features(read(new), read(old), float(near[i, j]), float(changes[i]))
         for j, old in enumerate(olds)]
        for i, new in enumerate(news)
    ])  # fmt: skip


def fit(table: Matrix, pairs: Sequence[Pair], who: Sequence[int], real: Matrix) -> Matrix:
    """Weights of the features, and last the score of "none of them", and what it gains for each
    time e as many candidates."""
    dice = np.random.default_rng(1)
    made: list[tuple[Matrix, int]] = []
    everything = np.array(who)
    for _ in range(ROUNDS):
        for at in who:
            for size in POOLS:
                others = dice.permutation(everything[everything != at])[:size]
                if not pairs[at].ends:
                    made.append((table[at][[at, *others[:-1]]], -1))
                elif dice.random() < 0.6:
                    made.append((table[at][[at, *others[:-1]]], 0))
                else:
                    made.append((table[at][others], -1))
        for row in real:
            made.append((row[dice.permutation(len(row))[: dice.choice(POOLS)]], -1))
    most, wide = max(len(rows) for rows, _ in made) + 1, table.shape[2] + 2
    rows = np.zeros((len(made), most, wide), dtype=np.float32)
    there = np.zeros((len(made), most), dtype=bool)
    wanted = np.zeros((len(made), most))
    for at, (some, meant) in enumerate(made):
        rows[at, : len(some), :-2] = some
        rows[at, -1, -2:] = 1, math.log(len(some))  # none of them
        there[at, : len(some)] = there[at, -1] = True
        wanted[at, meant] = 1
    weights, first, second = np.zeros(wide), np.zeros(wide), np.zeros(wide)
    for step in range(1, STEPS + 1):  # Adam
        weights[OTHER_SIDE] = ENDINGS.other_side
        scores = np.where(there, rows @ weights.astype(np.float32), -1e9)
        parts = np.exp(scores - scores.max(1, keepdims=True))
        parts /= parts.sum(1, keepdims=True)
        slope = np.einsum("ij,ijk->k", parts - wanted, rows) / len(made) + RIDGE * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights = weights - 0.1 * (first / (1 - 0.9**step)) / (
            np.sqrt(second / (1 - 0.999**step)) + 1e-8
        )
    return weights


def _shares(rows: Matrix, weights: Matrix) -> Matrix:
    scores = np.append(rows @ weights[:-2], weights[-2] + weights[-1] * math.log(len(rows)))
    parts = np.exp(scores - scores.max())
    return np.asarray((parts / parts.sum())[:-1])


def report(
    name: str, table: Matrix, pairs: Sequence[Pair], weights: Sequence[Matrix], real: Matrix
) -> None:
    """In projects of 1, 10 and 40 beliefs: how often the right one is found, and another one."""
    dice = np.random.default_rng(2)
    ends = [at for at, one in enumerate(pairs) if one.ends]
    stay = [at for at, one in enumerate(pairs) if not one.ends]
    older = np.arange(table.shape[1])
    changes = FEATURES.index("change")

    def taken(rows: Matrix, fitted: Matrix, bar: float) -> Matrix:
        least = bar if bar == ENDINGS.clear else least_share(bar, float(rows[0][changes]))
        return np.asarray(_shares(rows, fitted) >= least)

    for size in (1, 10, 40):
        for bar in (ENDINGS.doubt, ENDINGS.unread, ENDINGS.clear):
            right = wrong = without = 0
            for at in ends:
                others = dice.permutation(older[older != at])[:size]
                found = taken(table[at][[at, *others[:-1]]], weights[at], bar)
                right, wrong = right + bool(found[0]), wrong + bool(found[1:].any())
                without += bool(taken(table[at][others], weights[at], bar).any())
            kept = sum(bool(taken(table[at][[at]], weights[at], bar)[0]) for at in stay)
            asked = [row[dice.permutation(len(row))[:size]] for row in real]
            fired = sum(bool(taken(row, weights[0], bar).any()) for row in asked)
            print(
                f"{name}, {size:2d} beliefs, share {bar:.2f}: right {right} of {len(ends)}, another"
                f" {wrong}, without the right one {without}; both hold {kept} of {len(stay)}; real"
                f" prompts {fired} of {len(real)}", flush=True,
            )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lists", nargs="*")
    parser.add_argument("--sessions", default=os.path.join("..", "shared", "bench", "sessions"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    own, lists = list(own_pairs()), [one for path in options.lists for one in list_pairs(path)]
    real = [one.text[:LEFT_OUT] for one in _of_sessions(options.sessions) if one.text.strip()]
    made = Sentences()
    everything = own + lists

    def tables(model: ChangeModel, some: Sequence[Pair], *, left_out: bool) -> tuple[Matrix, ...]:
        news, olds = [one.new for one in some], [one.old for one in some]
        picked = [olds[at] for at in np.random.default_rng(4).permutation(len(olds))[:80]]
        return (
            table_of(made, news, model.of(news, left_out=left_out), olds),
            table_of(made, real, model.of(real, left_out=True), picked),
        )

    model = ChangeModel(made, own, real)
    table, asked = tables(model, own, left_out=True)
    mine = np.random.default_rng(3).permutation(len(own))
    weights: list[Matrix] = [np.zeros(0)] * len(own)
    for fold in range(FOLDS):
        out = {int(one) for one in mine[fold::FOLDS]}
        fitted = fit(table, own, [at for at in range(len(own)) if at not in out], asked)
        for one in out:
            weights[one] = fitted
    report("our own", table, own, weights, asked)
    if lists:
        without = fit(table, own, range(len(own)), asked)
        of_lists, asked_of_lists = tables(model, lists, left_out=False)
        report("the lists", of_lists, lists, [without] * len(lists), asked_of_lists)
        model = ChangeModel(made, everything, real)
        table, asked = tables(model, everything, left_out=True)
    whole = fit(table, everything, range(len(everything)), asked)
    for name, weight in zip((*FEATURES, "none", "none_of_many"), whole, strict=True):
        print(f"{name} {weight:.2f}")
    if options.write:
        model.write()


if __name__ == "__main__":
    main()
