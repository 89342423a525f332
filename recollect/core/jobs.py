"""Work that goes on in the background, as jobs: what runs, how far it is, how it ended.

In: whoever works says so. Out: the running jobs and the last that ended, for whoever asks. A job
that is cancelled is told so, and ends by itself at its next safe place. What is left undone after a
restart follows from the rows, not from this list.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Literal

from recollect.core.clock import Clock
from recollect.core.errors import Conflict, NotFound, RecollectError

ENDED = 50  # jobs that are remembered

JobKind = Literal["import", "export", "maintenance", "extraction", "embedding", "reflection"]
JobState = Literal["waiting", "running", "done", "failed", "cancelled"]


class BackgroundJob:
    """One piece of work. `again` starts the same once more; without it there is no retry."""

    def __init__(
        self,
        job_id: str,
        kind: JobKind,
        what: str,
        now: datetime,
        again: Callable[[], object] | None,
    ) -> None:
        self.job_id = job_id
        self.kind = kind
        self.what = what
        self.started_at = now
        self.ended_at: datetime | None = None
        self.state: JobState = "running"
        self.problem = ""
        self.done = 0
        self.total = 0  # 0 when nobody knows
        self.again = again
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether somebody wants it to end; asked between two safe places."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        self._cancelled.set()


class Jobs:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._number = 0
        self._running: dict[str, BackgroundJob] = {}
        self._ended: deque[BackgroundJob] = deque(maxlen=ENDED)

    @contextmanager
    def running(
        self, kind: JobKind, what: str = "", again: Callable[[], object] | None = None
    ) -> Iterator[BackgroundJob]:
        """A job for as long as the block runs; what it raises is how the job failed."""
        job = self.begin(kind, what, again)
        try:
            yield job
        except BaseException as error:
            known = isinstance(error, RecollectError)
            self.end(job, "failed", str(error) if known else type(error).__name__)
            raise
        self.end(job, "done")

    def begin(
        self, kind: JobKind, what: str = "", again: Callable[[], object] | None = None
    ) -> BackgroundJob:
        with self._lock:
            self._number += 1
            job_id = f"{kind}-{self._number}"
            job = BackgroundJob(job_id, kind, what[:200], self._clock.now(), again)
            self._running[job_id] = job
            return job

    def end(self, job: BackgroundJob, state: JobState, problem: str = "") -> None:
        """How it ended; a job that was cancelled is that, whatever it says."""
        with self._lock:
            if self._running.pop(job.job_id, None) is not None:
                job.state = "cancelled" if job.cancelled else state
                job.problem = problem
                job.ended_at = self._clock.now()
                self._ended.append(job)

    def all(self) -> list[BackgroundJob]:
        """Running ones first, then those that ended, newest first."""
        with self._lock:
            return [*reversed(self._running.values()), *reversed(self._ended)]

    def cancel(self, job_id: str) -> None:
        job = self._found(job_id)
        if job.ended_at is not None:
            raise Conflict(f"{job_id} has ended", hint="recollect jobs list")
        job.cancel()

    def retry(self, job_id: str) -> None:
        """Start the same again, in a thread of its own."""
        job = self._found(job_id)
        if job.ended_at is None:
            raise Conflict(f"{job_id} is running", hint="recollect jobs list")
        if job.again is None:
            raise Conflict(f"{job_id} cannot be started from here")
        threading.Thread(target=job.again, name=f"recollect-{job.kind}", daemon=True).start()

    def _found(self, job_id: str) -> BackgroundJob:
        for job in self.all():
            if job.job_id == job_id:
                return job
        raise NotFound(f"there is no job {job_id}", hint="recollect jobs list")
