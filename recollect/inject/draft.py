"""The draft of a brief: its lines on their way through the stages, and the sources they come from.

`gather` finds lines. `judge` removes those that must not be told, `speaking` those that are not
worth telling or repeat another one; `render` fits the rest into the budget. A line that is left out
stays in the draft with its reason, which the receipt shows.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from recollect.core.clock import Clock
from recollect.core.settings import Settings
from recollect.core.values import Entity, Fact, Preference, Procedure, Record
from recollect.extract.ended_statements import EndedStatements
from recollect.ingest.pipeline import RecallQuestion
from recollect.retrieve.engine import Found, ResultCache, SearchEngine
from recollect.retrieve.graph import GraphCache, Rival
from recollect.retrieve.index_cache import IndexCache
from recollect.store.interface import Store
from recollect.work.cache import WorkCache

if TYPE_CHECKING:
    from recollect.inject.judge import Feedback
    from recollect.inject.rule_cache import RuleCache

Section = Literal[
    "profile", "rules", "files", "place", "state", "known", "history", "related", "procedures"
]


@dataclass(frozen=True)
class Sources:
    """Where lines come from."""

    store: Store
    engine: SearchEngine
    index_cache: IndexCache
    graphs: GraphCache
    work: WorkCache
    feedback: "Feedback"
    clock: Clock
    settings: Settings
    ended: EndedStatements | None = None  # without it nothing that ended is taken out of texts
    rules: "RuleCache | None" = None  # without it no rule comes by the action it is about
    results: ResultCache[Found] = field(default_factory=ResultCache)

    def records(self, namespaces: Sequence[str], record_ids: Sequence[str]) -> list[Record]:
        """Those of the memories that are there, in this order."""
        if not record_ids:
            return []
        found = {
            record.record_id: record
            for namespace in dict.fromkeys(namespaces)
            for record in self.store.records.get(namespace, record_ids)
        }
        return [found[record_id] for record_id in record_ids if record_id in found]


@dataclass
class BriefLine:
    """One line that may be told: a memory, or something made of the graph or of work."""

    id: str
    section: Section
    score: float
    why: str
    record: Record | None = None
    thing: Preference | Fact | Entity | Procedure | None = None
    line: str = ""  # its text, if it is none of these
    parts: dict[str, float] = field(default_factory=dict)
    chance: float = 1.0  # that it will be of use
    why_not: str = ""
    sensitive: bool = False
    stale: str = ""  # the file that changed since or is gone
    note: str = ""  # what a reader must know of it: disputed, or of a branch
    older: bool = False  # a newer memory, told before it, is much like it
    by_action: bool = False  # a rule about what the prompt asks for or the command does
    keys: tuple[str, ...] = ()  # what it tells, where that is more than its id

    @property
    def told_as(self) -> tuple[str, ...]:
        """What a session that was told this need not be told again: a turn, its note and its
        summary are one memory. A belief is a part of its turn: what was done there is still
        news."""
        events, statement, is_turn = self._identity
        if statement and not is_turn:
            return (self.id, *self.keys, *statement)
        return (self.id, *self.keys, *events)

    @property
    def same_as(self) -> tuple[str, ...]:
        """If a session was told one of these, it was told this. Two beliefs of one turn differ."""
        events, statement, is_turn = self._identity
        return (self.id, *(() if statement and not is_turn else events), *statement)

    @property
    def _identity(self) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """The events of the turn that it was made of (a summary is made of many turns), its words,
        and whether it is the turn itself. Words identify a rule, which is told once: it is kept as
        a belief, as a preference and as the turn that said nothing else. As a digest, for receipts
        keep what was told, and must not keep what is forgotten."""
        record, said, is_turn = self.record, "", False
        events: tuple[str, ...] = ()
        if isinstance(self.thing, Preference):
            said = self.thing.value
        elif record is not None:
            is_turn = record.traits.is_turn
            said = record.title if record.traits.is_belief or is_turn else ""
            events = () if record.traits.is_summary else record.source_event_ids
        digest = hashlib.blake2b(plain(said).encode("utf-8", "replace"), digest_size=8)
        return events, ((f"says {digest.hexdigest()}",) if said else ()), is_turn


def memory_line(record: Record, score: float, parts: dict[str, float] | None = None) -> BriefLine:
    return BriefLine(record.record_id, "history", score, "found", record=record, parts=parts or {})


def preference_line(one: Preference) -> BriefLine:
    return BriefLine(one.preference_id, "rules", one.strength, "stated", thing=one)


def plain(text: str) -> str:
    """A statement without what changes nothing: case, spacing, the last dot."""
    return " ".join(text.casefold().split()).rstrip(".! ")


@dataclass
class Draft:
    """What one question found."""

    question: RecallQuestion
    about_past: bool = False  # it asks in so many words for what was
    is_start: bool = False  # it is answered with what a session starts with
    as_sections: bool = False  # asked on purpose: in sections with headings, not as a brief
    lines: list[BriefLine] = field(default_factory=list)
    rivals: list[Rival] = field(default_factory=list)  # what is not so of the things named
    confidence: float = 0.0  # that memory holds anything about it
    by_chance: float = 0.0  # a cosine that means nothing in a store of this size
    semantic: bool = False  # meaning was compared, not words alone
    idle: float = 0.0  # how much it reads like a word that only carries the conversation on
    vector: Any = None  # of the prompt, if it was made
    hint: str = ""  # the line that asks the agent to record what the prompt changed
    stages: dict[str, float] = field(default_factory=dict)  # microseconds
    notes: dict[str, Any] = field(default_factory=dict)  # for the receipt

    @property
    def asked_on_purpose(self) -> bool:
        """Somebody wants to know: less is needed to answer, and turns may be quoted."""
        return self.about_past or self.as_sections

    @property
    def kept(self) -> list[BriefLine]:
        return [one for one in self.lines if not one.why_not]
