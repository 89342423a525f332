"""The rules and procedures of each namespace, in memory, found by the action they are about.

In: preferences, beliefs and procedures of the store, and a prompt or a shell line. Out: those that
are about it, as lines of a brief or as memories, each with the reason. A namespace is read when it
is first asked about, and again when something in it changed; nothing else waits for the store.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.kinds import KINDS
from recollect.core.values import Preference, Procedure, Record
from recollect.inject import context
from recollect.inject.actions import Rule, RuleIndex, RuleMatch
from recollect.inject.known import Item
from recollect.store.interface import RecordFilter, Store

MOST_BELIEFS = 500  # of a namespace, the newest
MOST_NAMESPACES = 32
_TOOLS = "tools"  # the category of preferences whose words name programs
_BELIEFS = [kind.name for kind in KINDS.values() if kind.is_belief]


@dataclass(frozen=True)
class FoundRule:
    """A rule about an action: a line of a brief, or a memory that has forms of its own."""

    id: str
    reason: str
    item: Item | None
    record: Record | None


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

    def for_prompt(self, namespaces: Sequence[str], text: str) -> list[FoundRule]:
        return self._found([(one, one.index.for_prompt(text)) for one in self._of(namespaces)])

    def for_command(self, namespaces: Sequence[str], line: str) -> list[FoundRule]:
        return self._found([(one, one.index.for_command(line)) for one in self._of(namespaces)])

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
            found.append(known)
        return found

    def _read(self, namespace: str, version: tuple[int, int]) -> _Rules:
        rules: list[Rule] = []
        sources: dict[str, Preference | Procedure | Record] = {}
        for preference in self._store.graph.all(namespace, Preference):
            about = preference.category == _TOOLS
            text = preference.value
            rules.append(Rule(preference.preference_id, text, about_tools=about))
            sources[preference.preference_id] = preference
        for procedure in self._store.graph.all(namespace, Procedure):
            name = procedure.name.partition(":")[0]
            rules.append(Rule(procedure.procedure_id, name, trigger=procedure.trigger))
            sources[procedure.procedure_id] = procedure
        for kind in _BELIEFS:
            page = self._store.records.page(namespace, RecordFilter(kind=kind), limit=MOST_BELIEFS)
            for record in page.items:
                rules.append(Rule(record.record_id, record.title))
                sources[record.record_id] = record
        return _Rules(version, RuleIndex(rules), sources)

    def _found(self, matched: Sequence[tuple[_Rules, list[RuleMatch]]]) -> list[FoundRule]:
        found: list[FoundRule] = []
        stated: set[tuple[str, str]] = set()
        for rules, matches in matched:
            for match in matches:
                source = rules.sources[match.rule.id]
                if isinstance(source, Preference):
                    # What the project says goes before what holds everywhere.
                    if (source.category, source.key) in stated:
                        continue
                    stated.add((source.category, source.key))
                found.append(_of_source(source, match))
        return found


def _of_source(source: Preference | Procedure | Record, match: RuleMatch) -> FoundRule:
    item, record = None, None
    match source:
        case Preference():
            line = context.preference_line(source)
            item = Item(match.rule.id, "preferences", line, source.strength, match.reason)
        case Procedure():
            line = context.procedure_line(source)
            item = Item(match.rule.id, "procedures", line, source.confidence, match.reason)
        case Record():
            record = source
    return FoundRule(match.rule.id, match.reason, item, record)
