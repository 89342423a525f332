"""Second stage: leaves out lines that must not be told, however useful they are.

In: a draft and what its session was told before. Out: the same lines, some with a reason against
telling them.
"""

import msgspec

from recollect.core.ids import short_id
from recollect.core.values import Preference, Record
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft, Sources, plain
from recollect.inject.feedback import FACTORS
from recollect.inject.speaking import is_question
from recollect.lifecycle.file_freshness import FreshnessChecker
from recollect.privacy.sensitive import is_sensitive
from recollect.retrieve.rank import STALE

FORGOTTEN = "forgotten, with what was made of it"
TOLD = "told earlier in this session"
OVER = "says what no longer holds"
WRONG = "you rated it, or another memory of its turn, as wrong"


class Judge:
    def __init__(self, sources: Sources) -> None:
        self._feedback = sources.feedback
        self._settings = sources.settings
        self._clock = sources.clock
        self._files = FreshnessChecker(sources.store)
        self._consent = Consent()
        self._ended = sources.ended
        self._graphs = sources.graphs

    def __call__(self, draft: Draft, told: frozenset[str], *, repeat: bool) -> None:
        """`repeat`: what was told before may be told again."""
        if any(line.record is not None and line.record.citations for line in draft.lines):
            self._look_at_files(draft)
        for line in draft.lines:
            if line.why_not:
                continue
            if line.record is None:
                self._made(line, draft)
            else:
                self._memory(line, line.record, draft)
            if told and not (repeat or line.why_not or told.isdisjoint(line.same_as)):
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

    def _memory(self, line: BriefLine, record: Record, draft: Draft) -> None:
        now = self._clock.now()
        verdict = self._feedback.of(record.namespace).get(record.record_id, "none")
        line.score *= FACTORS.get(verdict, 1.0)
        visible = self._feedback.tombstones.visible_record(record)
        if verdict == "never":
            line.why_not = "you said: never again"
            return
        if self._feedback.doubts(record):
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
        if self._ended is not None:
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
        elif not self._settings.share_sensitive and self._consent.needed(record):
            line.sensitive, line.why_not = True, SENSITIVE

    def _has_ended(self, line: BriefLine, draft: Draft) -> bool:
        """Whether a preference is one whose belief has ended."""
        wish = line.thing
        if not isinstance(wish, Preference):
            return False
        graph = self._graphs.of(wish.namespace)
        return bool(graph.successors_of_facts(wish.source_event_ids)) or (
            self._ended is not None
            and self._ended.states_ended(
                wish.value, draft.question.namespaces, wish.source_event_ids
            )
        )

    def _state(self, line: BriefLine, record: Record, draft: Draft) -> str:
        """Why a belief is not told: its state, or where it holds. Notes what a reader must know of
        one that is."""
        asked = draft.question
        if not record.stands:
            return f"disputed by {record.ended_by}" if record.state == "disputed" else record.state
        if record.traits.is_belief:
            graph = self._graphs.of(record.namespace)
            if graph.successors_of_facts(record.source_event_ids):
                return OVER
        if record.state == "disputed":
            if record.is_unsure and not (draft.asked_on_purpose or is_question(asked.text)):
                return "disputed, and nobody stated it plainly: for questions only"
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


SENSITIVE = "sensitive, and share_sensitive is off"  # why something was left out
KEPT = 16_384
DETAIL_CHARS = 4_000


class Consent:
    """Which memories are not for an agent to read without consent. If any part of one is sensitive,
    it is left out whole, for the rest of a turn often says the same in other words. Judged when it
    is about to be told and not when it is stored, so that what is stored already counts too. The
    judgement is kept by the text's hash, for the same memories come up prompt after prompt."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def needed(self, record: Record) -> bool:
        text = told(record)
        mark = hash(text)
        judged = self._known.get(mark)
        if judged is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            judged = self._known[mark] = is_sensitive(text)
        return judged


def told(record: Record) -> str:
    """All that a memory says, as far as an agent may come to read it."""
    detail = record.detail[:DETAIL_CHARS]
    return "\n".join((record.title, record.summary, detail, *record.facts))


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
