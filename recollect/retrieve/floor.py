"""The relevance floor: whether there is anything worth saying.

In: scored documents and the weighed query. Out: one confidence, compared with one threshold for
all stores. Below it the answer is nothing. The figures are in docs/decisions/ranking.md.
"""

import math
from collections.abc import Sequence

from recollect.core.tuning import Floor
from recollect.retrieve.query import Terms
from recollect.retrieve.score import ScoredDocuments


def confidence(
    scored: Sequence[ScoredDocuments], terms: Terms, vectors: int, floor: Floor
) -> float:
    """How sure it is that something here answers the query.

    The best cosine, and the best match by words as far as the store knows the query's words at
    all: a question about something else shares only the small ones. Among many vectors one is
    near by chance (the largest of n normal values grows as the root of 2 ln n), so the cosine of
    a large store has to be higher.
    """
    words = floor.grams * _most(scored, "grams") + floor.window * _most(scored, "window")
    near = _most(scored, "cosine") - near_by_chance(vectors, floor)
    return near + terms.known * words


def near_by_chance(vectors: int, floor: Floor) -> float:
    """The cosine that the nearest of so many vectors has although it means something else."""
    return floor.chance * math.sqrt(2 * math.log(max(2, vectors))) if vectors else 0.0


def _most(scored: Sequence[ScoredDocuments], part: str) -> float:
    found = (float(one.parts[part].max(initial=0)) for one in scored if part in one.parts)
    return max(found, default=0.0)
