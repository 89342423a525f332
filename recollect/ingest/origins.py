"""Where events come from: their project and namespace, and their session.

In: paths from payloads, or as a user names them; hosts, keys of events, proxies of agents. Out: the
namespace of a directory's project (the actor's global one for what is no project) and the end of a
transcript, in time; the session of an event whose host names none, which start, end or firing of a
hook is a repeat, whether a host runs in a loop, and in which projects agents have our tools. While
a disk hangs, such as the mount of a server that is down, a directory is taken for what it was the
last time. One that was never seen is taken for a project of its own, so that nothing of it gets
into other projects.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from recollect import privacy
from recollect.core import ids, oslayer, projects, safe_files
from recollect.core.bounded_wait import BoundedThreads, Late
from recollect.core.clock import Clock
from recollect.core.projects import ProjectPlace
from recollect.core.tuning import HINTS, SESSIONS
from recollect.store.interface import Store, known_project

T = TypeVar("T")

# A loop in a host, not a person: beyond this a session's events are refused until the next minute.
RUNAWAY_PER_MINUTE = 3000
# A host that names no session and was silent for so long has begun another one. It says so itself
# when it starts, but kiro-cli says it before every prompt: a start soon after is no new session.
SAME_SESSION = timedelta(hours=SESSIONS.silent_hours)
SAME_START = timedelta(minutes=SESSIONS.start_minutes)


class SessionSignals:
    """The last start or end of each session. A session that is resumed and ended again within the
    time of a double firing has really begun and ended twice."""

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._last: dict[str, tuple[str, str]] = {}

    def passed(self, session_id: str, signal: str, key: str) -> str:
        """Remember this signal; returns the key of the opposite signal before it, which may come
        again, or an empty text."""
        with self._lock:
            before = self._last.pop(session_id, ("", ""))
            self._last[session_id] = (signal, key)
            while len(self._last) > self._limit:
                del self._last[next(iter(self._last))]
        return before[1] if before[0] != signal else ""


class SessionContinuity:
    """The session of each event, and how many events of it came in this minute."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[tuple[str, str], tuple[str, datetime]] = {}
        self._minute = 0
        self._counts: dict[str, int] = {}
        self.most_per_minute = RUNAWAY_PER_MINUTE

    def session(
        self, host: str, namespace: str, given: str | None, *, begins: bool, live: bool
    ) -> tuple[str, bool]:
        """The session of an event, and whether its host runs in a loop: too many of its events
        came in this minute. Events that are not `live` came at their own pace, however fast they
        are read now."""
        now = self._clock.now()
        with self._lock:
            chosen = given or self._continued(host, namespace, now, begins)
            self._last[host, namespace] = (chosen, now)
            if not live:
                return chosen, False
            minute = self._clock.mono_ns() // 60_000_000_000
            if minute != self._minute:
                self._minute, self._counts = minute, {}
            self._counts[chosen] = self._counts.get(chosen, 0) + 1
            return chosen, self._counts[chosen] > self.most_per_minute

    def ended(self, host: str, namespace: str) -> None:
        with self._lock:
            self._last.pop((host, namespace), None)

    def _continued(self, host: str, namespace: str, now: datetime, begins: bool) -> str:
        known = self._last.get((host, namespace)) or self._stored(host, namespace)
        if known is not None and now - known[1] < (SAME_START if begins else SAME_SESSION):
            return known[0]
        return f"{host}-{ids.new_ulid()}"

    def _stored(self, host: str, namespace: str) -> tuple[str, datetime] | None:
        """The last session in the store, after a restart."""
        for session in self._store.sessions.page(namespace, limit=5).items:
            if session.surface == host and session.status == "active":
                return session.session_id, session.last_event_at
        return None


class SeenCache(Generic[T]):
    """Remembers keys, so that the second firing of the same hook is recognised. Those that were not
    met for the longest time are forgotten first. A key that is known here need not be stored: only
    the store can tell that."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[T, float]] = OrderedDict()

    def first(self, key: str, given: T, at: float = 0.0, seconds: float | None = None) -> T:
        """The value of the key: the given one, unless the key is known (and, with `seconds`, not
        older than that)."""
        with self._lock:
            known = self._seen.get(key)
            if known is not None and (seconds is None or abs(at - known[1]) < seconds):
                self._seen.move_to_end(key)
                return known[0]
            self._seen[key] = (given, at)
            self._seen.move_to_end(key)
            while len(self._seen) > self._limit:
                self._seen.popitem(last=False)
        return given

    def forget(self, key: str) -> None:
        """Let the next value under this key be new."""
        with self._lock:
            self._seen.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()

    def __len__(self) -> int:
        return len(self._seen)


PATIENCE_S = 0.2
THREADS = 8
_KNOWN = 1024


class FileEnds:
    """Reads files that hosts name, with patience for a disk that hangs."""

    def __init__(self) -> None:
        self._disk = BoundedThreads(THREADS, "recollect-places", hung_s=PATIENCE_S)

    def end_of(self, path: str, most: int) -> bytes | None:
        """The last bytes of a transcript: empty when it is not there yet, None when it never will
        be, because its folder is missing or it is not a file."""
        try:
            return self._disk.run(PATIENCE_S, _end, path, most, about=path)
        except Late:
            return b""


def _end(path: str, most: int) -> bytes | None:
    try:
        return safe_files.read_end(path, most)
    except safe_files.NotPlain:
        return None
    except OSError:
        return b"" if os.path.isdir(os.path.dirname(path)) else None


UNKNOWN = "unknown"  # no project has this id


class Namespaces:
    def __init__(
        self,
        store: Store,
        actor: str,
        look: Callable[[str], ProjectPlace] = projects.locate,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._store = store
        self._actor = actor
        self._look = look
        self._patience_s = patience_s
        self._disk = BoundedThreads(THREADS, "recollect-places", hung_s=patience_s)
        self._lock = threading.Lock()
        self._last_places: OrderedDict[str, ProjectPlace] = OrderedDict()

    def of(self, directory: str | None) -> str:
        """The namespace of a directory. One that was not known is a project from now on."""
        project_id = self._store.projects.resolve(self.place(directory or "")[0])
        return projects.namespace(self._actor, project_id)

    def asked_for(self, directory: str) -> str:
        """The namespace of a directory that somebody asks about: a question makes no project. One
        that is not known has a namespace in which nothing is stored."""
        found = known_project(self._store.projects, self.place(directory)[0])
        return projects.namespace(self._actor, UNKNOWN if found is None else found)

    def branch_in(self, directory: str) -> str:
        """The branch that is checked out in a directory; empty: none, or unknown."""
        return self.place(directory)[0].branch

    def place(self, directory: str) -> tuple[ProjectPlace, str | None]:
        """Where the project of a directory is, as far as it is known in time, and the path as it
        may be stored. One that holds something private is stored without it and belongs to the
        global project."""
        if not os.path.isabs(directory):
            return ProjectPlace(), None
        shown = privacy.scrub(directory)[:2048].replace("\0", "") or None
        if shown != directory or "[REDACTED" in directory:
            return ProjectPlace(), shown
        try:
            place = self._disk.run(self._patience_s, self._look, directory, about=directory)
        except Late:
            with self._lock:
                known = self._last_places.get(directory)
            # The branch may have changed since: of that nothing is known.
            return replace(known, branch="") if known else projects.unseen(directory), shown
        with self._lock:
            self._last_places[directory] = place
            self._last_places.move_to_end(directory)
            while len(self._last_places) > _KNOWN:
                self._last_places.popitem(last=False)
        return place, shown


MOST_PROXIES = 256


@dataclass(frozen=True)
class _Proxy:
    cwd: str
    namespace: str
    last: datetime  # when it was last known to live


class McpClients:
    """In which projects agents have our tools: the MCP proxies, by the project they work in. Each
    sends its process id and working directory with each request. Kept in memory: after a restart
    of the daemon a proxy is known again from its next request on."""

    def __init__(
        self,
        clock: Clock,
        namespace_of: Callable[[str], str],
        alive: Callable[[int], bool] = oslayer.exists,
    ) -> None:
        self._clock = clock
        self._namespace_of = namespace_of
        self._alive = alive
        self._lock = threading.Lock()
        self._proxies: dict[int, _Proxy] = {}

    def seen(self, pid: int, cwd: str) -> None:
        """A proxy for an agent that works there asked something."""
        known = self._proxies.get(pid)
        if known is not None and known.cwd == cwd:
            return
        proxy = _Proxy(cwd, self._namespace_of(cwd), self._clock.now())
        with self._lock:
            self._proxies[pid] = proxy
            while len(self._proxies) > MOST_PROXIES:
                del self._proxies[next(iter(self._proxies))]

    def present(self, namespace: str) -> bool:
        """Whether the agents of a project have our tools. A proxy that ended lately counts: some
        agents start theirs only after the first prompt of a session (OpenCode, Copilot)."""
        now = self._clock.now()
        with self._lock:
            for pid, proxy in [*self._proxies.items()]:
                if self._alive(pid):
                    self._proxies[pid] = replace(proxy, last=now)
                elif now - proxy.last > timedelta(hours=HINTS.tools_hours):
                    del self._proxies[pid]
            return any(one.namespace == namespace for one in self._proxies.values())
