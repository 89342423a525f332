"""`recollect mcp`: the stdio side of the MCP server, for agents that start it themselves.

In: JSON-RPC lines. Out: answers. It has no tools yet; it answers what the protocol asks for so that
an agent that has it configured starts cleanly, and anything else at once with an error.
"""

import json
import sys
from typing import Any

import click

from recollect import __version__

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")


@click.command()
def command() -> None:
    """Speak MCP on standard input and output. Agents run this; there is nothing to see here."""
    for line in sys.stdin.buffer:
        if line.strip():
            answer = answer_to(line)
            if answer is not None:
                sys.stdout.write(json.dumps(answer) + "\n")
                sys.stdout.flush()


def answer_to(line: bytes) -> dict[str, Any] | None:
    """The answer to one message; None for a notification."""
    try:
        message = json.loads(line)
        method, identity = message.get("method"), message.get("id")
    except (ValueError, AttributeError, RecursionError):
        return _error(None, -32700, "not a JSON-RPC message")
    if identity is None:
        return None
    if method == "initialize":
        parameters = message.get("params")
        asked = parameters.get("protocolVersion") if isinstance(parameters, dict) else None
        return _result(
            identity,
            {
                "protocolVersion": asked if asked in PROTOCOLS else PROTOCOLS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "recollect", "version": __version__},
            },
        )
    if method == "tools/list":
        return _result(identity, {"tools": []})
    if method == "ping":
        return _result(identity, {})
    return _error(identity, -32601, f"there is no method {method!r}")


def _result(identity: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
