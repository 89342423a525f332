"""`recollect mcp`: the stdio side of the MCP server, for agents that start it themselves.

In: JSON-RPC lines. Out: answers, line by line. Everything but the call of a tool is answered here
at once, whatever the daemon does: some agents wait a second for the tools and then do without them
for the whole session. Meanwhile the daemon is started and learns where the agent works. A call
waits for a daemon that starts, for a bounded time; what goes wrong is told in words.
"""

import os
import sys
import threading
from typing import IO, Any
from urllib.parse import quote

import click

from recollect.core import mcp_protocol, private_sessions
from recollect.core.errors import RecollectError
from recollect.core.mcp_protocol import Message, tool_result

# Together less than the minute after which agents give up on a tool.
CALL_S = 30.0
START_S = 20.0
PRIVATE = "This session is private: nothing is remembered of it, and nothing is told in it."
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class StillStarting(RecollectError):
    """Recollect is still starting."""

    hint = "Go on without it, or try again in a moment."


@click.command()
def command() -> None:
    """Run the MCP server on standard input and output. Agents start this command themselves."""
    serve(sys.stdin.buffer, sys.stdout.buffer, Proxy(os.getcwd()))


def serve(lines: IO[bytes], out: IO[bytes], proxy: "Proxy") -> None:
    """Answer until the agent hangs up. Calls run in threads of their own, so that a slow one delays
    neither a ping nor another call."""
    writing = threading.Lock()
    calls: list[threading.Thread] = []

    def write(answer: Message | None) -> None:
        with writing:
            try:
                if answer is not None:
                    out.write(mcp_protocol.encoded(answer) + b"\n")
                    out.flush()
            except OSError:
                pass  # the agent has hung up

    for line in filter(bytes.strip, lines):
        try:
            message = mcp_protocol.read(line)
        except ValueError:
            write(mcp_protocol.error(None, mcp_protocol.PARSE_ERROR, "not JSON"))
            continue
        if isinstance(message, dict) and message.get("method") == "tools/call":
            call = threading.Thread(target=lambda asked=message: write(proxy.answer(asked)))
            call.daemon = True
            call.start()
            calls = [*filter(threading.Thread.is_alive, calls), call]
        else:
            write(proxy.answer(message))
    for call in calls:
        call.join()


class Proxy:
    """Answers the messages of one agent, which works in `cwd`."""

    def __init__(self, cwd: str) -> None:
        self._daemon = DaemonLink(cwd)

    def answer(self, message: Any) -> Message | None:
        if private_sessions.private_environment(os.environ):
            return mcp_protocol.answer(message, lambda *_: tool_result(PRIVATE, failed=True))
        if isinstance(message, dict) and message.get("method") == "initialize":
            self._daemon.introduce()
        return mcp_protocol.answer(message, self._daemon.call)


class DaemonLink:
    """The way to the daemon, which is started when it is not there."""

    def __init__(self, cwd: str) -> None:
        self._headers = {
            "Host": "localhost",
            "Content-Type": "application/json",
            "X-Recollect-Cwd": quote(cwd),
            "X-Recollect-Pid": str(os.getpid()),
        }
        self._lock = threading.Lock()
        self._starting: threading.Thread | None = None
        self._failure: Exception | None = None

    def introduce(self) -> None:
        """Tell the daemon, in a thread, that an agent has our tools. What fails is told by the
        first call."""
        threading.Thread(target=self._asked, args=(INITIALIZED,), daemon=True).start()

    def call(self, name: str, arguments: Any) -> Message:
        """The result of calling a tool, or in its place the words for what went wrong."""
        parameters = {"name": name, "arguments": arguments}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}
        return self._asked(mcp_protocol.encoded(asked))

    def _asked(self, request: bytes) -> Message:
        try:
            raw = self._send(request)
            answer = mcp_protocol.read(raw)
            if isinstance(answer, dict) and isinstance(answer.get("result"), dict):
                return dict(answer["result"])
            error = answer.get("error") if isinstance(answer, dict) else None
            words = error.get("message") if isinstance(error, dict) else None
            return tool_result(words or "the daemon refused", failed=True)
        except ValueError:
            return tool_result("the daemon gave no answer; recollect logs", failed=True)
        except RecollectError as error:
            return mcp_protocol.refusal(error)

    def _send(self, request: bytes) -> bytes:
        from recollect.client import Client, NoAnswer, NotRunning
        from recollect.core import settings

        chosen = settings.load()
        client = Client(chosen, CALL_S)
        try:
            return client.send("POST", "/mcp", request, self._headers)[1]
        except NoAnswer:
            raise
        except NotRunning:
            self._start()
            return client.send("POST", "/mcp", request, self._headers)[1]

    def _start(self) -> None:
        """Start the daemon, once for all calls that wait; StillStarting when it takes long."""
        with self._lock:
            if self._starting is None or not self._starting.is_alive():
                self._starting = threading.Thread(target=self._run, daemon=True)
                self._starting.start()
            starting = self._starting
        starting.join(START_S)
        if starting.is_alive():
            raise StillStarting
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        self._failure = None
        try:
            start_daemon()
        except RecollectError as error:
            self._failure = error


def start_daemon() -> None:
    """By a command that ends: some agents stop their server with everything that descends from it,
    and the daemon is everybody's."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "recollect", "up", "--quiet"],
        cwd="/",  # Python would import from the agent's directory
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    if done.returncode:
        told = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise RecollectError(told.removeprefix("recollect: ") or "The daemon did not start.")
