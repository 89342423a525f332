"""Changes to beliefs: each is one operation in the log, which can be undone.

In: a belief and what becomes of it. Out: a `BeliefChange`, and `apply`, which writes it inside a
transaction. A belief that ends takes along the facts and preferences that were made of the same
statement; what else repeats it is recognised when it is read (`extract/ended_statements.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from recollect.core import ids
from recollect.core.tuning import ENDINGS
from recollect.core.values import BeliefState, Fact, Operation, Preference, Record
from recollect.extract.statement_match import same_statement, word_hashes
from recollect.store.interface import Graph, Transaction

MOST_REASON = 1000
MOST_EVIDENCE = 20  # events


@dataclass(frozen=True)
class BeliefChange:
    """New versions of beliefs and facts, new beliefs, and preferences that come and go."""

    namespace: str
    reason: str
    changed: tuple[Record, ...] = ()
    made: tuple[Record, ...] = ()
    facts: tuple[Fact, ...] = ()
    preferences: tuple[Preference, ...] = ()  # new ones
    gone: tuple[str, ...] = ()


def ending(graph: Graph, belief: Record, by: str, at: datetime, reason: str = "") -> BeliefChange:
    """A belief ends, with what was made of the same statement."""
    facts, preferences = made_with(graph, belief)
    return BeliefChange(
        belief.namespace,
        reason,
        changed=(ended(belief, by, at),),
        facts=_until(facts, at),
        gone=tuple(one.preference_id for one in preferences),
    )


def together(namespace: str, reason: str, some: Sequence[BeliefChange]) -> BeliefChange:
    """Several beliefs end in one operation."""
    return BeliefChange(
        namespace,
        reason,
        changed=tuple(one for end in some for one in end.changed),
        facts=tuple({one.fact_id: one for end in some for one in end.facts}.values()),
        gone=tuple(dict.fromkeys(one for end in some for one in end.gone)),
    )


def replacing(graph: Graph, old: Record, new: Record, reason: str = "") -> BeliefChange:
    """A belief ends because of a newer one, which takes over its place among the preferences. The
    newer one is written by the caller, or added as `made`."""
    ends = ending(graph, old, new.record_id, new.valid_from, reason)
    return replace(ends, preferences=_taken_over(graph, old, new))


def disputing(graph: Graph, old: Record, new: Record, reason: str = "") -> BeliefChange:
    """A newer belief may have ended another: that one is told no more until somebody decides."""
    ends = replacing(graph, old, new, reason)
    return replace(ends, changed=(in_state(old, "disputed", new.record_id),))


def of_turn(graph: Graph, said: Record, new: Record, reason: str = "") -> BeliefChange:
    """The same for what a turn said, which was no belief: more may have been said in it, so that
    only facts end whose subject the newer one names."""
    about = word_hashes(f"{new.title} {new.subject}")
    facts = [one for one in made_with(graph, said)[0] if word_hashes(one.subject) <= about]
    return BeliefChange(said.namespace, reason, facts=_until(facts, new.valid_from))


def _until(facts: Sequence[Fact], at: datetime) -> tuple[Fact, ...]:
    return tuple(msgspec.structs.replace(one, valid_until=max(at, one.valid_from)) for one in facts)


def _taken_over(graph: Graph, old: Record, new: Record) -> tuple[Preference, ...]:
    """A rule takes an old one's place. What withdraws it leaves none."""
    if not new.is_rule:
        return ()
    return tuple(
        msgspec.structs.replace(
            one,
            preference_id=ids.new_id(ids.PREFERENCE),
            value=new.title,
            source_type=new.source_type,
            source_event_ids=new.source_event_ids,
            created_at=new.valid_from,
            updated_at=None,
        )
        for one in made_with(graph, old)[1]
    )


def ended(belief: Record, by: str, at: datetime) -> Record:
    return msgspec.structs.replace(
        belief, state="ended", ended_by=by, valid_until=max(at, belief.valid_from)
    )


def in_state(belief: Record, state: BeliefState, by: str = "") -> Record:
    """The belief, not ended, in another state."""
    return msgspec.structs.replace(belief, state=state, ended_by=by, valid_until=None)


def said_again(belief: Record, events: Sequence[str]) -> Record:
    """The belief with more evidence, and with less doubt if it holds. Of its evidence the first is
    kept, and the newest."""
    first, *more = dict.fromkeys((*belief.source_event_ids, *events))
    doubt = 1 - belief.confidence if belief.state == "current" else 0.0
    return msgspec.structs.replace(
        belief,
        source_event_ids=(first, *more[1 - MOST_EVIDENCE :]),
        confidence=belief.confidence + ENDINGS.again * doubt,
    )


def made_with(graph: Graph, belief: Record) -> tuple[list[Fact], list[Preference]]:
    """The standing facts and preferences that were made of the same statement: they share an event
    with the belief, in which more may have been said, and its words."""
    events = set(belief.source_event_ids)
    if not events:
        return [], []
    said = word_hashes(f"{belief.title} {belief.summary}")
    facts = [
        one
        for one in graph.facts(belief.namespace)
        if not events.isdisjoint(one.source_event_ids) and word_hashes(one.object) <= said
    ]
    preferences = [
        one
        for one in graph.all(belief.namespace, Preference)
        if not events.isdisjoint(one.source_event_ids)
        and same_statement(word_hashes(one.value), word_hashes(belief.title))
    ]
    return facts, preferences


def apply(tx: Transaction, change: BeliefChange, actor: str) -> Operation:
    """Write a change as one operation."""
    operation = tx.log(
        "supersede",
        change.namespace,
        actor,
        targets=[
            *(one.record_id for one in change.changed),
            *(one.fact_id for one in change.facts),
            *change.gone,
        ],
        created=[
            *(one.record_id for one in change.made),
            *(one.preference_id for one in change.preferences),
        ],
        reason=change.reason[:MOST_REASON],
        detail={"states": {one.record_id: one.state for one in change.changed}},
    )
    tx.change_records(operation, change.changed)
    for one in change.made:
        tx.put_record(one, operation.op_id)
    tx.put_graph(*change.facts, *change.preferences, operation=operation)
    return operation
