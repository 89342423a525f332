"""The plugins that are switched on: what happened is passed on to them, and they are asked.

In: events, memories and briefs. Out: what plugins answer. Each plugin has a thread that passes on
what happened, from a queue of limited length: nobody who stores something waits for a plugin.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from recollect.core.errors import NotFound, PluginFailed
from recollect.core.settings import Settings
from recollect.core.values import Record
from recollect.ingest.messages import Notice
from recollect.llm.base import Completion, ModelRequest
from recollect.plugins.available import AvailablePlugin, available

TICK_S = 60.0
BRIEF_S = 0.1
QUEUED = 1000
_STOP = object()


class _RunningPlugin:
    def __init__(self, plugin: AvailablePlugin, settings: Settings) -> None:
        from recollect.plugins.process import PluginProcess  # hooks need not wait for its imports

        options = settings.path("plugins", f"{plugin.name}.toml")
        self.process = PluginProcess(plugin, options, settings.directory)
        self.dropped = 0
        self._waiting: queue.Queue[Any] = queue.Queue(QUEUED)
        self._thread = threading.Thread(
            target=self._run, name=f"recollect-plugin-{plugin.name}"[:40], daemon=True
        )
        self._thread.start()

    def tell(self, hook: str, value: Any) -> None:
        """Pass it on when the plugin has time; the oldest goes when too much waits."""
        if not self.process.off:
            self.dropped += self._put((hook, value))

    def close(self) -> None:
        self.tell_to_stop()
        self._thread.join(5.0)
        self.process.close()

    def tell_to_stop(self) -> None:
        self._put(_STOP)

    def _put(self, what: Any) -> int:
        """Returns how many had to go for it."""
        dropped = 0
        while True:
            try:
                self._waiting.put_nowait(what)
                return dropped
            except queue.Full:
                dropped += 1
                with contextlib.suppress(queue.Empty):
                    self._waiting.get_nowait()

    def _run(self) -> None:
        self._called("start")
        ticked = time.monotonic()
        while not self.process.off:
            left = TICK_S - (time.monotonic() - ticked)
            try:
                told = self._waiting.get(timeout=max(0.0, left)) if left > 0 else None
            except queue.Empty:
                told = None
            if told is _STOP:
                return
            if told is not None and told[0] in self.process.hooks:
                self._called(*told)
            if time.monotonic() - ticked >= TICK_S:
                ticked = time.monotonic()
                # Also a plugin whose process ended is started again by this.
                self._called(*(("tick",) if "tick" in self.process.hooks else ("start",)))

    def _called(self, hook: str, *given: Any) -> None:
        try:
            if hook == "start":
                self.process.start()
            else:
                self.process.call(hook, *given)
        except PluginFailed:
            pass  # it is logged, counted and shown by its status


class Plugins:
    """Also a listener of memories."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self.switched_on: dict[str, _RunningPlugin] = {}
        self._missing: list[str] = []

    def start(self) -> None:
        """Start what the settings name. A name that nothing has is reported, and no more."""
        for name in self._settings.plugins:
            try:
                self.enable(name)
            except NotFound:
                self._missing.append(name)

    def enable(self, name: str) -> None:
        """Start it, or start it anew."""
        found = available().get(name)
        if found is None:
            raise NotFound(f"there is no plugin {name!r}", hint="recollect plugins list")
        self.disable(name)
        with self._lock:
            self.switched_on[name] = _RunningPlugin(found, self._settings)

    def disable(self, name: str) -> None:
        with self._lock:
            self._missing = [one for one in self._missing if one != name]
            running = self.switched_on.pop(name, None)
        if running is not None:
            running.close()

    def close(self) -> None:
        with self._lock:
            running = list(self.switched_on.values())
            self.switched_on.clear()
        for one in running:
            one.tell_to_stop()
        for one in running:
            one.close()

    # --- what happened ---

    def on_event(self, notice: Notice) -> None:
        if self.switched_on:
            self._tell("event_stored", msgspec.to_builtins(notice.stored.event))

    def stored(self, records: Sequence[Record]) -> None:
        if self.switched_on:
            for record in records:
                self._tell("memory_made", {**msgspec.to_builtins(record), "removed": False})

    def removed(self, namespace: str, record_ids: Sequence[str]) -> None:
        for record_id in record_ids if self.switched_on else ():
            self._tell(
                "memory_made", {"record_id": record_id, "namespace": namespace, "removed": True}
            )

    def _tell(self, hook: str, value: Any) -> None:
        for one in list(self.switched_on.values()):
            one.tell(hook, value)

    # --- questions ---

    def left_out(self, brief: Callable[[], Any]) -> dict[str, str]:
        """Ids of lines that plugins do not want to be told, with the plugin's name. All of them
        together have BRIEF_S."""
        running = list(self.switched_on.values())
        if not any("before_inject" in one.process.hooks for one in running):
            return {}
        deadline = time.monotonic() + BRIEF_S
        given = brief()
        asked = [one.process for one in running if one.process.ask_brief(given)]
        found: dict[str, str] = {}
        for process in asked:
            for line_id in process.brief_answer(deadline):
                found.setdefault(line_id, process.plugin.name)
        return found

    def items(self, name: str, argument: str) -> Iterator[dict[str, Any]]:
        """What a plugin has to import."""
        running = self.switched_on.get(name)
        if running is None:
            raise NotFound(
                f"the plugin {name} is not switched on", hint=f"recollect plugins enable {name}"
            )
        return running.process.items(argument)

    def complete(self, request: ModelRequest, model: str) -> Completion:
        """The answer of the first plugin that has a language model."""
        for one in list(self.switched_on.values()):
            if "llm_provider" in one.process.hooks and not one.process.off:
                asked = {**msgspec.to_builtins(request), "model": model}
                answer = one.process.call("llm_provider", asked, limit_s=request.timeout_s)
                try:
                    return msgspec.convert(
                        {"model": model or one.process.plugin.name, **answer}, Completion
                    )
                except (msgspec.ValidationError, TypeError) as error:
                    raise PluginFailed(f"its answer cannot be used: {error}") from error
        raise PluginFailed("no plugin that is switched on has a language model")

    def running(self) -> list[dict[str, Any]]:
        """The state of those that are switched on, and of those that the settings name in vain."""
        told = [
            {"name": name, **one.process.status(), "dropped": one.dropped}
            for name, one in list(self.switched_on.items())
        ]
        return told + [
            {"name": name, **_state("missing", "it is not installed")} for name in self._missing
        ]

    def status(self) -> list[dict[str, Any]]:
        """Every plugin that there is, switched on or not."""
        running = {one["name"]: one for one in self.running()}
        disabled = _state("disabled", "")
        packages = available()
        names = sorted({*packages, *running})
        return [
            {
                "package": packages[name].package if name in packages else "",
                "version": packages[name].version if name in packages else "",
                **disabled,
                "name": name,
                **running.get(name, {}),
            }
            for name in names
        ]


def _state(state: str, problem: str) -> dict[str, Any]:
    """Of a plugin that has no process."""
    return {"state": state, "pid": None, "hooks": [], "calls": 0, "dropped": 0, "problem": problem}
