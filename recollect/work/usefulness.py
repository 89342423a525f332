"""How likely it is that a session will use a file it is told of.

In: how a file was ranked, and what kind of prompt it is. Out: a probability. The weights are those
of a logistic regression on replayed sessions, each fitted without the session it is judged on
(docs/decisions/brief.md).
"""

import math

BASE = -4.74
SCORE = 0.84
LATER = -1.07  # not the first prompt of its session
NAMES_NOTHING = -0.93  # a later prompt with at most one word that means something
SPEAK = 0.12  # the best file must be as likely as this
LEAST = 0.04  # and every other one as this


def of_file(score: float, *, later: bool, meaningful_words: int) -> float:
    sum_ = BASE + SCORE * score
    if later:
        sum_ += LATER + (NAMES_NOTHING if meaningful_words <= 1 else 0.0)
    return 1 / (1 + math.exp(-sum_))
