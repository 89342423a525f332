"""The draft of a brief: its lines on their way through the stages, and the sources they come from.

`gather` finds lines. `judge` removes those that must not be told, `speaking` those that are not
worth telling or repeat another one; `render` fits the rest into the budget. A line that is left out
stays in the draft with its reason, which the receipt shows. The source of rules, which come by the
action that they are about, stands here, too; other sources have rooms or modules of their own.
"""

import hashlib
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from recollect.core.clock import Clock
from recollect.core.kinds import PROFILE, TYPES, KnowledgeType
from recollect.core.settings import Settings
from recollect.core.values import BeliefState, Entity, Fact, Preference, Procedure, Record
from recollect.extract.ended_statements import EndedStatements
from recollect.ingest.messages import RecallQuestion
from recollect.inject.actions import ActionRule, RuleIndex, RuleMatch
from recollect.retrieve.engine import Found, ResultCache, SearchEngine
from recollect.retrieve.graph import GraphCache, NamespaceGraph, Rival
from recollect.retrieve.index_cache import IndexCache
from recollect.store.interface import Store
from recollect.work.cache import WorkCache

if TYPE_CHECKING:
    from recollect.inject.judge import Feedback

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
    has_full_text: bool = True  # a store as it was at a time in the past has none

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
    is_unsure: bool = False  # disputed, and only proposed: a task is told it only where it is sure
    at_start: bool = False  # what a session starts with, whatever is asked
    keys: tuple[str, ...] = ()  # what it tells, where that is more than its id

    @property
    def identity(self) -> "LineIdentity":
        """By the events of the turn that it was made of (a summary is made of many turns), or by
        its words. Words identify a rule, which is told once: it is kept as a belief, as a
        preference and as the turn that said nothing else. As a digest, for receipts keep what was
        told, and must not keep what is forgotten."""
        record, said, is_turn = self.record, "", False
        events: tuple[str, ...] = ()
        if isinstance(self.thing, Preference):
            said = self.thing.value
        elif record is not None:
            is_turn = record.traits.is_turn
            said = record.title if record.traits.is_belief or is_turn else ""
            events = () if record.traits.is_summary else record.source_event_ids
        digest = hashlib.blake2b(plain(said).encode("utf-8", "replace"), digest_size=8)
        words = (f"says {digest.hexdigest()}",) if said else ()
        # A belief is a part of its turn: what was done there is still news. Two beliefs of one
        # turn differ.
        if said and not is_turn:
            return LineIdentity((self.id, *self.keys, *words), (self.id, *words))
        return LineIdentity((self.id, *self.keys, *events), (self.id, *events, *words))


class LineIdentity(NamedTuple):
    """What a session that was told a line need not be told again (a turn, its note and its summary
    are one memory), and what the line is: who was told one of these was told it."""

    told_as: tuple[str, ...]
    same_as: tuple[str, ...]


def memory_line(record: Record, score: float, parts: dict[str, float] | None = None) -> BriefLine:
    return BriefLine(record.record_id, "history", score, "found", record=record, parts=parts or {})


def preference_line(one: Preference) -> BriefLine:
    return BriefLine(one.preference_id, "rules", one.strength, "stated", thing=one)


def plain(text: str) -> str:
    """A statement without what changes nothing: case, spacing, dots at its ends."""
    return " ".join(text.casefold().split()).strip(".!… ")


@dataclass
class Draft:
    """What one question found."""

    question: RecallQuestion
    about_past: bool = False  # it asks in so many words for what was
    is_start: bool = False  # it is answered with what a session starts with, and nothing else
    brings_start: bool = False  # a prompt of a session whose start nobody answered
    as_sections: bool = False  # asked on purpose: in sections with headings, not as a brief
    lines: list[BriefLine] = field(default_factory=list)
    graphs: dict[str, NamespaceGraph] = field(default_factory=dict)  # those that hold anything
    rivals: list[Rival] = field(default_factory=list)  # what is not so of the things named
    confidence: float = 0.0  # that memory holds anything about it
    by_chance: float = 0.0  # a cosine that means nothing in a store of this size
    known: float = 0.0  # of its telling words, the share by weight that any memory holds
    semantic: bool = False  # meaning was compared, not words alone
    idle: float = 0.0  # how much it reads like a word that only carries the conversation on
    vector: Any = None  # of the prompt, if it was made
    hint: str = ""  # the line that asks the agent to record what the prompt changed
    summary_request: str = ""  # the line that asks it to store a summary of the session
    requests: str = ""  # both, which stand outside the fence: they are no quoted data
    stages: dict[str, float] = field(default_factory=dict)  # microseconds
    notes: dict[str, Any] = field(default_factory=dict)  # for the receipt

    @property
    def asked_on_purpose(self) -> bool:
        """Somebody wants to know: less is needed to answer, and turns may be quoted."""
        return self.about_past or self.as_sections

    @property
    def kept(self) -> list[BriefLine]:
        return [one for one in self.lines if not one.why_not]


# --- rules and procedures by the action they are about --------------------------------------------

MOST_RULES = 500  # of a namespace, the newest; however many other memories there are
MOST_NAMESPACES = 32
_ADDS_FILE = re.compile(r"git add [^-.*\s]")
_TOOLS = "tools"  # the category of preferences whose words name programs
_RULE_TYPES = tuple(one for one in get_args(KnowledgeType) if TYPES[one].is_rule)
_STANDING: tuple[BeliefState, ...] = ("current", "disputed")


def standing_rules(store: Store, namespace: str) -> list[Record]:
    """The rules that hold in a namespace, by an index of their own: what else is stored, and how
    much of it is newer, makes no difference. A decision is told to a question that it answers."""
    return [
        one
        for type_ in _RULE_TYPES
        for state in _STANDING
        for one in store.records.beliefs(namespace, type=type_, state=state, limit=MOST_RULES)
        if one.stands
    ]


def profile_lines(store: Store, namespace: str) -> list[Record]:
    """What a person wrote of themselves, found in the same way."""
    return [
        one
        for state in _STANDING
        for one in store.records.beliefs(namespace, category=PROFILE, state=state, limit=MOST_RULES)
        if one.stands
    ]


@dataclass
class _Rules:
    version: tuple[int, int]
    index: RuleIndex
    sources: dict[str, Preference | Procedure | Record]


class RuleCache:
    """The rules and procedures of each namespace, in memory. A namespace is read when it is first
    asked about, and again when something in it changed; nothing else waits for the store."""

    def __init__(self, store: Store) -> None:
        """`store` gives only what may be told."""
        self._store = store
        self._lock = threading.Lock()
        self._known: dict[str, _Rules] = {}
        self._changes = 0

    def about(self, namespaces: Sequence[str], text: str, *, command: bool) -> list[BriefLine]:
        """The rules and procedures about what a prompt asks for or what a command does."""
        found: list[BriefLine] = []
        stated: set[tuple[str, str]] = set()
        for namespace in dict.fromkeys(namespaces):
            # Taken before reading: what changes meanwhile is read the next time.
            version = (self._store.graph.changes(namespace).version, self._changes)
            rules = self._known.get(namespace)
            if rules is None or rules.version != version:
                rules = self._read(namespace, version)
            if not rules.sources:
                continue
            index = rules.index
            for match in index.for_command(text) if command else index.for_prompt(text):
                source = rules.sources[match.rule.id]
                if isinstance(source, Preference):
                    # What the project says goes before what holds everywhere.
                    if (source.category, source.key) in stated:
                        continue
                    stated.add((source.category, source.key))
                if isinstance(source, Procedure):
                    # Of several ways to do the same, the first: they come best known first.
                    same = ("procedure", source.trigger.casefold())
                    if same in stated:
                        continue
                    stated.add(same)
                found.append(_rule_line(source, match))
        return found

    def drop_all(self) -> None:
        """Something was written, forgotten or brought back: rules are read again when needed."""
        with self._lock:
            self._changes += 1

    def _read(self, namespace: str, version: tuple[int, int]) -> _Rules:
        rules: list[ActionRule] = []
        sources: dict[str, Preference | Procedure | Record] = {}
        for preference in self._store.graph.all(namespace, Preference):
            about = preference.category == _TOOLS
            text = preference.value
            rules.append(ActionRule(preference.preference_id, text, about_tools=about))
            sources[preference.preference_id] = preference
        procedures = self._store.graph.all(namespace, Procedure)
        for procedure in sorted(procedures, key=lambda one: -one.confidence):
            if any(_ADDS_FILE.match(step) for step in procedure.steps):
                continue  # it was for that change alone
            name = procedure.name.partition(":")[0]
            rules.append(ActionRule(procedure.procedure_id, name, trigger=procedure.trigger))
            sources[procedure.procedure_id] = procedure
        for record in standing_rules(self._store, namespace):
            rules.append(ActionRule(record.record_id, record.title))
            sources[record.record_id] = record
        read = _Rules(version, RuleIndex(rules), sources)
        with self._lock:
            while len(self._known) >= MOST_NAMESPACES and namespace not in self._known:
                del self._known[next(iter(self._known))]
            self._known[namespace] = read
        return read


def _rule_line(source: Preference | Procedure | Record, match: RuleMatch) -> BriefLine:
    line = BriefLine(match.rule.id, "rules", 1.0, match.reason, by_action=True)
    match source:
        case Preference():
            line.thing, line.score = source, source.strength
        case Procedure():
            line.section, line.thing, line.score = "procedures", source, source.confidence
        case Record():
            line.record = source
    return line
