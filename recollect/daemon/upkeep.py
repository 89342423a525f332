"""What the daemon does by the clock: spool, scrubbing, ledger, backups, sessions that went silent,
missed transcripts; and the hook, which is put in place at every start.

In: the runtime. Out: rows, files, and problems in the counters. A store that can no longer write
stops the daemon.
"""

import logging
import os
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.capture import frames, launcher, spool
from recollect.core import errors
from recollect.core.periodic import Job, Periodic
from recollect.core.tuning import SESSIONS

if TYPE_CHECKING:
    from recollect.daemon.runtime import Runtime

log = logging.getLogger(__name__)

DRAIN_EVERY_S = 2.0
SCRUB_EVERY_S = 60.0
SCRUB_ROWS = 2000
BACKUP_EVERY_S = 600.0  # how often it is looked whether one is due; not right after a start
CATCH_UP_AFTER_S = 20.0
SILENT_EVERY_S = 600.0


class DaemonUpkeep:
    def __init__(self, runtime: "Runtime") -> None:
        self._runtime = runtime
        self._draining = threading.Lock()
        self._position: tuple[str, int] | None = None  # of the scrubber
        self._periodic = Periodic(
            "upkeep",
            Job(self.drain, DRAIN_EVERY_S, at_once=True),
            Job(self._scrub, SCRUB_EVERY_S),
            Job(self._back_up, BACKUP_EVERY_S),
            Job(self.end_silent_sessions, SILENT_EVERY_S),
            Job(self._stop_if_failed, DRAIN_EVERY_S, at_once=True),
            on_error=runtime.counters.error,
            stop=runtime.stopping,
        )

    def start(self) -> None:
        self._install_hook()
        self._periodic.start()

    def close(self) -> None:
        self._periodic.close()

    def drain(self) -> None:
        """Store what hooks spooled while the daemon was down. A file is removed after the commit
        of its event, or when it is refused for good; one that fails unexpectedly is set aside."""
        runtime = self._runtime
        with self._draining:
            for batch in spool.in_batches(spool.drain(runtime.settings.directory)):
                if runtime.stopping.is_set():
                    return
                replies = runtime.pipeline.spooled([(frame, digest) for _, frame, digest in batch])
                done = []
                for (path, _, _), reply in zip(batch, replies, strict=True):
                    if reply.status == frames.NOT_NOW:
                        spool.set_aside(path)
                    else:
                        done.append(path)
                spool.remove(*done)
                runtime.counters.count("events from the spool", len(done))

    def catch_up_later(self) -> None:
        """After the start, import what connected agents did while the daemon was down."""
        threading.Thread(target=self._catch_up, name="recollect-catch-up", daemon=True).start()

    def _catch_up(self) -> None:
        """From the agents' own transcripts, and only for agents that the user has connected."""
        from recollect.hosts import registry
        from recollect.hosts.install import connected_since

        runtime = self._runtime
        if runtime.stopping.wait(CATCH_UP_AFTER_S):
            return
        home = os.path.expanduser("~")
        places = registry.transcript_environment()
        env = {name: os.environ[name] for name in places if os.environ.get(name)}
        try:
            known = connected_since(runtime.settings.directory)
            hosts = {name: since for name, since in known.items() if name in registry.readers()}
            done = runtime.importing.catch_up(hosts, home, env)
        except errors.RecollectError as error:
            runtime.counters.error(f"catching up: {error}")
            log.error("catching up: %s", error)
            return
        found = sum(one.stored for one in done.sources.values()) if done else 0
        if found:
            runtime.counters.count("events caught up", found)
            log.info("imported %d events that hooks did not deliver", found)

    def _install_hook(self) -> None:
        """Install the hook program. If the disk is full, the one that is there stays."""
        directory = self._runtime.settings.directory
        try:
            launcher.write(directory)
            launcher.install_hook(directory)
        except OSError as error:
            self._runtime.counters.error(f"the hook could not be installed: {error}")
            log.error("the hook could not be installed: %s", error)

    def _scrub(self) -> None:
        step = self._runtime.store.upkeep.scrub(self._position, SCRUB_ROWS)
        for damage in step.damaged:
            log.error("damaged row: %s %s", damage.table, damage.id)
            self._runtime.counters.error(f"damaged row: {damage.table} {damage.id}")
        self._position = step.position

    def end_silent_sessions(self) -> None:
        """Some agents never say that a session is over; the next event opens it again."""
        silent = timedelta(hours=SESSIONS.silent_hours)
        self._runtime.store.sessions.end(None, "completed", self._runtime.clock.now() - silent)

    def _back_up(self) -> None:
        backups = self._runtime.backups
        if backups.due():
            log.info("backup: %s", backups.create().path)

    def _stop_if_failed(self) -> None:
        failure = self._runtime.store.writer.failure
        if failure is not None:
            log.critical("the store failed, stopping: %s", failure)
            self._runtime.stop()
