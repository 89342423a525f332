"""The ranking of the shipped notes, pinned: whatever moves a signal shows here first.

After an intended change, `python -m tests.unit.retrieve.test_pinned_ranking` writes the file anew;
its difference belongs into the same commit as the measurement.
"""

import os
from dataclasses import fields, replace
from pathlib import Path

import pytest

from recollect.bench import datasets
from recollect.bench.__main__ import OWN_DATA
from recollect.bench.vectors import CachedVectors
from recollect.core.tuning import GROUPS, SEARCH, SearchWeights, table
from recollect.embedding.embedder import Embedder
from recollect.retrieve.engine import Mode, SearchEngine
from recollect.retrieve.index import FRESHNESS, Document

PINNED = Path(__file__).parents[2] / "data" / "pinned_ranking.txt"
MODES: tuple[Mode, ...] = ("hybrid", "keyword")
CLOSE = 0.0011  # scores are written with three digits


class Notes:
    """The notes of the package in sessions of four, a few in none, with authors, dates and every
    prior, so that each signal has something to say."""

    def __init__(self, models: str) -> None:
        data = datasets.read(OWN_DATA, "notes")
        embedder = CachedVectors(Embedder(models), "")  # each question is embedded once
        self.questions = data.questions
        self.engine = SearchEngine(embedder)
        vectors = embedder.embed([one.text for one in data.messages])
        self.now = max(one.time or 0 for one in data.messages) + 86_400_000_000
        self.engine.add(
            "notes",
            (
                Document(
                    id=one.id,
                    text=f"{one.text} Is that still so?" if number % 4 == 1 else one.text,
                    title=" ".join(one.text.split()[:6]) if number % 3 == 0 else "",
                    session=f"s{number // 4}" if number % 8 < 6 else "",
                    position=number % 4,
                    author=("user", "assistant")[number % 2],
                    time=one.time,
                    importance=3 + number % 5,
                    confidence=1 - number % 3 / 10,
                    freshness=FRESHNESS[number % 4],  # all but beliefs that ended
                    derived=number % 2 == 1,
                    access_count=number % 7,
                    vectors=vectors[number : number + 1],
                )
                for number, one in enumerate(data.messages)
            ),
        )

    def ranking(self, weights: SearchWeights = SEARCH) -> dict[str, list[tuple[str, float]]]:
        """The first five of every question, by mode; every fourth one is led on by the graph."""
        found = {}
        for number, ask in enumerate(self.questions):
            reached = {f"n{1 + number % 9:02d}": 0.5} if number % 4 == 0 else None
            # Every fifth one also names a month.
            text = f"{ask.text} (in January)" if number % 5 == 0 else ask.text
            for mode in MODES:
                ranked = self.engine.search(
                    text,
                    ["notes"],
                    limit=5,
                    mode=mode,
                    now=self.now,
                    weights=weights,
                    reached=reached,
                    floor=False,
                )
                found[f"{ask.id} {mode}"] = [(one.id, one.score) for one in ranked.results]
        return found


@pytest.fixture(scope="module")
def notes() -> Notes:
    return Notes(os.environ["RECOLLECT_MODEL_DIR"])


def _pinned() -> dict[str, list[tuple[str, float]]]:
    found = {}
    for line in PINNED.read_text(encoding="utf-8").splitlines():
        question, mode, *rows = line.split()
        pairs = (row.split("=") for row in rows)
        found[f"{question} {mode}"] = [(id, float(score)) for id, score in pairs]
    return found


def _moved(
    pinned: dict[str, list[tuple[str, float]]], now: dict[str, list[tuple[str, float]]]
) -> list[str]:
    return [
        question
        for question, rows in pinned.items()
        if [id for id, _ in rows] != [id for id, _ in now[question]]
        or any(
            abs(was - is_) > CLOSE for (_, was), (_, is_) in zip(rows, now[question], strict=True)
        )
    ]


def test_the_ranking_of_the_shipped_notes_is_as_pinned(notes: Notes) -> None:
    now = notes.ranking()
    assert now.keys() == _pinned().keys()
    assert _moved(_pinned(), now) == [], f"if intended: python -m {__spec__.name}"


@pytest.mark.parametrize("signal", [one.name for one in fields(SearchWeights)])
def test_every_signal_moves_the_pinned_ranking(notes: Notes, signal: str) -> None:
    weaker = replace(SEARCH, **{signal: 0.5 * getattr(SEARCH, signal)})
    assert _moved(_pinned(), notes.ranking(weaker))


def test_every_number_of_the_table_has_a_reason_and_lies_in_its_range() -> None:
    lines = table()
    assert len({(one.group, one.name) for one in lines}) == len(lines)
    assert {one.group for one in lines} == set(GROUPS)
    for one in lines:
        assert one.least <= one.value <= one.most and len(one.why) > 5, one


def main() -> None:
    made = Notes(os.environ.get("RECOLLECT_MODEL_DIR", ".venv/models"))
    lines = (
        " ".join([question, *(f"{id}={score:.3f}" for id, score in rows)])
        for question, rows in made.ranking().items()
    )
    PINNED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
