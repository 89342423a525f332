"""Time as a dependency that can be passed in.

In: nothing. Out: aware UTC wall time for people, and (boot id, monotonic ns) for order. Wall time
may jump; order within one boot never depends on it.
"""

import sys
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    def now(self) -> datetime:
        """Wall time, aware, UTC."""

    def mono_ns(self) -> int:
        """Nanoseconds since boot, the same for all processes of one boot."""

    def boot_id(self) -> str:
        """Names this boot, so that monotonic times of two boots are never compared."""


class ManualClock:
    """A clock that moves only when told, for tests and simulated years."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC), boot: str = "boot-1"):
        self._now = start
        self._mono = 0
        self._boot = boot

    def now(self) -> datetime:
        return self._now

    def mono_ns(self) -> int:
        return self._mono

    def boot_id(self) -> str:
        return self._boot

    def advance(self, **delta: float) -> None:
        """Let time pass: `clock.advance(hours=3)`."""
        step = timedelta(**delta)
        self._now += step
        self._mono += int(step.total_seconds() * 1e9)

    def jump(self, **delta: float) -> None:
        """Set the wall clock only, as NTP or a person would."""
        self._now += timedelta(**delta)


def mono_ns() -> int:
    """The clock that hooks read too."""
    if sys.platform == "win32":
        return time.perf_counter_ns()
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


@cache
def system_boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        # macOS and Windows have no such file; the boot time in seconds names the boot well enough.
        boot_ns = time.time_ns() - mono_ns()
        return f"boot-{round(boot_ns / 1e9 / 60)}"


class SystemClock:
    mono_ns = staticmethod(mono_ns)
    boot_id = staticmethod(system_boot_id)

    def now(self) -> datetime:
        return datetime.now(UTC)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970 of an aware time, exactly."""
    if moment.tzinfo is None:
        raise ValueError(f"a time without an offset: {moment.isoformat()}")
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)
