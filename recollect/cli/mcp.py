"""`recollect mcp`: the stdio side of the MCP server, for agents that start it themselves.

In: JSON-RPC lines. Out: the daemon's answers, line by line. It knows no tool: it starts the daemon
when there is none, says where the agent works, and goes on after a restart. What the daemon cannot
answer is answered here, at once, with an error.
"""

import json
import os
import sys
from typing import Any
from urllib.parse import quote

import click

from recollect.core import private_sessions
from recollect.core.errors import RecollectError

TIMEOUT_S = 120.0
PRIVATE = "This session is private: nothing is remembered of it, and nothing is told in it."
PARSE_ERROR, INVALID, FAILED = -32700, -32600, -32603


@click.command()
def command() -> None:
    """Run the MCP server on standard input and output. Agents start this command themselves."""
    proxy = Proxy(os.getcwd())
    for line in sys.stdin.buffer:
        if line.strip():
            answer = proxy.answer(line)
            if answer:
                sys.stdout.write(answer + "\n")
                sys.stdout.flush()


class Proxy:
    def __init__(self, cwd: str) -> None:
        self._headers = {
            "Host": "localhost",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "X-Recollect-Cwd": quote(cwd),
        }

    def answer(self, line: bytes) -> str:
        """The answer to one message; nothing for a notification."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, PARSE_ERROR, "not JSON")
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            # The answer of a client to something that we never ask is nobody's business.
            known = isinstance(message, dict) and ("result" in message or "error" in message)
            return "" if known else _error(None, INVALID, "not a JSON-RPC request")
        identity = message.get("id")
        if message["method"] == "tools/call" and private_sessions.private_environment(os.environ):
            told = {"content": [{"type": "text", "text": PRIVATE}], "isError": True}
            return json.dumps({"jsonrpc": "2.0", "id": identity, "result": told})
        try:
            raw = self._sent(line)
        except RecollectError as error:
            return "" if identity is None else _error(identity, FAILED, _told(error))
        return self._checked(raw, message) if identity is not None else ""

    def _sent(self, line: bytes) -> bytes:
        """Ask the daemon; when it is not there, start it and ask once more."""
        from recollect.client import Client, NotRunning
        from recollect.core import settings

        chosen = settings.load()
        client = Client(chosen, TIMEOUT_S)
        try:
            return client.send("POST", "/mcp", line, self._headers)[1]
        except NotRunning:
            from recollect.cli import process

            process.start(chosen)
            return client.send("POST", "/mcp", line, self._headers)[1]

    def _checked(self, raw: bytes, message: dict[str, Any]) -> str:
        identity = message["id"]
        try:
            answer = json.loads(raw)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            return _error(identity, FAILED, "the daemon gave no answer; recollect logs")
        told = answer.get("error")
        if "jsonrpc" not in answer:
            words = told.get("message") if isinstance(told, dict) else None
            return _error(identity, FAILED, words or "the daemon refused")
        if isinstance(told, dict) and answer.get("id") in (None, "server-error"):
            answer["id"] = identity
        if message["method"] == "initialize" and isinstance(answer.get("result"), dict):
            version = answer["result"].get("protocolVersion")
            if isinstance(version, str):
                self._headers["MCP-Protocol-Version"] = version
        return json.dumps(answer, separators=(",", ":"))


def _told(error: RecollectError) -> str:
    return f"{error} {error.hint}".strip()


def _error(identity: Any, code: int, message: str) -> str:
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": identity, "error": error})
