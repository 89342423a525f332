"""The bar of extraction on the whole gold set, and that the measure can fail."""

from recollect.extract.interface import Extraction
from tests.bench import extraction, gold
from tests.bench.gold import GoldSession, GoldTurn, Label
from tests.unit.extract.session import Told


def test_the_rules_hold_the_bar_on_the_gold_set() -> None:
    sessions = gold.own()
    assert len(sessions) >= 20 and sum(len(one.turns) for one in sessions) >= 80
    scores = extraction.measure(sessions)
    score = scores["all"]  # both halves have been read by now: neither is fresh any more
    assert score.precision >= 0.9, score.notes
    assert score.recall >= 0.85, score.notes
    assert score.junk_share <= 0.05, score.notes
    assert "recall" in extraction.table(scores)


def _session(*labels: Label) -> GoldSession:
    told = Told().ask("use pnpm not npm, we switched in march").answer("Okay.")
    turn = GoldTurn(1, list(labels), [], {event.event_id for event in told.events})
    return GoldSession("g01-x", "g01", [turn], told.events)


def _label(kind: str, *terms: str) -> Label:
    return Label(frozenset([kind]), tuple((term,) for term in terms), True)


def _score(session: GoldSession) -> extraction.Score:
    score = extraction.Score()
    for told, extracted in extraction.extracted([session]):
        extraction.judge(told, extracted, score)
    return score


def test_a_memory_must_have_the_kind_and_every_term() -> None:
    assert _score(_session(_label("preference", "pnpm", "npm"))).recall == 1.0
    assert _score(_session(_label("decision", "pnpm", "npm"))).recall == 0.0
    assert _score(_session(_label("preference", "pnpm", "bun"))).recall == 0.0


def test_what_no_label_asks_for_counts_against_precision_and_as_junk() -> None:
    score = _score(_session())
    assert score.memories > 0 and score.precision == 0.0 and score.junk_share == 1.0


def test_one_memory_fills_one_label() -> None:
    score = _score(_session(_label("preference", "pnpm"), _label("preference", "npm")))
    assert score.found == 1 and score.wanted == 2


def test_a_missing_memory_is_named() -> None:
    score = extraction.Score()
    extraction.judge(_session(_label("preference", "pnpm")), Extraction(), score)
    assert score.recall == 0.0 and "pnpm" in score.notes[0]


def test_the_command_prints_both_halves(capsys) -> None:  # type: ignore[no-untyped-def]
    assert extraction.main(["-v"]) == 0
    printed = capsys.readouterr().out
    assert "tuned" in printed and "reported" in printed
