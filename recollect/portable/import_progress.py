"""The progress of an import.

In: steps as they happen. Out: a snapshot at any time, from any thread.
"""

import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.core.jobs import BackgroundJob


@dataclass(frozen=True)
class ImportTally:
    """What became of the items of a source."""

    sessions: int = 0
    read: int = 0  # messages, commits or rows that were looked at
    stored: int = 0
    known: int = 0  # were there already, by an earlier import
    captured: int = 0  # were there already, by the host's hooks
    forgotten: int = 0  # were erased once, and stay so
    refused: int = 0
    kept_out: int = 0  # of a project, file, tool or session that is kept out on purpose

    def plus(self, **more: int) -> "ImportTally":
        return replace(self, **{name: getattr(self, name) + count for name, count in more.items()})


@dataclass
class ImportProgress:
    """Shared by the importing thread and those who watch."""

    total: int = 0  # in bytes, or whatever the steps are counted in
    done: int = 0
    sources: dict[str, ImportTally] = field(default_factory=dict)
    state: str = "waiting"
    problem: str = ""
    problems: list[str] = field(default_factory=list)
    job: BackgroundJob | None = None  # what it is in the list of jobs
    _began: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def step(self, source: str, units: int = 0, **more: int) -> None:
        with self._lock:
            self.done += units
            if self.job is not None:
                self.job.done, self.job.total = self.done, self.total
            self.sources[source] = self.sources.get(source, ImportTally()).plus(**more)

    def complain(self, text: str) -> None:
        with self._lock:
            if len(self.problems) < 100:
                self.problems.append(text)

    def snapshot(self) -> dict[str, Any]:
        with self._lock:
            took = max(time.monotonic() - self._began, 1e-6)
            read = sum(one.read for one in self.sources.values())
            left = self.total - self.done
            rate = self.done / took
            return {
                "state": self.state,
                "problem": self.problem,
                "problems": list(self.problems),
                "total": self.total,
                "done": self.done,
                "rate": round(read / took, 1),
                "seconds": round(took, 1),
                "remaining_s": round(left / rate, 1) if self.done and left > 0 else 0.0,
                "sources": {
                    name: {key: getattr(tally, key) for key in tally.__dataclass_fields__}
                    for name, tally in self.sources.items()
                },
            }
