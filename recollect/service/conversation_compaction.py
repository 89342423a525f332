"""Fits a conversation into a token budget: the old part is summarised, the newest turns stay.

In: turns and a budget. Out: the turns to continue with. Below three quarters of the budget nothing
changes. With `store` the summarised turns are kept in full as a memory.
"""

from dataclasses import replace
from typing import Annotated

from msgspec import Meta, structs

from recollect import privacy
from recollect.core.values import Value
from recollect.lifecycle.conversation import (
    ConversationMessage,
    TokenBudget,
    compact_conversation,
    episode_of,
    left_for_memories,
    tokens_of,
)
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespace_to_write

Tokens = Annotated[int, Meta(ge=0, le=10_000_000)]


class ConversationTurn(Value, frozen=True, kw_only=True):
    role: Annotated[str, Meta(min_length=1, max_length=64)]
    content: Annotated[str, Meta(max_length=200_000)]


class ContextWindow(Value, frozen=True, kw_only=True):
    """What else stands in a model's context window, in tokens."""

    total: Tokens
    system_prompt: Tokens = 0
    user_profile: Tokens = 0
    preferences: Tokens = 0
    response_reserve: Tokens = 0


class CompactRequest(Scope, frozen=True, kw_only=True):
    """`store` keeps the summarised turns as a memory, in the given project or the global one. With
    `window` the answer says how many tokens are left for memories."""

    turns: Annotated[tuple[ConversationTurn, ...], Meta(max_length=5000)]
    token_budget: Annotated[int, Meta(ge=100, le=1_000_000)] = 2000
    store: bool = False
    window: ContextWindow | None = None
    session_id: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


class CompactAnswer(Value, frozen=True, kw_only=True):
    """`summarised`: the number of turns in the summary, which comes first in `turns`; `record_id`:
    the memory that keeps them; `retrieval_tokens`: what the window leaves for
    memories, less 5 %."""

    turns: tuple[ConversationTurn, ...]
    kept: int
    summarised: int
    summary: str
    tokens: int
    record_id: str | None = None
    retrieval_tokens: int | None = None


def compact(runtime: ServiceRuntime, given: CompactRequest) -> CompactAnswer:
    messages = tuple(ConversationMessage(one.role, one.content) for one in given.turns)
    found = compact_conversation(messages, given.token_budget)
    if found is None:
        return CompactAnswer(
            turns=given.turns,
            kept=len(given.turns),
            summarised=0,
            summary="",
            tokens=tokens_of(messages),
            retrieval_tokens=_left(given.window, messages),
        )
    record_id = None
    if given.store:
        clean = replace(
            found,
            summary=privacy.scrub(found.summary),
            summarised=tuple(
                ConversationMessage(privacy.scrub(one.role), privacy.scrub(one.content))
                for one in found.summarised
            ),
        )
        episode = episode_of(
            clean, namespace_to_write(runtime, given), given.session_id, runtime.clock.now()
        )
        stored, _ = runtime.memories.remember(
            episode, runtime.actor, "a conversation was summarised"
        )
        record_id = stored.record_id
        runtime.embed_soon()
    return CompactAnswer(
        turns=tuple(ConversationTurn(role=one.role, content=one.content) for one in found.messages),
        kept=len(found.messages) - 1,
        summarised=len(found.summarised),
        summary=found.summary,
        tokens=tokens_of(found.messages),
        record_id=record_id,
        retrieval_tokens=_left(given.window, found.messages),
    )


def _left(window: ContextWindow | None, messages: tuple[ConversationMessage, ...]) -> int | None:
    if window is None:
        return None
    return left_for_memories(TokenBudget(**structs.asdict(window)), messages)
