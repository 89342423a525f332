"""An agent that speaks the Agent Client Protocol, such as `kiro-cli acp`.

In: a ModelRequest. Out: the agent's answer. Each call has a process and a session of its own;
requests of the agent for permissions, files and terminals are refused. A crash is noticed at once.
"""

import asyncio
import json
import shlex
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from recollect import __version__
from recollect.core.errors import ProviderDown, ProviderError, ProviderRefused
from recollect.core.text_words import count_tokens
from recollect.hosts.kiro_cli.facts import COMPRESSOR, RECONCILER
from recollect.hosts.kiro_cli.facts import MODEL as KIRO_MODEL
from recollect.llm import api_keys
from recollect.llm.base import Completion, ModelRequest, Purpose
from recollect.llm.bounded_call import BoundedCalls, deadline
from recollect.llm.child_process import WORDS_S, ChildProcess, started

AGENTS: dict[Purpose, str] = {
    "extract": COMPRESSOR, "judge": RECONCILER, "compact": COMPRESSOR, "distil": COMPRESSOR,
}  # fmt: skip
PROTOCOL_VERSION = 1
MOST_NOISE = 200  # lines that are not protocol; more of them, and it is no agent
MOST_LINE = 4 << 20
SIGN_IN = -32000
NOT_OFFERED = -32601


class _Struct(msgspec.Struct, rename="camel"):
    """A value of the protocol: what we read of it."""


class _Choice(_Struct):
    value: str = ""
    options: tuple["_Choice", ...] = ()  # of a group


class _ConfigOption(_Struct):
    id: str
    category: str | None = None
    options: tuple[_Choice, ...] = ()


class _Session(_Struct):
    session_id: str
    config_options: tuple[_ConfigOption, ...] | None = None


class _Usage(_Struct):
    input_tokens: int
    output_tokens: int
    thought_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None


class _Ended(_Struct):
    stop_reason: str
    usage: _Usage | None = None


class _Content(_Struct):
    type: str = ""
    text: str = ""


class _Update(_Struct):
    session_update: str
    content: Any = None


class _Updated(_Struct):
    update: _Update


class _Error(_Struct):
    code: int
    message: str = ""


class _Message(_Struct):
    """A request, a notification or an answer."""

    id: int | str | None = None
    method: str | None = None
    params: Any = None
    result: Any = None
    error: _Error | None = None


S = TypeVar("S", bound=_Struct)


class AcpProvider:
    name = "acp"

    def __init__(
        self,
        command: str,
        model: str,
        directory: str,
        env: Mapping[str, str] | None = None,
        own_tokens: int = 0,
    ) -> None:
        """`own_tokens`: what the agent adds to a question, for one that does not count."""
        self._command = shlex.split(command)
        self._env = env
        self._own_tokens = own_tokens
        self._wanted = model
        self._directory = directory
        self._calls = BoundedCalls()
        ours = "{agent}" in command  # the agent file pins the model
        self.model = model or (KIRO_MODEL if ours else "chosen by the agent")

    def complete(self, request: ModelRequest) -> Completion:
        return self._calls.run(self._ask(request))

    def close(self) -> None:
        self._calls.close()

    async def _ask(self, request: ModelRequest) -> Completion:
        agent = AGENTS[request.purpose]
        command = [part.replace("{agent}", agent) for part in self._command]
        async with (
            started(command, self._directory, name=command[0], extra=self._env) as child,
            deadline(request.timeout_s, command[0]),
        ):
            turn = asyncio.create_task(self._turn(child, request))
            end = asyncio.create_task(child.exited())
            try:
                await asyncio.wait((turn, end), return_when=asyncio.FIRST_COMPLETED)
                if not turn.done():  # it may have ended right after its answer
                    await asyncio.wait((turn,), timeout=WORDS_S)
                if not turn.done():
                    raise await child.crashed()
                return await turn
            except (ConnectionError, OSError):
                raise await child.crashed() from None
            finally:
                for task in (turn, end):
                    task.cancel()
                await asyncio.gather(turn, end, return_exceptions=True)

    async def _turn(self, child: ChildProcess, request: ModelRequest) -> Completion:
        connection = _Connection(child, request.max_tokens)
        await connection.ask(
            "initialize",
            _Struct,
            protocolVersion=PROTOCOL_VERSION,
            clientCapabilities={},  # no files, no terminal
            clientInfo={"name": "recollect", "version": __version__},
        )
        session = await connection.ask("session/new", _Session, cwd=self._directory, mcpServers=[])
        if self._wanted:
            await self._pin(connection, session)
        text = f"{request.system}\n\n{request.prompt}" if request.system else request.prompt
        blocks = [{"type": "text", "text": text}]
        ended = await connection.ask(
            "session/prompt", _Ended, sessionId=session.session_id, prompt=blocks
        )
        return self._completion(ended, connection.said, text)

    async def _pin(self, connection: "_Connection", session: _Session) -> None:
        """Set the requested model, or fail when it is not available."""
        offered: list[str] = []
        for option in session.config_options or ():
            if option.category != "model":
                continue
            for one in option.options:
                offered += [each.value for each in one.options or (one,)]
            if self._wanted in offered:
                await connection.ask(
                    "session/set_config_option",
                    _Struct,
                    sessionId=session.session_id,
                    configId=option.id,
                    value=self._wanted,
                )
                return
        told = ", ".join(offered[:20]) or "none to choose from"
        raise ProviderRefused(
            f"the agent has no model {self._wanted!r}; it offers {told}",
            hint="Change or remove the setting `llm_model`.",
        )

    def _completion(self, ended: _Ended, said: str, asked: str) -> Completion:
        if ended.stop_reason == "refusal":
            raise ProviderRefused("the agent refused to answer", spent=True)
        if ended.stop_reason == "cancelled":
            raise ProviderDown("the agent gave up its turn")
        usage = ended.usage
        if usage is None:
            tokens_in = count_tokens(asked) + self._own_tokens
            return Completion(said, self.model, tokens_in, count_tokens(said), True)
        return Completion(
            said,
            self.model,
            usage.input_tokens + (usage.cached_read_tokens or 0) + (usage.cached_write_tokens or 0),
            usage.output_tokens + (usage.thought_tokens or 0),
        )


class _Connection:
    """One question after the other, as JSON-RPC over the child's pipes. Meanwhile the answer is
    collected, and whatever the agent asks for is refused."""

    def __init__(self, child: ChildProcess, max_tokens: int) -> None:
        self._child = child
        self._left = self._max_tokens = max_tokens
        self._noise = 0
        self._asked = 0
        self.said = ""

    async def ask(self, method: str, expected: type[S], **params: Any) -> S:
        number, self._asked = self._asked, self._asked + 1
        await self._send({"id": number, "method": method, "params": params})
        while True:
            message = await self._receive()
            if message.method is not None:
                await self._answer(message)
            elif message.id == number:
                if message.error is not None:
                    raise _explained(message.error)
                try:
                    return msgspec.convert(message.result, expected)
                except msgspec.ValidationError:
                    raise ProviderDown(
                        "the agent answered in a form that is not the protocol's"
                    ) from None

    async def _answer(self, message: _Message) -> None:
        if message.id is None:
            return
        if message.method == "session/request_permission":
            outcome = {"outcome": {"outcome": "cancelled"}}
            await self._send({"id": message.id, "result": outcome})
        else:
            error = {"code": NOT_OFFERED, "message": "not offered to this agent"}
            await self._send({"id": message.id, "error": error})

    def _collect(self, update: _Update) -> None:
        if update.session_update != "agent_message_chunk":
            return
        content = msgspec.convert(update.content, _Content)
        if content.type == "text":
            self.said += content.text
            self._left -= count_tokens(content.text)
        if self._left < 0:
            raise ProviderRefused(f"the agent said more than {self._max_tokens} tokens", spent=True)

    async def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._child.stdin.write(line + b"\n")
        await self._child.stdin.drain()

    async def _receive(self) -> _Message:
        """The next message of the protocol. Other output is ignored, up to a limit."""
        while line := await self._line():
            try:
                message = msgspec.json.decode(line, type=_Message)
                if message.method == "session/update":
                    self._collect(msgspec.convert(message.params, _Updated).update)
                else:
                    return message
            except (msgspec.MsgspecError, RecursionError):
                self._noise += 1
            if self._noise > MOST_NOISE:
                raise ProviderDown("what runs there does not speak the protocol")
        raise ConnectionError("the agent closed its output")

    async def _line(self) -> bytes:
        line = b""
        while len(line) <= MOST_LINE:
            try:
                return line + await self._child.stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                return line + error.partial
            except asyncio.LimitOverrunError as error:
                line += await self._child.stdout.readexactly(error.consumed)
        raise ProviderRefused("the agent sent a line without end", spent=True)


def _explained(error: _Error) -> ProviderError:
    if error.code == SIGN_IN:
        return ProviderRefused("the agent wants you to sign in", hint="Sign in to it, then retry.")
    told = api_keys.without(error.message, "")
    return ProviderDown(f"the agent answered with an error: {told}")
