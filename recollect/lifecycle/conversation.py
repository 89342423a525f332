"""Keeps a conversation within a token budget.

In: messages and a budget. Out: fewer messages: a summary of the old ones, and the last ones
unchanged. Pure functions: hosts and programs call them and store the summary as a turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core import ids
from recollect.core.text_words import count_tokens
from recollect.core.values import Record
from recollect.lifecycle.episode_compression import COMPRESSED_LIFE
from recollect.lifecycle.extractive_summary import extract, is_conclusion

FULL = 0.75
KEEP_SHARE = 0.3
KEEP_MOST = 10
MARGIN = 0.05
SUMMARY_SHARE = 0.15  # of the conversation's budget
KEPT_ROOM = 0.8  # the rest of it, less the margin
AUTO = "auto-compaction"


@dataclass(frozen=True)
class ConversationMessage:
    role: str
    content: str


@dataclass(frozen=True)
class TokenBudget:
    """How a model's context window is divided."""

    total: int
    system_prompt: int = 0
    user_profile: int = 0
    preferences: int = 0
    conversation: int = 0
    response_reserve: int = 0


@dataclass(frozen=True)
class Compaction:
    messages: tuple[ConversationMessage, ...]
    summary: str
    summarised: tuple[ConversationMessage, ...]


def compact_conversation(messages: Sequence[ConversationMessage], budget: int) -> Compaction | None:
    """None while the conversation takes less than three quarters of its budget. Otherwise the last
    ten messages (or the last 30 %, if that is fewer, or as many as fit) stay as they are, and a
    summary replaces the rest."""
    if tokens_of(messages) < budget * FULL:
        return None
    keep = min(KEEP_MOST, int(len(messages) * KEEP_SHARE))
    room = budget * KEPT_ROOM
    while keep > 1 and tokens_of(messages[-keep:]) > room:
        keep -= 1  # the kept messages and the summary must fit
    edge = len(messages) - keep
    old, recent = tuple(messages[:edge]), tuple(messages[edge:])
    if not old:
        return None
    summary = summarise_extractively(old, max(40, int(budget * SUMMARY_SHARE)))
    head = ConversationMessage("system", f"[Conversation summary: {summary}]")
    return Compaction((head, *recent), summary, old)


def summarise_extractively(messages: Sequence[ConversationMessage], tokens: int) -> str:
    """The most informative sentences of some messages, facts first, within so many tokens."""
    found = extract([one.content for one in messages], 3 * tokens, 40)
    lines = sorted(found.sentences, key=lambda line: not is_conclusion(line))
    kept: list[str] = []
    spent = 0
    for line in [*lines, *([f"Also named: {', '.join(found.words)}"] if found.words else [])]:
        cost = count_tokens(line) + 1
        if spent + cost <= tokens:
            kept.append(line)
            spent += cost
    return " ".join(kept)


def episode_of(
    compaction: Compaction, namespace: str, session_id: str | None, now: datetime
) -> Record:
    """The record that keeps the summarised messages in full."""
    said = "\n\n".join(one.content for one in compaction.summarised)
    title = " ".join((compaction.summary or said).split())
    return Record(
        record_id=ids.new_id(ids.RECORD),
        namespace=namespace,
        kind="episode",
        title=title[:199] or "A conversation",
        summary=compaction.summary[:4000],
        detail=said,
        concepts=(AUTO,),
        level="compressed",
        strategy="rules",
        author="assistant",
        session_id=session_id,
        importance=5,
        valid_from=now,
        expires_at=now + COMPRESSED_LIFE,
    )


def left_for_memories(budget: TokenBudget, messages: Sequence[ConversationMessage]) -> int:
    """The tokens of a context window that are left for memories, less a margin."""
    used = budget.system_prompt + budget.user_profile + budget.preferences
    used += tokens_of(messages) + budget.response_reserve
    return max(0, int(budget.total - used - budget.total * MARGIN))


def tokens_of(messages: Sequence[ConversationMessage]) -> int:
    return sum(count_tokens(one.content) + 4 for one in messages)  # for its role
