"""Words are known by number, without being kept."""

import random

import pytest

from recollect.retrieve import vocabulary
from recollect.retrieve.vocabulary import Vocabulary


def test_numbers_are_those_of_a_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_NEWEST", 5)  # so that words are sorted in often
    numbers = vocabulary._Numbers()
    expected: dict[str, int] = {}
    chance = random.Random(3)
    for _ in range(150):
        words = [f"w{chance.randrange(300)}" for _ in range(chance.randrange(12))]
        fresh = [word for word in dict.fromkeys(words) if word not in expected]
        for word in words:
            expected.setdefault(word, len(expected))
        assert numbers.of(words).tolist() == [expected[word] for word in words]
        assert numbers.fresh == fresh
        numbers.fresh = []
    assert len(numbers) == len(expected) > 200
    assert numbers.of([*expected, "never met"], add=False).tolist() == [*expected.values(), -1]


def test_stems_are_shared_and_known_by_number() -> None:
    known = Vocabulary()
    run, running, other = known.number(["run", "running", "walk"]).tolist()
    known.settle()
    stems = known.stem_of.view
    assert [stems[run], stems[running]] == known.stem_numbers(["run", "run"]).tolist()
    assert stems[other] != stems[run]
    assert known.stem_numbers(["swim"]).tolist() == [-1]


def test_a_word_takes_little_memory() -> None:
    known = Vocabulary()
    before = known.nbytes
    known.number([f"identifier_{number:08x}" for number in range(20_000)])
    known.settle()
    # Hash, number, stem and end of the grams take 24 bytes; the grams are more, but no object of
    # Python's (80 bytes and more) is kept for each word.
    grams = known._grams.nbytes + known._by_gram.nbytes
    assert (known.nbytes - before - grams) / 20_000 < 60
