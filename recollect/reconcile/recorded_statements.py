"""One statement of the user's that was noticed twice: the rules read it, and an agent recorded it.

In: beliefs. Out: which of them are one. An agent says in its own words what a prompt said, so that
neither the words nor the hash are the same: the user's beliefs with an event in common, of which
one was recorded and the other read, are one if half of the shorter one's words are in the other. A
prompt may state several things in similar words; of those the nearest is meant, and what is said
whole.
"""

from collections.abc import Iterable, Sequence

from recollect.core.tuning import ENDINGS
from recollect.core.values import Record
from recollect.extract.statement_match import same_statement, word_hashes
from recollect.store.interface import Store


def of_one_statement(recorded: Record, read: Sequence[Record]) -> list[Record]:
    """Of the beliefs that the rules read, those that an agent recorded as this one."""
    return said_as(recorded.title, [one for one in read if _twice(recorded, one)])


def said_as(text: str, read: Sequence[Record]) -> list[Record]:
    """Of what the rules read in one prompt, the beliefs that this text says, nearest first."""
    mine = word_hashes(text)
    found = [
        (_likeness(mine, words), words <= mine, one)
        for one in read
        if not _is_recorded(one)
        and same_statement(mine, words := word_hashes(one.title), ENDINGS.same_words)
    ]
    nearest = max((near for near, _, _ in found), default=0.0)
    said = [(near, one) for near, whole, one in found if whole or near == nearest]
    return [one for _, one in sorted(said, key=lambda pair: -pair[0])]


def recorded_before(
    store: Store, namespaces: Iterable[str], new: Sequence[Record]
) -> dict[str, Record]:
    """What agents recorded of statements that the rules read now, by the id of the new belief; also
    what has ended since."""
    events = sorted({event_id for one in new for event_id in one.source_event_ids})
    found: dict[str, Record] = {}
    recorded = _of_events(store, namespaces, events)
    for older in sorted(recorded, key=lambda one: not one.stands):
        for one in of_one_statement(older, new):
            found.setdefault(one.record_id, older)
    return found


def same_as(store: Store, belief: Record) -> list[Record]:
    """The other beliefs of its namespace that were made of the same statement."""
    near = _of_events(store, (belief.namespace,), belief.source_event_ids)
    others = [one for one in near if one.record_id != belief.record_id]
    if _is_recorded(belief):
        return of_one_statement(belief, others)
    read = [belief, *(one for one in others if not _is_recorded(one))]
    return [one for one in others if _is_recorded(one) and belief in of_one_statement(one, read)]


def doubles(held: Iterable[Record]) -> dict[str, list[Record]]:
    """Of beliefs that were noticed twice, what agents recorded, by the id of what was read."""
    of_event: dict[str, list[Record]] = {}
    for one in held:
        for event_id in one.source_event_ids:
            of_event.setdefault(event_id, []).append(one)
    found: dict[str, list[Record]] = {}
    for some in of_event.values():
        read = [one for one in some if not _is_recorded(one)]
        for recorded in some if read else ():
            for one in of_one_statement(recorded, read):
                if recorded not in found.setdefault(one.record_id, []):
                    found[one.record_id].append(recorded)
    return found


def _of_events(store: Store, namespaces: Iterable[str], events: Sequence[str]) -> list[Record]:
    """The user's beliefs that these events are evidence for."""
    found: list[Record] = []
    for namespace in dict.fromkeys(namespaces) if events else ():
        of_events = store.records.of_events(namespace, events)
        made = {one for some in of_events.values() for one in some}
        there = store.records.get(namespace, sorted(made))
        found += [one for one in there if one.traits.is_belief and one.author == "user"]
    return found


def _twice(recorded: Record, read: Record) -> bool:
    shared = not set(recorded.source_event_ids).isdisjoint(read.source_event_ids)
    users = recorded.author == read.author == "user"
    return shared and users and _is_recorded(recorded) and not _is_recorded(read)


def _is_recorded(belief: Record) -> bool:
    """Whether it was written by a person or for one, not read by the rules or a model."""
    return belief.strategy == "user"


def _likeness(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)
