"""Makes one memory of several, in the judge's words.

In: the judge's text and the memories that it replaces, nearest first. Out: a record with the events
of all of them in first-seen order, trusted as little as its least trusted part.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from recollect.core import ids
from recollect.core.values import Record
from recollect.extract.model_answer import least_trusted
from recollect.extract.quality_gate import hash_of
from recollect.reconcile.judge import Merge

T = TypeVar("T")

_MOST_LISTED = 50
_SEEN_AGAIN = 0.05


def mergeable(record: Record) -> bool:
    """Whether a memory may be rewritten: not when a person wrote or pinned it, or when it is
    derived from events."""
    derived = record.traits.is_summary and record.strategy == "rules"
    return (
        not record.traits.is_turn
        and not derived
        and not (record.pinned or record.strategy == "user")
    )


def alike_in_trust(record: Record, others: Sequence[Record]) -> bool:
    """The user's own words are merged only with the user's own words."""
    return all((record.author == "user") == (other.author == "user") for other in others)


def merged(said: Merge, parts: Sequence[Record], nearest: Sequence[Record]) -> Record:
    """`parts` in first-seen order; `nearest` the same ones by similarity, best first."""
    sessions = {part.session_id for part in parts}
    accessed = [part.last_accessed for part in parts if part.last_accessed is not None]
    sort = next((part.knowledge_type for part in nearest if part.knowledge_type), None)
    record = Record(
        record_id=ids.new_id(ids.RECORD),
        namespace=parts[0].namespace,
        kind=next((part.kind for part in nearest if part.traits.is_belief), nearest[0].kind),
        title=said.title,
        summary=said.summary,
        facts=said.facts or _union(part.facts for part in parts),
        concepts=said.concepts or _union(part.concepts for part in parts),
        files=said.files or _union(part.files for part in parts),
        observation_type=said.observation_type
        or next((part.observation_type for part in nearest if part.observation_type), None),
        tool_class=next((part.tool_class for part in nearest if part.tool_class), None),
        knowledge_type=sort,
        category=next((part.category for part in nearest if part.category), None),
        strategy="llm-reconciled",
        author=least_trusted({part.author for part in parts}),
        session_id=sessions.pop() if len(sessions) == 1 else None,
        importance=max(part.importance for part in parts),
        confidence=min(1.0, max(part.confidence for part in parts) + _SEEN_AGAIN),
        valid_from=min(part.valid_from for part in parts),
        citations=_union(part.citations for part in parts),
        source_event_ids=_all(part.source_event_ids for part in parts),
        access_count=sum(part.access_count for part in parts),
        last_accessed=max(accessed) if accessed else None,
    )
    return msgspec.structs.replace(record, content_hash=hash_of(record))


def _all(lists: Iterable[Sequence[T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(one for values in lists for one in values))


def _union(lists: Iterable[Sequence[T]]) -> tuple[T, ...]:
    return _all(lists)[:_MOST_LISTED]
