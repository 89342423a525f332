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
from recollect.core.jobs import BackgroundJob, Jobs
from recollect.core.periodic import Job, Periodic
from recollect.ingest.counters import Counters
from recollect.ingest.messages import Notice
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
        jobs: Jobs,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        """`after` is called when a daily pass is done, while everything is quiet."""
        self._jobs = jobs
        self._after = after
        self._alone = alone  # several daemons may share a store; one of them is enough
        self._maintenance = maintenance
        self._counters = counters
        self._idle_s = idle_s
        self._every_s = every_s
        self._look_s = look_s
        self._heard = time.monotonic()
        self._due = 0.0
        self._rested = 0.0
        self._one_at_a_time = threading.Lock()
        self._periodic = Periodic("maintenance", Job(self._look, look_s), on_error=counters.error)

    @property
    def maintained_at(self) -> datetime | None:
        last = self._maintenance.last
        return last.at if last else None

    def start(self) -> None:
        self._periodic.start()

    def close(self) -> None:
        self._periodic.close()

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
            with self._jobs.running("maintenance", again=self.run) as job:
                return self._maintenance.run(lambda: self._breathe(job))

    def _look(self) -> None:
        """Whether it is time for a pass; and if so, the pass."""
        now = time.monotonic()
        if self._rested < self._heard <= now - self._look_s:
            oslayer.give_memory_back()
            self._rested = now
        if now < self._due or now - self._heard < self._idle_s:
            return
        self._due = now + self._every_s  # a defect of ours is tried again tomorrow
        try:
            with self._one_at_a_time, self._alone() as ours:
                if not ours:
                    self._due = time.monotonic() + self._idle_s
                    return
                with self._jobs.running("maintenance", again=self.run) as job:
                    report = self._maintenance.run(lambda: self._step_aside(job))
        except StoreError:
            self._due = time.monotonic() + self._idle_s
            raise
        if not report.finished:
            self._due = now + self._every_s if job.cancelled else now
            return
        self._due = time.monotonic() + self._every_s
        log.info("maintenance: %s", dict(+report.counts) or "nothing was due")
        self._counters.count("maintenance passes")
        self._after()

    def _breathe(self, job: BackgroundJob) -> None:
        job.done += 1
        if self._periodic.stop.wait(BREATH_S) or job.cancelled:
            raise MaintenanceStopped

    def _step_aside(self, job: BackgroundJob) -> None:
        self._breathe(job)
        while time.monotonic() - self._heard < QUIET_S:
            if self._periodic.stop.wait(QUIET_S):
                raise MaintenanceStopped
