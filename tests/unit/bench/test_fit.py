"""`recollect bench --fit`: what it needs, what it finds, how it judges."""

import os
import random
from pathlib import Path

import pytest

from recollect.bench import datasets, fit
from recollect.bench.__main__ import OWN_DATA, main
from recollect.bench.fit import Fit, Prompt, Sample
from recollect.bench.vectors import CachedVectors
from recollect.core.tuning import FILE_SIGNALS, SEARCH, SPEAKING, FileSignals, Speaking
from recollect.embedding.embedder import Embedder
from recollect.inject.speaking import chance_of_file
from recollect.work.likely_files import Likely


def _prompts(seed: int, right: str) -> Sample[Prompt]:
    """Twenty prompts at which one signal is right, and the others say anything."""
    chance = random.Random(seed)
    cases = []
    for _ in range(20):
        files = []
        for number in range(12):
            parts = {name: chance.random() for name in ("often", "recent", "name")}
            parts[right] = 0.8 if number == 0 else 0.5 * parts[right]
            files.append(Likely(f"src/f{number}.py", sum(parts.values()), parts))
        cases.append(Prompt(files, frozenset({"f0.py"})))
    return Sample(str(seed), {f"part {seed}": cases})


def test_a_better_weight_is_found_and_holds_on_what_was_left_out() -> None:
    samples = [_prompts(seed, "name") for seed in range(3)]
    one = Fit[FileSignals, Prompt](FILE_SIGNALS, Prompt.score)
    found = one.fitted(samples[1:], 60)
    assert found.name > found.often and found.name > found.recent
    assert one.objective(samples[:1], found) > one.objective(samples[:1], FILE_SIGNALS)
    report = one.report(samples, 60)
    assert "The gain holds on what was left out" in report
    assert any(line.startswith("name") and line.endswith("<") for line in report.splitlines())


def test_a_gain_that_does_not_hold_changes_nothing() -> None:
    samples = [_prompts(1, "name"), _prompts(2, "often"), _prompts(3, "recent")]
    report = Fit[FileSignals, Prompt](FILE_SIGNALS, Prompt.score).report(samples, 60)
    assert "No change holds on what was left out: keep the weights." in report


def test_the_search_for_weights_ends_in_time() -> None:
    one = Fit[FileSignals, Prompt](FILE_SIGNALS, Prompt.score)
    samples = [_prompts(1, "name"), _prompts(2, "name")]
    assert one.fitted(samples, 0) == FILE_SIGNALS
    assert "Time was up in 3 of 3 searches" in one.report(samples, 0)
    assert "Time was up" not in one.report(samples, 600)


def test_questions_have_the_scores_of_the_product(tmp_path: Path) -> None:
    data = datasets.read(OWN_DATA, "notes")
    vectors = CachedVectors(Embedder(os.environ["RECOLLECT_MODEL_DIR"]), str(tmp_path))
    questions = [one for level, one in fit._questions(data, vectors) if level == "doc"]
    assert len(questions) == len(data.scored("doc"))
    hits = [question.score(SEARCH)[0] for question in questions]
    assert sum(hits) / len(hits) > 0.9


def test_the_command_says_what_data_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = os.environ["RECOLLECT_MODEL_DIR"]
    assert main(["--fit", "--models", models, "--cache", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert fit.NEEDS in said and fit.NEEDS_SESSIONS in said


def _spoken(score: float, *, used: bool, later: bool) -> Prompt:
    need = frozenset(["a.py"]) if used else frozenset(["z.py"])
    return Prompt([Likely("src/a.py", score)], need, "cap the retries of billing", later)


def test_a_chance_is_moved_towards_what_was_used() -> None:
    """Where nothing was ever used, the constant falls; where everything was, it rises."""
    one = Fit[Speaking, Prompt](SPEAKING, Prompt.foreseen, ("likelihood", "-error"))
    for used in (False, True):
        cases = [_spoken(4.0, used=used, later=bool(at % 2)) for at in range(8)]
        found = one.fitted([Sample("s", {"s": cases})], 60)
        before, after = (one.objective([Sample("s", {"s": cases})], w) for w in (SPEAKING, found))
        assert after > before
        chances = [chance_of_file(4.0, 0.0, weights) for weights in (SPEAKING, found)]
        assert (chances[1] > chances[0]) is used
