"""MCP over HTTP: the official SDK around the tools of `service`, imported at the first request.

In: JSON-RPC at `/mcp`, behind the same guard as every route. Out: answers as JSON. Requests are
stateless, so a restart of the daemon interrupts no client. A tool that refuses explains it in its
text. The header `X-Recollect-Cwd` names the agent's working directory.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from recollect import __version__
from recollect.core.errors import RecollectError
from recollect.service import tools
from recollect.service.runtime import ServiceRuntime

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

log = logging.getLogger(__name__)

CWD_HEADER = "x-recollect-cwd"


class Mcp:
    """The ASGI app at `/mcp`."""

    def __init__(self, runtime: ServiceRuntime) -> None:
        self._runtime = runtime
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = await self._ready()
        await manager.handle_request(scope, receive, send)

    async def _ready(self) -> "StreamableHTTPSessionManager":
        async with self._starting:
            if self._manager is None:
                self._manager = await run_in_threadpool(_manager, self._runtime)
                started = asyncio.Event()
                self._running = asyncio.create_task(_run(self._manager, started))
                await started.wait()
                log.info("MCP is loaded")
            return self._manager


async def _run(manager: "StreamableHTTPSessionManager", started: asyncio.Event) -> None:
    async with manager.run():
        started.set()
        await asyncio.Event().wait()


def _manager(runtime: ServiceRuntime) -> "StreamableHTTPSessionManager":
    """Imports the SDK, which takes longer than the daemon's start: only MCP clients wait for it."""
    import mcp_types as types
    from mcp.server.lowlevel.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    logging.getLogger("mcp").setLevel(logging.WARNING)  # it logs every request
    listed = [types.Tool.model_validate(one) for one in tools.described()]

    async def list_tools(context: Any, parameters: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, parameters: Any) -> types.CallToolResult:
        cwd = _cwd(context.request)
        try:
            text = await run_in_threadpool(
                tools.call, runtime, parameters.name, parameters.arguments or {}, cwd
            )
            failed = False
        except RecollectError as error:
            text, failed = _error_text(error), True
        except Exception:
            # An agent can continue without memory; the log has the cause.
            log.exception("the tool %s failed", parameters.name)
            text, failed = "Unexpected error in Recollect; its log has the details.", True
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], is_error=failed
        )

    server: Server[Any] = Server(
        "recollect",
        version=__version__,
        instructions=tools.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True)


def _cwd(request: Any) -> str | None:
    given = request.headers.get(CWD_HEADER) if request is not None else None
    return unquote(given)[:2048] if given else None


def _error_text(error: RecollectError) -> str:
    field = getattr(error, "field", "")
    return " ".join(filter(None, (f"{field}:" if field else "", str(error), error.hint)))
