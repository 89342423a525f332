"""An agent that speaks the Agent Client Protocol, such as `kiro-cli acp`.

In: a ModelRequest. Out: the agent's answer. Each call has a process and a session of its own;
requests of the agent for permissions, files and terminals are refused. A crash is noticed at once.
"""

import asyncio
import contextlib
import json
import shlex
from collections.abc import Mapping
from typing import Any

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
MOST_NOISE = 200  # lines that are not protocol; more of them, and it is no agent
MOST_LINE = 4 << 20


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
        import acp
        from acp.schema import ClientCapabilities, Implementation

        listener = _listener(request.max_tokens)
        transport = _Lines(child)
        connection = acp.connect_to_agent(listener, transport)
        try:
            await connection.initialize(
                protocol_version=acp.PROTOCOL_VERSION,
                client_capabilities=ClientCapabilities(),  # no files, no terminal
                client_info=Implementation(name="recollect", version=__version__),
            )
            session = await connection.new_session(cwd=self._directory, mcp_servers=[])
            if self._wanted:
                await self._pin(connection, session)
            text = f"{request.system}\n\n{request.prompt}" if request.system else request.prompt
            asked = asyncio.create_task(
                connection.prompt(session_id=session.session_id, prompt=[acp.text_block(text)])
            )
            too_long = asyncio.create_task(listener.too_long.wait())
            try:
                await asyncio.wait((asked, too_long), return_when=asyncio.FIRST_COMPLETED)
                if listener.too_long.is_set():
                    raise ProviderRefused(
                        f"the agent said more than {request.max_tokens} tokens", spent=True
                    )
                return self._completion(await asked, listener.text, text)
            finally:
                for task in (asked, too_long):
                    task.cancel()
                await asyncio.gather(asked, too_long, return_exceptions=True)
        except (acp.RequestError, ValueError, TypeError, AttributeError) as error:
            raise transport.problem or _explained(error) from None
        except ConnectionError:
            if transport.problem:
                raise transport.problem from None
            raise
        finally:
            with contextlib.suppress(Exception):
                await connection.close()

    async def _pin(self, connection: Any, session: Any) -> None:
        """Set the requested model, or fail when it is not available."""
        offered: list[str] = []
        for option in session.config_options or ():
            if option.category != "model" or not hasattr(option, "options"):
                continue
            for one in option.options:
                offered += [each.value for each in getattr(one, "options", [one])]
            if self._wanted in offered:
                await connection.set_config_option(
                    config_id=option.id, session_id=session.session_id, value=self._wanted
                )
                return
        told = ", ".join(offered[:20]) or "none to choose from"
        raise ProviderRefused(
            f"the agent has no model {self._wanted!r}; it offers {told}",
            hint="Change or remove the setting `llm_model`.",
        )

    def _completion(self, response: Any, said: str, asked: str) -> Completion:
        if response.stop_reason == "refusal":
            raise ProviderRefused("the agent refused to answer", spent=True)
        if response.stop_reason == "cancelled":
            raise ProviderDown("the agent gave up its turn")
        usage = response.usage
        if usage is None:
            tokens_in = count_tokens(asked) + self._own_tokens
            return Completion(said, self.model, tokens_in, count_tokens(said), True)
        return Completion(
            said,
            self.model,
            usage.input_tokens + (usage.cached_read_tokens or 0) + (usage.cached_write_tokens or 0),
            usage.output_tokens + (usage.thought_tokens or 0),
        )


class _Lines:
    """The child's pipes as messages. Other output is ignored, up to a limit."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child
        self._noise = 0
        self.problem: ProviderError | None = None

    async def send(self, message: dict[str, Any]) -> None:
        self._child.stdin.write(json.dumps(message).encode() + b"\n")
        await self._child.stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        while line := await self._line():
            message = _message(line)
            if message is not None:
                return message
            self._noise += 1
            if self._noise > MOST_NOISE:
                self.problem = ProviderDown("what runs there does not speak the protocol")
                return None
        return None

    async def close(self) -> None:
        self._child.stdin.close()

    async def _line(self) -> bytes:
        line = b""
        while len(line) <= MOST_LINE:
            try:
                return line + await self._child.stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                return line + error.partial
            except asyncio.LimitOverrunError as error:
                line += await self._child.stdout.readexactly(error.consumed)
        self.problem = ProviderRefused("the agent sent a line without end", spent=True)
        return b""


def _message(line: bytes) -> dict[str, Any] | None:
    """A message that the protocol package accepts; it would write others into the log."""
    from acp.schema import SessionNotification

    try:
        message = json.loads(line)
        if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
            return None
        if message.get("method") == "session/update":
            SessionNotification.model_validate(message.get("params"))
        if "method" not in message and type(message.get("id")) is not int:
            return None
        if not isinstance(message.get("error", {}), dict):
            return None
    except (ValueError, RecursionError):  # not JSON, or not of the protocol
        return None
    return message


def _listener(max_tokens: int) -> Any:
    """Collects the answer and refuses every request."""
    import acp
    from acp.schema import DeniedOutcome, RequestPermissionResponse

    class Listener:
        def __init__(self) -> None:
            self.text = ""
            self.tokens = 0
            self.too_long = asyncio.Event()

        async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
            if update.session_update != "agent_message_chunk" or update.content.type != "text":
                return
            self.tokens += count_tokens(update.content.text)
            if self.tokens > max_tokens:
                self.too_long.set()
            else:
                self.text += update.content.text

        async def request_permission(self, **_: Any) -> RequestPermissionResponse:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

        async def _refuse(self, *_: Any, **__: Any) -> Any:
            raise acp.RequestError.method_not_found("not offered to this agent")

        read_text_file = write_text_file = create_terminal = terminal_output = _refuse
        release_terminal = wait_for_terminal_exit = kill_terminal = _refuse
        create_elicitation = ext_method = _refuse

        async def complete_elicitation(self, **_: Any) -> None:
            return

        async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
            return

    return Listener()


def _explained(error: Exception) -> ProviderError:
    code = getattr(error, "code", None)
    if code == -32000:
        return ProviderRefused("the agent wants you to sign in", hint="Sign in to it, then retry.")
    if code is not None:
        return ProviderDown(f"the agent answered with an error: {api_keys.without(str(error), '')}")
    return ProviderDown("the agent answered in a form that is not the protocol's")
