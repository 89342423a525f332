"""How much may be injected: tokens that are never counted too low, and what fits into them.

In: candidate texts, best first. Out: those that fit, some in their short form, and why each other
one was left out. The whole never exceeds the limit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from recollect.core.token_count import count_tokens as count_tokens

T = TypeVar("T")

MARGIN = 0.05


def retrieval_budget(total: int, *used: int) -> int:
    """What is left of a window for memories, less a margin of 5 % of the whole."""
    return max(0, int(total - sum(used) - total * MARGIN))


# What each kind may take of a budget, in order of priority; the seed's shares.
SHARES = {"preferences": 0.15, "known": 0.30, "history": 0.30, "related": 0.15, "procedures": 0.10}


def allot(total: int, wanted: Mapping[str, int]) -> dict[str, int]:
    """Divide a budget: each kind gets what it wants up to its share, and what is left over flows
    to those that want more, in order of priority. The sum never exceeds the total."""
    total = max(0, total)
    given = {kind: min(wanted.get(kind, 0), int(total * share)) for kind, share in SHARES.items()}
    left = total - sum(given.values())
    for kind in SHARES:
        more = min(left, wanted.get(kind, 0) - given[kind])
        given[kind] += more
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
