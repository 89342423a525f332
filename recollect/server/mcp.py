"""MCP over HTTP, stateless: JSON-RPC at `/mcp`, behind the same guard as every route.

In: one message for each POST. Out: its answer as JSON, 202 for a notification. A tool that refuses
explains it in its text. The header `X-Recollect-Cwd` names the agent's working directory;
`X-Recollect-Pid` the proxy that speaks for the agent, which is how the daemon knows who is there.
"""

import logging
from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from recollect.core import mcp_protocol
from recollect.core.errors import RecollectError
from recollect.core.mcp_protocol import Message
from recollect.service import tools
from recollect.service.runtime import ServiceRuntime

log = logging.getLogger(__name__)

CWD_HEADER = "x-recollect-cwd"
PID_HEADER = "x-recollect-pid"


def endpoint(runtime: ServiceRuntime) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        raw = await request.body()
        cwd, pid = _cwd(request), _pid(request)
        answer = await run_in_threadpool(_answer, runtime, raw, cwd, pid)
        if answer is None:
            return Response(status_code=202)
        status = 400 if answer.get("id") is None else 200
        return Response(mcp_protocol.encoded(answer), status, media_type="application/json")

    return serve


def _answer(
    runtime: ServiceRuntime, raw: bytes, cwd: str | None, pid: int | None
) -> Message | None:
    if cwd and pid and not runtime.keep_out.rules_for(cwd).off:
        runtime.mcp_clients.seen(pid, cwd)
    try:
        message = mcp_protocol.read(raw)
    except ValueError:
        return mcp_protocol.error(None, mcp_protocol.PARSE_ERROR, "not JSON")
    return mcp_protocol.answer(message, lambda name, given: _call(runtime, name, given, cwd))


def _call(runtime: ServiceRuntime, name: str, arguments: object, cwd: str | None) -> Message:
    try:
        return mcp_protocol.tool_result(tools.call(runtime, name, arguments, cwd), failed=False)
    except RecollectError as error:
        return mcp_protocol.refusal(error)
    except Exception as error:
        # An agent can continue without memory; the log has the cause.
        log.exception("the tool %s failed", name)
        runtime.counters.error(f"the tool {name}: {type(error).__name__}")
        words = "Unexpected error in Recollect; its log has the details."
        return mcp_protocol.tool_result(words, failed=True)


def _cwd(request: Request) -> str | None:
    given = request.headers.get(CWD_HEADER)
    return unquote(given)[:2048] if given else None


def _pid(request: Request) -> int | None:
    given = request.headers.get(PID_HEADER, "")
    return int(given) if given.isdecimal() and len(given) < 10 else None
