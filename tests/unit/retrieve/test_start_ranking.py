"""The four signals that order a session's start."""

from datetime import timedelta

from recollect.core.kinds import KnowledgeType
from recollect.retrieve.start_ranking import rank_for_start
from tests.make import NOON, record


def titles(records: list[object]) -> list[str]:
    return [one.record.title for one in records]  # type: ignore[attr-defined]


def test_the_recent_come_first_when_nothing_else_differs() -> None:
    made = [record(f"day {n}", valid_from=NOON - timedelta(days=n)) for n in (5, 0, 30)]
    ranked = rank_for_start(made, NOON)
    assert titles(list(ranked)) == ["day 0", "day 5", "day 30"]
    assert ranked[0].parts["recency"] == 1.0


def test_what_keeps_coming_up_rises() -> None:
    made = [
        record("alone", files=("rare.py",)),
        record("a", files=("hot.py",)),
        record("b", files=("hot.py",)),
        record("c", concepts=("x",), files=("hot.py",)),
    ]
    ranked = rank_for_start(made, NOON)
    assert titles(list(ranked))[-1] == "alone"


def test_drifted_and_never_read_memories_sink() -> None:
    old = NOON - timedelta(days=60)
    made = [
        record("read", valid_from=old, access_count=3),
        record("never read", valid_from=old),
        record("drifted", valid_from=old, access_count=3, freshness="drifted"),
        record("orphaned", valid_from=old, access_count=3, freshness="orphaned"),
    ]
    assert titles(list(rank_for_start(made, NOON)))[0] == "read"
    parts = {one.record.title: one.parts["decay"] for one in rank_for_start(made, NOON)}
    assert parts["orphaned"] < parts["drifted"] < 0 == parts["read"]


def test_knowledge_comes_before_raw_episodes_and_likeness_counts() -> None:
    made = [
        record("episode", kind="episode"),
        record("rule", kind="knowledge", knowledge_type="constraint"),
    ]
    assert titles(list(rank_for_start(made, NOON)))[0] == "rule"
    likeness = {made[0].record_id: 1.0}
    assert titles(list(rank_for_start(made, NOON, likeness)))[0] == "episode"


def test_the_type_of_a_belief_decides_between_equals() -> None:
    ranked: list[KnowledgeType] = ["constraint", "decision", "heuristic", "rejected"]
    made = [record(name, kind="knowledge", knowledge_type=name) for name in reversed(ranked)]
    assert titles(list(rank_for_start(made, NOON))) == ranked


def test_equals_are_in_a_fixed_order() -> None:
    made = [record("same") for _ in range(5)]
    assert rank_for_start(made, NOON) == rank_for_start(made[::-1], NOON)
