"""Fits the weights that find prompts which set, change or end a standing rule, decision or fact.

    .venv/bin/python -m tests.bench.fit_standing --sessions ../shared/bench/sessions
        [--prompts FILE.jsonl] [--check LISTS.json] [--write]

In: `recollect/bench/data/prompts/`: `standing.txt` (each line a statement), `standing_marked.txt`
(prompts with a statement in [[ ]]) and `passing.txt` (none), and real prompts, taken as stating
nothing: those of the sessions, and lines {"project", "text"} of `--prompts`. Out: figures, and with
`--write` `standing.f32` and `standing_words.txt` in `recollect/extract`. Each fifth of the sessions
is scored by a fit without it; the threshold lets `RATE` of the sessions' prompts through. The
statements of `--check` (fields `prompt`, `second`) are only scored.
"""

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.core.settings import Settings
from recollect.embedding.embedder import Embedder
from recollect.extract import standing
from recollect.retrieve.query import parse
from recollect.trial import transcripts

DATA = os.path.join("recollect", "bench", "data", "prompts")
FOLDS = 5
RATE = 0.07  # of the prompts of the sessions; the bar is 0.08
RIDGE = 1.0
LEAST_USERS = 3  # a word that fewer lines of ours hold is left open in forms
# How much each part counts against the others: a unit of it costs less ridge.
OF_VECTOR, OF_FORMS, OF_NUMBERS = 1.3, 1.5, 0.3
_MARKED = re.compile(r"\[\[(.*?)\]\]")
Matrix = NDArray[np.float32]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Prompt:
    text: str
    states: tuple[str, ...]  # the sentences that state something
    kind: str  # standing, marked, passing, session, other
    fold: int

    @property
    def sentences(self) -> list[str]:
        return standing.own_sentences(self.text)


def main() -> None:
    options = _options()
    own = _ours()
    real = _of_sessions(options.sessions) + _of_file(options.prompts)
    vocabulary = _vocabulary(own)
    embedder = Embedder(os.environ.get("RECOLLECT_MODEL_DIR") or Settings().models, timeout=600)
    table = Table(own + real, vocabulary, embedder)
    scores = np.full(len(table.prompts), -50.0)
    for fold in range(FOLDS):
        out = np.array([one.fold == fold for one in table.prompts])
        found = fit(table.rows[~out[table.owner]], table.labels[~out[table.owner]])
        scores = np.where(out, table.best(found), scores)
    kinds = np.array([one.kind for one in table.prompts])
    of_sessions = np.sort(scores[kinds == "session"])[::-1]
    threshold = float(of_sessions[int(RATE * len(of_sessions))])
    for kind in dict.fromkeys(kinds):
        fired = scores[kinds == kind] > threshold
        print(f"{kind}: {fired.sum()} of {len(fired)} fire, left out ({fired.mean():.3f})")
    for kind in ("session", "other"):
        if (kinds == kind).any():
            apart = fit(*table.without(kind))
            fired = table.best(apart)[kinds == kind] > threshold
            print(f"{kind}: {fired.mean():.3f} fire when all of it is left out of the fit")
    whole = fit(table.rows, table.labels)
    whole[-1] -= threshold  # so that FIRES is the threshold
    _check(options.check, whole, vocabulary, embedder)
    if options.write:
        _write(whole, vocabulary)


class Table:
    """A row per sentence: the vector of its prompt, its forms, its numbers."""

    def __init__(self, prompts: Sequence[Prompt], vocabulary: set[str], embedder: Embedder) -> None:
        self.prompts = prompts
        pairs = [(at, one) for at, prompt in enumerate(prompts) for one in prompt.sentences]
        self.owner = np.array([at for at, _ in pairs])
        gists = [parse(one.text).gist for one in prompts]
        vectors = np.vstack(
            [embedder.embed(gists[at : at + 16]) for at in range(0, len(gists), 16)]
        )
        self.rows = np.zeros(
            (len(pairs), vectors.shape[1] + standing.BUCKETS + standing.NUMBERS), dtype=np.float32
        )
        self.labels = np.zeros(len(pairs))
        for row, (at, sentence) in enumerate(pairs):
            prompt, forms = prompts[at], standing.forms_of(sentence, vocabulary)
            self.rows[row, : vectors.shape[1]] = vectors[at] * OF_VECTOR
            for bucket, share in standing.hashed(forms):
                self.rows[row, vectors.shape[1] + bucket] = share * OF_FORMS
            self.rows[row, -standing.NUMBERS :] = standing.numbers(sentence, prompt.text)
            self.rows[row, -standing.NUMBERS :] *= OF_NUMBERS
            self.labels[row] = any(one in sentence for one in prompt.states)

    def best(self, weights: Vector) -> Vector:
        """Of each prompt the score of its likeliest sentence."""
        found = np.full(len(self.prompts), -50.0)
        np.maximum.at(found, self.owner, self.rows @ weights[:-1] + weights[-1])
        return found

    def without(self, kind: str) -> tuple[Matrix, Vector]:
        kept = np.array([self.prompts[at].kind != kind for at in self.owner])
        return self.rows[kept], self.labels[kept]


def fit(rows: Matrix, labels: Vector, steps: int = 150, remembered: int = 8) -> Vector:
    """Logistic regression by L-BFGS; both classes weigh the same."""
    share = labels.mean()
    weights = np.where(labels > 0.5, 0.5 / share, 0.5 / (1 - share))

    def loss(at: Vector) -> tuple[float, Vector]:
        logits = rows @ at[:-1].astype(np.float32) + at[-1]
        error = weights * (1 / (1 + np.exp(-logits)) - labels)
        value = weights @ (np.logaddexp(0, logits) - labels * logits)
        slope = np.r_[rows.T @ error.astype(np.float32) + RIDGE * at[:-1], error.sum()]
        return float(value + RIDGE / 2 * at[:-1] @ at[:-1]), slope

    at = np.zeros(rows.shape[1] + 1)
    value, slope = loss(at)
    moves: list[tuple[Vector, Vector]] = []
    for _ in range(steps):
        step, passed = slope.copy(), []
        for move, bend in reversed(moves):
            passed.append(move @ step / (bend @ move))
            step -= passed[-1] * bend
        last = moves[-1] if moves else (slope, slope * np.linalg.norm(slope))
        step *= (last[0] @ last[1]) / (last[1] @ last[1])
        for (move, bend), back in zip(moves, reversed(passed), strict=True):
            step += move * (back - bend @ step / (bend @ move))
        size = 1.0
        while (tried := loss(at - size * step))[0] > value - 1e-4 * size * slope @ step:
            size /= 2
            if size < 1e-6:
                return at
        move, bend = -size * step, tried[1] - slope
        done = abs(value - tried[0]) < 1e-5 * abs(value)
        at, value, slope = at + move, *tried
        if done:
            return at
        if bend @ move > 1e-10:
            moves = [*moves, (move, bend)][-remembered:]
    return at


def _ours() -> list[Prompt]:
    found = []
    for kind in ("standing", "standing_marked", "passing"):
        with open(os.path.join(DATA, f"{kind}.txt"), encoding="utf-8") as file:
            lines = [line.strip() for line in file if line.strip()]
        folds = np.random.default_rng(1).permutation(len(lines)) % FOLDS
        for line, fold in zip(lines, folds, strict=True):
            text = _MARKED.sub(r"\1", line)
            said = {"standing": [text], "passing": []}.get(kind, _MARKED.findall(line))
            states = [one.strip(" .") for part in said for one in standing.own_sentences(part)]
            found.append(Prompt(text, tuple(states), kind, int(fold)))
    return found


def _of_sessions(folder: str) -> list[Prompt]:
    with tempfile.TemporaryDirectory() as unpacked:
        sources, _ = transcripts.in_folder(folder, unpacked, 10_000)
        return [
            Prompt(transcripts.prompt_text(turn), (), "session", number % FOLDS)
            for number, session in enumerate(transcripts.read(sources))
            for turn in session.turns
        ]


def _of_file(path: str) -> list[Prompt]:
    if not path:
        return []
    with open(path, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    return [Prompt(text, (), "other", at % FOLDS) for at, text in enumerate(texts)]


def _vocabulary(ours: Sequence[Prompt]) -> set[str]:
    """Words of our own lines only: those of real prompts may be names."""
    users = Counter(
        token for one in ours for part in one.sentences for token in set(standing.tokens(part))
    )
    return {token for token, count in users.items() if count >= LEAST_USERS}


def _check(path: str, weights: Vector, vocabulary: set[str], embedder: Embedder) -> None:
    if not path:
        return
    with open(path, encoding="utf-8") as file:
        lists = json.load(file)
    for name, items in lists.items():
        if not isinstance(items, list):
            continue
        texts = [one.get("prompt") or one["second"] for one in items]
        table = Table([Prompt(text, (), name, 0) for text in texts], vocabulary, embedder)
        print(f"{name}: {(table.best(weights) > 0).sum()} of {len(texts)} fire")


def _write(weights: Vector, vocabulary: set[str]) -> None:
    scaled = weights.copy()
    scaled[: -1 - standing.BUCKETS - standing.NUMBERS] *= OF_VECTOR
    scaled[-1 - standing.BUCKETS - standing.NUMBERS : -1 - standing.NUMBERS] *= OF_FORMS
    scaled[-1 - standing.NUMBERS : -1] *= OF_NUMBERS
    with open(standing.WEIGHTS_FILE, "wb") as file:
        file.write(scaled.astype("<f4").tobytes())
    with open(standing.WORDS_FILE, "w", encoding="utf-8") as words:
        words.write("\n".join(sorted(vocabulary)) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", default=os.path.join("..", "shared", "bench", "sessions"))
    parser.add_argument("--prompts", default="")
    parser.add_argument("--check", default="")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
