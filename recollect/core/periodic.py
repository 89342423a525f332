"""Work that is repeated in a thread of its own until it is closed.

In: jobs, each with its interval. Out: nothing. A job that fails is logged and reported, keeps no
other job from running, and runs again when it is due.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from recollect.core.errors import RecollectError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    work: Callable[[], object]
    every_s: float
    at_once: bool = False  # the first time right after the start, and not an interval later


class Periodic:
    def __init__(
        self,
        name: str,
        *jobs: Job,
        on_error: Callable[[str], object] = lambda problem: None,
        stop: threading.Event | None = None,
    ) -> None:
        """`on_error` gets the problem in words; `stop` is given when others look at it too."""
        self._name = name
        self._jobs = jobs
        self._on_error = on_error
        self.stop = stop or threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"recollect-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, timeout_s: float | None = None) -> None:
        """End it; a job that is being done is waited for, at most for `timeout_s`."""
        self.stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        start = time.monotonic()
        due = [start if job.at_once else start + job.every_s for job in self._jobs]
        while not self.stop.wait(max(0.0, min(due) - time.monotonic())):
            for index, job in enumerate(self._jobs):
                if time.monotonic() >= due[index] and not self.stop.is_set():
                    self._do(job)
                    due[index] = time.monotonic() + job.every_s

    def _do(self, job: Job) -> None:
        try:
            job.work()
        except RecollectError as error:  # a store that is busy, full or away
            log.error("%s: %s", self._name, error)
            self._on_error(f"{self._name}: {error}")
        except Exception:
            # A defect of ours, or a disk that cannot be written: the next round may do better.
            log.exception("%s failed", self._name)
            self._on_error(f"{self._name} failed; the log says why")
