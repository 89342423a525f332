"""Beliefs: what holds, what waits for a decision, and the ways to change either.

In: a namespace, or the id of a belief. Out: beliefs, and for each change its operation, which can
be undone (`write.undo`). An id is looked up only in the namespaces that the caller names.
"""

import dataclasses
from collections.abc import Sequence
from datetime import datetime

import msgspec

from recollect.core import ids, values
from recollect.core.errors import BadInput, NotFound
from recollect.core.projects import namespace as actors_namespace
from recollect.core.values import Author, BeliefScope, Operation, Record
from recollect.reconcile import belief_changes as changes
from recollect.reconcile import related_beliefs
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import all_namespaces
from recollect.service.write import TITLE_CHARS, content_hash
from recollect.store.interface import RecordFilter

USER = "user"
MOST = 500


def current(
    runtime: ServiceRuntime, namespace: str, *, branch: str = "", session_id: str = ""
) -> list[Record]:
    """What holds in a project, on a branch and in a session, with what holds everywhere; of a
    dispute the newer belief. Newest first in each namespace."""
    found = related_beliefs.standing(runtime.visible_store, _heard_in(runtime, namespace))
    return [one for one in found if one.holds_in(session_id, branch)]


def waiting(runtime: ServiceRuntime, namespace: str) -> list[Record]:
    """What a person should decide: proposed and disputed beliefs, newest first."""
    found = [
        one
        for state in ("proposed", "disputed")
        for one in runtime.visible_store.records.page(
            namespace,
            RecordFilter(kind="knowledge", state=state),
            limit=MOST,
        ).items
    ]
    return sorted(found, key=lambda one: (one.valid_from, one.record_id), reverse=True)


def related(
    runtime: ServiceRuntime,
    namespace: str,
    text: str,
    vector: bytes | None = None,
    most: int = 3,
) -> list[tuple[Record, float]]:
    """Standing beliefs that a sentence may be about, each with a score from 0 to 1, best first."""
    store = runtime.visible_store
    beliefs = related_beliefs.standing(store, _heard_in(runtime, namespace))
    return related_beliefs.related(store, beliefs, text, vector, most)


def find(
    runtime: ServiceRuntime, belief_id: str, namespaces: Sequence[str] | None = None
) -> Record:
    """A belief by its id. NotFound when these namespaces (by default all) have none."""
    for namespace in namespaces if namespaces is not None else all_namespaces(runtime):
        for one in runtime.store.records.get(namespace, [belief_id]):
            if one.traits.is_belief:
                return one
    raise NotFound(f"there is no belief {belief_id}")


def keep(
    runtime: ServiceRuntime,
    belief_id: str,
    *,
    reason: str = "",
    namespaces: Sequence[str] | None = None,
) -> Operation:
    """A proposed, disputed or ended belief holds now; those that it was in dispute with end."""
    belief = find(runtime, belief_id, namespaces)
    if belief.state == "current":
        raise BadInput(f"{belief_id} holds already")
    now = runtime.clock.now()
    rivals = _rivals(runtime, belief)
    change = changes.BeliefChange(
        belief.namespace,
        reason or "kept",
        changed=(
            changes.in_state(belief, "current"),
            *(changes.ended(one, belief_id, now) for one in rivals),
        ),
    )
    return _apply(runtime, change)


def drop(
    runtime: ServiceRuntime,
    belief_id: str,
    reason: str = "",
    *,
    namespaces: Sequence[str] | None = None,
) -> Operation:
    """A belief was refused: it ends, and those that it disputed hold again."""
    belief = find(runtime, belief_id, namespaces)
    freed = [one for one in _rivals(runtime, belief) if one.ended_by == belief_id]
    return _end(runtime, belief, USER, reason or "dropped", None, freed)


def end(
    runtime: ServiceRuntime,
    belief_id: str,
    *,
    by: str = USER,
    reason: str = "",
    at: datetime | None = None,
    namespaces: Sequence[str] | None = None,
) -> Operation:
    """A belief no longer holds; `by` is the user, or the id of an event or of a belief."""
    return _end(runtime, find(runtime, belief_id, namespaces), by, reason, at)


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
    namespaces: Sequence[str] | None = None,
) -> tuple[Record, Operation]:
    """Another text holds instead: the belief ends, and a new one of its type and scope begins."""
    old = find(runtime, belief_id, namespaces)
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
            author=author,
            session_id=session_id,
            importance=old.importance,
            valid_from=runtime.clock.now(),
            pinned=old.pinned,
            source_event_ids=event_ids or ((by,) if _is_event(by) else ()),
            scope=old.scope,
            scope_name=old.scope_name,
            subject=old.subject,
            source_type="corrected",
        )
    )
    new = msgspec.structs.replace(new, content_hash=content_hash(new))
    change = changes.replacing(runtime.store.graph, old, new, reason or "replaced")
    change = dataclasses.replace(change, made=(new,))
    operation = _apply(runtime, change)
    return find(runtime, new.record_id, [new.namespace]), operation


def rescope(
    runtime: ServiceRuntime,
    belief_id: str,
    scope: BeliefScope,
    scope_name: str = "",
    *,
    namespace: str | None = None,
    namespaces: Sequence[str] | None = None,
) -> Operation:
    """A belief holds elsewhere. `everywhere` moves it to the actor's namespace; `namespace` names
    the project for one that comes back from there."""
    belief = find(runtime, belief_id, namespaces)
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
    runtime: ServiceRuntime,
    belief: Record,
    by: str,
    reason: str,
    at: datetime | None,
    freed: Sequence[Record] = (),
) -> Operation:
    if belief.state == "ended":
        raise BadInput(f"{belief.record_id} ended already")
    at = at or runtime.clock.now()
    change = changes.ending(runtime.store.graph, belief, by, at, reason or "ended")
    again = (changes.in_state(one, "current") for one in freed)
    return _apply(runtime, dataclasses.replace(change, changed=(*change.changed, *again)))


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


def _is_event(text: str) -> bool:
    return len(text) == 26
