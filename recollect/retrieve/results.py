"""Orders scored documents into results.

In: scored documents of one or more namespaces. Out: `Result` rows by score, then newest first, then
by id. There may be fewer rows than asked for, or none.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.core.settings import Fusion
from recollect.core.tuning import GRAPH
from recollect.retrieve.index import Index
from recollect.retrieve.rank import Floats
from recollect.retrieve.score import ScoredDocuments

Mode = Literal["hybrid", "keyword", "semantic"]

DEPTH = 4  # rank fusion reads this many times the limit from each ranking
K = 60  # of rank fusion

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Result:
    id: str
    namespace: str
    score: float
    parts: dict[str, float]  # the signals before weighting


@dataclass(frozen=True)
class Ranked:
    results: tuple[Result, ...]
    confidence: float  # compared with the floor
    stages: dict[str, float]  # CPU seconds by stage
    semantic: bool  # whether vectors were used
    left_out: dict[str, str] = field(default_factory=dict)  # what was not used, and why
    vector: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    by_chance: float = 0.0  # a cosine that means nothing in a store of this size


_Place = tuple[int, int]  # which namespace, which row of its scores


def rows(
    found: Mapping[str, Index],
    scored: Sequence[ScoredDocuments],
    mode: Mode,
    fusion: Fusion,
    semantic: bool,
    limit: int,
    k: int = K,
    depth: int = DEPTH,
) -> tuple[Result, ...]:
    indexes = list(found.values())
    if semantic and mode == "semantic":
        ordered = _ordered(indexes, scored, [one.parts["cosine"] for one in scored], limit)
    elif semantic and fusion == "rrf":
        ordered = _fused(indexes, scored, limit, k, depth)
    else:
        ordered = _ordered(indexes, scored, [one.total for one in scored], limit)
    names = list(found)
    return tuple(
        Result(
            indexes[number].ids[int(scored[number].docs[at])],
            names[number],
            value,
            {name: round(float(part[at]), 6) for name, part in scored[number].parts.items()},
        )
        for value, (number, at) in ordered
    )


def _fused(
    indexes: Sequence[Index], scored: Sequence[ScoredDocuments], limit: int, k: int, depth: int
) -> list[tuple[float, _Place]]:
    lexical = _ordered(indexes, scored, [one.lexical for one in scored], depth * limit)
    near = _ordered(indexes, scored, [one.parts["cosine"] for one in scored], depth * limit)
    sides = ([place for _, place in lexical], [place for _, place in near])
    fused = rrf(sides, k)
    for number, one in enumerate(scored):
        for at in np.flatnonzero(one.parts["graph"]).tolist() if "graph" in one.parts else ():
            bonus = GRAPH.rrf_bonus * float(one.parts["graph"][at])
            fused[number, at] = fused.get((number, at), 0.0) + bonus
    return _sorted(indexes, scored, [(v, place) for place, v in fused.items()])[:limit]


def _ordered(
    indexes: Sequence[Index], scored: Sequence[ScoredDocuments], values: Sequence[Floats], most: int
) -> list[tuple[float, _Place]]:
    """The `most` best rows above 0."""
    rows: list[tuple[float, _Place]] = []
    for number, value in enumerate(values):
        edge = 0.0
        if len(value) > most > 0:
            edge = max(edge, float(np.partition(value, len(value) - most)[len(value) - most]))
        enough = value >= edge if edge > 0 else value > 0
        rows += [(float(value[at]), (number, at)) for at in np.flatnonzero(enough).tolist()]
    return _sorted(indexes, scored, rows)[:most]


def _sorted(
    indexes: Sequence[Index], scored: Sequence[ScoredDocuments], rows: list[tuple[float, _Place]]
) -> list[tuple[float, _Place]]:
    def key(row: tuple[float, _Place]) -> tuple[float, int, str]:
        value, (number, at) = row
        index, doc = indexes[number], int(scored[number].docs[at])
        return order(value, int(index.created.view[doc]), index.ids[doc])

    return sorted(rows, key=key)


def order(score: float, created: int, id: str) -> tuple[float, int, str]:
    """The sort key of one result: score falling, time falling, id rising."""
    return (-score, -created, id)


def rrf(rankings: Iterable[Sequence[Key]], k: int = K) -> dict[Key, float]:
    """Reciprocal rank fusion, the seeds' way: each list gives 1/(k + rank), ranks from 1; absence
    gives 0. The default adds scores instead."""
    fused: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            fused[key] = fused.get(key, 0.0) + 1 / (k + rank)
    return fused
