"""Hears what other daemons write, and says that this one lives.

In: the server's notifications. Out: calls of whoever subscribed, from one thread. A connection that
was lost is made again; what was missed meanwhile is told as "all", so that caches begin anew.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import cast, get_args

import psycopg

from recollect.core.errors import StoreError
from recollect.store.interface import Change, ChangeKind
from recollect.store.postgres.connection import PostgresConnection, meaning
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.postgres.events import LEASE_S, PostgresEvents
from recollect.store.sql.projects import SqlProjects

log = logging.getLogger(__name__)

BEAT_S = LEASE_S / 4
LOOK_S = 0.5
PAUSE_S = 1.0


class PostgresChanges:
    def __init__(
        self, engine: PostgresEngine, events: PostgresEvents, projects: SqlProjects
    ) -> None:
        self._engine = engine
        self._events = events
        self._projects = projects
        self._subscribers: list[Callable[[Change], None]] = []
        self._stop = threading.Event()
        self._start = threading.Lock()
        self._thread: threading.Thread | None = None
        self.listening = threading.Event()

    def subscribe(self, told: Callable[[Change], None]) -> None:
        self._subscribers.append(told)
        self.start()

    def start(self) -> None:
        """Begin to listen, and to keep claims alive; a second call is a no-op."""
        with self._start:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(
                    target=self._loop, name="recollect-listen", daemon=True
                )
                self._thread.start()

    def close(self) -> None:
        self._stop.set()
        with self._start:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    # --- the thread ---

    def _loop(self) -> None:
        missed = False
        while not self._stop.is_set():
            try:
                connection = self._engine.connect()
                try:
                    self._listen(connection, missed)
                finally:
                    self.listening.clear()
                    connection.close()
            except StoreError as error:
                log.debug("not listening: %s", error)
            except psycopg.Error as error:
                log.debug("not listening: %s", meaning(error))
            missed = True
            self._stop.wait(PAUSE_S)

    def _listen(self, connection: PostgresConnection, missed: bool) -> None:
        (channel,) = connection.execute("SELECT channel(acting())").fetchall()[0]
        connection.execute(f'LISTEN "{channel}"')
        self._events.telling = True
        self._projects.forget_known()  # what was asked before this moment may be old already
        self.listening.set()
        if missed:
            self._tell(Change("all"))
        next_beat = 0.0
        while not self._stop.is_set():
            if time.monotonic() >= next_beat:
                self._events.beat()
                next_beat = time.monotonic() + BEAT_S
            self._events.tell()
            for notice in connection.raw.notifies(timeout=LOOK_S):
                self._take(notice.payload)
                if self._stop.is_set():
                    return

    def _take(self, payload: str) -> None:
        """What a server passes on is not always ours: whatever has another form is left alone."""
        parts = payload.split("\n", 3)
        if len(parts) != 4 or parts[1] not in get_args(ChangeKind):
            log.warning("a notification that no daemon sends was ignored: %.80r", payload)
            return
        origin, kind, namespace, ids = parts
        if origin != self._engine.origin:
            self._tell(Change(cast(ChangeKind, kind), namespace, tuple(ids.split(","))))

    def _tell(self, change: Change) -> None:
        if change.kind == "graph":
            self._engine.graph_versions.note(change.namespace, change.ids)
        elif change.kind == "projects":
            self._projects.forget_known()
        elif change.kind == "all":
            self._engine.graph_versions.note_all()
        for told in self._subscribers:
            try:
                told(change)
            except StoreError as error:
                log.warning("a change of another daemon could not be followed: %s", error)
                raise
