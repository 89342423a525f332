"""Metrics of a ranking, by the protocol of the benchmark data.

In: a ranked list of names and the correct names. Out: any@k, all@k, MRR, NDCG@10. A correct name
that was not found counts against all@k and NDCG.
"""

import math
from collections.abc import Iterable, Sequence

METRICS = ("any@5", "all@5", "any@10", "all@10", "MRR", "NDCG@10")


def measure(ranked: Sequence[str], gold: frozenset[str]) -> dict[str, float]:
    hits = [name in gold for name in ranked]
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(gold))))
    gain = sum(1 / math.log2(rank + 2) for rank, hit in enumerate(hits[:10]) if hit)
    first = next((rank for rank, hit in enumerate(hits) if hit), None)
    return {
        "any@5": float(any(hits[:5])),
        "all@5": float(sum(hits[:5]) == len(gold)),
        "any@10": float(any(hits[:10])),
        "all@10": float(sum(hits[:10]) == len(gold)),
        "MRR": 0.0 if first is None else 1 / (first + 1),
        "NDCG@10": gain / ideal if ideal else 0.0,
    }


def groups(ranked: Iterable[str], group_of: dict[str, str]) -> list[str]:
    """Sessions in the order of their best document."""
    return list(dict.fromkeys(group_of[id] for id in ranked))


def mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    if not rows:
        return dict.fromkeys(METRICS, math.nan)
    return {name: sum(row[name] for row in rows) / len(rows) for name in METRICS}


def error(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """One standard error of each mean."""
    if len(rows) < 2:
        return dict.fromkeys(METRICS, math.nan)
    middle = mean(rows)
    return {
        name: math.sqrt(
            sum((row[name] - middle[name]) ** 2 for row in rows) / (len(rows) - 1) / len(rows)
        )
        for name in METRICS
    }
