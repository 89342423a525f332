"""`/api/sessions`, `/api/checkpoint`, `/api/resume`, `/api/prompts`: past sessions."""

from msgspec import structs

from recollect.core.values import Checkpoint, Name
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import read, sessions, trace
from recollect.service.pagination import Listing
from recollect.service.scope import Scope, namespaces_to_list


class ResumeQuery(Scope, frozen=True, kw_only=True):
    session_id: Name | None = None


def checkpoint(runtime: ServerRuntime, session_id: Name) -> Checkpoint:
    return sessions.checkpoint(runtime, Scope(), session_id)


def last_checkpoint(runtime: ServerRuntime, asked: Scope) -> Checkpoint:
    return sessions.checkpoint(runtime, asked)


def resume(runtime: ServerRuntime, asked: ResumeQuery) -> sessions.Resume:
    return sessions.resume(runtime, asked, asked.session_id)


def prompts(runtime: ServerRuntime, asked: read.EventsQuery) -> Listing[read.EventRow]:
    return read.events(
        runtime, structs.replace(asked, kind="prompt"), namespaces_to_list(runtime, asked)
    )


ENDPOINTS = (
    Endpoint("GET", "/api/sessions", "Sessions, newest first.", sessions.sessions),
    Endpoint(
        "GET", "/api/sessions/{session_id}", "A session with its memories and files.",
        sessions.detail,
    ),
    Endpoint(
        "GET", "/api/sessions/{session_id}/conversation", "What was said and done, in order.",
        sessions.conversation,
    ),
    Endpoint(
        "GET", "/api/sessions/{session_id}/trace",
        "Each prompt, what was injected with it, what was done and learned.", trace.trace,
    ),
    Endpoint(
        "GET", "/api/sessions/{session_id}/checkpoint", "The checkpoint of a session.", checkpoint
    ),
    Endpoint("GET", "/api/checkpoint", "The checkpoint of the last session.", last_checkpoint),
    Endpoint("GET", "/api/resume", "Where work stopped, as data and as text.", resume),
    Endpoint("GET", "/api/prompts", "Prompts, newest first.", prompts),
)  # fmt: skip
