"""The relevance floor: whether there is anything worth saying.

In: scored documents and the weighed query. Out: one confidence, compared with one threshold for
all stores. Below it the answer is nothing. The figures are in docs/decisions/0003.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.retrieve.query import Terms
from recollect.retrieve.score import Scored


@dataclass(frozen=True)
class Floor:
    """What confidence an answer needs, with meaning and by words alone."""

    hybrid: float = 0.52
    lexical: float = 0.15

    def threshold(self, semantic: bool) -> float:
        return self.hybrid if semantic else self.lexical


def confidence(scored: Sequence[Scored], terms: Terms) -> float:
    """The best cosine and the best match of 4-grams, the latter only as far as the store knows
    the query's words at all: a question about something else shares its small words only."""
    near = _most(scored, "cosine")
    return max(0.0, near) + terms.known * _most(scored, "grams")


def _most(scored: Sequence[Scored], part: str) -> float:
    return max(
        (float(one.parts[part].max(initial=0)) for one in scored if part in one.parts), default=0.0
    )
