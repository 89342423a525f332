"""Which agents have our tools now: the MCP proxies that live, by the project they work in.

In: the process id and the working directory that a proxy sends with each request, the first of
them when it is initialised. Out: since when a project has had a proxy. Kept in memory: after a
restart of the daemon a proxy is known again from its next request on.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollect.core import oslayer
from recollect.core.clock import Clock

MOST = 256


@dataclass(frozen=True)
class _Proxy:
    cwd: str
    namespace: str
    since: datetime


class McpClients:
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
            while len(self._proxies) > MOST:
                del self._proxies[next(iter(self._proxies))]

    def since(self, namespace: str) -> datetime | None:
        """When the newest living proxy of a project was initialised; None when none lives. One may
        be older than the session that asks: some hosts keep it for several sessions."""
        with self._lock:
            gone = [pid for pid in self._proxies if not self._alive(pid)]
            for pid in gone:
                del self._proxies[pid]
            there = [one.since for one in self._proxies.values() if one.namespace == namespace]
        return max(there, default=None)
