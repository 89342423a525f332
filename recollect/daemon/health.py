"""The answer of `/healthz`: the state of the daemon and its counters.

In: the runtime. Out: a dictionary, within a moment: when the store does not answer, what was seen
of it last, and since when it is away.
"""

import os
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect import __version__
from recollect.capture import spool
from recollect.core import errors
from recollect.core.bounded_wait import LatestAnswer

if TYPE_CHECKING:
    from recollect.daemon.runtime import Runtime

PATIENCE_S = 1.0  # for how long health waits for a new look at the store
AWAY_S = 3.0  # a store that has not answered for so long is reported as away
ALARMS_EVERY_S = 60.0


@dataclass(frozen=True)
class _Seen:
    """The last known state of the store and the spool; empty at first."""

    waiting: spool.Statistics = field(default_factory=lambda: spool.Statistics(0, 0, 0, 0))
    backlog: list[Any] = field(default_factory=list)
    hosts: dict[str, Any] = field(default_factory=dict)
    embedding: dict[str, Any] = field(default_factory=lambda: {"state": "waiting"})
    extraction: dict[str, Any] = field(default_factory=lambda: {"provider": "waiting"})
    alarms: list[Any] = field(default_factory=list)
    away: str = ""


class Health:
    def __init__(self, runtime: "Runtime") -> None:
        self._runtime = runtime
        self._last = _Seen()
        self._latest = LatestAnswer(self._look, self._last, "recollect-health")
        self._away_since: datetime | None = None
        self._alarms: tuple[float, list[Any]] = (0.0, [])

    def report(self) -> dict[str, Any]:
        runtime = self._runtime
        seen, awaited_s = self._latest.get(PATIENCE_S)
        away = self._problem(seen, awaited_s)
        waiting, backlog = seen.waiting, seen.backlog
        doors = runtime.doors.status()
        writer = runtime.store.writer
        errors_now = runtime.counters.errors_last_hour()
        closed = [name for name, door in doors.items() if not door["answers"]]
        degraded = away or closed or writer.disk_full
        return {
            "status": "failed" if writer.failure else "degraded" if degraded else "ok",
            "store": {"kind": writer.kind, "problem": away, "since": self._away_since},
            "doors": doors,
            "token_renewed": runtime.tokens.renewed,
            "version": __version__,
            "pid": os.getpid(),
            "port": runtime.port,
            "started_at": runtime.started_at,
            "uptime_s": round((runtime.clock.now() - runtime.started_at).total_seconds(), 1),
            "home": runtime.settings.directory,
            "hosts": seen.hosts,
            "counts": runtime.counters.totals(),
            "private_sessions": [
                {"host": one.host, "by": one.by} for one in runtime.keep_out.private.running()
            ],
            "spool": {
                "events": waiting.count,
                "bytes": waiting.bytes,
                "dropped": waiting.dropped,
                "damaged": waiting.damaged,
            },
            "unextracted": {
                "events": sum(one.count for one in backlog),
                "bytes": sum(one.bytes for one in backlog),
                "quarantined": sum(one.quarantined for one in backlog),
            },
            "extraction": seen.extraction,
            "errors_last_hour": {"count": len(errors_now), "latest": errors_now[-5:]},
            "disk_full": writer.disk_full,
            "maintained_at": runtime.maintenance.maintained_at,
            "embedding": seen.embedding,
            "alarms": seen.alarms,
            "plugins": runtime.plugins.running(),
            "wanted_port": runtime.settings.port,
            "clones": {"offers": runtime.clones.offers, "joined": runtime.clones.joined},
        }

    def _look(self) -> _Seen:
        """Read the state of the store and the spool; takes as long as they need to answer."""
        runtime = self._runtime
        waiting = _Seen().waiting
        try:
            waiting = spool.statistics(runtime.settings.directory)
            recall, learning = runtime.loaded_recall, runtime.loaded_learning
            self._last = _Seen(
                waiting=waiting,
                backlog=runtime.store.events.backlog(),
                hosts=runtime.store.sessions.last_heard(),
                embedding=recall.health() if recall else {"state": "loading"},
                extraction=learning.status() if learning else {"provider": "loading"},
                alarms=self._alarms_now(),
            )
            return self._last
        except errors.StoreError as error:
            # A server that is away: hooks spool, and whoever asks is told.
            away = f"{error}. {error.hint}".strip() if error.hint else str(error)
            last = self._last
            return _Seen(waiting=waiting, backlog=last.backlog, hosts=last.hosts, away=away)

    def _problem(self, seen: _Seen, awaited_s: float | None) -> str:
        """What is wrong with the store, and since when."""
        writer = self._runtime.store.writer
        away = seen.away or writer.problem
        if awaited_s is not None and awaited_s > AWAY_S and not away:
            away = f"the store does not answer ({writer.kind})"
        if not away:
            self._away_since = None
        elif self._away_since is None:
            self._away_since = self._runtime.clock.now() - timedelta(seconds=awaited_s or 0)
        return away

    def _alarms_now(self) -> list[Any]:
        """At most once a minute: alarms read much, and health is requested often."""
        from recollect.service import alarms

        looked, known = self._alarms
        if time.monotonic() - looked > ALARMS_EVERY_S:
            known = list(alarms.alarms(alarms.alarm_inputs(self._runtime)))
            self._alarms = (time.monotonic(), known)
        return known
