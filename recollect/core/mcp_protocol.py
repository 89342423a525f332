"""The Model Context Protocol, as far as a server of tools needs it: JSON-RPC in, JSON-RPC out.

In: a message, and a function that calls a tool. Out: its answer, or None where none is due. The
stdio proxy and the HTTP door both answer through here, so the list of tools is the same bytes
everywhere. The official SDK is not used: loading it cost more than starting the daemon does
(docs/decisions/mcp.md).
"""

import json
from collections.abc import Callable
from typing import Any

from recollect import __version__
from recollect.core import tool_schemas
from recollect.core.errors import RecollectError

# Those that begin with `initialize`. A client that first tries a newer one by `server/discover` is
# told that there is no such method, and then begins with `initialize` too.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PARSE_ERROR, INVALID, NO_METHOD, BAD_PARAMETERS, FAILED = -32700, -32600, -32601, -32602, -32603

Message = dict[str, Any]
CallTool = Callable[[str, Any], Message]  # name and arguments in, the result of `tools/call` out

_LISTED = {"tools": [tool.described for tool in tool_schemas.TOOLS]}


def read(raw: bytes) -> Any:
    """One message; ValueError when it is not JSON."""
    try:
        return json.loads(raw)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def answer(message: Any, call: CallTool) -> Message | None:
    """The answer to one message; None for a notification, and for an answer of the client's."""
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        if isinstance(message, dict) and ("result" in message or "error" in message):
            return None  # we ask clients nothing
        return error(None, INVALID, "not a JSON-RPC request")
    if "id" not in message:
        return None
    identity, method = message["id"], message["method"]
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        return error(None, INVALID, "the id must be a string or an integer")
    parameters = message.get("params") or {}
    if not isinstance(parameters, dict):
        return error(identity, BAD_PARAMETERS, "params must be an object")
    if method == "initialize":
        return _result(identity, _initialized(parameters))
    if method == "tools/list":
        return _result(identity, _LISTED)
    if method == "ping":
        return _result(identity, {})
    if method == "tools/call":
        name = parameters.get("name")
        if not isinstance(name, str):
            return error(identity, BAD_PARAMETERS, "tools/call needs the name of a tool")
        return _result(identity, call(name, parameters.get("arguments")))
    return error(identity, NO_METHOD, "Method not found")


def _initialized(parameters: Message) -> Message:
    asked = parameters.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "recollect", "version": __version__},
        "instructions": tool_schemas.INSTRUCTIONS,
    }


def tool_result(text: str, *, failed: bool) -> Message:
    """What a tool answered, as the result of `tools/call`; also what it refused, in words."""
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def refusal(error: RecollectError) -> Message:
    """What went wrong and, on a line of its own, what to do about it."""
    text, field = str(error), getattr(error, "field", "")
    if field and not text.startswith(field):
        text = f"{field}: {text}"
    return tool_result(f"{text}\nTry: {error.hint}" if error.hint else text, failed=True)


def error(identity: Any, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}


def encoded(message: Message) -> bytes:
    """One line of ASCII, so that no half of a character can break it."""
    return json.dumps(message, separators=(",", ":")).encode()


def _result(identity: Any, result: Message) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "result": result}
