"""How much may be injected: tokens that are never counted too low, and what fits into them.

In: candidate texts, best first. Out: those that fit, some in their short form, and why each other
one was left out. The whole never exceeds the limit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from recollect.core.tokens import count_tokens as count_tokens

T = TypeVar("T")

MARGIN = 0.05


def retrieval_budget(total: int, *used: int) -> int:
    """What is left of a window for memories, less a margin of 5 % of the whole."""
    return max(0, int(total - sum(used) - total * MARGIN))


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
