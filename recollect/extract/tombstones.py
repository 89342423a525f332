"""Tombstones hide what was forgotten or refused: they cover a statement, not a row.

In: a memory or belief that somebody forgot, corrected or never wants to see again. Out: other
memories without its statements. A tombstone holds only fingerprints and hashed words, so it does
not repeat what it covers.

A tombstone covers everything made from the same statement: what shares its events or its session
and has similar words. A memory without events, such as one written by hand or an imported commit,
has no origin in common with another. With "never again" it covers the statement wherever and
whenever it is made, and nothing that contains it is learned. Lifting a tombstone brings everything
back, because nothing else was written.
"""

import dataclasses
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from recollect.core import ids
from recollect.core.clock import to_micros
from recollect.core.values import (
    Candidate,
    Checkpoint,
    Entity,
    Fact,
    Operation,
    Receipt,
    Record,
    Relationship,
    TurnWork,
)
from recollect.extract.interface import (
    ChangeClaim,
    Claim,
    Dropped,
    EndClaim,
    Extraction,
    FactClaim,
    PreferenceClaim,
)
from recollect.extract.statement_match import (
    NEAR,
    WHOLE,
    Words,
    statements,
    without_statements,
    word_hashes,
)
from recollect.extract.tombstone_entry import (
    Cause,
    StatedBelief,
    Tombstone,
    active_tombstones,
    fingerprint,
    key_of_entry,
    texts_of,
    texts_of_belief,
    tombstone_of,
)
from recollect.store.interface import Store, Transaction, details_of

REFUSED = "refused"
MOST_LOOKED_UP = 50
_KEPT = 4000  # memories whose visible form is cached
_TITLE_CHARS = 200


class Tombstones:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: _TombstoneLookup | None = None
        self._visible_cache: dict[tuple[str, int], Record | None] = {}
        self.epoch = 0  # grows whenever the visible memories may have changed
        self.listeners: list[Callable[[], None]] = []

    # --- adding and lifting ---

    def refuse(self, record: Record, actor: str) -> Operation:
        """Never show this memory again, nor another that says the same."""
        sessions = self.sessions_of(record)
        detail = tombstone_of(record, "verdict", again=False, sessions=sessions)
        return self._log(record.namespace, actor, detail)

    def refuse_erased(self, record: Record, actor: str) -> Operation:
        """The same for a memory that is being erased: only its fingerprints may stay."""
        marks = sorted({fingerprint(text) for text in texts_of(record)} - {""})
        detail = {"record": "", "cause": "erase", "lifted": False, "fingerprints": marks}
        return self._log(record.namespace, actor, detail)

    def sessions_of(self, made: Record | StatedBelief) -> set[str]:
        """The sessions it came from; those of a global memory are in some project."""
        found = {made.session_id} if isinstance(made, Record) and made.session_id else set()
        for event_id in made.source_event_ids[:MOST_LOOKED_UP]:
            for namespace in dict.fromkeys((made.namespace, *self._store.projects.namespaces())):
                stored = self._store.events.get(namespace, event_id)
                if stored is not None:
                    found.add(stored.event.session_id)
                    break
        return found

    def correction_of(self, record: Record) -> Tombstone | None:
        """The tombstone of the statements that corrections removed from a memory."""
        here = self.lookup(record.namespace).by_namespace[record.namespace]
        made = (one for one in here if (one.record, one.cause) == (record.record_id, "edit"))
        return next(made, None)

    def lift(
        self, namespace: str, record_id: str, cause: Cause, actor: str, by: str = ""
    ) -> Operation | None:
        """Remove a tombstone, if there is one; `by`: of a correction, the change it came from."""
        if not any(
            one.record == record_id and one.cause == cause
            for one in self.lookup(namespace).by_namespace[namespace]
        ):
            return None
        detail = {"record": record_id, "cause": cause, "by": by, "lifted": True}
        return self._log(namespace, actor, detail)

    def restore(
        self, namespace: str, record_id: str, cause: Cause, actor: str, by: str = ""
    ) -> None:
        """Put a lifted tombstone back."""
        wanted = [(record_id, cause, by), (record_id, cause, "")]
        for detail in reversed(details_of(self._store.log, namespace, "tombstone")):
            if key_of_entry(detail) in wanted and not detail["lifted"]:
                self._log(namespace, actor, detail)
                return

    def reload(self) -> None:
        """Tombstones changed, here or in another daemon: read them again when needed."""
        with self._lock:
            self._visible_cache.clear()
            self._known = None
            self.epoch += 1
        for listener in self.listeners:
            listener()

    def _log(self, namespace: str, actor: str, detail: dict[str, Any]) -> Operation:
        def work(tx: Transaction) -> Operation:
            return tx.log("tombstone", namespace, actor, detail=detail)

        operation = self._store.transaction(work)
        self.reload()
        return operation

    # --- what is refused ---

    def refused(self, namespace: str, text: str) -> bool:
        """Whether a text must not be learned, whoever says it."""
        marked = fingerprint(text)
        return bool(marked) and any(
            marked in one.fingerprints
            for one in self.lookup(namespace).by_namespace[namespace]
            if not one.may_be_relearned
        )

    def keeps_out(self, namespace: str, record_id: str, title: str) -> bool:
        """Whether a memory that comes from elsewhere is one that was forgotten or refused."""
        return self._covers_record(namespace, record_id) or self.refused(namespace, title)

    def gate(self, extraction: Extraction, namespace: str) -> Extraction:
        """The extraction without what was refused or forgotten."""
        if not self.lookup(namespace).by_record:
            return extraction
        kept: list[Candidate] = []
        dropped = list(extraction.dropped)
        for candidate in extraction.candidates:
            record = candidate.record
            refused = any(self.refused(namespace, one) for one in (record.title, record.summary))
            if refused or self.visible_record(record) is None:
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
        said = _text_of_claim(claim)
        return bool(said) and (
            self.refused(namespace, said) or self._hides(namespace, said, claim.event_ids)
        )

    # --- what is visible ---

    def visible_record(self, record: Record) -> Record | None:
        """A memory without forgotten statements; None when nothing is left of it."""
        if not self.lookup(record.namespace).by_record:
            return record
        key = record.record_id, hash((record.title, record.summary, record.detail, record.facts))
        with self._lock:
            epoch = self.epoch
            if key in self._visible_cache:
                known = self._visible_cache[key]
                # The texts are cached; other fields, such as its use count, may have changed.
                return known and msgspec.structs.replace(
                    record, **{name: getattr(known, name) for name in _TEXTS}
                )
        told = self._filtered(record)
        with self._lock:
            if len(self._visible_cache) >= _KEPT:
                self._visible_cache.clear()
            if epoch == self.epoch:
                self._visible_cache[key] = told
        return told

    def visible_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """A checkpoint without forgotten statements; None when nothing is left of it."""
        if not self.lookup(checkpoint.namespace).by_record:
            return checkpoint
        session, known = checkpoint.session_id, self.lookup(checkpoint.namespace)
        stones = [
            (one, NEAR * one.shares_origin((), session))
            for one in self._applying_to(checkpoint.namespace, (), session)
        ]
        stones += [(one, NEAR) for named in checkpoint.snapshot
                   for one in known.by_record.get(named, ())]  # fmt: skip
        hidden = functools.partial(_hidden, stones)
        told = [without_statements(one, hidden) for one in (checkpoint.task, checkpoint.progress)]
        steps, questions = (
            tuple(text for one in some if (text := without_statements(one, hidden)))
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

    def is_visible(self, thing: StatedBelief) -> bool:
        """Whether a fact, preference or procedure may be shown."""
        if not self.lookup(thing.namespace).by_record:
            return True
        thing_id = str(getattr(thing, thing.__struct_fields__[0]))
        # Subject and predicate of a fact are often the extractor's words, not the speaker's.
        core = thing.object if isinstance(thing, Fact) else ""
        texts = texts_of_belief(thing)
        return not self._covers_record(thing.namespace, thing_id) and not any(
            self._hides(thing.namespace, text, thing.source_event_ids, core) for text in texts
        )

    def covers_relationship(self, tie: Relationship, names: Mapping[str, str]) -> bool:
        """Whether a relationship states what was forgotten."""
        words = word_hashes(" ".join(names.get(end, "") for end in (tie.source_id, tie.target_id)))
        return bool(words) and any(
            stone.shares_origin(tie.source_event_ids, None) and stone.covers_all(words)
            for stone in self._applying_to(tie.namespace, tie.source_event_ids, None)
            if not stone.instead
        )

    def mentions(self, entity: Entity) -> bool:
        """Whether something forgotten names the entity: then it is shown only if a visible fact or
        relationship has it, too."""
        words = word_hashes(entity.name)
        return bool(words) and any(
            words <= one.words
            for one in self.lookup(entity.namespace).by_namespace[entity.namespace]
        )

    def visible_text(self, namespace: str, text: str, events: Sequence[str] = ()) -> str:
        """A text of these events without forgotten statements; of others, or without a known
        origin, it loses only what has all words of a forgotten statement."""
        if not text or not self.lookup(namespace).by_record:
            return text
        stones = [
            (one, NEAR if one.shares_origin(events, None) else WHOLE)
            for one in self.lookup(namespace).by_namespace[namespace]
        ]
        return without_statements(text, functools.partial(_hidden, stones))

    def visible_receipt(self, receipt: Receipt) -> Receipt:
        """A receipt without forgotten statements in the prompt, the injected text and the titles of
        its candidates: they come from many memories, so they count as of unknown origin."""
        if not self.lookup(receipt.namespace).by_record:
            return receipt
        detail = receipt.detail
        if isinstance(detail, dict):
            detail = {
                name: self._visible_part(receipt.namespace, name, part)
                for name, part in detail.items()
            }
        query = self._visible_brief(receipt.namespace, receipt.query)
        return msgspec.structs.replace(receipt, query=query, detail=detail)

    def _visible_part(self, namespace: str, name: str, part: Any) -> Any:
        """One entry of a receipt's detail. A forgotten memory is shown without its title."""
        if name in ("text", "shadow_text"):
            return self._visible_brief(namespace, part)
        if name not in ("candidates", "known"):
            return part
        shown = []
        for one in part:
            text = "title" if name == "candidates" else "text"
            gone = self._covers_record(namespace, one.get("record_id") or one.get("id", ""))
            told = "" if gone else self._visible_brief(namespace, one.get(text, ""))
            shown.append({**one, text: told})
        return shown

    def visible_work(self, work: TurnWork) -> TurnWork | None:
        """What was done in a turn, without what was forgotten; None for a forgotten turn. Commands,
        their errors and the subjects of commits are statements. A path or a name is only hidden
        when it is all that a statement says: many statements merely mention one."""
        if not self.lookup(work.namespace).by_record:
            return work
        if self._covers_record(work.namespace, ids.RECORD + work.turn_id):
            return None
        stones = [
            (one, NEAR * one.shares_origin((work.turn_id,), work.session_id))
            for one in self._applying_to(work.namespace, (work.turn_id,), work.session_id)
        ]
        if not stones:
            return work
        said = functools.cache(functools.partial(_said_in, stones))
        named = functools.cache(functools.partial(_named_in, stones))
        return msgspec.structs.replace(
            work,
            branch="" if named(work.branch) else work.branch,
            actions=tuple(
                msgspec.structs.replace(one, error="") if said(one.error) else one
                for one in work.actions
                if not named(one.path) and not named(one.was) and not said(one.command)
            ),
            commits=tuple(one for one in work.commits if not said(one)),
            defines=tuple(
                (name, path) for name, path in work.defines if not named(name) and not named(path)
            ),
            edited={
                path: tuple(name for name in names if not named(name))
                for path, names in work.edited.items()
                if not named(path)
            },
        )

    def _visible_brief(self, namespace: str, text: str) -> str:
        """The same for a text that also holds memories of the namespace for all projects."""
        everywhere = namespace.partition("project/")[0]
        return self.visible_text(everywhere, self.visible_text(namespace, text))

    def _hides(self, namespace: str, text: str, events: Sequence[str], core: str = "") -> bool:
        """Whether a short text made from these events states what was forgotten; `core` is its
        decisive part."""
        words, least = (
            word_hashes(text),
            word_hashes(core),
        )
        for stone in self._applying_to(namespace, events, None):
            if not stone.shares_origin(events, None):
                hidden = stone.covers(words, near=0)
            elif stone.may_be_relearned and _said_again_since(stone, events):
                hidden = False
            elif stone.instead:
                hidden = stone.covers(words, near=NEAR) or stone.drops(least)
            else:
                hidden = stone.covers_all(words) or (bool(least) and least <= stone.words)
            if hidden:
                return True
        return False

    def _filtered(self, record: Record) -> Record | None:
        if self._covers_record(record.namespace, record.record_id):
            return None
        by_hand = record.strategy == "user" and record.author == "user"
        made_ms = to_micros(record.created_at or record.valid_from) // 1000
        stones = []
        for one in self._applying_to(record.namespace, record.source_event_ids, record.session_id):
            same_words = not one.events.isdisjoint(record.source_event_ids)
            wanted = by_hand and made_ms > one.until_ms and not same_words
            if one.record == record.record_id or wanted:
                continue  # written by hand after the tombstone, and no quotation of what it covers
            stones.append((one, _nearness(one, record)))
        return _without(record, stones) if stones else record

    def would_hide(self, entry: dict[str, Any], record: Record) -> bool:
        """Whether a memory would lose something by a tombstone that is not written yet."""
        stone = active_tombstones([entry])[0]
        return _without(record, [(stone, _nearness(stone, record))]) != record

    # --- the tombstones ---

    def _applying_to(
        self, namespace: str, events: Sequence[str], session: str | None
    ) -> tuple[Tombstone, ...]:
        """The tombstones that may cover a memory made from these events: those of the same origin
        in any namespace (a global memory was made in a project), and those of its own namespace
        that apply whatever the origin. A memory without an origin is compared with all of them."""
        known = self.lookup(namespace)
        here = known.by_namespace[namespace]
        if not events and not session:
            return here
        found = {id(one): one for one in here if not one.may_be_relearned}
        for some in (*(known.by_event.get(one, ()) for one in events),
                     known.by_session.get(session or "", ())):  # fmt: skip
            found.update((id(one), one) for one in some)
        return tuple(found.values())

    def _covers_record(self, namespace: str, record_id: str) -> bool:
        stones = self.lookup(namespace).by_record.get(record_id, ())
        return any(one.covers_record(record_id) for one in stones)

    def lookup(self, namespace: str) -> "_TombstoneLookup":
        """All tombstones, those of this namespace among them; without any, nothing is hidden."""
        with self._lock:
            known, epoch = self._known, self.epoch
        if known is None or namespace not in known.by_namespace:
            others = () if known else self._store.projects.namespaces()
            read = {
                one: active_tombstones(details_of(self._store.log, one, "tombstone"))
                for one in dict.fromkeys((*others, namespace))
            }
            known = _TombstoneLookup({**known.by_namespace, **read} if known else read)
            with self._lock:
                if epoch == self.epoch:  # else a newer tombstone may be missing
                    self._known = known
        return known


class _TombstoneLookup:
    """All tombstones by namespace, event, session and record."""

    def __init__(self, by_namespace: Mapping[str, tuple[Tombstone, ...]]) -> None:
        self.by_namespace = by_namespace
        self.by_event: dict[str, list[Tombstone]] = {}
        self.by_session: dict[str, list[Tombstone]] = {}
        self.by_record: dict[str, list[Tombstone]] = {}
        for stone in (one for some in by_namespace.values() for one in some):
            self.by_record.setdefault(stone.record, []).append(stone)
            for session in stone.sessions:
                self.by_session.setdefault(session, []).append(stone)
            for event in stone.events:
                self.by_event.setdefault(event, []).append(stone)


_TEXTS = ("title", "summary", "detail", "facts")


def _without(record: Record, stones: Sequence[tuple[Tombstone, float]]) -> Record | None:
    """A memory without what these tombstones hide; None when nothing is left of it."""
    hidden = functools.partial(_hidden, stones)
    marks = frozenset().union(
        *(one.fingerprints for one, near in stones if near or not one.may_be_relearned)
    )
    title, summary, detail = (
        "" if fingerprint(text) in marks else without_statements(text, hidden)
        for text in (record.title, record.summary, record.detail)
    )
    facts = tuple(
        fact
        for fact in record.facts
        if fingerprint(fact) not in marks and without_statements(fact, hidden)
    )
    if (title, summary, detail, facts) == (
        record.title, record.summary, record.detail, record.facts,
    ):  # fmt: skip
        return record
    title = title or _first_line(summary) or _first_line(detail) or next(iter(facts), "")
    if not title or not any(statements(" ".join((title, summary, detail, *facts)))):
        return None
    return msgspec.structs.replace(record, title=title, summary=summary, detail=detail, facts=facts)


def _nearness(stone: Tombstone, record: Record) -> float:
    """The share of a statement's words that must be the forgotten ones; 0: it is not compared. In a
    session there are many statements about one subject, so only what came from the same events,
    and the session's summary, may differ in some words. A memory without events stands for itself,
    whatever its words, except the digest of a day, which repeats memories of any origin."""
    events, session = record.source_event_ids, record.session_id
    repeats = record.traits.is_summary
    if not stone.events.isdisjoint(events) or (repeats and stone.shares_origin((), session)):
        return NEAR
    if events:
        return WHOLE if stone.shares_origin((), session) else 0
    return WHOLE if repeats and not session and record.strategy == "rules" else 0


def _hidden(stones: Sequence[tuple[Tombstone, float]], words: Words) -> bool:
    return any(stone.covers(words, near=near) for stone, near in stones)


def _said_in(stones: Sequence[tuple[Tombstone, float]], text: str) -> bool:
    """Whether a short text is a forgotten statement."""
    if not text:
        return False
    mark = fingerprint(text)
    same = any(
        mark in stone.fingerprints for stone, near in stones if near or not stone.may_be_relearned
    )
    return same or _hidden(stones, word_hashes(text))


def _named_in(stones: Sequence[tuple[Tombstone, float]], name: str) -> bool:
    """Whether a forgotten statement says no more than this name."""
    if not name:
        return False
    mark, words = fingerprint(name), word_hashes(name)
    return any(
        mark in stone.fingerprints or words in (stone.statements if near else stone.anywhere)
        for stone, near in stones
        if near or not stone.may_be_relearned
    )


def _said_again_since(stone: Tombstone, events: Sequence[str]) -> bool:
    """Whether a statement was made again after it was forgotten."""
    return any(one not in stone.events and ids.ulid_ms(one) > stone.until_ms for one in events)


def _first_line(text: str) -> str:
    line = next((one.strip() for one in text.splitlines() if one.strip()), "")
    if len(line) <= _TITLE_CHARS:
        return line
    return line[: _TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def _text_of_claim(claim: Claim) -> str:
    match claim:
        case FactClaim():
            return f"{claim.subject} {claim.predicate} {claim.object}"
        case PreferenceClaim():
            return claim.value
        case ChangeClaim() | EndClaim():
            return claim.text
    return ""
