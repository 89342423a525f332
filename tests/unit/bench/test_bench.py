"""The benchmark itself, on the set that ships with it."""

import json
import math
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from recollect.bench import ablation, datasets, ingest, latency, metrics, retrieval, silence
from recollect.bench.__main__ import OWN_DATA, main
from recollect.bench.vectors import CachedVectors
from recollect.core.errors import BadInput
from recollect.embedding.embedder import Embedder


@pytest.fixture(scope="module")
def notes() -> datasets.BenchSet:
    assert datasets.sets_in(OWN_DATA) == ["notes"]
    return datasets.read(OWN_DATA, "notes")


@pytest.fixture(scope="module")
def vectors(notes: datasets.BenchSet, tmp_path_factory: pytest.TempPathFactory) -> CachedVectors:
    made = CachedVectors(
        Embedder(os.environ["RECOLLECT_MODEL_DIR"]), str(tmp_path_factory.mktemp("v"))
    )
    made.prepare(
        ingest.texts(notes.messages) + [ask.text for ask in notes.questions], lambda _a, _b: None
    )
    return made


def test_metrics_are_strict() -> None:
    values = metrics.measure(["x", "a", "y", "z", "w", "b"], frozenset("ab"))
    assert values["any@5"] == 1
    assert values["all@5"] == 0
    assert values["all@10"] == 1
    assert values["MRR"] == 0.5
    ideal = 1 + 1 / math.log2(3)
    assert values["NDCG@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / ideal)
    assert metrics.measure([], frozenset("a"))["NDCG@10"] == 0


def test_session_ranks_where_its_best_turn_ranks() -> None:
    assert metrics.groups(["a1", "b1", "a2"], {"a1": "a", "a2": "a", "b1": "b"}) == ["a", "b"]


def test_set_is_whole(notes: datasets.BenchSet) -> None:
    golds = {id for ask in notes.questions for id in ask.gold}
    assert golds <= set(notes.by_id)
    assert len(notes.messages) >= 60
    assert len(notes.questions) >= 40
    assert any(ask.abstention for ask in notes.questions)
    with pytest.raises(BadInput, match="not a benchmark set"):
        datasets.read(OWN_DATA, "nothing")


@pytest.mark.parametrize(
    "text", ["1:56 pm on 8 May, 2023", "2023/05/08 (Mon) 13:56", "2023-05-08T13:56:00Z"]
)
def test_times_are_read_in_every_form(text: str) -> None:
    assert datasets.moment(text) == 1683554160000000
    assert datasets.moment(None) is None


def test_our_row_beats_every_baseline_on_our_own_set(
    notes: datasets.BenchSet, vectors: CachedVectors
) -> None:
    outcomes = retrieval.run(notes, ingest.DirectIngest(vectors), vectors)
    rows = retrieval.summary(outcomes)["notes"]["doc"]
    assert set(rows) == {"recollect", "grep", "bm25", "minilm", "rrf"}
    assert rows["recollect"]["NDCG@10"] > max(
        row["NDCG@10"] for name, row in rows.items() if name != "recollect"
    )
    assert "recollect" in retrieval.table(outcomes)
    assert "question" in retrieval.by_type(outcomes)
    assert "+0 -0" in retrieval.compare(outcomes, outcomes)


def test_unanswerable_questions_get_silence(
    notes: datasets.BenchSet, vectors: CachedVectors
) -> None:
    tally = silence.run(notes, [], ingest.DirectIngest(vectors))
    share = tally.share("abstention")
    assert share is not None
    assert share >= 0.75
    assert tally.cost <= 6
    assert "notes" in silence.table([tally])


def test_ablation_takes_each_signal_away(notes: datasets.BenchSet, vectors: CachedVectors) -> None:
    some = dict(list(ablation.variants().items())[:2])
    outcomes = retrieval.run(notes, ingest.DirectIngest(vectors), None, some)
    assert "no grams" in ablation.table(outcomes)


def test_latency_report_says_where_time_and_memory_go(monkeypatch: pytest.MonkeyPatch) -> None:
    # Totals and stages are read from one clock, so that the stages add up.
    monkeypatch.setattr(latency, "time", SimpleNamespace(process_time=time.process_time))
    report = latency.measure(700, 2, None, [], asked=8)
    assert {"lexical", "score"} <= set(report.stages)
    assert "tokens" in str(report)


def test_command_writes_what_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = os.environ["RECOLLECT_MODEL_DIR"]
    common = ["--models", models, "--cache", str(tmp_path)]
    out, saved = str(tmp_path / "out.json"), str(tmp_path / "saved.json")
    assert main([*common, "--json", out, "--save", saved]) == 0
    with open(out, encoding="utf-8") as file:
        assert set(json.load(file)["notes"]["doc"]["recollect"]) == set(metrics.METRICS)
    assert main(["--compare", saved, saved]) == 0
    assert "+0 -0" in capsys.readouterr().out
    assert main(["--data", str(tmp_path / "nowhere"), *common]) == 1


def test_ten_times_the_memories_do_not_cost_a_search_ten_times_as_much() -> None:
    few, many = (
        latency.measure(size, 1, None, ["the till rounds down"], asked=40).total["p50"]
        for size in (1_000, 10_000)
    )
    assert many < 6 * few
