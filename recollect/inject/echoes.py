"""The same thing is said once, however many memories hold it.

In: candidates in their order, and what a session was told before. Out: those that only repeat
another one, marked so. A turn is kept as it was said and as what was learned from it; a rule may
have been stated in five sessions. Of two that say nearly the same the newer one comes first: it may
be what holds now ("the timeout is 15 minutes", then "the timeout is 30 minutes").
"""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from recollect.core.values import Record

FEWEST = 3  # words of a title, for likeness to mean something
ALIKE = 0.7  # the share of words that two titles have in common


class Candidate(Protocol):
    record: Record
    why_not: str
    older: bool


C = TypeVar("C", bound=Candidate)


def drop_echoes(
    candidates: Sequence[Candidate], told: Sequence[Record] = (), *, whole: bool = False
) -> None:
    """Mark what repeats something before it. With `whole`, a session's summary stands for its
    turns too: good enough when nobody asked anything yet."""
    before = list(told)
    for found in candidates:
        if any(_repeats(found.record, other, whole=whole) for other in before):
            found.why_not = "says the same as another one"
        else:
            before.append(found.record)


def newest_first(candidates: list[C]) -> None:
    """Move what is newer before the older ones that say nearly the same, and mark those that are
    of the same day: their dates do not tell."""
    for at in range(1, len(candidates)):
        older = [other for other in candidates[:at] if _renews(candidates[at], other)]
        if older:
            place = next(n for n, one in enumerate(candidates) if one is older[0])
            candidates.insert(place, candidates.pop(at))
    for at, found in enumerate(candidates):
        for other in candidates[at + 1 :]:
            same_day = found.record.valid_from.date() == other.record.valid_from.date()
            other.older = other.older or (same_day and _renews(found, other))


def _renews(newer: Candidate, older: Candidate) -> bool:
    """Whether one says nearly the same as another, and later."""
    if newer.record.traits.is_summary or older.record.traits.is_summary:
        return False  # of a session: it says what its turns say
    if newer.record.valid_from <= older.record.valid_from:
        return False
    mine, theirs = _title(newer.record), _title(older.record)
    enough = min(len(mine.split()), len(theirs.split())) >= FEWEST
    return enough and _overlap(mine, theirs) >= ALIKE


def _repeats(record: Record, other: Record, *, whole: bool) -> bool:
    if record.record_id == other.record_id:
        return False
    mine, theirs = _title(record), _title(other)
    together = not set(record.source_event_ids).isdisjoint(other.source_event_ids)
    kinds = (record.traits, other.traits)
    if all(kind.is_turn for kind in kinds):
        return (mine, _flat(record.summary), _flat(record.detail)) == (
            theirs,
            _flat(other.summary),
            _flat(other.detail),
        )
    if any(kind.is_turn for kind in kinds):
        return together and (whole or not any(kind.is_summary for kind in kinds))
    if all(kind.is_summary for kind in kinds):
        return False
    return mine == theirs or (together and _overlap(mine, theirs) >= ALIKE)


def _overlap(one: str, other: str) -> float:
    """Of the shorter title's words, the share that the longer one has too."""
    mine, theirs = set(one.split()), set(other.split())
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))


def _title(record: Record) -> str:
    return _flat(record.title).strip(".!… ")


def _flat(text: str) -> str:
    return " ".join(text.lower().split())
