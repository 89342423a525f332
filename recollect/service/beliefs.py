"""Beliefs: what holds, what waits for a decision, and the ways to change either.

In: a namespace, or the id of a belief. Out: beliefs, and for each change its operation, which can
be undone (`service/undo.py`).
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import msgspec

from recollect.core import ids, values
from recollect.core.errors import BadInput, NotFound
from recollect.core.kinds import TYPES, KnowledgeType
from recollect.core.projects import namespace as actors_namespace
from recollect.core.values import TITLE_CHARS, Author, BeliefScope, BeliefState, Operation, Record
from recollect.extract.content_hash import hash_of_memory
from recollect.reconcile import belief_changes as changes
from recollect.reconcile import related_beliefs
from recollect.reconcile.recorded_statements import said_as, same_as
from recollect.reconcile.restatements import restates
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import all_namespaces
from recollect.store.interface import RecordFilter, with_content

USER = "user"
MOST = 500
ULID_CHARS = 26  # an event's id has no prefix, unlike that of a belief
# A proposal to change a belief names it in its first fact.
REPLACES = "Replaces "
ENDS = "Ends "


def current(
    runtime: ServiceRuntime, namespace: str, *, branch: str = "", session_id: str = ""
) -> list[Record]:
    """What holds in a project, on a branch and in a session, with what holds everywhere; of a
    dispute the newer belief. Newest first in each namespace."""
    found = related_beliefs.standing(runtime.visible_store, _heard_in(runtime, namespace))
    return [one for one in found if one.holds_in(session_id, branch)]


def waiting(runtime: ServiceRuntime, namespace: str, limit: int = MOST) -> list[Record]:
    """What a person should decide: proposed and disputed beliefs, newest first, without proposals
    to end what has ended since."""
    found = _in_states(runtime, namespace, ("proposed", "disputed"), limit)
    targets = {one.record_id: _ends(one) for one in found}
    wanted = [target for named in targets.values() for target in named]
    stand = {
        one.record_id
        for one in (runtime.store.records.get(namespace, wanted) if wanted else ())
        if one.state != "ended"
    }
    return [
        one
        for one in found
        if not targets[one.record_id] or not stand.isdisjoint(targets[one.record_id])
    ]


def standing(
    runtime: ServiceRuntime, namespace: str, limit: int = related_beliefs.MOST_BELIEFS
) -> list[Record]:
    """What holds in a namespace, also on one branch only or in one session; newest first."""
    found = _in_states(runtime, namespace, ("current", "disputed"), limit)
    return [one for one in found if one.stands]


def ended(runtime: ServiceRuntime, namespace: str, limit: int = MOST) -> list[Record]:
    """What no longer holds, the last one to end first."""
    records = runtime.visible_store.records
    return records.beliefs(namespace, by="valid_until", state="ended", limit=limit)


def _in_states(
    runtime: ServiceRuntime, namespace: str, states: Sequence[BeliefState], limit: int
) -> list[Record]:
    records = runtime.visible_store.records
    found = [
        one for state in states for one in records.beliefs(namespace, state=state, limit=limit)
    ]
    return sorted(found, key=lambda one: (one.valid_from, one.record_id), reverse=True)


def how_many(
    runtime: ServiceRuntime,
    namespace: str,
    states: Sequence[BeliefState],
    used: bool | None = None,
) -> int:
    """The beliefs of some states; what was forgotten is counted, too."""
    counts = runtime.store.records.counts(namespace, RecordFilter(kind="knowledge", used=used))
    return sum(one.count for one in counts if one.state in states)


def titles(runtime: ServiceRuntime, found: Sequence[Record]) -> dict[str, str]:
    """The titles of the beliefs that these name: what ended them, or what a proposal would end."""
    named: dict[str, str] = {}
    for namespace in dict.fromkeys(one.namespace for one in found):
        here = [one for one in found if one.namespace == namespace]
        wanted = {one.ended_by for one in here} | {name for one in here for name in _named(one)}
        known = [name for name in wanted if name.startswith(ids.RECORD)]
        for one in runtime.visible_store.records.get(namespace, known):
            named[one.record_id] = one.title
    return named


def related(
    runtime: ServiceRuntime,
    namespace: str,
    text: str,
    most: int = 3,
) -> list[tuple[Record, float]]:
    """Standing beliefs that a sentence may be about, each with a score from 0 to 1, best first."""
    store = runtime.visible_store
    beliefs = related_beliefs.standing(store, _heard_in(runtime, namespace))
    return related_beliefs.related(beliefs, text, most)


def said_before(
    runtime: ServiceRuntime, namespace: str, text: str, event_id: str, *, lasts: bool = True
) -> Record | None:
    """The user's belief that says what an agent records of a prompt: what the rules read of the
    same prompt, or, if it `lasts`, what is held in the same words."""
    held = related_beliefs.standing(
        runtime.visible_store, _heard_in(runtime, namespace), proposed=True
    )
    told = [one for one in held if one.author == USER]
    read = said_as(text, [one for one in told if event_id in one.source_event_ids])
    same = (
        one
        for one in told
        if lasts
        and one.stands
        and one.scope in ("project", "everywhere")
        and restates(text, one.title)
    )
    return next(iter(read), None) or next(same, None)


def confirm(
    runtime: ServiceRuntime, known: Record, event_id: str, type_: KnowledgeType
) -> Operation | None:
    """An agent records what is known already: the prompt is evidence for it, what was only proposed
    holds, and a decision becomes the rule as which it was understood. None if all of it was so."""
    operation = None
    if known.state == "proposed":
        operation = keep(runtime, known.record_id, reason="recorded by an agent")
        known = find(runtime, known.record_id)
    now = known
    if event_id not in known.source_event_ids:
        now = changes.said_again(now, (event_id,))
    if TYPES[type_].is_rule and not known.is_rule:
        now = msgspec.structs.replace(now, knowledge_type=type_)
    if now == known:
        return operation
    change = changes.BeliefChange(now.namespace, f"again: {now.title}", (now,))
    return _apply(runtime, change)


def find(runtime: ServiceRuntime, belief_id: str) -> Record:
    """A belief by its id."""
    for namespace in all_namespaces(runtime):
        for one in runtime.store.records.get(namespace, [belief_id]):
            if one.traits.is_belief:
                return one
    raise NotFound(f"there is no belief {belief_id}")


def keep(
    runtime: ServiceRuntime, belief_id: str, *, reason: str = "", both: bool = False
) -> Operation:
    """A proposed, disputed or ended belief holds now. What it was in dispute with, and what had
    ended it, ends; or in a dispute holds, too, when `both` do."""
    belief = find(runtime, belief_id)
    if belief.state == "current":
        raise BadInput(f"{belief_id} holds already")
    now = runtime.clock.now()
    ended_it = [one for one in _ended_it(runtime, belief) if one.stands]
    rivals = [*_rivals(runtime, belief), *_would_end(runtime, belief), *ended_it]
    if both:
        if belief.state != "disputed":
            raise BadInput(f"{belief_id} is not in dispute", field="both")
        hold = tuple(changes.in_state(one, "current") for one in (belief, *rivals))
        change = changes.BeliefChange(belief.namespace, reason or "both hold", changed=hold)
        return _apply(runtime, change)
    only_ends = any(fact.startswith(ENDS) for fact in belief.facts)
    kept = changes.ended(belief, USER, now) if only_ends else changes.in_state(belief, "current")
    return _ended_by(runtime, belief, rivals, (kept,), reason or "kept")


def drop(runtime: ServiceRuntime, belief_id: str, reason: str = "") -> Operation:
    """A belief was refused: it ends, and those that it disputed hold again."""
    belief = find(runtime, belief_id)
    freed = [one for one in _rivals(runtime, belief) if one.ended_by == belief_id]
    return _end(runtime, belief, USER, reason or "dropped", freed)


def end(runtime: ServiceRuntime, belief_id: str, *, by: str = USER, reason: str = "") -> Operation:
    """A belief no longer holds; `by` is the user, or the id of an event or of a belief."""
    return _end(runtime, find(runtime, belief_id), by, reason)


def replace(
    runtime: ServiceRuntime,
    belief_id: str,
    text: str,
    *,
    by: str = USER,
    reason: str = "",
    author: Author = "user",
    event_ids: tuple[str, ...] = (),
    session_id: str | None = None,
) -> tuple[Record, Operation]:
    """Another text holds instead: the belief ends, and a new one of its type and scope begins."""
    old = find(runtime, belief_id)
    new = _successor(
        runtime,
        old,
        text,
        author=author,
        session_id=session_id,
        pinned=old.pinned,
        source_event_ids=event_ids or ((by,) if len(by) == ULID_CHARS else ()),
        source_type="corrected" if author == "user" else "inferred",
    )
    same = ending_all(runtime, old, new.record_id, reason or "replaced")
    taken = changes.replacing(runtime.store.graph, old, new).preferences
    change = dataclasses.replace(same, made=(new,), preferences=taken)
    operation = _apply(runtime, change)
    return find(runtime, new.record_id), operation


def merge(runtime: ServiceRuntime, belief_id: str, others: Sequence[str]) -> Operation:
    """One belief holds for several that say the same: the others end by it. BadInput when one of
    them holds elsewhere, or no longer."""
    kept = find(runtime, belief_id)
    rest = [find(runtime, one) for one in dict.fromkeys(others) if one != belief_id]
    if not rest:
        raise BadInput("name the beliefs that it replaces", field="others")
    for one in (kept, *rest):
        if one.namespace != kept.namespace:
            raise BadInput(f"{one.record_id} belongs to another project", field="others")
        if one.state == "ended":
            raise BadInput(f"{one.record_id} ended already", field="others")
    holds = () if kept.state == "current" else (changes.in_state(kept, "current"),)
    return _ended_by(runtime, kept, rest, holds, "merged")


def _ended_by(
    runtime: ServiceRuntime,
    belief: Record,
    others: Sequence[Record],
    changed: tuple[Record, ...],
    reason: str,
) -> Operation:
    """Others end by a belief, with what repeats them; `changed` is what becomes of the belief."""
    now = runtime.clock.now()
    ends = [changes.ending(runtime.store.graph, one, belief.record_id, now) for one in others]
    change = changes.together(belief.namespace, reason, ends)
    return _apply(runtime, dataclasses.replace(change, changed=(*changed, *change.changed)))


def propose_change(
    runtime: ServiceRuntime, old: Record, text: str | None, *, reason: str = ""
) -> tuple[Record, Operation | None]:
    """An agent would have another text hold, or none: a proposal beside the belief, which holds
    until a person keeps the proposal. The same proposal twice is one, without an operation."""
    said = text or f"No longer: {old.title}"
    new = _successor(
        runtime, old, said, author="assistant", state="proposed", source_type="inferred",
        facts=(f"{REPLACES if text else ENDS}{old.record_id}",),
    )  # fmt: skip
    # The reason is added after the hash was made: the same proposal may come without it.
    new = values.check(msgspec.structs.replace(new, facts=(*new.facts, *filter(None, [reason]))))
    known = with_content(runtime.store.records, new.namespace, new.content_hash)
    if known is not None:
        return known, None
    change = changes.BeliefChange(old.namespace, reason or "proposed", made=(new,))
    operation = _apply(runtime, change)
    return find(runtime, new.record_id), operation


def propose(
    runtime: ServiceRuntime,
    namespace: str,
    text: str,
    *,
    facts: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    reason: str = "",
) -> tuple[Record, Operation | None]:
    """A belief that nobody stated, for a person to decide. It names no events: what it was made
    of does not end with it. The same proposal twice is one, without an operation."""
    said = " ".join(text.split())
    new = values.check(
        Record(
            record_id=ids.new_id(ids.RECORD),
            namespace=namespace,
            kind="knowledge",
            title=said[:TITLE_CHARS],
            summary=said if len(said) > TITLE_CHARS else "",
            facts=facts,
            files=files,
            knowledge_type="heuristic",
            level="distilled",
            strategy="rules",
            author="assistant",
            state="proposed",
            source_type="inferred",
            valid_from=runtime.clock.now(),
        )
    )
    new = msgspec.structs.replace(new, content_hash=hash_of_memory(new))
    known = with_content(runtime.store.records, namespace, new.content_hash)
    if known is not None:
        return known, None
    change = changes.BeliefChange(namespace, reason or "proposed", made=(new,))
    return new, _apply(runtime, change)


def _successor(runtime: ServiceRuntime, old: Record, text: str, **life: Any) -> Record:
    """A belief of the same type and scope as another."""
    said = " ".join(text.split())
    if not said:
        raise BadInput("the new text is empty", field="text")
    new = values.check(
        Record(
            record_id=ids.new_id(ids.RECORD),
            namespace=old.namespace,
            kind=old.kind,
            title=said[:TITLE_CHARS],
            summary=said if len(said) > TITLE_CHARS else "",
            knowledge_type=old.knowledge_type,
            observation_type=old.observation_type,
            concepts=old.concepts,
            files=old.files,
            category=old.category,
            level="distilled",
            strategy="user",
            importance=old.importance,
            valid_from=runtime.clock.now(),
            scope=old.scope,
            scope_name=old.scope_name,
            subject=old.subject,
            **life,
        )
    )
    return msgspec.structs.replace(new, content_hash=hash_of_memory(new))


def _would_end(runtime: ServiceRuntime, belief: Record) -> list[Record]:
    """The beliefs that a proposal is to end or to replace, as far as they still stand."""
    if belief.state != "proposed":
        return []
    found = runtime.store.records.get(belief.namespace, _named(belief))
    return [one for one in found if one.traits.is_belief and one.stands]


def _ended_it(runtime: ServiceRuntime, belief: Record) -> list[Record]:
    """The belief by which another ended, if one did."""
    if belief.state != "ended" or not belief.ended_by.startswith(ids.RECORD):
        return []
    return runtime.store.records.get(belief.namespace, [belief.ended_by])


def _named(belief: Record) -> list[str]:
    """The ids of the beliefs that a proposal is to end or to replace."""
    replaced = [one.removeprefix(REPLACES) for one in belief.facts if one.startswith(REPLACES)]
    return [*replaced, *_ends(belief)]


def _ends(belief: Record) -> list[str]:
    """The ids of the beliefs that a proposal is only to end."""
    if belief.state != "proposed":
        return []
    return [one.removeprefix(ENDS) for one in belief.facts if one.startswith(ENDS)]


def rescope(
    runtime: ServiceRuntime,
    belief_id: str,
    scope: BeliefScope,
    scope_name: str = "",
    *,
    namespace: str | None = None,
) -> Operation:
    """A belief holds elsewhere. `everywhere` moves it to the actor's namespace; `namespace` names
    the project for one that comes back from there."""
    belief = find(runtime, belief_id)
    if scope in ("session", "branch") and not scope_name:
        raise BadInput(f"name the {scope}", field="scope_name")
    there = actors_namespace(runtime.actor) if scope == "everywhere" else namespace
    changed = msgspec.structs.replace(belief, scope=scope, scope_name=scope_name)
    if there is None and belief.scope == "everywhere":
        raise BadInput("name the project that it belongs to", field="namespace")
    if there is not None and there != belief.namespace:
        _, came = runtime.memories.move(changed, there, runtime.actor, f"holds: {scope}")
        runtime.embed_soon()
        return came
    change = changes.BeliefChange(belief.namespace, f"holds: {scope}", changed=(changed,))
    return _apply(runtime, change)


def _end(
    runtime: ServiceRuntime, belief: Record, by: str, reason: str, freed: Sequence[Record] = ()
) -> Operation:
    if belief.state == "ended":
        raise BadInput(f"{belief.record_id} ended already")
    change = ending_all(runtime, belief, by, reason or "ended")
    again = (changes.in_state(one, "current") for one in freed)
    return _apply(runtime, dataclasses.replace(change, changed=(*change.changed, *again)))


def ending_all(
    runtime: ServiceRuntime, belief: Record, by: str, reason: str
) -> changes.BeliefChange:
    """A belief ends with what else was made of the same statement, and with what waits for a
    decision about it."""
    now = runtime.clock.now()
    same = [one for one in same_as(runtime.store, belief) if one.state != "ended"]
    proposed = _in_states(runtime, belief.namespace, ("proposed",), MOST)
    waits = [one for one in proposed if belief.record_id in _named(one)]
    ends = [
        changes.ending(runtime.store.graph, one, by, now, reason)
        for one in (belief, *same, *waits)
    ]  # fmt: skip
    return changes.together(belief.namespace, reason, ends)


def _rivals(runtime: ServiceRuntime, belief: Record) -> list[Record]:
    """The others of a dispute: what the belief disputes, and what disputes it."""
    if belief.state != "disputed":
        return []
    disputed = RecordFilter(kind="knowledge", state="disputed")
    page = runtime.store.records.page(belief.namespace, disputed, limit=MOST)
    newest = belief.ended_by or belief.record_id
    return [
        one
        for one in page.items
        if one.record_id != belief.record_id and newest in (one.record_id, one.ended_by)
    ]


def _apply(runtime: ServiceRuntime, change: changes.BeliefChange) -> Operation:
    operation = runtime.store.transaction(lambda tx: changes.apply(tx, change, runtime.actor))
    touched = [one.record_id for one in (*change.changed, *change.made)]
    runtime.memories.changed(change.namespace, touched)
    if change.made:
        runtime.embed_soon()
    return operation


def _heard_in(runtime: ServiceRuntime, namespace: str) -> tuple[str, ...]:
    """A project's namespace and the actor's own."""
    return tuple(dict.fromkeys((namespace, actors_namespace(runtime.actor))))
