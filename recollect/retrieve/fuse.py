"""Merges rankings.

In: scores or ranked lists. Out: one stable order: by score, then newest first, then by id. `rrf` is
the seeds' fusion by rank, kept as reference; the default adds scores.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

K = 60

Key = TypeVar("Key", bound=Hashable)


def rrf(rankings: Iterable[Sequence[Key]], k: int = K) -> dict[Key, float]:
    """Reciprocal rank fusion: each list gives 1/(k + rank), ranks from 1; absence gives 0."""
    fused: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            fused[key] = fused.get(key, 0.0) + 1 / (k + rank)
    return fused


def order(score: float, created: int, id: str) -> tuple[float, int, str]:
    """The sort key of one result: score falling, time falling, id rising."""
    return (-score, -created, id)
