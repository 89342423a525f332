"""A tombstone: the statements of a memory or belief that are hidden, as an entry of the log.

In: what somebody forgot, corrected or never wants to see again, and the log's entries. Out: the
entry to write, and the tombstones that are in force. An entry holds only fingerprints and hashed
words, so it does not repeat what it covers.
"""

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from recollect.core.clock import to_micros
from recollect.core.values import Fact, Preference, Procedure, Record
from recollect.extract.statement_match import (
    NEAR,
    Words,
    contained_in,
    same_statement,
    statements,
    word_hashes,
)

MOST_STATEMENTS = 200  # of one memory
MOST_EVENTS = 500
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset({"a", "an", "the"})

# What a tombstone came from: a verdict, a deletion, a correction, or an erasure.
Cause = Literal["verdict", "delete", "edit", "erase"]
StatedBelief = Fact | Preference | Procedure


@dataclass(frozen=True)
class Tombstone:
    """The statements of one memory or belief that are hidden."""

    record: str
    cause: Cause
    may_be_relearned: bool  # from what is said later
    fingerprints: frozenset[str]
    statements: tuple[Words, ...] = ()
    anywhere: tuple[Words, ...] = ()  # hidden whatever their origin
    instead: tuple[Words, ...] = ()  # the statements of a correction, which stay visible
    events: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    until_ms: int = 0

    def covers_record(self, record_id: str) -> bool:
        return self.record == record_id and self.cause != "edit"

    def shares_origin(self, events: Iterable[str], session: str | None) -> bool:
        return session in self.sessions or not self.events.isdisjoint(events)

    def covers(self, words: Words, *, near: float) -> bool:
        """Whether a statement is one of these; `near` is the share of its words that must be the
        same, 0 when it has another origin."""
        if not words:
            return False
        if near and any(same_statement(one, words, near) for one in self.statements):
            return not any(contained_in(one, words) or one == words for one in self.instead)
        return not self.may_be_relearned and any(contained_in(one, words) for one in self.anywhere)

    def covers_all(self, words: Words) -> bool:
        """Whether a short text of the same events says little beyond the statement."""
        return bool(words) and len(words & self.words) >= NEAR * len(words)

    def drops(self, words: Words) -> bool:
        """Whether a correction removed these words."""
        return bool(words) and words <= self.words.difference(*self.instead)

    @functools.cached_property
    def words(self) -> Words:
        return frozenset().union(*self.statements)


def tombstone_of(
    record: Record,
    cause: Cause,
    *,
    again: bool,
    sessions: Iterable[str] = (),
    at: datetime | None = None,
) -> dict[str, Any]:
    """The log entry of a tombstone on a memory. A turn counts with its whole text, any other memory
    with its title, summary and facts."""
    texts = [*texts_of(record), *([record.detail] if record.traits.text_in_detail else [])]
    said = [one for text in texts for one in statements(text)]
    return _detail(
        record.record_id,
        cause,
        again=again,
        marks={fingerprint(text) for text in texts_of(record)},
        said=said,
        wide=[word_hashes(text) for text in (record.title, *record.facts)],
        events=record.source_event_ids,
        sessions=sessions,
        at=at,
    )


def tombstone_of_belief(
    thing: StatedBelief, cause: Cause, sessions: Iterable[str], at: datetime
) -> dict[str, Any]:
    """The same for a fact, preference or procedure; it may be learned again."""
    texts = texts_of_belief(thing)
    return _detail(
        str(getattr(thing, thing.__struct_fields__[0])),
        cause,
        again=True,
        marks={fingerprint(text) for text in texts},
        said=[word_hashes(text) for text in texts],
        events=thing.source_event_ids,
        sessions=sessions,
        at=at,
    )


def tombstone_of_edit(
    before: Record,
    now: Record,
    earlier: Tombstone | None,
    sessions: Iterable[str],
    at: datetime,
) -> dict[str, Any] | None:
    """The same for the statements that a correction removed, and that the `earlier` corrections of
    the memory had removed; None when there is none of either."""
    old = {one for text in texts_of(before) for one in statements(text)}
    new = {one for text in texts_of(now) for one in statements(text)}
    if earlier is None and not old - new:
        return None
    gone = {fingerprint(text) for text in texts_of(before)}
    if earlier is not None:
        old.update(earlier.statements)
        gone |= earlier.fingerprints
    return _detail(
        before.record_id,
        "edit",
        again=True,
        marks=gone - {fingerprint(text) for text in texts_of(now)},
        said=list(old - new),
        instead=list(new),
        events=before.source_event_ids,
        sessions=sessions,
        at=at,
    )


def _detail(
    record: str,
    cause: Cause,
    *,
    again: bool,
    marks: set[str],
    said: Sequence[Words],
    events: Sequence[str],
    wide: Sequence[Words] = (),
    instead: Sequence[Words] = (),
    sessions: Iterable[str] = (),
    at: datetime | None = None,
) -> dict[str, Any]:
    def listed(some: Iterable[Words]) -> list[list[int]]:
        return [sorted(one) for one in dict.fromkeys(some) if one][:MOST_STATEMENTS]

    return {
        "record": record,
        "cause": cause,
        "lifted": False,
        "again": again,
        "fingerprints": sorted(marks - {""}),
        "said": listed(said),
        "wide": listed(wide),
        "instead": listed(instead),
        "events": list(events[:MOST_EVENTS]),
        "sessions": sorted(sessions),
        "until_ms": to_micros(at) // 1000 if at else 0,
    }


def active_tombstones(details: Iterable[Any]) -> tuple[Tombstone, ...]:
    """The tombstones that are in force, from all log entries in order: of the corrections of one
    memory the last that was not undone. An erasure removes the words from the log entries of its
    own tombstones: such an entry is empty."""
    stones: dict[tuple[str, Any], dict[str, Tombstone]] = {}  # by the change that it came from
    for number, detail in enumerate(details):
        if not isinstance(detail, dict):
            continue
        record, cause, by = key_of_entry(detail)
        if detail.get("lifted"):
            for key in [(record, cause)] if "cause" in detail else list(stones):
                if key[0] == record:  # without a cause: written by a version that had none
                    _lift(stones, key, by)
            continue
        key = (record, cause) if record else ("", number)
        stones.setdefault(key, {}).pop(by, None)
        stones[key][by] = Tombstone(
            record=record,
            cause=cause,
            may_be_relearned=bool(detail.get("again")),
            fingerprints=frozenset(detail.get("fingerprints", ())),
            statements=tuple(map(frozenset, detail.get("said", ()))),
            anywhere=tuple(map(frozenset, detail.get("wide", ()))),
            instead=tuple(map(frozenset, detail.get("instead", ()))),
            events=frozenset(detail.get("events", ())),
            sessions=frozenset(detail.get("sessions", ())),
            until_ms=int(detail.get("until_ms", 0)),
        )
    return tuple(list(kept.values())[-1] for kept in stones.values())


def _lift(
    stones: dict[tuple[str, Any], dict[str, Tombstone]], key: tuple[str, Any], by: str
) -> None:
    kept = stones.get(key, {})
    kept.pop(by if by in kept else "", None)
    if not kept:
        stones.pop(key, None)


def key_of_entry(detail: Any) -> tuple[str, Cause, str]:
    """The memory, the cause and, of a correction, the change that an entry came from."""
    if not isinstance(detail, dict):
        return "", "erase", ""
    before: Cause = "delete" if detail.get("deleted") else "verdict"
    cause: Cause = detail.get("cause") or before
    return str(detail.get("record", "")), cause, str(detail.get("by", ""))


def texts_of_belief(thing: StatedBelief) -> tuple[str, ...]:
    match thing:
        case Fact():
            return (f"{thing.subject} {thing.predicate} {thing.object}".replace("_", " "),)
        case Preference():
            return (thing.value,)
        case Procedure():
            return (f"{thing.name} {thing.trigger} {' '.join(thing.steps)}",)


def fingerprint(text: str) -> str:
    """A digest of a text's words in their order, without case, punctuation and articles; empty for
    a text without words. "tabs, not spaces" is not "spaces, not tabs"."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = [word for word in _WORD.findall(folded) if word not in _ARTICLES]
    if not words:
        return ""
    return hashlib.blake2b(" ".join(words).encode(), digest_size=12).hexdigest()


def texts_of(record: Record) -> tuple[str, ...]:
    """The texts of a memory that are statements by themselves."""
    return record.title, record.summary, *record.facts
