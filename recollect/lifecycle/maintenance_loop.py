"""Runs maintenance once a day when nothing else happens, and steps aside when something does.

In: events as they arrive. Out: passes. A pass waits between two transactions while agents are at
work; a daemon that stops ends it, and the next one goes on where it was. After every stretch of
work, memory that is free goes back to the system.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from recollect.core import oslayer
from recollect.core.errors import StoreBusy, StoreError
from recollect.ingest.counters import Counters
from recollect.ingest.pipeline import Notice
from recollect.lifecycle.maintenance import Maintenance, MaintenanceReport, MaintenanceStopped

log = logging.getLogger(__name__)

IDLE_S = 300.0
QUIET_S = 2.0  # once it runs, so long must pass since the last event
EVERY_S = 24 * 3600.0
LOOK_S = 15.0
BREATH_S = 0.005


class MaintenanceLoop:
    def __init__(
        self,
        maintenance: Maintenance,
        counters: Counters,
        *,
        idle_s: float = IDLE_S,
        every_s: float = EVERY_S,
        look_s: float = LOOK_S,
        alone: Callable[[], AbstractContextManager[bool]] = lambda: nullcontext(True),
    ) -> None:
        self._alone = alone  # several daemons may share a store; one of them is enough
        self._maintenance = maintenance
        self._counters = counters
        self._idle_s = idle_s
        self._every_s = every_s
        self._look_s = look_s
        self._heard = time.monotonic()
        self._stop = threading.Event()
        self._one_at_a_time = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="recollect-maintain", daemon=True)

    @property
    def maintained_at(self) -> datetime | None:
        last = self._maintenance.last
        return last.at if last else None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def on_event(self, notice: Notice) -> None:
        self._heard = time.monotonic()

    def preview(self) -> MaintenanceReport:
        return self._maintenance.preview()

    def run(self) -> MaintenanceReport:
        """Now, because somebody asked for it; one pass at a time."""
        with self._one_at_a_time, self._alone() as ours:
            if not ours:
                raise StoreBusy(
                    "another daemon maintains this store now", hint="Try again in a minute."
                )
            return self._maintenance.run(self._breathe)

    def _loop(self) -> None:
        due = 0.0
        rested = 0.0
        while not self._stop.wait(self._look_s):
            now = time.monotonic()
            if rested < self._heard <= now - self._look_s:
                oslayer.give_memory_back()
                rested = now
            if now < due or now - self._heard < self._idle_s:
                continue
            try:
                with self._one_at_a_time, self._alone() as ours:
                    if not ours:
                        due = time.monotonic() + self._idle_s
                        continue
                    report = self._maintenance.run(self._step_aside)
            except StoreError as error:
                log.error("maintenance: %s", error)
                self._counters.error(f"maintenance: {error}")
                due = time.monotonic() + self._idle_s
                continue
            except Exception as error:
                log.exception("maintenance failed unexpectedly, and is tried again tomorrow")
                self._counters.error(f"maintenance: {type(error).__name__}")
                due = time.monotonic() + self._every_s
                continue
            if report.finished:
                due = time.monotonic() + self._every_s
                log.info("maintenance: %s", dict(+report.counts) or "nothing was due")
                self._counters.count("maintenance passes")

    def _breathe(self) -> None:
        if self._stop.wait(BREATH_S):
            raise MaintenanceStopped

    def _step_aside(self) -> None:
        self._breathe()
        while time.monotonic() - self._heard < QUIET_S:
            if self._stop.wait(QUIET_S):
                raise MaintenanceStopped
