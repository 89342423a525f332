"""The daemon: the only place that knows all rooms. Wires them, starts them, stops them.

In: settings. Out: a process that holds the data directory's lock, answers hooks on `hook.sock`, and
HTTP on `recollect.sock` and 127.0.0.1. Whatever prevents its start is told in the log and by its
exit code; a store that fails while running ends it, because the truth must not be half written.
"""

import contextlib
import functools
import logging
import logging.handlers
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from recollect import __version__, privacy
from recollect.capture import frames, launcher, paths, spool, starter
from recollect.core import daemon_stage, errors, oslayer, settings
from recollect.core.bounded_wait import LatestAnswer
from recollect.core.clock import Clock, SystemClock
from recollect.core.settings import Settings
from recollect.core.values import Receipt, encode
from recollect.extract.tombstones import Tombstones
from recollect.ingest.counters import Counters
from recollect.ingest.keepout import KeepOut
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Notice, Pipeline, Recalled, RecallQuestion
from recollect.ingest.turn_writer import TurnWriter
from recollect.lifecycle.file_freshness import cite
from recollect.lifecycle.maintenance import Maintenance
from recollect.lifecycle.maintenance_loop import MaintenanceLoop
from recollect.portable.backups import Backups, aside_name, made_in, refuse_server
from recollect.server import doors
from recollect.server.doors import DoorWatch
from recollect.server.hooksock import HookServer
from recollect.store import open_store
from recollect.store.interface import Change

if TYPE_CHECKING:
    from recollect.learn import Learning
    from recollect.portable.clones import Clones
    from recollect.portable.parts import Portable
    from recollect.remember import Recollection
    from recollect.server.tokens import Tokens
    from recollect.service.desk import Desk

log = logging.getLogger("recollect.daemon")

HOOK_SOCKET = "hook.sock"
HTTP_SOCKET = "recollect.sock"
PORTS_TRIED = 50
DRAIN_EVERY_S = 2.0
SCRUB_EVERY_S = 60.0
SCRUB_ROWS = 2000
NOTE_EVERY_S = 240.0
BACKUP_EVERY_S = 600.0  # how often it is looked whether one is due; not right after a start
CATCH_UP_AFTER_S = 20.0
LOG_DAYS = 14  # long enough to look back at last week's trouble
GRACE_S = 1
ALARMS_EVERY_S = 60.0
EARLY_S = 0.6
LOG_CHARS = 20_000  # of one entry; a longer one is no use to anybody
HEALTH_S = 1.0  # for how long health waits for a new look at the store
AWAY_S = 3.0  # when it has not answered for so long, that is said
# Of each door, where there are descriptors enough.
CONNECTIONS = 256
THREADS = 32


@dataclass(frozen=True)
class _Seen:
    """What was seen of the store and the spool; to begin with, nothing."""

    waiting: spool.Statistics = field(default_factory=lambda: spool.Statistics(0, 0, 0, 0))
    backlog: list[Any] = field(default_factory=list)
    heard: dict[str, Any] = field(default_factory=dict)
    embedding: dict[str, Any] = field(default_factory=lambda: {"state": "waiting"})
    extraction: dict[str, Any] = field(default_factory=lambda: {"provider": "waiting"})
    alarming: list[Any] = field(default_factory=list)
    away: str = ""


class Daemon:
    def __init__(self, chosen: Settings, clock: Clock | None = None) -> None:
        self._settings = chosen
        self._clock = clock or SystemClock()
        self._started_at = self._clock.now()
        self._stop = threading.Event()
        self._port = 0
        self._counters = Counters(self._clock)
        self._store = open_store(
            chosen, self._clock, doing=lambda what: self._tell("starting", what)
        )
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
        self._scribe = TurnWriter(self._store, self._memories, self._counters, cite)
        self._pipeline.listeners.append(self._scribe.on_event)
        self._housekeeper = MaintenanceLoop(
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
        self._pipeline.listeners.append(self._housekeeper.on_event)
        self._recall: Recollection | None = None
        self._learning: Learning | None = None
        self._publish: Callable[[str, Any], None] = lambda kind, data: None
        self._can_recall = threading.Event()
        self._failure: Exception | None = None
        self._desk: Desk | None = None
        self._alarms: tuple[float, list[Any]] = (0.0, [])
        self._told_receipt: Callable[[Receipt], None] = lambda receipt: None
        self._told_event: Callable[[Notice], None] = lambda notice: None
        self._pipeline.recall = self._recall_early
        limit = oslayer.descriptor_limit()
        self._connections = oslayer.share_of(limit, CONNECTIONS, least=4)
        self._threads = oslayer.share_of(limit, THREADS)
        self._hooks = HookServer(
            self._socket_path(HOOK_SOCKET),
            self._pipeline.frame,
            self._counters,
            connections=self._connections,
            workers=self._threads,
        )
        self._tokens: Tokens | None = None
        self._doors = DoorWatch(self._clock, self._counters, also=self._look_at_token)
        self._known = _Seen()
        self._sight = LatestAnswer(self._look_at_store, self._known, "recollect-health")
        self._away_since: datetime | None = None
        self._backups = Backups(chosen, self._store, self._clock)
        self._portable: Portable | None = None
        self._clones: Clones | None = None
        self._draining = threading.Lock()
        self._keeper = threading.Thread(target=self._keep, name="recollect-keeper", daemon=True)

    def run(self) -> None:
        """Serve until told to stop."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self._hooks.start()
        starter.succeeded(self._settings.directory)
        log.info("ready for hooks, process %d, version %s", os.getpid(), __version__)
        self._tell("starting", "hooks are answered; loading the rest")
        try:
            self._scribe.start()
            self._store.changes.subscribe(self._others_wrote)
            threading.Thread(target=self._wake, name="recollect-wake", daemon=True).start()
            self._put_hook()
            self._keeper.start()
            self._housekeeper.start()
            self._serve_http()
        finally:
            self._close()
        failure = self._store.writer.failure or self._failure
        if failure is not None:
            raise failure

    def _put_hook(self) -> None:
        """A disk without room keeps the hook that is there, which does as well for now."""
        try:
            launcher.write(self._settings.directory)
            launcher.install_hook(self._settings.directory)
        except OSError as error:
            self._counters.error(f"the hook could not be put in place: {error}")
            log.error("the hook could not be put in place: %s", error)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stop.set()

    def _close(self) -> None:
        self._stop.set()
        parts: list[tuple[str, Callable[[], None]]] = [
            ("the doors", self._doors.close),
            ("hooks", self._hooks.close),
            ("maintenance", self._housekeeper.close),
            ("episodes", self._scribe.close),
        ]
        if self._learning is not None:
            parts.append(("extraction", self._learning.close))
        if self._recall is not None:
            parts.append(("recall", self._recall.close))
        if self._clones is not None:
            parts.append(("projects", self._clones.close))
        if self._keeper.is_alive():
            parts.append(("upkeep", self._keeper.join))
        parts.append(("the database", self._store.close))
        for name, close in parts:
            self._tell("stopping", f"closing {name}")
            close()
        for path in (self._socket_path(HTTP_SOCKET), self._settings.path(daemon_stage.NAME)):
            if os.path.exists(path):
                os.unlink(path)
        log.info("stopped")

    def _socket_path(self, name: str) -> str:
        path = paths.socket_path(self._settings.directory, name)
        paths.prepare_socket_directory(path, self._settings.directory)
        return path

    # --- recall ---

    def _wake(self) -> None:
        """Too little memory for recall ends the daemon, which says why and can be started again.
        After any other failure hooks are still answered and events stored; health shows it."""
        try:
            self._remember()
        except Exception as error:
            log.exception("recall and learning could not be started")
            if _too_little(error):
                self._failure = error
                self._stop.set()
            else:
                self._counters.error(f"recall and learning could not be started: {error}")

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

    def _recall_early(self, question: RecallQuestion) -> Recalled:
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

        from recollect.portable.clones import Clones
        from recollect.portable.erasure import Erasure
        from recollect.portable.importing import Importer
        from recollect.portable.parts import Portable
        from recollect.server.app import build
        from recollect.server.http import Connections, DoorProtocol, HttpServer
        from recollect.server.live import Live, News
        from recollect.server.services import Services
        from recollect.server.tokens import Tokens
        from recollect.service.desk import Desk

        live = Live()
        listener = _listen(self._settings.port)
        self._port = listener.getsockname()[1]
        tokens = self._tokens = Tokens(self._settings.path("token"), tell=self._tell_token)
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
            importing=Importer(
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
                self._scribe.paused,
                self._tombstones.refuse_erased,
            ),
            backups=self._backups,
        )
        erasure, actor = self._portable.erasure, self._settings.actor_id
        self._clones = Clones(
            self._store, self._clock, actor, lambda old, new: erasure.join(old, new, actor)
        )
        self._pipeline.listeners.append(self._clones.on_event)
        self._clones.start()
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
        address = self._socket_path(HTTP_SOCKET)
        unix = oslayer.listen_unix(address)
        limits = {
            int(family): Connections(self._connections)
            for family in (socket.AF_UNIX, socket.AF_INET)
        }
        config = uvicorn.Config(
            build(services),
            http=cast(Any, functools.partial(DoorProtocol, doors=limits)),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
            backlog=min(32, self._connections),
        )
        server = HttpServer(config, self._threads)
        threading.Thread(target=self._stop_server, args=(server,), daemon=True).start()
        self._tell("ready")
        self._doors.start(
            {
                "hooks": doors.Door(
                    doors.hooks(self._socket_path(HOOK_SOCKET)), self._hooks.reopen
                ),
                "socket": doors.Door(
                    doors.http(socket.AF_UNIX, address, "localhost"),
                    lambda: server.also_serve(oslayer.listen_unix(address)),
                ),
                "tcp": doors.Door(
                    doors.http(socket.AF_INET, ("127.0.0.1", self._port), f"127.0.0.1:{self._port}")
                ),
            }
        )
        log.info("dashboard and API on http://127.0.0.1:%d", self._port)
        server.run(sockets=[listener, unix])

    def _tell_token(self, what: str) -> None:
        log.warning("%s", what)
        self._counters.error(what)

    def _look_at_token(self) -> None:
        """A token file that was damaged is mended without waiting for somebody who needs it."""
        if self._tokens is not None:
            self._tokens.current()

    def _stop_server(self, server: Any) -> None:
        self._stop.wait()
        server.should_exit = True

    def _tell(self, life: daemon_stage.Life, doing: str = "") -> None:
        """Say to commands what happens here. Only they would miss it."""
        now = daemon_stage.Stage(
            life,
            doing,
            pid=os.getpid(),
            port=self._port,
            version=__version__,
            started_at=self._started_at.isoformat(),
        )
        try:
            daemon_stage.write(self._settings.directory, now)
        except OSError as error:
            log.warning("%s cannot be written: %s", daemon_stage.NAME, error)

    # --- upkeep ---

    def _keep(self) -> None:
        """Drains the spool, looks over old rows when nothing else happens, watches the writer."""
        position: tuple[str, int] | None = None
        next_scrub = time.monotonic() + SCRUB_EVERY_S
        next_backup = time.monotonic() + BACKUP_EVERY_S
        next_note = time.monotonic() + NOTE_EVERY_S
        while True:
            try:
                self._drain()
                if time.monotonic() >= next_scrub:
                    position = self._scrub(position)
                    next_scrub = time.monotonic() + SCRUB_EVERY_S
                if time.monotonic() >= next_note:
                    next_note = time.monotonic() + NOTE_EVERY_S
                    self._store.upkeep.note()
                if time.monotonic() >= next_backup:
                    next_backup = time.monotonic() + BACKUP_EVERY_S
                    if self._backups.due():
                        log.info("backup: %s", self._backups.create().path)
            except errors.StoreError as error:
                self._counters.error(str(error))
                log.error("upkeep: %s", error)
            except Exception:
                # A defect of ours, or a spool that cannot be written: the next round may do better.
                log.exception("upkeep failed")
                self._counters.error("upkeep failed; the log says why")
            if self._store.writer.failure is not None:
                log.critical("the store failed, stopping: %s", self._store.writer.failure)
                self._stop.set()
            if self._stop.wait(DRAIN_EVERY_S):
                return

    def _catch_up(self) -> None:
        """What connected agents did while nobody listened, from their own transcripts. In the
        background, when the start is over, and only for agents that the user has connected."""
        from recollect.hosts import registry
        from recollect.hosts.install import connected_since

        if self._stop.wait(CATCH_UP_AFTER_S) or self._portable is None:
            return
        home = os.path.expanduser("~")
        places = registry.transcript_environment()
        env = {name: os.environ[name] for name in places if os.environ.get(name)}
        try:
            known = connected_since(self._settings.directory)
            hosts = {name: since for name, since in known.items() if name in registry.readers()}
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
        """Take what hooks spooled while nobody answered them. A file goes when the commit that
        holds its event is done, or when it is refused for good; one that makes us stumble is set
        aside and keeps nobody waiting."""
        with self._draining:
            for batch in spool.in_batches(spool.drain(self._settings.directory)):
                if self._stop.is_set():
                    return
                replies = self._pipeline.spooled([(frame, digest) for _, frame, digest in batch])
                done = []
                for (path, _, _), reply in zip(batch, replies, strict=True):
                    if reply.status == frames.NOT_NOW:
                        spool.set_aside(path)
                    else:
                        done.append(path)
                spool.remove(*done)
                self._counters.count("events from the spool", len(done))

    def _scrub(self, position: tuple[str, int] | None) -> tuple[str, int] | None:
        step = self._store.upkeep.scrub(position, SCRUB_ROWS)
        for damage in step.damaged:
            log.error("damaged row: %s %s", damage.table, damage.id)
            self._counters.error(f"damaged row: {damage.table} {damage.id}")
        return step.position

    def _look_at_store(self) -> "_Seen":
        """What health tells of the store and the spool: that takes as long as they do."""
        waiting = _Seen().waiting
        try:
            waiting = spool.statistics(self._settings.directory)
            self._known = _Seen(
                waiting=waiting,
                backlog=self._store.events.backlog(),
                heard=self._store.sessions.last_heard(),
                embedding=self._recall.health() if self._recall else {"state": "loading"},
                extraction=self._learning.status() if self._learning else {"provider": "loading"},
                alarming=self._alarming(),
            )
            return self._known
        except errors.StoreError as error:
            # A server that is away: hooks spool, and whoever asks is told.
            away = f"{error}. {error.hint}".strip() if error.hint else str(error)
            known = self._known
            return _Seen(waiting=waiting, backlog=known.backlog, heard=known.heard, away=away)

    def _problem(self, seen: "_Seen", awaited_s: float | None) -> str:
        """What is wrong with the store, and since when."""
        away = seen.away or self._store.writer.problem
        if awaited_s is not None and awaited_s > AWAY_S and not away:
            away = f"the store does not answer ({self._store.writer.kind})"
        if not away:
            self._away_since = None
        elif self._away_since is None:
            self._away_since = self._clock.now() - timedelta(seconds=awaited_s or 0)
        return away

    def _health(self) -> dict[str, Any]:
        """From what is known, when the store does not answer in a moment."""
        seen, awaited_s = self._sight.get(HEALTH_S)
        away = self._problem(seen, awaited_s)
        waiting, backlog = seen.waiting, seen.backlog
        answering = self._doors.status()
        failure = self._store.writer.failure
        errors_now = self._counters.errors_last_hour()
        closed = [name for name, door in answering.items() if not door["answers"]]
        degraded = away or closed or self._store.writer.disk_full
        return {
            "status": "failed" if failure else "degraded" if degraded else "ok",
            "store": {
                "kind": self._store.writer.kind,
                "problem": away,
                "since": self._away_since,
            },
            "doors": answering,
            "token_renewed": self._tokens.renewed if self._tokens else "",
            "version": __version__,
            "pid": os.getpid(),
            "port": self._port,
            "started_at": self._started_at,
            "uptime_s": round((self._clock.now() - self._started_at).total_seconds(), 1),
            "home": self._settings.directory,
            "hosts": seen.heard,
            "counts": self._counters.totals(),
            "private_sessions": [
                {"host": one.host, "by": one.by} for one in self._keep_out.private.running()
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
            "disk_full": self._store.writer.disk_full,
            "maintained_at": self._housekeeper.maintained_at,
            "embedding": seen.embedding,
            "alarms": seen.alarming,
            "wanted_port": self._settings.port,
            "clones": {
                "offers": self._clones.offers if self._clones else [],
                "joined": self._clones.joined if self._clones else {},
            },
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
        f"no free port from {port} to {port + PORTS_TRIED - 1}",
        hint="recollect settings set port NUMBER",
    )


class ScrubbedFormatter(logging.Formatter):
    """No line of the log holds a secret, whatever an error quotes of what it could not take."""

    def format(self, record: logging.LogRecord) -> str:
        return privacy.scrub(super().format(record)[:LOG_CHARS]).text


def start_log(chosen: Settings, *, to_terminal: bool) -> None:
    """A dated log, a file a day."""
    # A line that cannot be written (a full disk) is lost. Python would print a traceback for each
    # instead, and stop the daemon in the middle of it when nobody reads what it prints.
    logging.raiseExceptions = False
    folder = chosen.path("logs")
    handlers: list[logging.Handler] = [logging.StreamHandler()] if to_terminal else []
    try:
        oslayer.private_directory(chosen.directory)
        oslayer.private_directory(folder)
        handlers.append(
            logging.handlers.TimedRotatingFileHandler(
                os.path.join(folder, "recollect.log"),
                when="midnight",
                backupCount=LOG_DAYS,
                encoding="utf-8",
                utc=True,
            )
        )
    except OSError as error:
        print(f"recollect: no log: {error}", file=sys.stderr)  # noqa: T201 - there is no log
    formatter = ScrubbedFormatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s")
    formatter.converter = time.gmtime
    formatter.default_time_format = formatter.datefmt = "%Y-%m-%dT%H:%M:%S"
    for one in handlers:
        one.setFormatter(formatter)
    logging.basicConfig(level=chosen.log_level.upper(), handlers=handlers, force=True)


@contextlib.contextmanager
def _alone_in(chosen: Settings) -> Iterator[str]:
    """Holds the data directory; gives the name under which its database can be laid aside."""
    refuse_server(chosen)
    oslayer.private_directory(chosen.directory)
    oslayer.private_directory(chosen.path("backups"))
    lock = oslayer.FileLock(chosen.path("lock"))
    if not lock.acquire():
        raise errors.StoreBusy(f"process {lock.holder()} holds {chosen.directory}")
    try:
        yield aside_name(chosen.path("backups"), SystemClock().now())
    finally:
        lock.release()


def _mended(chosen: Settings) -> None:
    """The reason for which the last daemon did not start holds no longer."""
    with contextlib.suppress(OSError):  # the next start says how it is
        daemon_stage.clear(chosen.directory)


def restore(chosen: Settings, path: str) -> dict[str, Any]:
    """Put a backup in place of the store, under the store's own lock. The old one is kept."""
    from recollect.store.sqlite import DATABASE, upkeep

    with _alone_in(chosen) as aside:
        upkeep.verify_file(path)
        info = upkeep.restore(path, chosen.path(DATABASE), aside)
        _mended(chosen)
    return {
        "restored": path,
        "events": info.events,
        "records": info.records,
        "aside": aside if os.path.exists(aside) else None,
    }


def accept_loss(chosen: Settings) -> dict[str, Any]:
    """Go on with what is left of the store, because somebody said so. The files are kept."""
    from recollect.store.sqlite import DATABASE, ledger

    with _alone_in(chosen) as aside:
        missing = ledger.accept_loss(chosen.directory, DATABASE, aside)
        _mended(chosen)
    kept = [path for path in (aside, f"{aside}-wal") if os.path.exists(path)]
    made = made_in(chosen.path("backups"))
    newest = os.path.basename(made[0]) if made else None
    return {"missing": missing, "aside": kept, "newest": newest}


def main(*, to_terminal: bool = False) -> int:
    """Run in this process until stopped; 0 after a wanted stop, 1 when it could not start or
    had to end, 3 when another daemon has this data directory."""
    os.umask(0o077)
    # While an index is filled in one thread, prompts are answered in another: let them in sooner.
    sys.setswitchinterval(0.001)
    chosen: Settings | None = None
    try:
        chosen = settings.load()
        start_log(chosen, to_terminal=to_terminal)
        threading.excepthook = _log_thread_failure
        Daemon(chosen).run()
    except errors.StoreBusy as error:
        log.warning("not started: %s", error)
        return 3
    except errors.DiskFull as error:
        return _ended(chosen, str(error), "Free some space, then: recollect up")
    except errors.RecollectError as error:
        return _ended(chosen, str(error), error.hint + _offered(chosen, error))
    except OSError as error:
        told = f"the system said: {error}"
        return _ended(chosen, told, "Check the disk and the data directory, then: recollect up")
    except (MemoryError, RuntimeError) as error:
        if not _too_little(error):
            raise
        log.exception("stopped")
        told = f"there is too little memory, or too many processes: {error or 'out of memory'}"
        return _ended(chosen, told, "Free some, then: recollect up")
    return 0


def _too_little(error: Exception) -> bool:
    """Whether there was no memory or no thread to be had."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "new thread" in str(error)
    )


def _log_thread_failure(failure: threading.ExceptHookArgs) -> None:
    """A thread ended by an error that nobody expected: its traceback belongs in the log."""
    name = failure.thread.name if failure.thread else "a thread"
    log.error("%s ended: %s", name, failure.exc_value, exc_info=failure.exc_value)


def _ended(chosen: Settings | None, problem: str, hint: str) -> int:
    """Why there is no daemon: in the log, for commands, and for whoever sees this process."""
    told = f"{problem.rstrip('.')}. {hint}" if hint else problem
    log.error("not running: %s", told)
    print(f"recollect: {told}", file=sys.stderr)  # noqa: T201 - there may be no log to read
    if chosen is not None:
        now = daemon_stage.Stage("failed", pid=os.getpid(), problem=problem, hint=hint)
        with contextlib.suppress(OSError):
            daemon_stage.write(chosen.directory, now)
    return 1


def _offered(chosen: Settings | None, error: errors.RecollectError) -> str:
    """For a store that lost something: what there is to put in its place."""
    if chosen is None or not isinstance(error, (errors.LessThanStored, errors.DamagedDatabase)):
        return ""
    made = made_in(chosen.path("backups"))
    if not made:
        return " There is no backup."
    return f" The newest backup is {os.path.basename(made[0])}."


def _answer(work: Callable[[Settings], dict[str, Any]]) -> int:
    """For commands that let a process of the daemon's program work on the files: JSON on standard
    output, and 1 with the reason when it cannot be done."""
    os.umask(0o077)
    try:
        done = work(settings.load())
    except errors.RecollectError as error:
        done = {"error": str(error), "hint": error.hint}
    except OSError as error:
        done = {"error": f"the system said: {error}", "hint": "Check the disk."}
    sys.stdout.buffer.write(encode(done) + b"\n")
    return 1 if "error" in done else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--restore", path]:
            sys.exit(_answer(lambda chosen: restore(chosen, path)))
        case ["--accept-loss"]:
            sys.exit(_answer(accept_loss))
        case arguments:
            sys.exit(main(to_terminal="--foreground" in arguments))
