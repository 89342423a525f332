"""The line that asks an agent to record what a prompt may have changed, and what becomes of it.

In: a draft whose prompt was searched. Out: one line of fixed wording for an agent that has our
tools, or nothing; and later, when the events of that prompt are extracted and neither the rules nor
the agent recorded anything, a proposed belief with the prompt's words. Kept in memory: a daemon
that is restarted between the two proposes nothing.
"""

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from recollect.capture.foreign import HINT
from recollect.core import ids
from recollect.core.clock import Clock
from recollect.core.settings import Settings
from recollect.core.text_words import count_tokens
from recollect.core.tuning import HINTS
from recollect.core.values import Candidate, Record
from recollect.extract.interface import (
    Claim,
    EndClaim,
    Extraction,
    FactClaim,
    PreferenceClaim,
)
from recollect.extract.rules.prose import cut
from recollect.extract.standing import standing
from recollect.inject import render
from recollect.inject.draft import Draft
from recollect.privacy.sensitive import is_sensitive
from recollect.reconcile.unread_statements import proposed
from recollect.store.interface import RecordFilter, Store

RELATED_CHARS = 60
_MOST = 500  # hints whose prompts were not extracted yet

HaveTools = Callable[[str], bool]  # the agents of a namespace


@dataclass(frozen=True)
class _Given:
    """A hint that went with a prompt."""

    namespace: str
    session_id: str
    sentence: str
    at: datetime


class Hints:
    def __init__(
        self, store: Store, settings: Settings, clock: Clock, have_tools: HaveTools
    ) -> None:
        self._store = store
        self._on = settings.hints and settings.prompt_tokens > 0
        self._most_tokens = settings.prompt_tokens
        self._share_sensitive = settings.share_sensitive
        self._clock = clock
        self._have_tools = have_tools
        self._lock = threading.Lock()
        self._given: OrderedDict[str, _Given] = OrderedDict()

    def add_to(self, draft: Draft) -> None:
        """Put the line on a draft, with a note for the receipt. Only for a prompt that was stored
        just now, so neither in a private session nor when a host fires its hook twice, and only
        where an agent has our tools."""
        question = draft.question
        if not self._on or question.trigger != "prompt" or question.event_id is None:
            return
        if not self._have_tools(question.namespaces[0]):
            return
        found = standing(question.text, draft.vector)
        if not found.fires:
            return
        about = self._related(draft)
        line = hint_line(about)
        if count_tokens(line) > self._most_tokens:
            return
        draft.hint = line
        draft.notes["hint"] = {
            "probability": round(found.probability, 4),
            "sentence": found.sentence,
            "related": about.record_id if about else "",
        }

    def given(self, draft: Draft) -> None:
        """The line went to the agent."""
        question, note = draft.question, draft.notes["hint"]
        hint = _Given(
            question.namespaces[0], question.session_id, note["sentence"], self._clock.now()
        )
        with self._lock:
            self._given[question.event_id or ""] = hint
            while len(self._given) > _MOST:
                self._given.popitem(last=False)

    def propose_unrecorded(self, extraction: Extraction, namespace: str) -> Extraction:
        """What was hinted in the turns of an extraction and was recorded by nobody, as proposed
        beliefs beside the other candidates."""
        with self._lock:
            hinted = {
                event_id: self._given.pop(event_id)
                for event_id in extraction.turns
                if event_id in self._given
            }
        if not hinted:
            return extraction
        held = {
            event_id
            for one in extraction.candidates
            if one.record.traits.is_belief
            for event_id in one.record.source_event_ids
        }
        held.update(_stated_in(extraction.claims))
        held.update(self._recorded(namespace, set(hinted) - held))
        waiting = tuple(
            Candidate(
                record=proposed(
                    one.namespace, one.session_id, event_id, one.sentence, one.at, b"hint"
                )
            )
            for event_id, one in hinted.items()
            if event_id not in held and one.namespace == namespace
        )
        return dataclasses.replace(extraction, candidates=(*extraction.candidates, *waiting))

    def _recorded(self, namespace: str, event_ids: Iterable[str]) -> Iterable[str]:
        """Those of the events by which an agent stored, replaced or ended a belief."""
        wanted = list(event_ids)
        made = self._store.records.of_events(namespace, wanted)
        for event_id, record_ids in made.items():
            if any(
                one.traits.is_belief for one in self._store.records.get(namespace, list(record_ids))
            ):
                yield event_id
        page = self._store.records.page(
            namespace, RecordFilter(kind="knowledge", state="ended"), limit=_MOST
        )
        yield from {one.ended_by for one in page.items} & set(wanted)

    def _related(self, draft: Draft) -> Record | None:
        """The belief that the prompt is most likely about, of those that its search found."""
        best: tuple[float, Record] | None = None
        for line in draft.lines:
            one = line.record
            if one is None or not one.traits.is_belief or line.score < HINTS.related:
                continue
            if not one.stands or not one.holds_in(draft.question.session_id, draft.question.branch):
                continue
            if line.sensitive or (not self._share_sensitive and is_sensitive(one.title)):
                continue
            if best is None or line.score > best[0]:
                best = line.score, one
        return best[1] if best else None


def hint_line(about: Record | None) -> str:
    """The whole line. The text of a belief is cut and cannot look like a tag or end its quotes."""
    if about is None:
        return f"{HINT}."
    title = cut(about.title.replace('"', "'"), RELATED_CHARS)
    quoted = render.disarm(title)
    return f'{HINT} (related: [{ids.short_id(about.record_id)}] "{quoted}").'


def _stated_in(claims: Iterable[Claim]) -> Iterable[str]:
    """The events from which the rules took what is held: a fact, a preference, an end."""
    for one in claims:
        if isinstance(one, (FactClaim, PreferenceClaim, EndClaim)):
            yield from one.event_ids
