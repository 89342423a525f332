"""Claude Code in headless mode: the user's subscription answers, in isolation.

In: a ModelRequest. Out: a Completion. The flags were verified with the real program: no hook fires,
no MCP server starts, no CLAUDE.md is read, no tool is available, nothing of the session is kept.
The prompt goes to stdin, because one argument holds only 128 KiB.
"""

import asyncio
import json
import os
import shutil
from typing import Any

from recollect.core.errors import ProviderDown, ProviderRefused
from recollect.core.text_words import count_tokens
from recollect.llm import api_keys, web_api
from recollect.llm.base import Completion, ModelRequest
from recollect.llm.bounded_call import BoundedCalls, deadline
from recollect.llm.child_process import ChildProcess, started

MODEL = "claude-haiku-5-5"
PLACES = ("~/.local/bin/claude", "~/.claude/local/claude")  # a service may have a short PATH
FLAGS = (
    "--output-format", "json", "--setting-sources", "", "--strict-mcp-config", "--tools", "",
    "--no-session-persistence",
)  # fmt: skip
# A key would be billed instead of the subscription; the rest says "inside another session".
WITHOUT = ("ANTHROPIC_API_KEY", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT")
MOST_BYTES = 16 << 20


class ClaudeCodeProvider:
    name = "claude-code"

    def __init__(self, model: str, directory: str) -> None:
        self.model = model or MODEL
        self._directory = directory
        self._calls = BoundedCalls()

    def complete(self, request: ModelRequest) -> Completion:
        return self._calls.run(self._ask(request))

    def close(self) -> None:
        self._calls.close()

    async def _ask(self, request: ModelRequest) -> Completion:
        command = [_program(), "-p", "--model", self.model, *FLAGS]
        command += ["--system-prompt", request.system or "Answer what is asked."]
        async with (
            started(command, self._directory, name="claude", without=WITHOUT) as child,
            deadline(request.timeout_s, "claude"),
        ):
            raw, _ = await asyncio.gather(_read(child), _say(child, request.prompt))
            code = await child.exited()
            reply = _reply(raw)
            if reply is None:
                if code:
                    raise await child.crashed()
                raise ProviderDown("claude answered what is not its JSON")
            return self._completion(reply, request)

    def _completion(self, reply: dict[str, Any], request: ModelRequest) -> Completion:
        text = reply.get("result")
        if reply.get("is_error"):
            words = api_keys.without(text if isinstance(text, str) else "", "")
            raise ProviderRefused(f"claude refused: {words or 'no reason given'}")
        if not isinstance(text, str):
            raise ProviderDown("claude answered without a text")
        answer = web_api.StreamedAnswer("claude", request.max_tokens)
        answer.add(text)
        usage = reply.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        tokens_in = [web_api.counted(usage.get(part)) for part in parts]
        tokens_out = web_api.counted(usage.get("output_tokens"))
        estimated = tokens_in[0] is None or tokens_out is None
        if estimated:
            counted_in = count_tokens(request.system + request.prompt)
            return Completion(text, self.model, counted_in, count_tokens(text), True)
        return Completion(text, self.model, sum(one or 0 for one in tokens_in), tokens_out or 0)


def _program() -> str:
    found = shutil.which("claude")
    places = map(os.path.expanduser, PLACES)
    return found or next((path for path in places if os.access(path, os.X_OK)), "claude")


async def _say(child: ChildProcess, prompt: str) -> None:
    try:
        child.stdin.write(prompt.encode())
        await child.stdin.drain()
    except ConnectionError:
        pass  # it ended without reading; its exit says more
    finally:
        child.stdin.close()


async def _read(child: ChildProcess) -> bytes:
    """All output until it exits; a grandchild that holds the pipe is not waited for."""
    raw = bytearray()
    end = asyncio.create_task(child.exited())
    try:
        while True:
            more = asyncio.create_task(child.stdout.read(65536))
            await asyncio.wait((more, end), return_when=asyncio.FIRST_COMPLETED)
            if not more.done():
                await asyncio.wait((more,), timeout=0.2)  # what was written before the end
            if not more.done():
                more.cancel()
                return bytes(raw)
            if not (chunk := more.result()):
                return bytes(raw)
            raw += chunk
            if len(raw) > MOST_BYTES:
                raise ProviderRefused("claude said more than can be read", spent=True)
    finally:
        end.cancel()


def _reply(raw: bytes) -> dict[str, Any] | None:
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return reply if isinstance(reply, dict) else None
