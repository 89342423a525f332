"""Fits the weights that choose which sentences of an answer are kept, and which can be a title.

    .venv/bin/python -m tests.bench.fit_sentences SESSIONS [MORE ...]           # figures only
    .venv/bin/python -m tests.bench.fit_sentences SESSIONS [MORE ...] --write   # and the weights

In: folders of transcripts, and `sentence_labels.csv`: a transcript, the id of an answer's event,
and a digit for each of its sentences (0 not worth keeping, 1 worth keeping, 2 and can be a title,
3 worth keeping if it had stayed true to the session's end). No text is stored here: where the
transcripts come from stands in docs/decisions/notes.md. Out:
`recollect/extract/rules/sentence_weights.f32` and `recollect/extract/sentence_meaning.f32`. The
figures come from sessions left out of their fit.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.core.settings import Settings
from recollect.core.values import StoredEvent
from recollect.embedding.embedder import Embedder
from recollect.extract.rules.prose import Sentence, placed_sentences
from recollect.extract.rules.sentence_ranker import FEATURES, features
from recollect.extract.rules.turns import Turn, turns_of
from recollect.trial import transcripts

LABELS = os.path.join(os.path.dirname(__file__), "sentence_labels.csv")
ALONE = os.path.join("recollect", "extract", "rules", "sentence_weights.f32")
MEANING = os.path.join("recollect", "extract", "sentence_meaning.f32")
FOLDS = 8
RIDGE = 5.0  # of features with a spread of one
RIDGE_MEANING = 2.0
Matrix = NDArray[Any]


@dataclass(frozen=True)
class Labelled:
    session: str
    turn: Turn
    sentences: tuple[Sentence, ...]
    labels: str


def labelled(folder: str) -> Iterator[Labelled]:
    with open(LABELS, encoding="utf-8") as file:
        wanted = {row: labels for _, row, labels in (line.strip().split(",") for line in file)}
    with tempfile.TemporaryDirectory() as place:
        sources, _ = transcripts.in_folder(folder, place, 10_000)
        sessions = transcripts.read(sources)
    for session in sessions:
        events = [
            StoredEvent(event=event, seq=at, transaction_time=event.valid_time)
            for at, event in enumerate(session.events)
        ]
        for turn in turns_of(events):
            row = turn.answers[-1][0] if turn.answers else ""
            if row in wanted:
                found = placed_sentences(turn.answered)[: len(wanted[row])]
                yield Labelled(session.name, turn, found, wanted[row])


def main() -> None:
    folders = [one for one in sys.argv[1:] if not one.startswith("-")]
    rows = [row for folder in folders for row in labelled(folder)]
    embedder = Embedder(os.environ.get("RECOLLECT_MODEL_DIR") or Settings().models, timeout=600)
    sentences = [one for row in rows for one in row.sentences]
    numbers = np.array([line for row in rows for line in features(row.turn, row.sentences)])
    own = _vectors(embedder, [one.text for one in sentences])
    above = _vectors(embedder, [one.heading for one in sentences])
    labels = np.array([int(digit) for row in rows for digit in row.labels])
    keeps = (labels == 1) | (labels == 2)
    session = np.array([row.session for row in rows for _ in row.sentences])
    turn = np.array([at for at, row in enumerate(rows) for _ in row.sentences])
    print(
        f"{len(labels)} sentences, {len(set(session))} sessions, "
        f"{keeps.mean():.2f} worth keeping, {(labels == 2).mean():.2f} a title"
    )
    fitted = []
    for vectors in ([own, above], []):
        keep = _left_out(numbers, vectors, keeps, session)
        title = _left_out(numbers, vectors, labels == 2, session)
        _report("with meaning" if vectors else "alone", labels, keep, title, turn)
        fitted += [fit(numbers, vectors, keeps), fit(numbers, vectors, labels == 2)]
    if "--write" in sys.argv:
        _write(ALONE, np.array([np.r_[one[:FEATURES], one[-1]] for one in fitted]))
        size = own.shape[1]
        parts = [one[FEATURES:-1].reshape(2, size) for one in fitted[:2]]
        _write(MEANING, np.vstack(parts).T)


def fit(numbers: Matrix, vectors: list[Matrix], wanted: Matrix) -> Matrix:
    """Logistic regression by Newton's method: weights of the features as they are, then of the
    vectors, then the constant."""
    middle, spread = numbers.mean(0), numbers.std(0) + 1e-6
    inputs = np.hstack([(numbers - middle) / spread, *vectors, np.ones((len(numbers), 1))])
    ridge = np.full(inputs.shape[1], RIDGE_MEANING)
    ridge[: numbers.shape[1]] = RIDGE
    ridge[-1] = 1e-8
    found = np.zeros(inputs.shape[1])
    for _ in range(12):
        guessed = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (guessed - wanted) + ridge * found
        bend = (inputs * (guessed * (1 - guessed))[:, None]).T @ inputs + np.diag(ridge)
        found -= np.linalg.solve(bend, slope)
    found[: numbers.shape[1]] /= spread
    found[-1] -= found[: numbers.shape[1]] @ middle
    return found


def _left_out(numbers: Matrix, vectors: list[Matrix], wanted: Matrix, session: Matrix) -> Matrix:
    """What each sentence gets from a fit without its session."""
    names = np.random.default_rng(1).permutation(sorted(set(session)))
    guessed = np.zeros(len(wanted))
    for fold in range(FOLDS):
        out = np.isin(session, names[fold::FOLDS])
        found = fit(numbers[~out], [one[~out] for one in vectors], wanted[~out])
        inputs = np.hstack([numbers[out], *[one[out] for one in vectors]])
        guessed[out] = 1 / (1 + np.exp(-(inputs @ found[:-1] + found[-1])))
    return guessed


def _report(name: str, labels: Matrix, keep: Matrix, title: Matrix, turn: Matrix) -> None:
    wanted = (labels == 1) | (labels == 2)
    order = np.argsort(-keep)
    right = np.cumsum(wanted[order]) / np.arange(1, len(order) + 1)
    found = np.cumsum(wanted[order]) / wanted.sum()
    at = {limit: found[right >= limit].max(initial=0.0) for limit in (0.5, 0.6, 0.7)}
    print(f"{name}: recall at precision " + ", ".join(f"{k}: {v:.2f}" for k, v in at.items()))
    for limit in (0.3, 0.4, 0.5, 0.6):
        chosen = keep >= limit
        print(
            f"  keep >= {limit}: precision {wanted[chosen].mean():.2f}, "
            f"recall {wanted[chosen].sum() / wanted.sum():.2f}"
        )
    turns = [np.flatnonzero(turn == one) for one in np.unique(turn)]
    best = [one[np.argmax(keep[one] * title[one])] for one in turns if keep[one].max() >= 0.5]
    worth, good = wanted[best].mean(), (labels[best] == 2).mean()
    print(
        f"  {len(best)} of {len(turns)} turns make a note; of their titles {worth:.2f} worth "
        f"keeping, {good:.2f} good titles"
    )


def _vectors(embedder: Embedder, texts: list[str]) -> Matrix:
    known = list(dict.fromkeys(texts))
    rows = np.vstack([embedder.embed(known[at : at + 16]) for at in range(0, len(known), 16)])
    at = {text: number for number, text in enumerate(known)}
    return rows[[at[text] for text in texts]].astype(np.float64)


def _write(path: str, numbers: Matrix) -> None:
    with open(path, "wb") as file:
        file.write(numbers.astype("<f4").tobytes())


if __name__ == "__main__":
    main()
