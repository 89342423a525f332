"""The bars of the graph, held by words alone so that no model is needed."""

from recollect.bench import knowledge


def test_the_graph_finds_what_is_a_hop_away() -> None:
    kept = [one for one in knowledge.hops(None) if one.half == "report"]
    assert len(kept) >= 30
    assert knowledge.gain(kept) >= 15


def test_the_current_fact_is_what_is_injected_and_never_the_old_one() -> None:
    verdicts = knowledge.contradictions(None)
    assert len(verdicts) >= 50
    assert sum(one.current for one in verdicts) / len(verdicts) >= 0.95
    assert [one.id for one in verdicts if one.stale] == []
