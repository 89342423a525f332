"""The rules and procedures of each namespace, in memory, found by the action they are about.

In: preferences, beliefs and procedures of the store, and a prompt or a shell line. Out: those that
are about it, as lines of a brief, each with the reason. A namespace is read when it
is first asked about, and again when something in it changed; nothing else waits for the store.
"""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.kinds import KINDS, TYPES
from recollect.core.values import Preference, Procedure, Record
from recollect.inject.actions import ActionRule, RuleIndex, RuleMatch
from recollect.inject.draft import BriefLine
from recollect.store.interface import RecordFilter, Store

MOST_BELIEFS = 500  # of a namespace, the newest
MOST_NAMESPACES = 32
_ADDS_FILE = re.compile(r"git add [^-.*\s]")
_TOOLS = "tools"  # the category of preferences whose words name programs
_BELIEFS = [kind.name for kind in KINDS.values() if kind.is_belief]


@dataclass
class _Rules:
    version: tuple[int, int]
    index: RuleIndex
    sources: dict[str, Preference | Procedure | Record]


class RuleCache:
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
        for rules in self._of(namespaces):
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
                found.append(_line(source, match))
        return found

    # --- listening to writes ---

    def stored(self, records: Sequence[Record]) -> None:
        if any(record.traits.is_belief for record in records):
            self.drop_all()

    def removed(self, namespace: str, record_ids: Sequence[str]) -> None:
        self.drop_all()

    def drop_all(self) -> None:
        """Something was written, forgotten or brought back: rules are read again when needed."""
        with self._lock:
            self._changes += 1

    # --- reading ---

    def _of(self, namespaces: Sequence[str]) -> list[_Rules]:
        """The rules of those that have any."""
        found = []
        for namespace in dict.fromkeys(namespaces):
            # Taken before reading: what changes meanwhile is read the next time.
            version = (self._store.graph.changes(namespace).version, self._changes)
            known = self._known.get(namespace)
            if known is None or known.version != version:
                known = self._read(namespace, version)
                with self._lock:
                    while len(self._known) >= MOST_NAMESPACES and namespace not in self._known:
                        del self._known[next(iter(self._known))]
                    self._known[namespace] = known
            if known.sources:
                found.append(known)
        return found

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
        for kind in _BELIEFS:
            page = self._store.records.page(namespace, RecordFilter(kind=kind), limit=MOST_BELIEFS)
            for record in page.items:
                if not record.knowledge_type or not TYPES[record.knowledge_type].is_rule:
                    continue  # a decision is told to a question that it answers
                if not record.stands:
                    continue
                rules.append(ActionRule(record.record_id, record.title))
                sources[record.record_id] = record
        return _Rules(version, RuleIndex(rules), sources)


def _line(source: Preference | Procedure | Record, match: RuleMatch) -> BriefLine:
    line = BriefLine(match.rule.id, "rules", 1.0, match.reason, by_action=True)
    match source:
        case Preference():
            line.thing, line.score = source, source.strength
        case Procedure():
            line.section, line.thing, line.score = "procedures", source, source.confidence
        case Record():
            line.record = source
    return line
