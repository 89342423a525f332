"""What was forgotten or refused is not told: a stone on the statement, not on the row.

In: a memory, or a thing of the graph, that somebody forgot, corrected or never wants to see again.
Out: other memories without what it said. Only fingerprints and hashed words are kept, so a stone
does not repeat what it covers.

A stone covers what was made of the same statement: what shares its events or its session, in any
words that are near to it. Put with "never again" it also covers the same statement wherever and
whenever it is said, and what says it is not learned. Lifting it brings everything back, because
nothing but the stone was written.
"""

import dataclasses
import functools
import hashlib
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import msgspec

from recollect.core import ids
from recollect.core.clock import to_micros
from recollect.core.values import (
    Candidate,
    Checkpoint,
    Entity,
    Fact,
    Operation,
    Preference,
    Procedure,
    Record,
    Relationship,
)
from recollect.extract import statement_match
from recollect.extract.interface import (
    ChangeClaim,
    Claim,
    Dropped,
    Extraction,
    FactClaim,
    PreferenceClaim,
)
from recollect.extract.statement_match import Words
from recollect.store.interface import Store, Transaction

REFUSED = "refused"
MOST_STATEMENTS = 200  # of one memory
MOST_EVENTS = 500
MOST_LOOKED_UP = 50
_KEPT = 4000  # memories whose told form is remembered
_TITLE_CHARS = 200
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset({"a", "an", "the"})

# Why a stone lies: a verdict, a delete, a correction, or what was erased for good.
Cause = Literal["verdict", "delete", "edit", "erase"]
Stated = Fact | Preference | Procedure


@dataclass(frozen=True)
class Tombstone:
    """One statement, or the few of one memory, that are not told."""

    record: str
    cause: Cause
    again: bool  # may be learned again from what is said later
    marks: frozenset[str]
    said: tuple[Words, ...] = ()
    wide: tuple[Words, ...] = ()  # looked for wherever it was said
    instead: tuple[Words, ...] = ()  # what a correction says now: that is told
    events: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    until_ms: int = 0

    def hides_own(self, record_id: str) -> bool:
        return self.record == record_id and self.cause != "edit"

    def near(self, events: Iterable[str], session: str | None) -> bool:
        return session in self.sessions or not self.events.isdisjoint(events)

    def covers(self, words: Words, *, near: bool) -> bool:
        """Whether a statement is one of these."""
        if not words:
            return False
        if near and any(statement_match.near(one, words) for one in self.said):
            return not any(
                statement_match.within(one, words) or one == words for one in self.instead
            )
        return not self.again and any(statement_match.within(one, words) for one in self.wide)

    def covers_all(self, words: Words) -> bool:
        """Whether a short form of the statement, of the same events, says little beyond it."""
        return bool(words) and len(words & self.words) >= statement_match.NEAR * len(words)

    def drops(self, words: Words) -> bool:
        """Whether a correction took these words out."""
        return bool(words) and words <= self.words.difference(*self.instead)

    @functools.cached_property
    def words(self) -> Words:
        return frozenset().union(*self.said)


class Tombstones:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Tombstone, ...]] = {}
        self._lying: _Lying | None = None
        self._told: dict[tuple[str, int], Record | None] = {}
        self.epoch = 0  # grows whenever something else may be told
        self.listeners: list[Callable[[], None]] = []

    # --- laying and lifting ---

    def refuse(self, record: Record, actor: str) -> Operation:
        """Never again this memory, nor another that says the same."""
        sessions = self.sessions_of(record)
        detail = stone_of(record, "verdict", again=False, sessions=sessions)
        return self._log(record.namespace, actor, detail)

    def refuse_erased(self, record: Record, actor: str) -> Operation:
        """The same for one that is being erased: nothing but fingerprints of it may stay."""
        marks = sorted({fingerprint(text) for text in texts_of(record)} - {""})
        detail = {"record": "", "cause": "erase", "lifted": False, "fingerprints": marks}
        return self._log(record.namespace, actor, detail)

    def sessions_of(self, made: Record | Stated) -> set[str]:
        """Where it was said. What holds in every project was said in one of them."""
        found = {made.session_id} if isinstance(made, Record) and made.session_id else set()
        for event_id in made.source_event_ids[:MOST_LOOKED_UP]:
            for namespace in dict.fromkeys((made.namespace, *self._store.projects.namespaces())):
                stored = self._store.events.get(namespace, event_id)
                if stored is not None:
                    found.add(stored.event.session_id)
                    break
        return found

    def lift(self, namespace: str, record_id: str, cause: Cause, actor: str) -> Operation | None:
        """Take a stone away again, if one lies."""
        if not any(one.record == record_id and one.cause == cause for one in self._of(namespace)):
            return None
        return self._log(namespace, actor, {"record": record_id, "cause": cause, "lifted": True})

    def lay_again(self, namespace: str, record_id: str, cause: Cause, actor: str) -> None:
        """A stone that was lifted, as it was."""
        for detail in reversed(self._store.log.tombstones(namespace)):
            if _key(detail) == (record_id, cause) and not detail["lifted"]:
                self._log(namespace, actor, detail)
                return

    def forget_known(self) -> None:
        """Stones came or went, here or by another daemon: they are read anew when needed."""
        with self._lock:
            self._known.clear()
            self._told.clear()
            self._lying = None
            self.epoch += 1
        for listener in self.listeners:
            listener()

    def _log(self, namespace: str, actor: str, detail: dict[str, Any]) -> Operation:
        def work(tx: Transaction) -> Operation:
            return tx.log("tombstone", namespace, actor, detail=detail)

        operation = self._store.transaction(work)
        self.forget_known()
        return operation

    # --- what is refused ---

    def refused(self, namespace: str, text: str) -> bool:
        """Whether a text is not to be learned, whoever says it."""
        marked = fingerprint(text)
        return bool(marked) and any(
            marked in one.marks for one in self._of(namespace) if not one.again
        )

    def keeps_out(self, namespace: str, record_id: str, title: str) -> bool:
        """Whether a memory that comes from elsewhere is one that was forgotten or refused."""
        return self._own(record_id) or self.refused(namespace, title)

    def gate(self, extraction: Extraction, namespace: str) -> Extraction:
        """The extraction without what was refused or forgotten."""
        if not self.any(namespace):
            return extraction
        kept: list[Candidate] = []
        dropped = list(extraction.dropped)
        for candidate in extraction.candidates:
            record = candidate.record
            refused = any(self.refused(namespace, one) for one in (record.title, record.summary))
            if refused or self.told(record) is None:
                dropped.append(Dropped(record.title, REFUSED))
                continue
            facts = tuple(fact for fact in record.facts if not self.refused(namespace, fact))
            kept.append(
                msgspec.structs.replace(
                    candidate, record=msgspec.structs.replace(record, facts=facts)
                )
            )
        claims = tuple(one for one in extraction.claims if not self._refuses(namespace, one))
        return dataclasses.replace(
            extraction, candidates=tuple(kept), claims=claims, dropped=tuple(dropped)
        )

    def _refuses(self, namespace: str, claim: Claim) -> bool:
        said = _said(claim)
        return bool(said) and (
            self.refused(namespace, said) or self._hides(namespace, said, claim.event_ids)
        )

    # --- what may be told ---

    def told(self, record: Record) -> Record | None:
        """A memory without what was forgotten; None when nothing is left of it."""
        if not self.any(record.namespace):
            return record
        key = record.record_id, hash((record.title, record.summary, record.detail, record.facts))
        with self._lock:
            epoch = self.epoch
            if key in self._told:
                known = self._told[key]
                # What else there is of it (how often it was used) is as it is now.
                return known and msgspec.structs.replace(
                    record, **{name: getattr(known, name) for name in _TEXTS}
                )
        told = self._without(record)
        with self._lock:
            if len(self._told) >= _KEPT:
                self._told.clear()
            if epoch == self.epoch:
                self._told[key] = told
        return told

    def told_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Where a session stood, without what was forgotten."""
        if not self.any(checkpoint.namespace):
            return checkpoint
        session, lying = checkpoint.session_id, self._everywhere()
        stones = [
            (one, one.near((), session)) for one in self._for(checkpoint.namespace, (), session)
        ]
        stones += [(one, True) for named in checkpoint.snapshot
                   for one in lying.by_record.get(named, ())]  # fmt: skip
        hidden = functools.partial(_hidden, stones)
        told = [
            statement_match.without(one, hidden) for one in (checkpoint.task, checkpoint.progress)
        ]
        steps, questions = (
            tuple(text for one in some if (text := statement_match.without(one, hidden)))
            for some in (checkpoint.next_steps, checkpoint.questions)
        )
        task, *progress = [one for one in told if one] or [""]
        if not (task or steps or questions):
            return None
        return msgspec.structs.replace(
            checkpoint,
            task=task,
            progress="\n".join(progress),
            next_steps=steps,
            questions=questions,
        )

    def tells(self, thing: Stated) -> bool:
        """Whether a fact, wish or procedure may be told."""
        if not self.any(thing.namespace):
            return True
        thing_id = str(getattr(thing, thing.__struct_fields__[0]))
        # What a fact is about and how it is so are often the extractor's words, not the speaker's.
        core = thing.object if isinstance(thing, Fact) else ""
        texts = _texts_of_thing(thing)
        return not self._own(thing_id) and not any(
            self._hides(thing.namespace, text, thing.source_event_ids, core) for text in texts
        )

    def ties(self, tie: Relationship, names: Mapping[str, str]) -> bool:
        """Whether a tie between two things is what was forgotten."""
        words = statement_match.telling(
            " ".join(names.get(end, "") for end in (tie.source_id, tie.target_id))
        )
        return bool(words) and any(
            stone.near(tie.source_event_ids, None) and stone.covers_all(words)
            for stone in self._for(tie.namespace, tie.source_event_ids, None)
            if not stone.instead
        )

    def names(self, entity: Entity) -> bool:
        """Whether what was forgotten spoke of it: then it is told only if something else does."""
        words = statement_match.telling(entity.name)
        return bool(words) and any(words <= one.words for one in self._of(entity.namespace))

    def told_text(self, namespace: str, text: str) -> str:
        """A text of no known origin, without what was forgotten."""
        if not text or not self.any(namespace):
            return text
        stones = [(one, True) for one in self._of(namespace)]
        return statement_match.without(text, functools.partial(_hidden, stones))

    def _hides(self, namespace: str, text: str, events: Sequence[str], core: str = "") -> bool:
        """Whether a short text that was made of these events says what was forgotten; `core` is
        the part that says it all."""
        words, least = statement_match.telling(text), statement_match.telling(core)
        for stone in self._for(namespace, events, None):
            if not stone.near(events, None):
                hidden = stone.covers(words, near=False)
            elif stone.again and _said_since(stone, events):
                hidden = False
            elif stone.instead:
                hidden = stone.covers(words, near=True) or stone.drops(least)
            else:
                hidden = stone.covers_all(words) or (bool(least) and least <= stone.words)
            if hidden:
                return True
        return False

    def _without(self, record: Record) -> Record | None:
        if self._own(record.record_id):
            return None
        by_hand = record.strategy == "user" and record.author == "user"
        made_ms = to_micros(record.created_at or record.valid_from) // 1000
        stones = []
        for one in self._for(record.namespace, record.source_event_ids, record.session_id):
            if one.record == record.record_id or (by_hand and made_ms > one.until_ms):
                continue  # what somebody puts in by hand after all is meant
            near = one.near(record.source_event_ids, record.session_id)
            stones.append((one, near or not (record.source_event_ids or record.session_id)))
        if not stones:
            return record
        hidden = functools.partial(_hidden, stones)
        marks = frozenset().union(*(one.marks for one, near in stones if near or not one.again))
        title, summary, detail = (
            "" if fingerprint(text) in marks else statement_match.without(text, hidden)
            for text in (record.title, record.summary, record.detail)
        )
        facts = tuple(
            fact
            for fact in record.facts
            if fingerprint(fact) not in marks and statement_match.without(fact, hidden)
        )
        if (title, summary, detail, facts) == (
            record.title, record.summary, record.detail, record.facts,
        ):  # fmt: skip
            return record
        title = title or _first_line(summary) or _first_line(detail) or next(iter(facts), "")
        if not title or not any(
            statement_match.statements(" ".join((title, summary, detail, *facts)))
        ):
            return None
        return msgspec.structs.replace(
            record, title=title, summary=summary, detail=detail, facts=facts
        )

    # --- the stones ---

    def any(self, namespace: str) -> bool:
        """Whether anything is kept back there."""
        return bool(self._of(namespace) or self._everywhere().by_record)

    def _for(
        self, namespace: str, events: Sequence[str], session: str | None
    ) -> tuple[Tombstone, ...]:
        """Those that may say something of what was made of these events: of any namespace those
        of the same origin, as what holds in every project is made of what was said in one; of its
        own those that are looked for wherever something is said. What has no origin meets all."""
        here = self._of(namespace)
        if not events and not session:
            return here
        lying = self._everywhere()
        found = {id(one): one for one in here if not one.again}
        for known in (*(lying.by_event.get(one, ()) for one in events),
                      lying.by_session.get(session or "", ())):  # fmt: skip
            found.update((id(one), one) for one in known)
        return tuple(found.values())

    def _own(self, record_id: str) -> bool:
        return any(
            one.hides_own(record_id) for one in self._everywhere().by_record.get(record_id, ())
        )

    def _of(self, namespace: str) -> tuple[Tombstone, ...]:
        with self._lock:
            known, epoch = self._known.get(namespace), self.epoch
        if known is None:
            known = standing(self._store.log.tombstones(namespace))
            with self._lock:
                if epoch == self.epoch:  # else it may be older than what was just laid
                    known = self._known.setdefault(namespace, known)
        return known

    def _everywhere(self) -> "_Lying":
        with self._lock:
            known, epoch = self._lying, self.epoch
        if known is None:
            known = _Lying(
                one
                for namespace in self._store.projects.namespaces()
                for one in self._of(namespace)
            )
            with self._lock:
                if epoch == self.epoch:
                    self._lying = known
        return known


class _Lying:
    """All stones, by what they are found by."""

    def __init__(self, stones: Iterable[Tombstone]) -> None:
        self.by_event: dict[str, list[Tombstone]] = {}
        self.by_session: dict[str, list[Tombstone]] = {}
        self.by_record: dict[str, list[Tombstone]] = {}
        for stone in stones:
            self.by_record.setdefault(stone.record, []).append(stone)
            for session in stone.sessions:
                self.by_session.setdefault(session, []).append(stone)
            for event in stone.events:
                self.by_event.setdefault(event, []).append(stone)


_TEXTS = ("title", "summary", "detail", "facts")


def stone_of(
    record: Record,
    cause: Cause,
    *,
    again: bool,
    sessions: Iterable[str] = (),
    at: datetime | None = None,
) -> dict[str, Any]:
    """What a stone on a memory says, for the log. A turn is its whole text; of anything else only
    what it says in short."""
    texts = [*texts_of(record), *([record.detail] if record.traits.text_in_detail else [])]
    said = [one for text in texts for one in statement_match.statements(text)]
    return _detail(
        record.record_id,
        cause,
        again=again,
        marks=texts_of(record),
        said=said,
        wide=[statement_match.telling(text) for text in (record.title, *record.facts)],
        events=record.source_event_ids,
        sessions=sessions,
        at=at,
    )


def stone_of_thing(
    thing: Stated, cause: Cause, sessions: Iterable[str], at: datetime
) -> dict[str, Any]:
    """The same for a fact, a wish or a procedure; it may be learned again."""
    texts = _texts_of_thing(thing)
    return _detail(
        str(getattr(thing, thing.__struct_fields__[0])),
        cause,
        again=True,
        marks=texts,
        said=[statement_match.telling(text) for text in texts],
        events=thing.source_event_ids,
        sessions=sessions,
        at=at,
    )


def stone_of_edit(
    before: Record, now: Record, sessions: Iterable[str], at: datetime
) -> dict[str, Any] | None:
    """The old wording of a memory that was corrected; None when no statement of it went."""
    old = {one for text in texts_of(before) for one in statement_match.statements(text)}
    new = {one for text in texts_of(now) for one in statement_match.statements(text)}
    if not old - new:
        return None
    gone = set(texts_of(before)) - set(texts_of(now))
    return _detail(
        before.record_id,
        "edit",
        again=True,
        marks=tuple(gone),
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
    marks: Iterable[str],
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
        "fingerprints": sorted({fingerprint(text) for text in marks} - {""}),
        "said": listed(said),
        "wide": listed(wide),
        "instead": listed(instead),
        "events": list(events[:MOST_EVENTS]),
        "sessions": sorted(sessions),
        "until_ms": to_micros(at) // 1000 if at else 0,
    }


def standing(details: Iterable[Any]) -> tuple[Tombstone, ...]:
    """The stones that lie after all that was laid and lifted, in the order of the log. What was
    erased took the words of its own stones along: such a row says nothing any more."""
    stones: dict[tuple[str, Any], Tombstone] = {}
    for number, detail in enumerate(details):
        if not isinstance(detail, dict):
            continue
        record, cause = _key(detail)
        if detail.get("lifted"):
            gone = [key for key in stones if key == (record, cause)]
            if "cause" not in detail:  # of before there were causes
                gone = [key for key in stones if key[0] == record]
            for key in gone:
                del stones[key]
            continue
        stones[(record, cause) if record else ("", number)] = Tombstone(
            record=record,
            cause=cause,
            again=bool(detail.get("again")),
            marks=frozenset(detail.get("fingerprints", ())),
            said=tuple(map(frozenset, detail.get("said", ()))),
            wide=tuple(map(frozenset, detail.get("wide", ()))),
            instead=tuple(map(frozenset, detail.get("instead", ()))),
            events=frozenset(detail.get("events", ())),
            sessions=frozenset(detail.get("sessions", ())),
            until_ms=int(detail.get("until_ms", 0)),
        )
    return tuple(stones.values())


def _key(detail: Any) -> tuple[str, Cause]:
    if not isinstance(detail, dict):
        return "", "erase"
    before: Cause = "delete" if detail.get("deleted") else "verdict"
    cause: Cause = detail.get("cause") or before
    return str(detail.get("record", "")), cause


def _hidden(stones: Sequence[tuple[Tombstone, bool]], words: Words) -> bool:
    return any(stone.covers(words, near=near) for stone, near in stones)


def _said_since(stone: Tombstone, events: Sequence[str]) -> bool:
    """Whether it was said again after it was forgotten."""
    return any(one not in stone.events and ids.ulid_ms(one) > stone.until_ms for one in events)


def _first_line(text: str) -> str:
    line = next((one.strip() for one in text.splitlines() if one.strip()), "")
    if len(line) <= _TITLE_CHARS:
        return line
    return line[: _TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def _texts_of_thing(thing: Stated) -> tuple[str, ...]:
    match thing:
        case Fact():
            return (f"{thing.subject} {thing.predicate} {thing.object}".replace("_", " "),)
        case Preference():
            return (thing.value,)
        case Procedure():
            return (f"{thing.name} {thing.trigger} {' '.join(thing.steps)}",)


def fingerprint(text: str) -> str:
    """The same for texts that say the same in the same words; nothing for no words. Words are
    compared without case, punctuation and articles, in their order: "tabs, not spaces" is not
    "spaces, not tabs"."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = [word for word in _WORD.findall(folded) if word not in _ARTICLES]
    if not words:
        return ""
    return hashlib.blake2b(" ".join(words).encode(), digest_size=12).hexdigest()


def texts_of(record: Record) -> tuple[str, ...]:
    """What of a memory is a value by itself."""
    return record.title, record.summary, *record.facts


def _said(claim: Claim) -> str:
    match claim:
        case FactClaim():
            return f"{claim.subject} {claim.predicate} {claim.object}"
        case PreferenceClaim():
            return claim.value
        case ChangeClaim():
            return claim.text
    return ""
