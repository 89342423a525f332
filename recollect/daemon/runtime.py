"""The one place where the parts of Recollect are put together, and the order in which they start.

In: settings and a clock. Out: `Runtime`. Building it opens the store and wires the write path; no
socket and no thread of its own comes before a stage is started: hooks answer, recall answers,
extraction runs, HTTP serves. Tests, benchmarks and commands build one in process and start what
they need. A store that fails while the daemon runs ends it: nothing may be half written.
"""

import functools
import logging
import os
import threading
from typing import TYPE_CHECKING, Any

from recollect import __version__
from recollect.capture import paths, starter
from recollect.core import daemon_stage, errors, oslayer
from recollect.core.clock import Clock, SystemClock
from recollect.core.jobs import Jobs
from recollect.core.settings import Settings
from recollect.core.values import IMPORTED, IMPORTED_FOR_MODEL
from recollect.daemon import remote_changes, weekly_reflection
from recollect.daemon.health import Health
from recollect.daemon.upkeep import DaemonUpkeep
from recollect.extract.tombstones import Tombstones
from recollect.extract.visible_store import visible_store
from recollect.ingest.counters import Counters
from recollect.ingest.keepout import KeepOut
from recollect.ingest.memories import Memories
from recollect.ingest.messages import Notice, Recalled, RecallQuestion
from recollect.ingest.origins import McpClients, Namespaces
from recollect.ingest.pipeline import Pipeline
from recollect.ingest.turn_writer import TurnWriter
from recollect.lifecycle.file_freshness import cite
from recollect.lifecycle.maintenance import Maintenance
from recollect.lifecycle.maintenance_loop import MaintenanceLoop
from recollect.plugins.host import Plugins
from recollect.portable.backups import Backups
from recollect.server.door_watch import DoorWatch
from recollect.server.hook_socket import HookServer
from recollect.server.live import Live, News
from recollect.store import open_store
from recollect.work.cache import WorkCache

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from recollect.daemon.learning import Learning
    from recollect.daemon.recall import RecallParts
    from recollect.llm.base import Provider
    from recollect.portable.clones import Clones
    from recollect.portable.erasure import Erasure
    from recollect.portable.importing import Importer
    from recollect.server.http_protocol import HttpServer
    from recollect.server.tokens import Tokens
    from recollect.store.postgres import PostgresStore
    from recollect.store.sqlite import SqliteStore

log = logging.getLogger("recollect.daemon")

HOOK_SOCKET = "hook.sock"
EARLY_S = 0.6  # what the hook of a session's start may wait for recall to be loaded
LOADING_S = 15.0  # what other doors may wait
RETRY_S = 2.0
# Of each door, where there are descriptors enough.
CONNECTIONS = 256
THREADS = 32


class Runtime:
    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        store: "SqliteStore | PostgresStore | None" = None,
    ) -> None:
        """`store` is given by a caller who has opened one, and who closes it."""
        self.settings = settings
        self.clock = clock = clock or SystemClock()
        self.started_at = clock.now()
        self.port = settings.port  # where HTTP is served, once it is
        self.stopping = threading.Event()
        self.failure: Exception | None = None
        self.announce = daemon_stage.Announcer(
            settings.directory, settings.port, __version__, self.started_at.isoformat()
        )
        self.counters = Counters(clock)
        self.jobs = Jobs(clock)
        self.store = store or open_store(
            settings, clock, doing=lambda what: self.announce("starting", what)
        )
        self._owns_store = store is None
        self.keep_out = KeepOut(settings, self.counters)
        self.namespaces = Namespaces(self.store, settings.actor_id)
        self.pipeline = Pipeline(
            self.store,
            clock,
            settings.actor_id,
            self.counters,
            keep_out=self.keep_out,
            namespaces=self.namespaces,
            visible_line=settings.visible_line,
        )
        self.pipeline.recall = self._recall_early
        self.memories = Memories(self.store)
        self.tombstones = Tombstones(self.store)
        # For whoever only reads: without what was forgotten.
        self.visible_store = visible_store(self.store, self.tombstones)
        self.mcp_clients = McpClients(clock, self.namespaces.of)
        self.add_lock = threading.Lock()
        self.work = WorkCache(self.store, self.tombstones.visible_work)
        self.tombstones.listeners.append(self.work.drop_all)
        self.turn_writer = TurnWriter(self.store, self.memories, self.counters, cite, self.work)
        self.maintenance = MaintenanceLoop(
            Maintenance(
                self.store,
                self.memories,
                clock,
                settings,
                self.model,
                visible=self.tombstones.visible_record,
            ),
            self.counters,
            alone=lambda: self.store.upkeep.alone("maintenance"),
            jobs=self.jobs,
            after=lambda: weekly_reflection.reflect_if_due(self),
        )
        self.live = Live()
        self.publish = self.live.publish
        self.news = News(self.live.publish)
        self.plugins = Plugins(settings)
        self.memories.listeners += [self.news, self.plugins]
        self.pipeline.listeners += [
            self.turn_writer.on_event,
            self._prepare_work,
            self.maintenance.on_event,
            self.news.on_event,
            self.plugins.on_event,
        ]
        self.backups = Backups(settings, self.store, clock)
        self.upkeep = DaemonUpkeep(self)
        self.doors = DoorWatch(clock, self.counters, also=lambda: self.tokens.current())
        self.loaded_recall: RecallParts | None = None
        self.loaded_learning: Learning | None = None
        self.hooks: HookServer | None = None
        self.http: HttpServer | None = None
        self.health = Health(self).report
        # Two threads that import packages whose parts import each other can wait for each other;
        # Python 3.14 then fails one of them.
        self.one_importer = threading.Lock()
        self._recall_ready = threading.Event()
        self._learning_ready = threading.Event()
        limit = oslayer.descriptor_limit()
        self.connections = oslayer.share_of(limit, CONNECTIONS, least=4)
        self.threads = oslayer.share_of(limit, THREADS)

    # --- parts that are imported when they are first needed, after hooks are answered ---

    @functools.cached_property
    def tokens(self) -> "Tokens":
        from recollect.server.tokens import Tokens

        return Tokens(self.settings.path("token"), on_renewal=self.counters.error)

    @functools.cached_property
    def importing(self) -> "Importer":
        from recollect.portable.importing import Importer

        return Importer(
            self.store,
            self.pipeline,
            self.memories,
            self.clock,
            self.actor,
            self.turn_writer.derive_work,
            self.stopping.is_set,
            self.plugins.items,
            self.jobs,
        )

    @functools.cached_property
    def erasure(self) -> "Erasure":
        from recollect.portable.erasure import Erasure

        return Erasure(
            self.settings,
            self.store,
            self.pipeline,
            self.memories,
            self.backups,
            self.upkeep.drain,
            self.turn_writer,
            self.tombstones.refuse_erased,
        )

    @functools.cached_property
    def clones(self) -> "Clones":
        from recollect.portable.clones import Clones

        clones = Clones(
            self.store,
            self.clock,
            self.actor,
            lambda old, new: self.erasure.join(old, new, self.actor),
        )
        self.pipeline.listeners.append(clones.on_event)
        return clones

    def app(self) -> "ASGIApp":
        """The HTTP application with all routes, tools and pages."""
        from recollect.server.app import build

        return build(self)

    # --- what operations and routes ask ---

    @property
    def actor(self) -> str:
        return self.settings.actor_id

    def recall(self) -> "RecallParts":
        """Recall; it is loaded a moment after the start, which is waited for."""
        self._recall_ready.wait(LOADING_S)
        if self.loaded_recall is None:
            raise errors.StoreError("Recall is still being loaded.", hint="Try again in a moment.")
        return self.loaded_recall

    def learning(self) -> "Learning":
        """Extraction; it is loaded last, some moments after the start, which is waited for."""
        self._learning_ready.wait(LOADING_S)
        if self.loaded_learning is None:
            raise errors.StoreError(
                "Extraction is still being loaded.", hint="Try again in a moment."
            )
        return self.loaded_learning

    def model(self) -> "Provider | None":
        """The language model of the settings; None for none, and while it is being loaded."""
        return self.loaded_learning.provider if self.loaded_learning is not None else None

    def extracting(self) -> frozenset[str]:
        """The namespaces whose events are being extracted now."""
        found = self.loaded_learning
        return found.busy if found is not None else frozenset()

    def retry_extraction(self, namespace: str) -> None:
        """Put events that were set aside back in line, and begin at once."""
        learning = self.learning()
        learning.retry(namespace)
        learning.run_now([namespace], 0)

    def embed_soon(self) -> None:
        """Start making missing vectors; until then a new memory is found by words only."""
        if self.loaded_recall is not None:
            self.loaded_recall.embed_soon()

    # --- the stages ---

    def run(self) -> None:
        """All stages, one after the other; serves until stopped. A failure of the store, or of
        the loading of recall for want of memory, is raised at the end."""
        from recollect.daemon import serving

        oslayer.on_stop(self.stop)
        self.answer_hooks()
        starter.succeeded(self.settings.directory)
        log.info("ready for hooks, process %d, version %s", os.getpid(), __version__)
        self.announce("starting", "hooks are answered; loading the rest")
        try:
            self.start_upkeep()
            threading.Thread(target=self._load, name="recollect-load", daemon=True).start()
            serving.serve(self)
        finally:
            self.close()
        failure = self.store.writer.failure or self.failure
        if failure is not None:
            raise failure

    def answer_hooks(self) -> None:
        self.hooks = HookServer(
            self.socket_path(HOOK_SOCKET),
            self.pipeline.frame,
            self.counters,
            connections=self.connections,
            workers=self.threads,
        )
        self.hooks.start()

    def start_upkeep(self) -> None:
        self.turn_writer.start()
        self.store.changes.subscribe(functools.partial(remote_changes.follow, self))
        self.upkeep.start()
        self.maintenance.start()

    def load_recall(self) -> "RecallParts":
        """Recall needs numpy and the model, which are slow to load: hooks do not wait for them,
        they are answered with nothing until it is there."""
        with self.one_importer:
            from recollect.daemon.recall import RecallParts

        recall = RecallParts(self)
        self.pipeline.listeners.append(recall.on_event)
        recall.receipts.listeners.append(self.news.receipt)
        recall.start()
        self.loaded_recall = recall
        self.pipeline.recall = recall.recall_now
        self.pipeline.own_text = recall.recall_now.own_text.without
        self._recall_ready.set()
        log.info("ready to recall")
        return recall

    def load_learning(self) -> "Learning":
        """Extraction, which begins when everything that an agent waits for is there. It runs in
        threads of its own once it is started."""
        with self.one_importer:
            from recollect.daemon.learning import Learning

        recall = self.loaded_recall
        learning = Learning(self, recall.embedder if recall else None)
        self.pipeline.listeners.append(learning.on_event)
        self.loaded_learning = learning
        self._learning_ready.set()
        return learning

    def stop(self) -> None:
        """Let `run` end."""
        self.stopping.set()
        if self.http is not None:
            self.http.should_exit = True

    def close(self) -> None:
        """Stop what was started, in the order in which nothing is lost."""
        self.stopping.set()
        parts: list[tuple[str, Any]] = [
            ("the doors", self.doors),
            ("plugins", self.plugins),
            ("hooks", self.hooks),
            ("maintenance", self.maintenance),
            ("turns", self.turn_writer),
            ("extraction", self.loaded_learning),
            ("recall", self.loaded_recall),
            ("projects", self.__dict__.get("clones")),  # if it was ever needed
            ("upkeep", self.upkeep),
            ("the database", self.store if self._owns_store else None),
        ]
        for name, part in parts:
            if part is not None:
                self.announce("stopping", f"closing {name}")
                part.close()
        self.announce.withdraw()
        log.info("stopped")

    def socket_path(self, name: str) -> str:
        path = paths.socket_path(self.settings.directory, name)
        paths.prepare_socket_directory(path, self.settings.directory)
        return path

    # --- parts of the stages ---

    def _load(self) -> None:
        """Too little memory for recall ends the daemon, which says why and can be started again.
        After any other failure hooks are still answered and events stored; health shows it."""
        try:
            self.load_recall()
            self.plugins.start()
            self._start_learning()
        except Exception as error:
            log.exception("recall and extraction could not be started")
            if oslayer.out_of_resources(error):
                self.failure = error
                self.stop()
            else:
                self.counters.error(f"recall and extraction could not be started: {error}")

    def _start_learning(self) -> None:
        learning = self.load_learning()
        while not self.stopping.is_set():
            try:
                learning.start()
                return
            except errors.StoreError as error:  # a server that is away now
                log.warning("extraction waits: %s", error)
                self.stopping.wait(RETRY_S)

    def _prepare_work(self, notice: Notice) -> None:
        """A session goes on there, and will ask."""
        event = notice.stored.event
        if event.source.client_id not in (IMPORTED, IMPORTED_FOR_MODEL):
            self.work.prepare(event.namespace)

    def _recall_early(self, question: RecallQuestion) -> Recalled:
        """A session's start may wait for recall to be loaded; a prompt may not."""
        patience = EARLY_S if question.trigger == "session-start" else 0.0
        if self._recall_ready.wait(patience) and self.loaded_recall is not None:
            return self.loaded_recall.recall_now(question)
        self.counters.count("recall: not loaded yet")
        return Recalled()
