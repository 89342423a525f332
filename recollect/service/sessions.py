"""Sessions: list them, show what was said, their checkpoints, and a text to resume from.

In: a session or a project. Out: pages, conversations, checkpoints and that text.
"""

import functools
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recollect.core.errors import NotFound
from recollect.core.kinds import TURN
from recollect.core.one_line import one_line
from recollect.core.projects import namespace as actors_namespace
from recollect.core.values import (
    Checkpoint,
    Event,
    JsonBody,
    MessageBody,
    Moment,
    Name,
    Record,
    Session,
    TextBody,
    Value,
    copied,
)
from recollect.ingest.turns import FAILED, SUCCEEDED, UNANSWERED
from recollect.service.pagination import Listing, cursor, merge_pages, session_key
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, all_namespaces, namespaces_to_list
from recollect.store.interface import RecordFilter

TURNS = 3
FILES = 20
LINE = 300
FIRST = 8  # events in which the first prompt is looked for


Position = Annotated[int, Meta(ge=0, le=10_000_000)]


class SessionsQuery(Scope, frozen=True, kw_only=True):
    before: Annotated[str, Meta(max_length=300)] | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class SessionLine(Session, frozen=True, kw_only=True):
    """`title`: of its summary, or else its first prompt."""

    title: str = ""


class SessionDetail(Value, frozen=True, kw_only=True):
    session: SessionLine
    events: dict[str, int]
    memories: tuple[Record, ...]
    checkpoint: Checkpoint | None
    files: tuple[str, ...]


class ConversationLine(Value, frozen=True, kw_only=True):
    """One message or tool call."""

    event_id: str
    at: Moment
    kind: str
    role: str
    text: str
    tool: str = ""
    files: tuple[str, ...] = ()
    failed: bool = False


class ConversationPage(Value, frozen=True, kw_only=True):
    """Messages and tool calls in order, without what was forgotten; pass `next` as `after` to get
    the next page."""

    session_id: str
    items: tuple[ConversationLine, ...]
    next: int | None


class Resume(Value, frozen=True, kw_only=True):
    """Where the last session stopped, as data and as text."""

    session: Session | None
    checkpoint: Checkpoint | None
    summary: Record | None
    last_turns: tuple[Record, ...]
    text: str


def sessions(runtime: ServiceRuntime, asked: SessionsQuery) -> Listing[SessionLine]:
    place = cursor(asked.before)
    found = merge_pages(
        namespaces_to_list(runtime, asked),
        lambda namespace: runtime.store.sessions.page(namespace, before=place, limit=asked.limit),
        session_key,
        asked.limit,
    )
    return Listing(items=tuple(_with_title(runtime, one) for one in found.items), next=found.next)


def _with_title(runtime: ServiceRuntime, one: Session) -> SessionLine:
    summed = RecordFilter(kind="summary", session_id=one.session_id)
    summaries = runtime.visible_store.records.page(one.namespace, summed, limit=1).items
    title = summaries[0].title if summaries else _first_prompt(runtime, one)
    return copied(SessionLine, one, title=title)


def _first_prompt(runtime: ServiceRuntime, one: Session) -> str:
    for stored in runtime.store.events.session(one.namespace, one.session_id, limit=FIRST):
        if stored.event.kind == "prompt" and isinstance(stored.event.body, TextBody):
            said = runtime.tombstones.visible_text(
                one.namespace, stored.event.body.content, (stored.event.event_id,)
            )
            return one_line(said, LINE)
    return ""


def session(runtime: ServiceRuntime, session_id: str) -> Session:
    """A session of which there are events, or else a summary that was stored for it."""
    for namespace in all_namespaces(runtime):
        found = runtime.store.sessions.get(namespace, session_id)
        if found is not None:
            return found
    for namespace in all_namespaces(runtime):
        stood = runtime.visible_store.sessions.last_checkpoint(namespace, session_id)
        if stood is not None:
            return _session_of(runtime, stood)
    raise NotFound(f"there is no session {session_id}")


def _session_of(runtime: ServiceRuntime, stood: Checkpoint) -> Session:
    known = runtime.store.sessions.get(stood.namespace, stood.session_id)
    at = stood.created_at or runtime.clock.now()
    return known or Session(
        session_id=stood.session_id, namespace=stood.namespace, surface="", started_at=at,
        last_event_at=at,
    )  # fmt: skip


def detail(runtime: ServiceRuntime, session_id: Name) -> SessionDetail:
    known = session(runtime, session_id)
    kinds: dict[str, int] = {}
    for stored in runtime.store.events.session(known.namespace, session_id):
        kinds[stored.event.kind] = kinds.get(stored.event.kind, 0) + 1
    page = runtime.visible_store.records.page(
        known.namespace, RecordFilter(session_id=session_id), limit=200
    )
    files = dict.fromkeys(path for record in page.items for path in record.files)
    return SessionDetail(
        session=_with_title(runtime, known),
        events=kinds,
        memories=tuple(msgspec.structs.replace(record, detail="") for record in page.items),
        checkpoint=runtime.visible_store.sessions.last_checkpoint(known.namespace, session_id),
        files=tuple(files),
    )


def conversation(
    runtime: ServiceRuntime,
    session_id: Name,
    after: Position = 0,
    limit: Annotated[int, Meta(ge=1, le=500)] = 200,
) -> ConversationPage:
    known = session(runtime, session_id)
    stored = runtime.store.events.session(known.namespace, session_id)
    part = stored[after : after + limit]
    visible = functools.partial(runtime.tombstones.visible_text, known.namespace)
    lines = tuple(
        msgspec.structs.replace(line, text=visible(line.text, (one.event.event_id,)))
        for one in part
        for line in lines_of(one.event)
    )
    more = after + limit < len(stored)
    return ConversationPage(
        session_id=session_id, items=lines, next=after + limit if more else None
    )


def checkpoint(runtime: ServiceRuntime, scope: Scope, session_id: str | None = None) -> Checkpoint:
    if session_id is not None:
        namespaces: tuple[str, ...] = (session(runtime, session_id).namespace,)
    else:
        namespaces = namespaces_to_list(runtime, scope)
    found = [
        one
        for namespace in namespaces
        if (one := runtime.visible_store.sessions.last_checkpoint(namespace, session_id))
        is not None
    ]
    if not found:
        raise NotFound("there is no checkpoint yet", hint="POST /api/summaries with a session_id")
    return max(found, key=lambda one: one.created_at.timestamp() if one.created_at else 0.0)


def resume(runtime: ServiceRuntime, scope: Scope, session_id: str | None = None) -> Resume:
    """Where work stopped: in one session, or in the last one of a project (or of all)."""
    if session_id is not None:
        known: Session | None = session(runtime, session_id)
    else:
        recent = [
            one
            for namespace in namespaces_to_list(runtime, scope)
            for one in runtime.store.sessions.page(namespace, limit=20).items
        ]
        known = _last_with_work(runtime, recent)
    try:
        stood: Checkpoint | None = checkpoint(runtime, scope, session_id)
    except NotFound:
        stood = None
    if stood is not None and session_id is None:
        theirs = _session_of(runtime, stood)
        if known is None or theirs.last_event_at > known.last_event_at:
            known = theirs
        elif theirs.session_id != known.session_id:
            own = runtime.visible_store.sessions.last_checkpoint(known.namespace, known.session_id)
            stood = own or stood
    summary, turns = _last_summary_and_turns(runtime, scope, known if session_id else None, known)
    here = (known.namespace, actors_namespace(runtime.actor)) if known else ()
    ended = runtime.recall().ended
    stood = stood and ended.current_checkpoint(stood, here)
    summary = summary and ended.current_record(summary, here)
    turns = tuple(one for turn in turns if (one := ended.current_record(turn, here)) is not None)
    return Resume(
        session=known,
        checkpoint=stood,
        summary=summary,
        last_turns=turns,
        text=_text(known, stood, summary, turns),
    )


def _last_with_work(runtime: ServiceRuntime, recent: Sequence[Session]) -> Session | None:
    """The newest session in which something was done, else the newest with an answer, else the
    newest: one that was only opened is not where work stopped."""
    newest_first = sorted(recent, key=lambda one: one.last_event_at, reverse=True)
    answered: Session | None = None
    for one in newest_first:
        where = RecordFilter(kind=TURN.name, session_id=one.session_id)
        for turn in runtime.visible_store.records.page(one.namespace, where, limit=20).items:
            if turn.files or turn.category in (SUCCEEDED, FAILED):
                return one
            if turn.category != UNANSWERED:
                answered = answered or one
    return answered or next(iter(newest_first), None)


def _last_summary_and_turns(
    runtime: ServiceRuntime, scope: Scope, only: Session | None, known: Session | None
) -> tuple[Record | None, tuple[Record, ...]]:
    """The last summary, and the last turns of the session to resume."""
    namespaces = (only.namespace,) if only else namespaces_to_list(runtime, scope)
    where = RecordFilter(kind="summary", session_id=only.session_id if only else None)
    summaries = [
        record
        for namespace in namespaces
        for record in runtime.visible_store.records.page(namespace, where, limit=1).items
    ]
    turns: tuple[Record, ...] = ()
    if known is not None:
        last = runtime.visible_store.records.page(
            known.namespace,
            RecordFilter(kind=TURN.name, session_id=known.session_id),
            limit=4 * TURNS,
            by_position=True,
        ).items
        answered = [record for record in last if record.category != UNANSWERED]
        turns = tuple(
            msgspec.structs.replace(record, detail="")
            for record in reversed((answered or last)[:TURNS])
        )
    return max(summaries, key=lambda one: one.valid_from, default=None), turns


def _text(
    known: Session | None,
    stood: Checkpoint | None,
    summary: Record | None,
    turns: tuple[Record, ...],
) -> str:
    parts: list[str] = []
    if known is not None:
        day = known.last_event_at.strftime("%Y-%m-%d %H:%M")
        told = ", ".join(filter(None, (known.surface, f"{day} UTC")))
        parts.append(f"Last session: {known.session_id} ({told})")
    if stood is not None:
        if known is not None and known.session_id != stood.session_id:
            parts.append(f"It left no checkpoint; the last one is of session {stood.session_id}:")
        parts.append(f"### Task\n{stood.task}")
        if stood.progress:
            parts.append(f"### Progress\n{stood.progress}")
        for name, lines in (("Next steps", stood.next_steps), ("Open questions", stood.questions)):
            if lines:
                parts.append(f"### {name}\n" + "\n".join(f"- {one}" for one in lines))
        if stood.files:
            parts.append("### Files\n" + "\n".join(f"- {one}" for one in stood.files[:FILES]))
    if summary is not None and (stood is None or summary.record_id not in stood.snapshot):
        left = [part.removeprefix("### ") for part in summary.detail.split("\n\n")
                if part.startswith(("### Next steps\n", "### Open questions\n"))]  # fmt: skip
        said = filter(None, (summary.title, summary.summary, *left))
        parts.append("### Last summary\n" + "\n".join(said))
    if turns:
        last = [
            f"- {one_line(one.title, LINE)}"
            + (f": {one_line(one.summary, LINE)}" if one.summary else "")
            for one in turns
        ]
        parts.append("### Last turns\n" + "\n".join(last))
    return "\n\n".join(parts) or "Nothing to resume: no session was recorded here yet."


def lines_of(event: Event) -> list[ConversationLine]:
    """An event as messages or tool calls."""
    base: dict[str, Any] = {"event_id": event.event_id, "at": event.valid_time, "kind": event.kind}
    match event.body:
        case TextBody(content=content):
            role = "user" if event.kind == "prompt" else "assistant"
            return [ConversationLine(**base, role=role, text=content)]
        case MessageBody(turns=turns):
            return [ConversationLine(**base, role=turn.role, text=turn.content) for turn in turns]
        case JsonBody(data=data):
            return [_tool_line(base, data)]


def _tool_line(base: dict[str, Any], data: Any) -> ConversationLine:
    call = data if isinstance(data, dict) else {}
    files = call.get("files")
    named = tuple(one for one in files if isinstance(one, str)) if isinstance(files, list) else ()
    command = call.get("command")
    tool = call.get("tool") or call.get("signal")
    return ConversationLine(
        **base,
        role="tool",
        text=command if isinstance(command, str) else ", ".join(named),
        tool=tool if isinstance(tool, str) else "",
        files=named,
        failed=call.get("failed") is True,
    )
