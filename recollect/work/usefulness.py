"""How likely it is that a session will use a file it is told of.

In: how a file was ranked, and what kind of prompt it is. Out: a probability. The weights are those
of a logistic regression on replayed sessions, each fitted without the session it is judged on
(docs/decisions/brief.md).
"""

import math

from recollect.core.tuning import SPEAKING


def of_file(score: float, *, later: bool, meaningful_words: int) -> float:
    sum_ = SPEAKING.base + SPEAKING.score * score
    if later:
        sum_ += SPEAKING.later + (SPEAKING.names_nothing if meaningful_words <= 1 else 0.0)
    return 1 / (1 + math.exp(-sum_))
