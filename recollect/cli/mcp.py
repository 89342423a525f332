"""`recollect mcp`: the stdio side of the MCP server, for agents that start it themselves.

In: JSON-RPC lines. Out: answers; an unknown method gets an error at once, a tool that fails says so
in its text. One tool so far, because Gemini CLI and Qwen Code call a server without any broken.
"""

import json
import os
import sys
from typing import Any

import click

from recollect import __version__
from recollect.core.errors import RecollectError

LINE_CHARS = 300
TIMELINE = {
    "name": "timeline",
    "description": "What was asked, done and answered in this project lately, newest first.",
    "inputSchema": {
        "type": "object",
        "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}},
    },
    "annotations": {"readOnlyHint": True},
}
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
        return _result(identity, {"tools": [TIMELINE]})
    if method == "tools/call":
        return _called(identity, message.get("params"))
    if method == "ping":
        return _result(identity, {})
    return _error(identity, -32601, f"there is no method {method!r}")


# --- the tool ------------------------------------------------------------------------------------


def _called(identity: Any, parameters: Any) -> dict[str, Any]:
    asked = parameters if isinstance(parameters, dict) else {}
    if asked.get("name") != TIMELINE["name"]:
        return _error(identity, -32602, f"there is no tool {asked.get('name')!r}")
    arguments = asked.get("arguments")
    limit = arguments.get("limit") if isinstance(arguments, dict) else None
    try:
        text, failed = timeline(limit if type(limit) is int else 20), False
    except RecollectError as error:
        text, failed = f"{error} {error.hint}".strip(), True
    return _result(identity, {"content": [{"type": "text", "text": text}], "isError": failed})


def timeline(limit: int) -> str:
    """The last events of the project in which the agent runs, a line each."""
    from urllib.parse import quote

    from recollect.cli.client import Client  # agents wait for a server's start, not for its tool
    from recollect.core import settings

    project = quote(os.getcwd(), safe="")
    path = f"/v1/events?limit={min(max(limit, 1), 50)}&project_path={project}"
    lines = [_line(row["event"]) for row in Client(settings.load()).get(path)["items"]]
    return "\n".join(lines) or "Nothing was recorded in this project yet."


def _line(event: dict[str, Any]) -> str:
    body = event["body"]
    match body["type"]:
        case "text":
            told = body["content"]
        case "message":
            told = body["turns"][-1]["content"]
        case _:
            data = body["data"]
            what = data.get("command") or ", ".join(data.get("files") or ())
            told = f"{data.get('tool') or data.get('signal') or ''} {what}"
    short = " ".join(told.split())
    cut = f"{short[:LINE_CHARS]}…" if len(short) > LINE_CHARS else short
    return f"- [{event['valid_time'][:16]}] {event['kind']}: {cut}"


# --- answers -------------------------------------------------------------------------------------


def _result(identity: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
