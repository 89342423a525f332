"""A child process in a process group of its own, which is ended afterwards.

In: a command. Out: its pipes, and notice of its exit at once. A missing program raises
ProviderRefused. Everything the child started is ended with it: TERM to the group, KILL after 2 s.
"""

import asyncio
import contextlib
import os
import shutil
import signal
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping, Sequence

from recollect import privacy
from recollect.core import oslayer
from recollect.core.errors import ProviderDown, ProviderRefused
from recollect.hosts.adapter import GUARD

GRACE_S = 2.0
KILL_S = 2.0
STEP_S = 0.02
WORDS_S = 0.5
BUFFER = 1 << 20
TAIL = 2000


class ChildProcess:
    def __init__(self, process: Process, exited: asyncio.Event, name: str) -> None:
        self._process = process
        self._exited = exited
        self._name = name
        self._tail = b""
        self._complaints = asyncio.create_task(self._listen())

    @property
    def stdin(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        assert self._process.stdout is not None
        return self._process.stdout

    async def exited(self) -> int:
        """Wait for the process itself: others may still hold its pipes."""
        await self._exited.wait()
        return self._process.returncode or 0

    async def crashed(self) -> ProviderDown:
        """The error for a child that exited too early, with its last output."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WORDS_S):  # its pipes close a moment before it is gone
                await self._exited.wait()
        await asyncio.wait((self._complaints,), timeout=WORDS_S)
        lines = privacy.scrub(self._tail.decode("utf-8", "replace")).strip().splitlines()
        words = f": {lines[-1][:200]}" if lines else ""
        code = self._process.returncode
        return ProviderDown(f"{self._name} ended before it answered (exit code {code}){words}")

    async def end(self) -> None:
        """End the whole group. Not even a stop of the daemon interrupts this."""
        stopped = False
        for number, patience in ((signal.SIGTERM, GRACE_S), (oslayer.KILL, KILL_S)):
            left = patience
            if not self._signal(number):
                break
            while left > 0 and self._signal(0):
                try:
                    await asyncio.sleep(STEP_S)
                except asyncio.CancelledError:
                    stopped = True
                left -= STEP_S
        self._complaints.cancel()
        self._process._transport.close()  # type: ignore[attr-defined]
        if stopped:
            raise asyncio.CancelledError

    def _signal(self, number: int) -> bool:
        """Whether any process of the group was left to signal."""
        return oslayer.signal_group(self._process.pid, number)

    async def _listen(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while more := await stderr.read(4096):
            self._tail = (self._tail + more)[-TAIL:]


class _Pipes(SubprocessStreamProtocol):
    """Reports the exit at once; asyncio's own `wait` may also wait for the pipes to close."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(BUFFER, loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        self.exited.set()
        super().process_exited()


@contextlib.asynccontextmanager
async def started(
    command: Sequence[str],
    directory: str,
    *,
    name: str,
    without: Sequence[str] = (),
    extra: Mapping[str, str] | None = None,
) -> AsyncIterator[ChildProcess]:
    """Run a command for the duration of the block. `directory` holds nothing that an agent would
    read. A guard variable silences our own hooks; `without` is removed from the environment."""
    program = shutil.which(command[0])
    if program is None:
        raise ProviderRefused(
            f"{command[0]} is not on the PATH", hint="Install it, or change the setting `provider`."
        )
    env = {key: value for key, value in os.environ.items() if key not in without}
    env |= {**(extra or {}), GUARD: "1"}
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.subprocess_exec(
            lambda: _Pipes(loop),
            program,
            *command[1:],
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=directory,
            env=env,
            start_new_session=True,
        )
    except OSError as error:
        raise ProviderRefused(f"{program} cannot be started: {error.strerror}") from error
    child = ChildProcess(Process(transport, protocol, loop), protocol.exited, name)
    try:
        yield child
    finally:
        await child.end()
