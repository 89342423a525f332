"""An agent that is connected anyway, asked once in headless mode, with the user's own account.

In: a ModelRequest. Out: a Completion. How each agent is asked stands in its `facts.py`
(`ModelRun`): with flags, proven with the real program, by which none of our hooks and no MCP server
takes part and nothing of the session is kept. The prompt goes to stdin, because one argument holds
only 128 KiB.
"""

import asyncio
import json
import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from typing import Any

from recollect.core import safe_files
from recollect.core.errors import ProviderDown, ProviderRefused
from recollect.core.text_words import count_tokens
from recollect.hosts.facts import Facts, ModelRun
from recollect.llm import api_keys, web_api
from recollect.llm.base import Completion, ModelRequest
from recollect.llm.bounded_call import BoundedCalls, deadline
from recollect.llm.child_process import ChildProcess, started

MOST_BYTES = 16 << 20
FILE_BYTES = 1 << 20
_BARE = re.compile(r"[\w-]{1,100}")
Reply = dict[str, Any]


class HeadlessProvider:
    """An agent that prints its answer as JSON."""

    def __init__(self, facts: Facts, run: ModelRun, model: str, directory: str) -> None:
        self.name = facts.name
        self.model = model or run.model or "chosen by the agent"
        self._program = program_of(facts, run)
        self._title = facts.programs[0]
        self._run = run
        self._wanted = model or run.model
        self._directory = directory
        self._calls = BoundedCalls()

    def complete(self, request: ModelRequest) -> Completion:
        return self._calls.run(self._ask(request))

    def close(self) -> None:
        self._calls.close()

    async def _ask(self, request: ModelRequest) -> Completion:
        system = request.system or "Answer what is asked."
        command = [self._program, *self._run.command(self._wanted, system)]
        for server in _servers(self._run):
            command += [one.replace("{}", server) for one in self._run.server_arguments]
        apart = any("{system}" in one for one in self._run.arguments)
        prompt = request.prompt if apart else f"{system}\n\n{request.prompt}"
        async with (
            started(
                command, self._directory, name=self._title, without=self._run.without,
                extra=dict(self._run.env),
            ) as child,
            deadline(request.timeout_s, self._title),
        ):  # fmt: skip
            raw, _ = await asyncio.gather(_read(child, self._title), _say(child, prompt))
            code = await child.exited()
            reply = _REPLIES[self._run.route](raw)
            if reply is None:
                if code:
                    raise await child.crashed()
                raise ProviderDown(f"{self._title} answered what is not its JSON")
            return self._completion(reply, request)

    def _completion(self, reply: Reply, request: ModelRequest) -> Completion:
        text = reply.get("result")
        if reply.get("is_error"):
            words = api_keys.without(text if isinstance(text, str) else "", "")
            raise ProviderRefused(f"{self._title} refused: {words or 'no reason given'}")
        if not isinstance(text, str):
            raise ProviderDown(f"{self._title} answered without a text")
        answer = web_api.StreamedAnswer(self._title, request.max_tokens)
        answer.add(text)
        usage = reply.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        tokens_in = [web_api.counted(usage.get(part)) for part in parts]
        tokens_out = web_api.counted(usage.get("output_tokens"))
        if tokens_in[0] is None or tokens_out is None:
            counted_in = count_tokens(request.system + request.prompt) + self._run.own_tokens
            return Completion(text, self.model, counted_in, count_tokens(text), True)
        return Completion(text, self.model, sum(one or 0 for one in tokens_in), tokens_out)


def program_of(facts: Facts, run: ModelRun) -> str:
    """Its path, or its name when it is not found: the call then says so."""
    name = facts.programs[0]
    places = map(os.path.expanduser, run.places)
    found = shutil.which(name)
    return found or next((path for path in places if os.access(path, os.X_OK)), name)


def _servers(run: ModelRun) -> list[str]:
    """The MCP servers that the host would start. One whose name has to be quoted is not among them:
    the host reads such a name in an argument as several."""
    if run.servers is None:
        return []
    variable, folder, name = run.servers
    below = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), folder)
    try:
        raw = safe_files.read_whole(os.path.join(below, name), FILE_BYTES)
        servers = tomllib.loads(raw.decode()).get("mcp_servers")
    except (OSError, ValueError):
        return []
    return [one for one in servers if _BARE.fullmatch(one)] if isinstance(servers, dict) else []


async def _say(child: ChildProcess, prompt: str) -> None:
    try:
        child.stdin.write(prompt.encode())
        await child.stdin.drain()
    except ConnectionError:
        pass  # it ended without reading; its exit says more
    finally:
        child.stdin.close()


async def _read(child: ChildProcess, title: str) -> bytes:
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
                raise ProviderRefused(f"{title} said more than can be read", spent=True)
    finally:
        end.cancel()


def _one_object(raw: bytes) -> Reply | None:
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return reply if isinstance(reply, dict) else None


def _events(raw: bytes) -> Reply | None:
    """Lines of events: messages of the agent, and an end with the usage or an error. Cached tokens
    are among the input tokens."""
    said: list[str] = []
    reply: Reply | None = None
    for line in raw.splitlines():
        event = _one_object(line)
        if event is None:
            continue
        item, error = event.get("item"), event.get("error")
        match event.get("type"):
            case "item.completed" if isinstance(item, dict) and item.get("type") == "agent_message":
                said.append(str(item.get("text", "")))
            case "turn.completed":
                reply = {"result": "\n".join(said), "usage": event.get("usage")}
            case "turn.failed":
                words = error.get("message") if isinstance(error, dict) else None
                reply = {"is_error": True, "result": words}
    return reply


_REPLIES: Mapping[str, Any] = {"json": _one_object, "json lines": _events}
