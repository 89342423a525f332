"""One plugin, in a process of its own, called with a time limit.

In: a plugin and calls. Out: answers, or PluginFailed. A call that exceeds its limit ends the
process; the next call that may wait starts another. Three failures of a hook in a row switch it
off, and one that cannot be loaded is off at once.
"""

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from multiprocessing.connection import Connection, Pipe
from typing import Any

from recollect.core import oslayer
from recollect.core.errors import PluginFailed
from recollect.plugins.available import AvailablePlugin
from recollect.plugins.channel import receive, send

log = logging.getLogger("recollect.plugins")

FAILURES = 3
START_S = 10.0
STOP_S = 2.0
LIMITS_S = {"event_stored": 10.0, "memory_made": 10.0, "tick": 30.0, "import_source": 60.0}
# A slow call of one kind does not delay those of another.
NOTICES, BRIEFS, WORK = range(3)
BRIEF = "before_inject"
MODULE = "recollect.plugins.worker"
_OUR_CALL = "RECOLLECT_INTERNAL"  # an agent that a plugin runs is not captured


class _Channel:
    def __init__(self, line: Connection) -> None:
        self.line = line
        self.lock = threading.Lock()
        self.number = 0
        self.unanswered = 0


class _Child:
    """A running process and its channels."""

    def __init__(self, plugin: AvailablePlugin, options_file: str, env: Mapping[str, str]) -> None:
        pairs = [Pipe() for _ in (NOTICES, BRIEFS, WORK)]
        theirs = [pair[1] for pair in pairs]
        numbers = [one.fileno() for one in theirs]
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", MODULE, plugin.target, options_file,
                 *map(str, numbers)],
                env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, **oslayer.inherited(numbers),
            )  # fmt: skip
        finally:
            for one in theirs:
                one.close()
        self.channels = [_Channel(pair[0]) for pair in pairs]

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for channel in self.channels:
            with contextlib.suppress(OSError):
                channel.line.close()


class PluginProcess:
    def __init__(self, plugin: AvailablePlugin, options_file: str, home: str) -> None:
        self.plugin = plugin
        self._options_file = options_file
        self._env = {**os.environ, "RECOLLECT_HOME": home, _OUR_CALL: "1"}
        self._guard = threading.Lock()  # of what follows
        self._child: _Child | None = None
        self.hooks: tuple[str, ...] = ()
        self._failures: Counter[str] = Counter()  # in a row, by hook
        self.problem = ""  # the last failure
        self.off = False
        self.calls = 0

    def start(self) -> None:
        """Start the process, unless it runs; PluginFailed when it cannot."""
        with self._guard:
            if self.off:
                raise PluginFailed(f"{self.plugin.name} is switched off: {self.problem}")
            if self._child is not None and self._child.alive:
                return
            if self._child is not None:
                self._child.end()
            child = self._child = _Child(self.plugin, self._options_file, self._env)
        line = child.channels[NOTICES].line
        try:
            if not line.poll(START_S):
                raise PluginFailed(f"it did not start within {START_S:g} s")
            hello = receive(line)
            if "failed" in hello:
                raise PluginFailed(f"it could not be loaded: {hello['failed']}")
        except (EOFError, OSError, PluginFailed) as error:
            child.end()
            self._failures["start"] = FAILURES  # trying again would not help
            problem = str(error) or "its process ended while starting"
            raise self._failed("start", problem) from error
        self.hooks = tuple(hello["hooks"])

    def call(self, hook: str, *given: Any, limit_s: float | None = None) -> Any:
        """The answer of a hook; PluginFailed when there is none."""
        with contextlib.closing(self._conversation(hook, given, limit_s)) as answers:
            return next(message["done"] for message in answers if "done" in message)

    def items(self, argument: str) -> Iterator[dict[str, Any]]:
        """What a plugin's `import_source` yields."""
        with contextlib.closing(self._conversation("import_source", (argument,), None)) as answers:
            for message in answers:
                if "item" in message:
                    yield message["item"]

    def _conversation(
        self, hook: str, given: tuple[Any, ...], limit_s: float | None
    ) -> Generator[dict[str, Any], None, None]:
        self.start()
        child = self._child
        assert child is not None
        limit = LIMITS_S[hook] if limit_s is None else limit_s
        channel = child.channels[WORK if hook in ("import_source", "llm_provider") else NOTICES]
        answered = False
        with channel.lock:
            try:
                send(channel.line, {"number": 0, "hook": hook, "given": given})
                while not answered:
                    if not channel.line.poll(limit):
                        raise PluginFailed(f"{hook} took longer than {limit:g} s")
                    message = receive(channel.line)
                    if "failed" in message:
                        answered = True
                        raise PluginFailed(f"{hook} failed: {message['failed']}")
                    answered = "done" in message
                    if answered:
                        self._succeeded(hook)
                    yield message
            except (EOFError, OSError, ValueError) as error:
                raise self._failed(hook, f"its process ended during {hook}") from error
            except PluginFailed as error:
                raise self._failed(hook, str(error)) from error
            finally:
                if not answered:  # what is left of it must not be taken for the next answer
                    child.end()

    # --- briefs: whoever waits for one starts nothing and ends nothing ---

    def ask_brief(self, brief: Any) -> bool:
        """Ask for a brief without waiting; False when the plugin cannot be asked now."""
        child = self._child
        if self.off or child is None or BRIEF not in self.hooks or not child.alive:
            return False
        channel = child.channels[BRIEFS]
        if not channel.lock.acquire(blocking=False):
            return False
        try:
            self._discard_late(channel)
            if channel.unanswered:
                self._failed(BRIEF, "before_inject did not answer the last brief")
                return False
            channel.number += 1
            call = {"number": channel.number, "hook": BRIEF, "given": [brief]}
            send(channel.line, call)
            channel.unanswered += 1
            return True
        except (EOFError, OSError, ValueError):
            self._failed(BRIEF, "its process ended during before_inject")
            return False
        finally:
            channel.lock.release()

    def brief_answer(self, deadline: float) -> list[str]:
        """The ids that shall not be told; none when it does not answer before the deadline."""
        child = self._child
        if child is None:
            return []
        channel = child.channels[BRIEFS]
        with channel.lock:
            try:
                while channel.unanswered:
                    if not channel.line.poll(max(0.0, deadline - time.monotonic())):
                        self._failed(BRIEF, "before_inject took longer than its limit")
                        return []
                    message = receive(channel.line)
                    channel.unanswered -= 1
                    if "failed" in message:
                        self._failed(BRIEF, f"before_inject failed: {message['failed']}")
                        return []
                    if message["number"] == channel.number:
                        self._succeeded(BRIEF)
                        return [one for one in message["done"] or () if isinstance(one, str)]
            except (EOFError, OSError, ValueError, TypeError):
                self._failed(BRIEF, "its process ended during before_inject")
        return []

    @staticmethod
    def _discard_late(channel: _Channel) -> None:
        while channel.unanswered and channel.line.poll(0):
            receive(channel.line)
            channel.unanswered -= 1

    def close(self) -> None:
        """Let it stop, and end the process."""
        child = self._child
        if child is not None and child.alive and not self.off:
            with contextlib.suppress(PluginFailed):
                self.call("stop", limit_s=STOP_S)
        with self._guard:
            self.off = True
            if self._child is not None:
                self._child.end()

    def status(self) -> dict[str, Any]:
        child = self._child
        return {
            "state": "off" if self.off else "running" if child and child.alive else "stopped",
            "pid": child.process.pid if child is not None and child.alive else None,
            "hooks": list(self.hooks),
            "calls": self.calls,
            "problem": self.problem,
        }

    def _succeeded(self, hook: str) -> None:
        with self._guard:
            self.calls += 1
            self._failures[hook] = 0

    def _failed(self, hook: str, problem: str) -> PluginFailed:
        with self._guard:
            self.calls += 1
            self._failures[hook] += 1
            failures = self._failures[hook]
            self.problem = problem
            self.off = self.off or failures >= FAILURES
            if self.off and self._child is not None:
                self._child.process.kill()
        state = "switched off" if self.off else f"{failures} of {FAILURES} failures"
        log.warning("plugin %s: %s (%s)", self.plugin.name, problem, state)
        return PluginFailed(f"the plugin {self.plugin.name}: {problem}")
