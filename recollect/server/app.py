"""The HTTP application: routes from the table, errors in one shape, the guard around everything.

In: the runtime. Out: an ASGI app. An unexpected error is answered with 500; its cause is only in
the log.
"""

import logging
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from recollect.core.errors import RecollectError
from recollect.server import dashboard_files, mcp, responses
from recollect.server.endpoints import Endpoint, openapi, routes
from recollect.server.guard import Guard
from recollect.server.live import TooManyWatchers
from recollect.server.routes import (
    beliefs,
    dashboard,
    doctor,
    events,
    figures,
    graph,
    jobs,
    maintain,
    memories,
    plugins,
    portable,
    projects,
    queue,
    receipts,
    reflection,
    saved_searches,
    search,
    sessions,
)
from recollect.server.runtime import ServerRuntime

log = logging.getLogger(__name__)

ENDPOINTS: tuple[Endpoint, ...] = (
    *events.ENDPOINTS,
    *doctor.ENDPOINTS,
    *receipts.ENDPOINTS,
    *queue.ENDPOINTS,
    *search.ENDPOINTS,  # before memories: `search` in /api/memories/search is not an id
    *memories.ENDPOINTS,
    *beliefs.ENDPOINTS,
    *sessions.ENDPOINTS,
    *figures.ENDPOINTS,
    *graph.ENDPOINTS,
    *projects.ENDPOINTS,
    *dashboard.ENDPOINTS,
    *portable.ENDPOINTS,
    *maintain.ENDPOINTS,
    *plugins.ENDPOINTS,
    *jobs.ENDPOINTS,
    *reflection.ENDPOINTS,
    *saved_searches.ENDPOINTS,
)


# Not in the table of endpoints: an answer that never ends, another protocol, the document itself.
_WATCH = {
    "summary": "Changes as server-sent events; reconnect with `Last-Event-ID` to miss none.",
    "operationId": "get_api_events",
    "parameters": [
        {"name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string"}}
    ],
    "responses": {
        "200": {
            "description": "event, prompt, session, memory, summary, checkpoint, receipt, reset.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        "429": {"description": "Too many clients are connected."},
    },
}
_JSON = {"application/json": {"schema": {"type": "object"}}}
_MCP = {
    "summary": "The tools of agents: one message of the Model Context Protocol.",
    "operationId": "post_mcp",
    "requestBody": {"required": True, "content": _JSON},
    "responses": {
        "200": {"description": "The answer, as JSON-RPC.", "content": _JSON},
        "202": {"description": "A notification was taken."},
    },
}
_DOCUMENT = {
    "summary": "This document.",
    "operationId": "get_openapi_json",
    "responses": {"200": {"description": "OpenAPI 3.1.", "content": _JSON}},
}


def build(runtime: ServerRuntime) -> ASGIApp:
    document = openapi(ENDPOINTS)
    document["paths"] |= {
        "/api/events": {"get": _WATCH},
        "/mcp": {"post": _MCP},
        "/openapi.json": {"get": _DOCUMENT},
    }

    async def describe(request: Request) -> Response:
        return responses.json(document)

    async def watch(request: Request) -> Response:
        try:
            lines = await runtime.live.stream(request.headers.get("last-event-id"))
        except TooManyWatchers as error:
            return responses.problem(429, "too_many", str(error), hint=error.hint)
        return StreamingResponse(lines, media_type="text/event-stream")

    async def unexpected(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        runtime.counters.error(f"{request.method} {request.url.path}: {type(error).__name__}")
        return responses.problem(500, "failed", "Unexpected error; the log has the details.")

    app = Starlette(
        routes=[
            *routes(ENDPOINTS, runtime),
            Route("/openapi.json", describe, methods=["GET"]),
            Route("/api/events", watch, methods=["GET"]),
            Route("/mcp", mcp.endpoint(runtime), methods=["POST"]),
            *dashboard_files.routes(runtime.tokens, runtime.port),
        ],
        exception_handlers={
            RecollectError: _ours,
            HTTPException: _http,
            ClientDisconnect: _gone,
            Exception: unexpected,
        },
    )
    return Guard(app, runtime.tokens, runtime.port)


async def _ours(request: Request, error: Any) -> Response:
    return responses.explained(error)


async def _http(request: Request, error: Any) -> Response:
    codes = {404: "not_found", 405: "method_not_allowed"}
    words = {404: "There is no such route.", 405: "This route does not take that method."}
    status = error.status_code
    return responses.problem(
        status,
        codes.get(status, "failed"),
        words.get(status, "The request failed."),
        hint="GET /openapi.json" if status == 404 else "",
        headers=dict(error.headers or {}),
    )


async def _gone(request: Request, error: Any) -> Response:
    """The client hung up before it had sent everything: nobody reads this, and nothing is wrong."""
    return Response(status_code=400)
