"""Starts extraction when a project has enough new events or has become quiet.

In: stored events. Out: calls of `run(namespace)` on at most two threads, in order, one at a time
per project. A restart needs no recovery: events that no run has finished are still unextracted, and
are scheduled again at the start.
"""

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from recollect.core.clock import Clock
from recollect.core.errors import StoreError
from recollect.core.values import Event
from recollect.extract.schedule import Schedule
from recollect.store.interface import Store

log = logging.getLogger(__name__)

SLOTS = 2
ENOUGH_BYTES = 256 << 10  # one batch of a run: more would only wait for the next
_TICK_S = 1.0  # the longest wait, because an injected clock wakes no thread


@dataclass(frozen=True)
class RunFollowUp:
    """Whether a project needs another run, and how long to wait before it."""

    again: bool = False
    wait_s: float = 0.0


class ExtractionWatcher:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        run: Callable[[str], RunFollowUp],
        *,
        idle_s: float,
        size: int = ENOUGH_BYTES,
    ) -> None:
        self._store = store
        self._clock = clock
        self._run = run
        self._schedule = Schedule(idle_s=idle_s, size=size)
        self._changed = threading.Condition()
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._due: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._watch, name="recollect-watch", daemon=True),
            *(
                threading.Thread(target=self._work, name=f"recollect-extract-{slot}", daemon=True)
                for slot in range(SLOTS)
            ),
        ]

    def start(self) -> None:
        """Schedule the backlog, and start the threads."""
        self.load_backlog()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Start no more runs, and wait for those under way: the owner of `run` ends them early."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        for _ in self._threads:
            self._due.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def load_backlog(self) -> None:
        """Schedule everything that is unextracted in the store."""
        with self._changed:
            for one in self._store.events.backlog():
                if one.count:
                    self._schedule.on_event(one.namespace, one.bytes, self._now())
            self._changed.notify_all()

    def on_event(self, event: Event) -> None:
        """An event was stored. Returns at once."""
        self._events.put(event)

    def request(self, namespaces: list[str]) -> None:
        """Run these now."""
        with self._changed:
            for namespace in namespaces:
                self._schedule.request(namespace)
            self._changed.notify_all()

    def wait(self, namespaces: list[str], seconds: float) -> bool:
        """Wait until the requested runs are done; False when they took longer."""
        with self._changed:
            return self._changed.wait_for(
                lambda: (
                    self._stop.is_set()
                    or not any(self._schedule.waits(namespace) for namespace in namespaces)
                ),
                seconds,
            )

    @property
    def busy(self) -> frozenset[str]:
        with self._changed:
            return self._schedule.busy

    # --- the threads ---

    def step(self) -> None:
        """Schedule new events, and queue the namespaces that are due."""
        with self._changed:
            now = self._now()
            while True:
                try:
                    event = self._events.get_nowait()
                except queue.Empty:
                    break
                self._schedule.on_event(event.namespace, len(msgspec.json.encode(event.body)), now)
            for namespace in self._schedule.due(now):
                self._due.put(namespace)

    def _watch(self) -> None:
        while not self._stop.is_set():
            self.step()
            with self._changed:
                soon = self._schedule.next_in(self._now())
                self._changed.wait(_TICK_S if soon is None else min(soon, _TICK_S))

    def _work(self) -> None:
        while not self._stop.is_set():
            namespace = self._due.get()
            if namespace is None or self._stop.is_set():
                return
            self.run_one(namespace)

    def run_one(self, namespace: str) -> None:
        """One run of a namespace that is due."""
        try:
            after = self._run(namespace)
        except StoreError as error:
            log.error("extraction: %s", error)
            after = RunFollowUp(again=True, wait_s=60.0)
        with self._changed:
            self._schedule.finished(namespace, self._now(), again=after.again, wait_s=after.wait_s)
            self._changed.notify_all()

    def _now(self) -> float:
        return self._clock.mono_ns() / 1e9
