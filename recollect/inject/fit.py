"""Fifth stage: what fits into the budget.

In: texts in order, best first, in a long and a short form. Out: those that fit, and why each other
one was left out. Tokens are never counted too low; the whole never exceeds the limit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from recollect.core.text_words import count_tokens
from recollect.inject.draft import Section

T = TypeVar("T")

# What each section may take of a budget, in order of priority; the seed's shares. Lines about work
# and about the last session are few and short, and go first.
FIRST: tuple[Section, ...] = ("profile", "files", "place", "state")
PROFILE_TOKENS = 60  # who the person is may not crowd out what holds
SHARES: dict[Section, float] = {
    "rules": 0.15,
    "known": 0.30,
    "history": 0.30,
    "related": 0.15,
    "procedures": 0.10,
}


def allot(total: int, wanted: Mapping[Section, int]) -> dict[Section, int]:
    """Divide a budget: each section gets what it wants up to its share, and what is left over flows
    to those that want more, in order of priority. The sum never exceeds the total."""
    left = max(0, total)
    given: dict[Section, int] = {}
    for section in FIRST:
        most = PROFILE_TOKENS if section == "profile" else left
        given[section] = min(left, most, wanted.get(section, 0))
        left -= given[section]
    rest = left
    for section, share in SHARES.items():
        given[section] = min(wanted.get(section, 0), int(rest * share))
        left -= given[section]
    for section in SHARES:
        more = min(left, wanted.get(section, 0) - given[section])
        given[section] += more
        left -= more
    return given


@dataclass(frozen=True)
class Fitted(Generic[T]):
    chosen: tuple[tuple[T, str], ...]  # each with the text it is injected as
    left_out: tuple[tuple[T, str], ...]  # each with the reason


def fit(
    candidates: Sequence[T],
    forms: Callable[[T], Sequence[str]],
    *,
    tokens: int,
    chars: int,
) -> Fitted[T]:
    """Take candidates in order, each in its longest form that still fits."""
    chosen: list[tuple[T, str]] = []
    left_out: list[tuple[T, str]] = []
    for candidate in candidates:
        for text in forms(candidate):
            cost = count_tokens(text) + 1  # and the line end
            if cost <= tokens and len(text) + 1 <= chars:
                chosen.append((candidate, text))
                tokens -= cost
                chars -= len(text) + 1
                break
        else:
            left_out.append((candidate, "no room left in the budget"))
    return Fitted(tuple(chosen), tuple(left_out))
