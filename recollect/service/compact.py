"""A conversation made to fit: the newest turns as they are, older ones shorter, the rest counted.

In: turns and a budget of tokens. Out: turns within it, in their order. Nothing is stored.
"""

from typing import Annotated

from msgspec import Meta

from recollect.core.values import Value
from recollect.inject.budget import count_tokens, retrieval_budget

WHOLE = 0.7  # of the budget goes to turns that are kept as they are
SHORT_CHARS = 160


class Said(Value, frozen=True, kw_only=True):
    role: Annotated[str, Meta(min_length=1, max_length=64)]
    content: Annotated[str, Meta(max_length=200_000)]


class Conversation(Value, frozen=True, kw_only=True):
    turns: Annotated[tuple[Said, ...], Meta(max_length=5000)]
    token_budget: Annotated[int, Meta(ge=100, le=1_000_000)] = 2000


class Compacted(Value, frozen=True, kw_only=True):
    turns: tuple[Said, ...]
    kept: int
    shortened: int
    dropped: int
    tokens: int


def compact(given: Conversation) -> Compacted:
    room = retrieval_budget(given.token_budget)
    whole = int(room * WHOLE)
    kept: list[Said] = []
    older = list(given.turns)
    while older and (cost := _cost(older[-1])) <= whole:
        whole -= cost
        room -= cost
        kept.insert(0, older.pop())
    short: list[Said] = []
    while older:
        brief = Said(role=older[-1].role, content=_brief(older[-1].content))
        cost = _cost(brief)
        if cost > room:
            break
        room -= cost
        short.insert(0, brief)
        older.pop()
    turns = (*short, *kept)
    return Compacted(
        turns=turns,
        kept=len(kept),
        shortened=len(short),
        dropped=len(older),
        tokens=sum(_cost(turn) for turn in turns),
    )


def _cost(turn: Said) -> int:
    return count_tokens(turn.content) + count_tokens(turn.role) + 2


def _brief(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= SHORT_CHARS:
        return flat
    head = flat[:SHORT_CHARS]
    stop = max(head.rfind(". "), head.rfind("? "), head.rfind("! "))
    return head[: stop + 1] if stop > SHORT_CHARS // 3 else head[:-1].rsplit(" ", 1)[0] + "…"
