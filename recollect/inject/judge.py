"""Second stage: leaves out lines that must not be told, however useful they are.

In: a draft and what its session was told before. Out: the same lines, some with a reason against
telling them. The user's verdicts on what was told (useful, wrong, never) are kept here, too.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from recollect.core.errors import NotFound
from recollect.core.ids import short_id
from recollect.core.values import Operation, Preference, Record
from recollect.extract.tombstones import Tombstones
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft, Sources, plain
from recollect.inject.speaking import is_question
from recollect.lifecycle.file_freshness import FreshnessChecker
from recollect.privacy.sensitive import is_sensitive
from recollect.retrieve.score import STALE
from recollect.store.interface import Store, details_of

FORGOTTEN = "forgotten, with what was made of it"
TOLD = "told earlier in this session"
OVER = "says what no longer holds"
SENSITIVE = "sensitive, and share_sensitive is off"
WRONG = "you rated it, or another memory of its turn, as wrong"
KEPT = 16_384  # judgements of whether a text is sensitive
DETAIL_CHARS = 4_000  # of a memory, as far as an agent may come to read it


# `none` is what an undo leaves where there was no verdict before.
Verdict = Literal["useful", "wrong", "never", "none"]
FACTORS = {"useful": 1.15, "never": 0.0}  # what a verdict does to a score


class Judge:
    def __init__(self, sources: Sources) -> None:
        self._feedback = sources.feedback
        self._settings = sources.settings
        self._clock = sources.clock
        self._files = FreshnessChecker(sources.store)
        self._ended = sources.ended

    def __call__(self, draft: Draft, told: frozenset[str], *, repeat: bool) -> None:
        """`repeat`: what was told before may be told again."""
        if any(line.record is not None and line.record.citations for line in draft.lines):
            self._look_at_files(draft)
        asked = draft.question.namespaces
        any_ended = self._ended is not None and bool(self._ended.of(asked))
        any_hidden = bool(self._feedback.tombstones.lookup(asked[0]).by_record)
        for line in draft.lines:
            if line.why_not:
                continue
            if line.record is None:
                self._made(line, draft)
            else:
                self._memory(line, line.record, draft, any_ended=any_ended, any_hidden=any_hidden)
            if told and not (repeat or line.why_not or told.isdisjoint(line.identity.same_as)):
                line.why_not = TOLD
        if any(isinstance(line.thing, Preference) for line in draft.lines):
            _tell_rules_once(draft)

    def _made(self, line: BriefLine, draft: Draft) -> None:
        text = render.forms(line, as_sections=True)[0]
        visible = self._feedback.tombstones.visible_text(draft.question.namespaces[0], text)
        if visible != text:
            line.thing, line.line, line.why_not = None, "(forgotten)", FORGOTTEN
        elif self._has_ended(line, draft):
            line.why_not = OVER
        elif not self._settings.share_sensitive and (line.sensitive or is_sensitive(text)):
            line.sensitive, line.why_not = True, SENSITIVE

    def _memory(
        self, line: BriefLine, record: Record, draft: Draft, *, any_ended: bool, any_hidden: bool
    ) -> None:
        now = self._clock.now()
        verdicts = self._feedback.of(record.namespace)
        verdict = verdicts.given.get(record.record_id, "none")
        line.score *= FACTORS.get(verdict, 1.0)
        visible = self._feedback.tombstones.visible_record(record) if any_hidden else record
        if verdict == "never":
            line.why_not = "you said: never again"
            return
        # A belief, or the summary of a session, says more than the turn that was rated wrong.
        of_turn = not (record.traits.is_belief or record.traits.is_summary)
        events = record.source_event_ids if of_turn else ()
        if record.record_id in verdicts.wrong or not verdicts.wrong_events.isdisjoint(events):
            line.why_not = WRONG
            return
        if visible is None:
            line.why_not = FORGOTTEN
            line.record = msgspec.structs.replace(record, title="(forgotten)")
            return
        line.record = record = visible
        if why_not := self._state(line, record, draft):
            line.why_not = why_not
            return
        if self._ended is not None and any_ended:
            current = self._ended.current_record(record, draft.question.namespaces)
            if current is None:
                line.why_not = OVER
                return
            line.record = record = current
        if record.session_id == draft.question.session_id:
            line.why_not = "said in this very session"
        elif not record.traits.section:
            line.why_not = "a kind of memory that no brief holds"
        elif record.expires_at and record.expires_at <= now:
            line.why_not = "expired"
        elif record.valid_until and record.valid_until <= now:
            line.why_not = "no longer holds"
        elif not self._settings.share_sensitive and is_sensitive_memory(record):
            line.sensitive, line.why_not = True, SENSITIVE

    def _has_ended(self, line: BriefLine, draft: Draft) -> bool:
        """Whether a preference is one whose belief has ended."""
        wish = line.thing
        if not isinstance(wish, Preference):
            return False
        graph = draft.graphs.get(wish.namespace)
        if graph is not None and graph.successors_of_facts(wish.source_event_ids):
            return True
        return self._ended is not None and self._ended.states_ended(
            wish.value, draft.question.namespaces, wish.source_event_ids
        )

    def _state(self, line: BriefLine, record: Record, draft: Draft) -> str:
        """Why a belief is not told: its state, or where it holds. Notes what a reader must know of
        one that is."""
        asked = draft.question
        if not record.stands:
            return f"disputed by {record.ended_by}" if record.state == "disputed" else record.state
        graph = draft.graphs.get(record.namespace) if record.traits.is_belief else None
        if graph is not None and graph.successors_of_facts(record.source_event_ids):
            return OVER
        if record.state == "disputed":
            if record.is_unsure and not (draft.asked_on_purpose or is_question(asked.text)):
                if asked.trigger != "prompt" or line.by_action or not draft.semantic:
                    return "disputed, and nobody stated it plainly: for questions only"
                line.is_unsure = True
            # A line of a brief names its memory already.
            name = f" [{short_id(record.record_id)}]" if draft.as_sections else ""
            line.note = f" (disputed{name})"
        if record.holds_in(asked.session_id, asked.branch):
            return ""
        if record.scope == "branch" and not draft.is_start and asked.trigger != "tool":
            line.note += f" (on branch {render.one_line(record.scope_name)})"
            return ""
        return f"holds only for the {record.scope} {record.scope_name}".rstrip()

    def _look_at_files(self, draft: Draft) -> None:
        """A memory whose files changed or are gone says so, and sinks a little."""
        found = [line for line in draft.lines if line.record is not None]
        standing = self._files.freshness_of([line.record for line in found if line.record])
        for line in found:
            assert line.record is not None
            now = standing.get(line.id)
            if now is None or now.state == "unknown":
                continue
            before = STALE.get(line.record.freshness, 1.0)
            line.score *= STALE.get(now.state, 1.0) / before
            line.stale = now.path
            line.record = msgspec.structs.replace(line.record, freshness=now.state)
        if standing and draft.question.trigger != "session-start":
            draft.lines.sort(key=lambda line: -line.score if line.record is not None else -2.0)


_judged: dict[int, bool] = {}  # whether a text is sensitive, by its hash


def is_sensitive_memory(record: Record) -> bool:
    """Whether an agent may read it only with consent. If any part of it is sensitive, it is left
    out whole, for the rest of a turn often says the same in other words. Judged when it is about to
    be told and not when it is stored, so that what is stored already counts too; the judgement is
    kept, for the same memories come up prompt after prompt."""
    detail = record.detail[:DETAIL_CHARS]
    text = "\n".join((record.title, record.summary, detail, *record.facts))
    mark = hash(text)
    judged = _judged.get(mark)
    if judged is None:
        if len(_judged) >= KEPT:
            _judged.clear()
        judged = _judged[mark] = is_sensitive(text)
    return judged


def _tell_rules_once(draft: Draft) -> None:
    """A rule is stored as a belief and as a preference. In a brief the belief is told, because its
    line has an id by which it can be corrected; in sections the preference."""
    held = [line for line in draft.kept if line.record is not None and line.record.traits.is_belief]
    for wish in draft.kept:
        if not isinstance(wish.thing, Preference):
            continue
        value = plain(wish.thing.value)
        same = [one for one in held if one.record is not None and plain(one.record.title) == value]
        if same and draft.as_sections:
            for line in same:
                line.why_not = "told as a preference"
        elif same:
            wish.why_not = "told as a belief"


# --- the user's verdicts --------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdicts:
    """The newest verdict on each memory of a namespace; the memories that were rated wrong and are
    still as they were, and the events of their turns."""

    given: dict[str, Verdict]
    wrong: frozenset[str]
    wrong_events: frozenset[str]


class Feedback:
    """Verdicts on memories: entries in the operation log, which ranking and injection take into
    account from then on."""

    def __init__(self, store: Store, tombstones: Tombstones | None = None) -> None:
        self._store = store
        self.tombstones = tombstones or Tombstones(store)
        self._known: dict[str, Verdicts] = {}

    def give(self, namespace: str, record_id: str, verdict: Verdict, actor: str) -> Operation:
        """Note a verdict on a memory; the newest one counts. NotFound for an unknown memory.
        What is never to be seen again is not extracted again either, until the verdict changes."""
        found = self._store.records.get(namespace, [record_id])
        if not found:
            raise NotFound(f"there is no memory {record_id}")
        before = self.of(namespace).given.get(record_id)
        if verdict == "never":
            self.tombstones.refuse(found[0], actor)
        elif before == "never":
            self.tombstones.lift(namespace, record_id, "verdict", actor)
        detail = {
            "record_id": record_id,
            "verdict": verdict,
            "before": before or "none",
            "text": _digest(found[0]),
        }
        operation = self._store.transaction(
            lambda tx: tx.log("feedback", namespace, actor, detail=detail)
        )
        self.forget_known()
        return operation

    def of(self, namespace: str) -> Verdicts:
        """The verdicts that hold in a namespace."""
        kept = self._known  # if it is forgotten meanwhile, this answer goes with it
        verdicts = kept.get(namespace)
        if verdicts is None:
            verdicts = kept.setdefault(namespace, self._read(namespace))
        return verdicts

    def forget_known(self) -> None:
        """Verdicts were given, or a memory edited, here or by another daemon: all is read anew."""
        self._known = {}

    def _read(self, namespace: str) -> Verdicts:
        newest: dict[str, dict[str, Any]] = {
            detail["record_id"]: detail
            for detail in details_of(self._store.log, namespace, "feedback")
            if isinstance(detail, dict)  # erasing a memory takes what was said of it along
        }
        wrong = [name for name, detail in newest.items() if detail["verdict"] == "wrong"]
        still = [
            one
            for one in (self._store.records.get(namespace, wrong) if wrong else ())
            if newest[one.record_id].get("text", _digest(one)) == _digest(one)
        ]
        turns = [one for one in still if not (one.traits.is_belief or one.traits.is_summary)]
        return Verdicts(
            given={name: detail["verdict"] for name, detail in newest.items()},
            wrong=frozenset(one.record_id for one in still),
            wrong_events=frozenset(event for one in turns for event in one.source_event_ids),
        )


def _digest(record: Record) -> str:
    """Tells whether a memory was edited since it was rated, without keeping its words."""
    said = "\0".join((record.title, record.summary, record.detail, *record.facts))
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
