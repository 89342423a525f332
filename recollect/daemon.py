"""The daemon: the only place that knows all rooms. Wires them, starts them, stops them.

In: settings. Out: a process that holds the data directory's lock, answers hooks on `hook.sock`, and
HTTP on `recollect.sock` and 127.0.0.1. Whatever prevents its start is told in the log and by its
exit code; a store that fails while running ends it, because the truth must not be half written.
"""

import logging
import logging.handlers
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from recollect import __version__
from recollect.capture import launcher, paths, spool
from recollect.core import errors, oslayer, settings
from recollect.core.clock import Clock, SystemClock
from recollect.core.settings import Settings
from recollect.core.values import Receipt, encode
from recollect.extract.tombstones import Tombstones
from recollect.ingest.counters import Counters
from recollect.ingest.keepout import KeepOut
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Notice, Pipeline, Question, Recalled
from recollect.ingest.scribe import Scribe
from recollect.lifecycle.housekeeper import Housekeeper
from recollect.lifecycle.maintain import Maintenance
from recollect.lifecycle.stale import cite
from recollect.portable.backups import Backups, aside_name, refuse_server
from recollect.server.hooksock import HookServer
from recollect.store import open_store
from recollect.store.interface import Change

if TYPE_CHECKING:
    from recollect.learn import Learning
    from recollect.portable.parts import Portable
    from recollect.remember import Recollection
    from recollect.service.desk import Desk

log = logging.getLogger("recollect.daemon")

HOOK_SOCKET = "hook.sock"
HTTP_SOCKET = "recollect.sock"
STATE = "daemon.json"
PORTS_TRIED = 50
DRAIN_EVERY_S = 2.0
SCRUB_EVERY_S = 60.0
SCRUB_ROWS = 2000
BACKUP_EVERY_S = 600.0  # how often it is looked whether one is due; not right after a start
CATCH_UP_AFTER_S = 20.0
GRACE_S = 1
ALARMS_EVERY_S = 60.0
EARLY_S = 0.6


class Daemon:
    def __init__(self, chosen: Settings, clock: Clock | None = None) -> None:
        self._settings = chosen
        self._clock = clock or SystemClock()
        self._started_at = self._clock.now()
        self._stop = threading.Event()
        self._port = 0
        self._counters = Counters(self._clock)
        self._store = open_store(chosen, self._clock)
        self._keep_out = KeepOut(chosen, self._counters)
        self._pipeline = Pipeline(
            self._store,
            self._clock,
            chosen.actor_id,
            self._counters,
            keep_out=self._keep_out,
        )
        self._memories = Memories(self._store)
        self._tombstones = Tombstones(self._store)
        self._scribe = Scribe(self._store, self._memories, self._counters, cite)
        self._pipeline.listeners.append(self._scribe.heard)
        self._housekeeper = Housekeeper(
            Maintenance(
                self._store,
                self._memories,
                self._clock,
                chosen,
                lambda: self._learning.provider if self._learning else None,
                told=self._tombstones.told,
            ),
            self._counters,
            alone=lambda: self._store.upkeep.alone("maintenance"),
        )
        self._pipeline.listeners.append(self._housekeeper.heard)
        self._recall: Recollection | None = None
        self._learning: Learning | None = None
        self._publish: Callable[[str, Any], None] = lambda kind, data: None
        self._can_recall = threading.Event()
        self._desk: Desk | None = None
        self._alarms: tuple[float, list[Any]] = (0.0, [])
        self._told_receipt: Callable[[Receipt], None] = lambda receipt: None
        self._told_event: Callable[[Notice], None] = lambda notice: None
        self._pipeline.recall = self._recall_early
        self._hooks = HookServer(
            self._socket_path(HOOK_SOCKET), self._pipeline.frame, self._counters
        )
        self._backups = Backups(chosen, self._store, self._clock)
        self._portable: Portable | None = None
        self._keeper = threading.Thread(target=self._keep, name="recollect-keeper", daemon=True)

    def run(self) -> None:
        """Serve until told to stop."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self._hooks.start()
        log.info("ready for hooks, process %d, version %s", os.getpid(), __version__)
        try:
            self._scribe.start()
            self._store.changes.subscribe(self._others_wrote)
            threading.Thread(target=self._remember, name="recollect-wake", daemon=True).start()
            launcher.write(self._settings.directory)
            launcher.install_hook(self._settings.directory)
            self._keeper.start()
            if self._settings.maintain:
                self._housekeeper.start()
            self._serve_http()
        finally:
            self._close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stop.set()

    def _close(self) -> None:
        self._stop.set()
        self._hooks.close()
        self._housekeeper.close()
        self._scribe.close()
        if self._learning is not None:
            self._learning.close()
        if self._recall is not None:
            self._recall.close()
        if self._keeper.is_alive():
            self._keeper.join()
        self._store.close()
        for name in (HTTP_SOCKET, STATE):
            path = self._socket_path(name) if name == HTTP_SOCKET else self._settings.path(name)
            if os.path.exists(path):
                os.unlink(path)
        log.info("stopped")

    def _socket_path(self, name: str) -> str:
        path = paths.socket_path(self._settings.directory, name)
        paths.prepare_socket_directory(path, self._settings.directory)
        return path

    # --- recall ---

    def _remember(self) -> None:
        """Recall needs numpy and the model, which are slow to load: hooks do not wait for them,
        they are answered with nothing until it is there."""
        from recollect.remember import Recollection

        recall = Recollection(
            self._settings,
            self._clock,
            self._store,
            self._memories,
            self._counters,
            self._tombstones,
        )
        self._pipeline.listeners.append(recall.heard)
        recall.receipts.listeners.append(lambda receipt: self._told_receipt(receipt))
        self._recall = recall
        recall.start()
        self._pipeline.recall = recall.recall
        self._pipeline.own_text = recall.recall_now.own_text.without
        self._can_recall.set()
        log.info("ready to recall")
        self._learn(recall)

    def _learn(self, recall: "Recollection") -> None:
        """Extraction begins when everything that an agent waits for is there."""
        from recollect.learn import Learning

        learning = Learning(
            self._settings,
            self._clock,
            self._store,
            self._memories,
            self._counters,
            embedder=recall.embedder,
            tombstones=recall.tombstones,
            publish=lambda kind, data: self._publish(kind, data),
        )
        self._pipeline.listeners.append(learning.heard)
        self._learning = learning
        while not self._stop.is_set():
            try:
                learning.start()
                return
            except errors.StoreError as error:  # a server that is away now
                log.warning("extraction waits: %s", error)
                self._stop.wait(DRAIN_EVERY_S)

    def _recall_early(self, question: Question) -> Recalled:
        """The hook that started the daemon has a moment to spare; a prompt has not."""
        patience = EARLY_S if question.trigger == "session-start" else 0.0
        if self._can_recall.wait(patience) and self._recall is not None:
            return self._recall.recall(question)
        self._counters.count("recall: not loaded yet")
        return Recalled()

    def _others_wrote(self, change: Change) -> None:
        """Another daemon on the same server wrote: what is kept here follows."""
        recall = self._recall
        shelves = recall.shelves if recall is not None else None
        if change.kind in ("all", "decisions"):
            self._tombstones.forget_known()
        if change.kind in ("all", "decisions") and recall is not None:
            recall.feedback.forget_known()
        if change.kind == "all" and shelves is not None:
            shelves.drop_all()
        elif change.kind == "records":
            self._memories.changed(change.namespace, change.ids)
        elif change.kind == "vectors" and shelves is not None:
            shelves.stored(self._store.records.get(change.namespace, change.ids))
        elif change.kind == "events":
            for event_id in change.ids:
                stored = self._store.events.get(change.namespace, event_id)
                if stored is not None:
                    self._told_event(Notice(stored, stored.event.source.surface))

    # --- HTTP ---

    def _serve_http(self) -> None:
        """The slow imports come here, when hooks are already answered."""
        import uvicorn

        from recollect.portable.erasure import Erasure
        from recollect.portable.importing import Importing
        from recollect.portable.parts import Portable
        from recollect.server.app import build
        from recollect.server.http import PeerCheckedProtocol
        from recollect.server.live import Live, News
        from recollect.server.services import Services
        from recollect.server.tokens import Tokens
        from recollect.service.desk import Desk

        live = Live()
        listener = _listen(self._settings.port)
        self._port = listener.getsockname()[1]
        tokens = Tokens(self._settings.path("token"))
        self._desk = Desk(
            settings=self._settings,
            clock=self._clock,
            store=self._store,
            memories=self._memories,
            pipeline=self._pipeline,
            counters=self._counters,
            tombstones=self._tombstones,
            recollection=lambda: self._recall,
            tell=live.publish,
        )
        self._portable = Portable(
            importing=Importing(
                self._store,
                self._pipeline,
                self._memories,
                self._clock,
                self._settings.actor_id,
                self._stop.is_set,
            ),
            erasure=Erasure(
                self._settings,
                self._store,
                self._pipeline,
                self._memories,
                self._backups,
                self._drain,
                self._scribe.standing_still,
                self._tombstones.refuse_erased,
            ),
            backups=self._backups,
        )
        if self._settings.catch_up:
            threading.Thread(target=self._catch_up, name="recollect-catch-up", daemon=True).start()
        services = Services(
            settings=self._settings,
            clock=self._clock,
            store=self._store,
            pipeline=self._pipeline,
            counters=self._counters,
            live=live,
            tokens=tokens,
            port=self._port,
            started_at=self._started_at,
            health=self._health,
            desk=self._desk,
            portable=self._portable,
            extraction=lambda: self._learning,
            housekeeper=self._housekeeper,
        )
        self._publish = live.publish
        news = News(live.publish)
        self._pipeline.listeners.append(news.heard)
        self._memories.listeners.append(news)
        self._told_receipt = news.receipt
        self._told_event = news.heard
        unix = oslayer.listen_unix(self._socket_path(HTTP_SOCKET))
        config = uvicorn.Config(
            build(services),
            http=PeerCheckedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
            backlog=512,
        )
        server = uvicorn.Server(config)
        threading.Thread(target=self._stop_server, args=(server,), daemon=True).start()
        self._write_state()
        log.info("dashboard and API on http://127.0.0.1:%d", self._port)
        server.run(sockets=[listener, unix])

    def _stop_server(self, server: Any) -> None:
        self._stop.wait()
        server.should_exit = True

    def _write_state(self) -> None:
        state = {
            "pid": os.getpid(),
            "port": self._port,
            "version": __version__,
            "started_at": self._started_at,
        }
        oslayer.replace_file(self._settings.path(STATE), encode(state))

    # --- upkeep ---

    def _keep(self) -> None:
        """Drains the spool, looks over old rows when nothing else happens, watches the writer."""
        position: tuple[str, int] | None = None
        next_scrub = time.monotonic() + SCRUB_EVERY_S
        next_backup = time.monotonic() + BACKUP_EVERY_S
        while True:
            try:
                self._drain()
                if time.monotonic() >= next_scrub:
                    position = self._scrub(position)
                    next_scrub = time.monotonic() + SCRUB_EVERY_S
                if time.monotonic() >= next_backup:
                    next_backup = time.monotonic() + BACKUP_EVERY_S
                    if self._backups.due():
                        log.info("backup: %s", self._backups.create().path)
            except errors.StoreError as error:
                self._counters.error(str(error))
                log.error("upkeep: %s", error)
            if self._store.writer.failure is not None:
                log.critical("the store failed, stopping: %s", self._store.writer.failure)
                self._stop.set()
            if self._stop.wait(DRAIN_EVERY_S):
                return

    def _catch_up(self) -> None:
        """What connected agents did while nobody listened, from their own transcripts. In the
        background, when the start is over, and only for agents that the user has connected."""
        from recollect.hosts import connected_since
        from recollect.portable.transcripts import ENVIRONMENT, FINDERS

        if self._stop.wait(CATCH_UP_AFTER_S) or self._portable is None:
            return
        home = os.path.expanduser("~")
        env = {name: os.environ[name] for name in ENVIRONMENT if os.environ.get(name)}
        try:
            known = connected_since(self._settings.directory)
            hosts = {name: since for name, since in known.items() if name in FINDERS}
            done = self._portable.importing.catch_up(hosts, home, env)
        except errors.RecollectError as error:
            self._counters.error(f"catching up: {error}")
            log.error("catching up: %s", error)
            return
        found = sum(one.stored for one in done.sources.values()) if done else 0
        if found:
            self._counters.count("events caught up", found)
            log.info("caught up on %d events that hooks did not bring", found)

    def _drain(self) -> None:
        """Take what hooks spooled while nobody answered them."""
        for path, frame, digest in spool.drain(self._settings.directory):
            if self._stop.is_set():
                return
            try:
                self._pipeline.frame(frame, digest, live=False)
            except errors.BadInput as error:
                self._counters.error(f"a spooled frame was refused: {error}")
            spool.remove(path)
            self._counters.count("events from the spool")

    def _scrub(self, position: tuple[str, int] | None) -> tuple[str, int] | None:
        step = self._store.upkeep.scrub(position, SCRUB_ROWS)
        for damage in step.damaged:
            log.error("damaged row: %s %s", damage.table, damage.id)
            self._counters.error(f"damaged row: {damage.table} {damage.id}")
        return step.position

    def _health(self) -> dict[str, Any]:
        waiting = spool.statistics(self._settings.directory)
        away = ""
        try:
            backlog = self._store.events.backlog()
            heard = self._store.sessions.last_heard()
            embedding = self._recall.health() if self._recall else {"state": "loading"}
            extraction = self._learning.status() if self._learning else {"provider": "loading"}
            alarming = self._alarming()
        except errors.StoreError as error:
            # A server that is away: hooks spool, and whoever asks is told.
            backlog, heard, alarming = [], {}, []
            embedding, extraction = {"state": "waiting"}, {"provider": "waiting"}
            away = f"{error}. {error.hint}".strip() if error.hint else str(error)
        away = away or self._store.writer.problem
        failure = self._store.writer.failure
        errors_now = self._counters.errors_last_hour()
        degraded = away or self._store.writer.disk_full
        return {
            "status": "failed" if failure else "degraded" if degraded else "ok",
            "store": {"kind": self._store.writer.kind, "problem": away},
            "version": __version__,
            "pid": os.getpid(),
            "port": self._port,
            "started_at": self._started_at,
            "uptime_s": round((self._clock.now() - self._started_at).total_seconds(), 1),
            "home": self._settings.directory,
            "hosts": heard,
            "counts": self._counters.totals(),
            "private_sessions": [host for host, _ in self._keep_out.private.running()],
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
            "extraction": extraction,
            "errors_last_hour": {"count": len(errors_now), "latest": errors_now[-5:]},
            "disk_full": self._store.writer.disk_full,
            "maintained_at": self._housekeeper.maintained_at,
            "embedding": embedding,
            "alarms": alarming,
            "wanted_port": self._settings.port,
        }

    def _alarming(self) -> list[Any]:
        """Alarms read a good deal, and health is asked for often: once a minute is enough."""
        from recollect.service import alarms

        looked, known = self._alarms
        if self._desk is not None and time.monotonic() - looked > ALARMS_EVERY_S:
            known = list(alarms.alarms(alarms.gather(self._desk)))
            self._alarms = (time.monotonic(), known)
        return known


def _listen(port: int) -> socket.socket:
    """A listener on loopback, at the port asked for or the next free one."""
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", candidate))
        except OSError:
            listener.close()
            continue
        return listener
    raise errors.StoreBusy(
        f"no free port from {port} to {port + PORTS_TRIED - 1}", hint="recollect settings"
    )


def start_log(chosen: Settings, *, to_terminal: bool) -> None:
    """A dated log, a file a day, kept for as long as the settings say."""
    folder = chosen.path("logs")
    oslayer.private_directory(chosen.directory)
    oslayer.private_directory(folder)
    handler: logging.Handler = logging.handlers.TimedRotatingFileHandler(
        os.path.join(folder, "recollect.log"),
        when="midnight",
        backupCount=chosen.log_days,
        encoding="utf-8",
        utc=True,
    )
    handlers = [handler, *([logging.StreamHandler()] if to_terminal else [])]
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s")
    formatter.converter = time.gmtime
    formatter.default_time_format = formatter.datefmt = "%Y-%m-%dT%H:%M:%S"
    for one in handlers:
        one.setFormatter(formatter)
    logging.basicConfig(level=chosen.log_level.upper(), handlers=handlers, force=True)


def restore(chosen: Settings, path: str) -> dict[str, Any]:
    """Put a backup in place of the store, under the store's own lock. The old one is kept."""
    from recollect.store.sqlite import DATABASE, upkeep

    refuse_server(chosen)
    oslayer.private_directory(chosen.directory)
    oslayer.private_directory(chosen.path("backups"))
    lock = oslayer.FileLock(chosen.path("lock"))
    if not lock.acquire():
        raise errors.StoreBusy(f"process {lock.holder()} holds {chosen.directory}")
    try:
        upkeep.verify_file(path)
        aside = aside_name(chosen.path("backups"), SystemClock().now())
        had_one = os.path.exists(chosen.path(DATABASE))
        info = upkeep.restore(path, chosen.path(DATABASE), aside)
    finally:
        lock.release()
    return {
        "restored": path,
        "events": info.events,
        "records": info.records,
        "aside": aside if had_one else None,
    }


def main(*, to_terminal: bool = False) -> int:
    """Run in this process until stopped; 0 after a wanted stop, 1 when it could not start or
    had to end, 3 when another daemon has this data directory."""
    os.umask(0o077)
    # While an index is filled in one thread, prompts are answered in another: let them in sooner.
    sys.setswitchinterval(0.001)
    try:
        chosen = settings.load()
        start_log(chosen, to_terminal=to_terminal)
        Daemon(chosen).run()
    except errors.StoreBusy as error:
        log.warning("not started: %s", error)
        return 3
    except errors.RecollectError as error:
        told = f"{error}. {error.hint}" if error.hint else str(error)
        log.error("not started: %s", told)
        print(f"recollect: {told}", file=sys.stderr)  # noqa: T201 - there may be no log to read
        return 1
    return 0


def restore_main(path: str) -> int:
    """`python -m recollect.daemon --restore FILE`, for the command of that name: JSON on standard
    output, and 1 with the reason when it cannot be done."""
    os.umask(0o077)
    try:
        done: dict[str, Any] = restore(settings.load(), path)
    except errors.RecollectError as error:
        done = {"error": str(error), "hint": error.hint}
    sys.stdout.buffer.write(encode(done) + b"\n")
    return 1 if "error" in done else 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--restore":
        sys.exit(restore_main(sys.argv[2]))
    sys.exit(main(to_terminal="--foreground" in sys.argv))
