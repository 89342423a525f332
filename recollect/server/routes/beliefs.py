"""`/api/beliefs` and `/api/profile`: what holds, what waits for a decision, and deciding it."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, field

from recollect.core.values import (
    BeliefScope,
    BeliefState,
    Operation,
    Preference,
    Record,
    RecordName,
    Value,
)
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import beliefs, profile
from recollect.service.record_ids import resolve, resolve_each
from recollect.service.scope import (
    Scope,
    checked_out_branch,
    namespace_to_write,
    namespaces_to_list,
)

Read = Callable[..., list[Record]]
LISTS: dict[str, tuple[Read, tuple[BeliefState, ...]]] = {
    "standing": (beliefs.standing, ("current",)),
    "waiting": (beliefs.waiting, ("proposed", "disputed")),
    "ended": (beliefs.ended, ("ended",)),
}
Reason = Annotated[str, Meta(max_length=1000)]


class BeliefQuery(Scope, frozen=True, kw_only=True):
    """`held`: what agents are told, with what holds everywhere. `standing`: what holds in the
    project itself, also on one branch or in one session only. `waiting`: what somebody should
    decide: proposed, or in dispute with another belief. `ended`: what no longer holds. `branch`:
    for `held`, instead of the one that is checked out in the project's directory."""

    show: Literal["held", "standing", "waiting", "ended"] = "held"
    branch: Annotated[str, Meta(max_length=256)] = ""
    limit: Annotated[int, Meta(ge=1, le=100_000)] | None = None


class Profile(Value, frozen=True, kw_only=True):
    """`items`: lines that were added; `stated`: what was said in prompts."""

    items: tuple[Record, ...]
    stated: tuple[Preference, ...]


class Beliefs(Value, frozen=True, kw_only=True):
    """`total`: how many there are; with a `limit`, the newest are given. `titles`: of the beliefs
    that `ended_by` or a proposal names, by id."""

    items: tuple[Record, ...]
    total: int
    titles: dict[str, str] = field(default_factory=dict)


class DecisionReason(Value, frozen=True, kw_only=True):
    reason: Reason = ""


class KeepDecision(DecisionReason, frozen=True, kw_only=True):
    """`both`: those that it is in dispute with hold, too."""

    both: bool = False


class Correction(Value, frozen=True, kw_only=True):
    text: Annotated[str, Meta(min_length=1, max_length=4000)]
    reason: Reason = ""


class Reach(Scope, frozen=True, kw_only=True):
    """How far a belief holds; `name` is the session or the branch, `project` the one it comes back
    to from everywhere."""

    scope: BeliefScope
    name: Annotated[str, Meta(max_length=256)] = ""


class Merger(Value, frozen=True, kw_only=True):
    """The beliefs that say the same: they end."""

    others: Annotated[tuple[RecordName, ...], Meta(min_length=1, max_length=100)]


class Decided(Value, frozen=True, kw_only=True):
    """The change, which can be undone, and the belief as it is now."""

    operation: Operation
    belief: Record


def page(runtime: ServerRuntime, asked: BeliefQuery) -> Beliefs:
    found: dict[str, Record] = {}
    unread = 0
    for namespace in namespaces_to_list(runtime, asked):
        some, more = _listed(runtime, namespace, asked)
        found |= {one.record_id: one for one in some}
        unread += more
    items = tuple(found.values())
    if asked.limit is not None and len(items) > asked.limit:
        items = tuple(sorted(items, key=_newest(asked), reverse=True)[: asked.limit])
    titles = beliefs.titles(runtime, items)
    return Beliefs(items=items, total=len(found) + unread, titles=titles)


def _listed(runtime: ServerRuntime, namespace: str, asked: BeliefQuery) -> tuple[list[Record], int]:
    """Beliefs of a namespace, one more than are shown, and how many there are beside these."""
    if asked.show == "held":
        branch = asked.branch or checked_out_branch(runtime, asked)
        return beliefs.current(runtime, namespace, branch=branch), 0
    read, states = LISTS[asked.show]
    if asked.limit is None:
        return read(runtime, namespace), 0
    some = read(runtime, namespace, asked.limit + 1)
    if len(some) <= asked.limit:
        return some, 0
    counted = sum(one.state in states for one in some)
    return some, max(0, beliefs.how_many(runtime, namespace, states) - counted)


def _newest(asked: BeliefQuery) -> Callable[[Record], datetime]:
    if asked.show == "ended":
        return lambda one: one.valid_until or one.valid_from
    return lambda one: one.valid_from


def keep(runtime: ServerRuntime, record_id: RecordName, given: KeepDecision) -> Decided:
    belief_id = resolve(runtime, record_id)
    operation = beliefs.keep(runtime, belief_id, reason=given.reason, both=given.both)
    return _decided(runtime, belief_id, operation)


def drop(runtime: ServerRuntime, record_id: RecordName, given: DecisionReason) -> Decided:
    belief_id = resolve(runtime, record_id)
    return _decided(runtime, belief_id, beliefs.drop(runtime, belief_id, given.reason))


def correct(runtime: ServerRuntime, record_id: RecordName, given: Correction) -> Decided:
    new, operation = beliefs.replace(
        runtime, resolve(runtime, record_id), given.text, reason=given.reason or "corrected"
    )
    return Decided(operation=operation, belief=new)


def reach(runtime: ServerRuntime, record_id: RecordName, given: Reach) -> Decided:
    named = given.project or given.namespace or given.project_path
    belief_id = resolve(runtime, record_id)
    operation = beliefs.rescope(
        runtime,
        belief_id,
        given.scope,
        given.name,
        namespace=namespace_to_write(runtime, given) if named else None,
    )
    return _decided(runtime, belief_id, operation)


def merge(runtime: ServerRuntime, record_id: RecordName, given: Merger) -> Decided:
    belief_id = resolve(runtime, record_id)
    operation = beliefs.merge(runtime, belief_id, resolve_each(runtime, given.others))
    return _decided(runtime, belief_id, operation)


def profile_lines(runtime: ServerRuntime) -> Profile:
    lines, stated = profile.lines(runtime), profile.stated(runtime)
    return Profile(items=tuple(lines), stated=tuple(stated))


def _decided(runtime: ServerRuntime, belief_id: str, operation: Operation) -> Decided:
    return Decided(operation=operation, belief=beliefs.find(runtime, belief_id))


ENDPOINTS = (
    Endpoint(
        "GET", "/api/beliefs", "The beliefs that hold, or those that wait for a decision.", page
    ),
    Endpoint(
        "POST", "/api/beliefs/{record_id}/keep", "A belief that waits, or ended, holds.", keep
    ),
    Endpoint("POST", "/api/beliefs/{record_id}/drop", "A belief does not hold.", drop),
    Endpoint(
        "POST", "/api/beliefs/{record_id}/correct", "Another text holds instead of a belief.",
        correct,
    ),
    Endpoint("POST", "/api/beliefs/{record_id}/scope", "Change how far a belief holds.", reach),
    Endpoint(
        "POST", "/api/beliefs/{record_id}/merge", "A belief holds for others that say the same.",
        merge,
    ),
    Endpoint(
        "GET", "/api/profile", "Who the person is: lines that every session starts with.",
        profile_lines,
    ),
    Endpoint("POST", "/api/profile", "Add a line to the profile.", profile.add),
)  # fmt: skip
