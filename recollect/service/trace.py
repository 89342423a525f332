"""A session as one trace: each prompt, what the agent was told with it, what was done, what came of
it.

In: a session. Out: its turns in their order. Long texts are cut; the events hold them whole.
"""

import functools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.core.values import (
    Moment,
    Name,
    Receipt,
    Record,
    Session,
    StoredEvent,
    TurnWork,
    Value,
    copied,
)
from recollect.service.runtime import ServiceRuntime
from recollect.service.sessions import ConversationLine, Position, lines_of, session
from recollect.store.interface import Cursor, RecordFilter

TEXT = 4000  # characters of a prompt or an answer
FILES = 12  # of one turn, of each kind
COMMANDS = 8
READ = 200


class TraceReceipt(Value, frozen=True, kw_only=True):
    """What an agent was told: the very text, or why it was told nothing (`left_out` memories)."""

    receipt_id: str
    trigger: str
    at: Moment | None
    text: str
    memories: int
    left_out: int
    tokens: int


class TraceCommand(Value, frozen=True, kw_only=True):
    command: str
    failed: bool
    error: str


class TraceTurn(Value, frozen=True, kw_only=True):
    """The first turn has no prompt when something was done before one. `cut`: characters that were
    left out of the prompt and the answer; `more`: files and commands that were left out."""

    event_id: str
    at: Moment
    prompt: str
    answer: str
    cut: int
    told: tuple[TraceReceipt, ...]
    branch: str
    edited: tuple[str, ...]
    read: tuple[str, ...]
    commands: tuple[TraceCommand, ...]
    commits: tuple[str, ...]
    tools: int
    more: int
    learned: tuple[Record, ...]


class Trace(Value, frozen=True, kw_only=True):
    """`total`: turns of the session; pass `next` as `after` to get more of them."""

    session: Session
    items: tuple[TraceTurn, ...]
    total: int
    next: int | None


def trace(
    runtime: ServiceRuntime,
    session_id: Name,
    after: Position = 0,
    limit: Annotated[int, Meta(ge=1, le=200)] = 40,
) -> Trace:
    known = session(runtime, session_id)
    parts = _parts(runtime.store.events.session(known.namespace, session_id))
    told = _receipts(runtime, known, parts)
    learned = _learned(runtime, known, parts)
    works = {
        one.turn_id: one
        for one in runtime.visible_store.turn_works.stream(known.namespace, session_id)
    }
    shown = range(after, min(len(parts), after + limit))
    return Trace(
        session=known,
        items=tuple(_turn(runtime, parts[at], told[at], learned[at], works) for at in shown),
        total=len(parts),
        next=after + limit if after + limit < len(parts) else None,
    )


def _parts(events: Sequence[StoredEvent]) -> list[list[StoredEvent]]:
    """The events of each turn: a prompt begins a new one."""
    parts: list[list[StoredEvent]] = []
    for one in events:
        if one.event.kind == "prompt" or not parts:
            parts.append([])
        parts[-1].append(one)
    return parts


def _turn(
    runtime: ServiceRuntime,
    part: list[StoredEvent],
    told: list[Receipt],
    learned: list[Record],
    works: dict[str, TurnWork],
) -> TraceTurn:
    namespace = part[0].event.namespace
    lines = list(chain.from_iterable(lines_of(one.event) for one in part))
    said = "\n\n".join(_said(lines, "user"))
    answered = "\n\n".join(_said(lines, "assistant"))
    work = next((works[one.event.event_id] for one in part if one.event.event_id in works), None)
    actions = work.actions if work is not None else ()
    edited = list(dict.fromkeys(one.path for one in actions if one.path and one.how == "edit"))
    read = [
        path
        for path in dict.fromkeys(one.path for one in actions if one.path and one.how == "read")
        if path not in edited
    ]
    commands = [copied(TraceCommand, one) for one in actions if one.command]
    events = [one.event.event_id for one in part]
    visible = functools.partial(runtime.tombstones.visible_text, namespace, events=events)
    return TraceTurn(
        event_id=part[0].event.event_id,
        at=part[0].event.valid_time,
        prompt=visible(said[:TEXT]),
        answer=visible(answered[:TEXT]),
        cut=max(0, len(said) - TEXT) + max(0, len(answered) - TEXT),
        told=tuple(map(_told, told)),
        branch=work.branch if work is not None else "",
        edited=tuple(edited[:FILES]),
        read=tuple(read[:FILES]),
        commands=tuple(commands[:COMMANDS]),
        commits=work.commits if work is not None else (),
        tools=sum(line.role == "tool" for line in lines),
        more=sum(
            max(0, len(some) - most)
            for some, most in ((edited, FILES), (read, FILES), (commands, COMMANDS))
        ),
        learned=tuple(learned),
    )


def _said(lines: list[ConversationLine], role: str) -> Iterator[str]:
    return (line.text for line in lines if line.role == role and line.text)


def _told(one: Receipt) -> TraceReceipt:
    detail = one.detail if isinstance(one.detail, dict) else {}
    candidates = detail.get("candidates") or ()
    left_out = sum(not each.get("injected") for each in candidates if isinstance(each, dict))
    text = str(detail.get("text") or "")
    more = {"at": one.created_at, "text": text, "memories": len(one.injected)}
    return copied(TraceReceipt, one, left_out=left_out, **more)


def _receipts(
    runtime: ServiceRuntime, known: Session, parts: list[list[StoredEvent]]
) -> dict[int, list[Receipt]]:
    found: list[Receipt] = []
    place: Cursor | None = None
    while True:
        page = runtime.visible_store.receipts.page(
            known.namespace, session_id=known.session_id, before=place, limit=READ
        )
        found += page.items
        place = page.next
        if place is None:
            break
    where = _turn_of_event(parts)
    told: dict[int, list[Receipt]] = defaultdict(list)
    for one in reversed(found):
        at = where.get(one.event_id or "")
        told[_turn_at(parts, one.created_at) if at is None else at].append(one)
    return told


def _learned(
    runtime: ServiceRuntime, known: Session, parts: list[list[StoredEvent]]
) -> dict[int, list[Record]]:
    """The notes and beliefs of each turn. What names none of its events stands with the last."""
    page = runtime.visible_store.records.page(
        known.namespace, RecordFilter(session_id=known.session_id), limit=READ
    )
    where = _turn_of_event(parts)
    learned: dict[int, list[Record]] = defaultdict(list)
    for record in reversed(page.items):
        if record.traits.is_turn or record.traits.is_summary:
            continue
        at = max((where[one] for one in record.source_event_ids if one in where), default=None)
        learned[len(parts) - 1 if at is None else at].append(
            msgspec.structs.replace(record, detail="")
        )
    return learned


def _turn_of_event(parts: list[list[StoredEvent]]) -> dict[str, int]:
    return {one.event.event_id: at for at, part in enumerate(parts) for one in part}


def _turn_at(parts: list[list[StoredEvent]], moment: datetime | None) -> int:
    """The turn that went on when something happened."""
    earlier = [at for at, part in enumerate(parts) if moment and part[0].transaction_time <= moment]
    return earlier[-1] if earlier else 0
