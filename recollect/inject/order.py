"""Fourth stage: the same is told once, and the newer of two before the older.

In: lines that were kept, best first. Out: those that only repeat another one, marked so. A turn is
kept as it was said and as what was learned from it; a rule may have been stated in five sessions.
Of two that say nearly the same the newer one comes first: it may be what holds now ("the timeout is
15 minutes", then "the timeout is 30 minutes").
"""

from collections.abc import Sequence

from recollect.core.text_words import words as words_in
from recollect.core.values import Record
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft

FEWEST = 3  # words of a title, for likeness to mean something
ALIKE = 0.7  # the share of words that two titles have in common
RESTATED = 0.6  # the share of its words that were told as rules
REPEATS = "says the same as another one"


def put_in_order(draft: Draft, told: Sequence[Record] = ()) -> None:
    """Mark what repeats something before it or something told, and move what is newer up."""
    whole = draft.question.trigger == "session-start"
    _drop_restated(draft)
    before = list(told)
    kept: list[BriefLine] = []
    for line in draft.kept:
        if line.record is None:
            continue
        if any(_repeats(line.record, other, whole=whole) for other in before):
            line.why_not = REPEATS
        else:
            before.append(line.record)
            kept.append(line)
    if not whole:
        newest_first(kept)
    moved = iter(kept)
    draft.lines = [
        next(moved) if line.record is not None and not line.why_not else line
        for line in draft.lines
    ]


def _drop_restated(draft: Draft) -> None:
    """What a turn or a session came to is no news when it is a rule that is told anyway."""
    rules = [line for line in draft.kept if line.section == "rules"]
    told = {word for line in rules for word in _words(line)}
    for line in draft.kept:
        derived = line.record is not None and not line.record.traits.is_belief
        if line.section == "state" or derived:
            words = _words(line)
            if len(words & told) >= RESTATED * len(words):
                line.why_not = REPEATS


def _words(line: BriefLine) -> set[str]:
    return set(words_in(render.forms(line, as_sections=True)[0]))


def newest_first(lines: list[BriefLine]) -> None:
    """Move what is newer before the older ones that say nearly the same, and mark those that are
    of the same day: their dates do not tell."""
    for at in range(1, len(lines)):
        older = [other for other in lines[:at] if _renews(lines[at], other)]
        if older:
            place = next(n for n, one in enumerate(lines) if one is older[0])
            lines.insert(place, lines.pop(at))
    for at, newer in enumerate(lines):
        for other in lines[at + 1 :]:
            same_day = _record(newer).valid_from.date() == _record(other).valid_from.date()
            other.older = other.older or (same_day and _renews(newer, other))


def _record(line: BriefLine) -> Record:
    assert line.record is not None
    return line.record


def _renews(newer_line: BriefLine, older_line: BriefLine) -> bool:
    """Whether one says nearly the same as another, and later."""
    newer, older = _record(newer_line), _record(older_line)
    if newer.traits.is_summary or older.traits.is_summary:
        return False  # of a session: it says what its turns say
    if newer.valid_from <= older.valid_from:
        return False
    mine, theirs = _title(newer), _title(older)
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
