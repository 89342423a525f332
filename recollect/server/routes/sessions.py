"""`/api/sessions`, `/api/checkpoint`, `/api/resume`, `/api/prompts`: past sessions."""

from typing import Annotated

from msgspec import Meta, structs

from recollect.core.values import Checkpoint, Name, Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import read, sessions, trace
from recollect.service.pagination import Listing
from recollect.service.read import EventRow, EventsQuery
from recollect.service.scope import Scope, namespaces_to_list
from recollect.service.sessions import (
    ConversationPage,
    Resume,
    SessionDetail,
    SessionLine,
    SessionsQuery,
)
from recollect.service.trace import Trace


class OneSession(Value, frozen=True, kw_only=True):
    session_id: Name


class ConversationQuery(OneSession, frozen=True, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 200


class TraceQuery(OneSession, frozen=True, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    limit: Annotated[int, Meta(ge=1, le=200)] = 40


class ResumeQuery(Scope, frozen=True, kw_only=True):
    session_id: Name | None = None


def page(runtime: ServerRuntime, asked: SessionsQuery) -> Listing[SessionLine]:
    return sessions.sessions(runtime, asked)


def one(runtime: ServerRuntime, asked: OneSession) -> SessionDetail:
    return sessions.detail(runtime, asked.session_id)


def conversation(runtime: ServerRuntime, asked: ConversationQuery) -> ConversationPage:
    return sessions.conversation(runtime, asked.session_id, asked.after, asked.limit)


def traced(runtime: ServerRuntime, asked: TraceQuery) -> Trace:
    return trace.trace(runtime, asked.session_id, asked.after, asked.limit)


def checkpoint(runtime: ServerRuntime, asked: OneSession) -> Checkpoint:
    return sessions.checkpoint(runtime, Scope(), asked.session_id)


def last_checkpoint(runtime: ServerRuntime, asked: Scope) -> Checkpoint:
    return sessions.checkpoint(runtime, asked)


def resume(runtime: ServerRuntime, asked: ResumeQuery) -> Resume:
    return sessions.resume(runtime, asked, asked.session_id)


def prompts(runtime: ServerRuntime, asked: EventsQuery) -> Listing[EventRow]:
    return read.events(
        runtime, structs.replace(asked, kind="prompt"), namespaces_to_list(runtime, asked)
    )


ENDPOINTS = (
    Endpoint(
        "GET", "/api/sessions", "Sessions, newest first.",
        page, Listing[SessionLine], SessionsQuery,
    ),
    Endpoint(
        "GET", "/api/sessions/{session_id}", "A session with its memories and files.",
        one, SessionDetail, OneSession,
    ),
    Endpoint(
        "GET", "/api/sessions/{session_id}/conversation", "What was said and done, in order.",
        conversation, ConversationPage, ConversationQuery,
    ),
    Endpoint(
        "GET", "/api/sessions/{session_id}/trace",
        "Each prompt, what was injected with it, what was done and learned.",
        traced, Trace, TraceQuery,
    ),
    Endpoint(
        "GET", "/api/sessions/{session_id}/checkpoint", "The checkpoint of a session.",
        checkpoint, Checkpoint, OneSession,
    ),
    Endpoint(
        "GET", "/api/checkpoint", "The checkpoint of the last session.",
        last_checkpoint, Checkpoint, Scope,
    ),
    Endpoint(
        "GET", "/api/resume", "Where work stopped, as data and as text.",
        resume, Resume, ResumeQuery,
    ),
    Endpoint(
        "GET", "/api/prompts", "Prompts, newest first.", prompts, Listing[EventRow], EventsQuery
    ),
)  # fmt: skip
