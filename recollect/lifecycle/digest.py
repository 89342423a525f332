"""Summarises a day or a week in one paragraph: work, decisions, and what kept coming back.

In: memories of a day or a week. Out: a summary made of their own sentences.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from recollect.core import ids
from recollect.core.values import Record
from recollect.lifecycle.extractive_summary import extract, is_conclusion

Span = Literal["daily", "weekly"]

DAYS_BACK = 3
WEEKS_BACK = 2
MOST_FACTS = 8
CHARS = {"daily": 900, "weekly": 1400}
_ENDS = ".!?…。！？"


def spans(now: datetime) -> list[tuple[Span, date, datetime, datetime]]:
    """The recent days and weeks that are over, oldest first; weeks begin on Monday."""
    today = now.astimezone(UTC).date()
    found: list[tuple[Span, date, datetime, datetime]] = []
    for back in range(DAYS_BACK, 0, -1):
        day = today - timedelta(days=back)
        found.append(("daily", day, _midnight(day), _midnight(day + timedelta(days=1))))
    monday = today - timedelta(days=today.weekday())
    for back in range(WEEKS_BACK, 0, -1):
        first = monday - timedelta(weeks=back)
        found.append(("weekly", first, _midnight(first), _midnight(first + timedelta(weeks=1))))
    return found


def mark(span: Span, first: date) -> str:
    return f"{'day' if span == 'daily' else 'week'}:{first.isoformat()}"


def digest(span: Span, first: date, memories: Sequence[Record]) -> Record:
    """The summary of some memories; turns come last."""
    ordered = sorted(memories, key=lambda one: (one.traits.is_turn, -one.importance))
    texts = [f"{one.title}\n{one.summary}" for one in ordered]
    facts = list(
        dict.fromkeys(fact for one in ordered for fact in one.facts if is_conclusion(fact))
    )
    found = extract(texts, CHARS[span], 0)
    files = Counter(path for one in memories for path in one.files)
    sessions = {one.session_id for one in memories if one.session_id}
    day = first.isoformat()
    title = f"What happened on {day}" if span == "daily" else f"What the week of {day} showed"
    again = [path for path, count in files.most_common(5) if count > 2]
    # Each ends as a sentence, so that one that is forgotten later can be left out.
    body = " ".join(one if one[-1] in _ENDS else one + "." for one in found.sentences)
    if span == "weekly" and again:
        body = f"What kept coming back: {', '.join(again)}. {body}"
    return Record(
        record_id=_id(memories[0].namespace, mark(span, first)),
        namespace=memories[0].namespace,
        kind="summary",
        title=f"{title}: {len(sessions)} sessions"[:200],
        summary=body[:4000],
        facts=tuple(facts[:MOST_FACTS]),
        files=tuple(path for path, _ in files.most_common(20)),
        category=span,
        strategy="rules",
        author="assistant",
        importance=3,  # it only repeats other memories
        valid_from=_midnight(first),
    )


def _id(namespace: str, name: str) -> str:
    digest = hashlib.blake2b(f"{namespace}\0{name}".encode(), digest_size=8).digest()
    return ids.RECORD + ids.derive_ulid("0" * 26, int.from_bytes(digest, "big") | 1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
