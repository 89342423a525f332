"""In which projects agents have our tools: the MCP proxies, by the project they work in.

In: the process id and the working directory that a proxy sends with each request, the first of
them when it is initialised. Out: whether a project has a proxy, or had one lately. Kept in memory:
after a restart of the daemon a proxy is known again from its next request on.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollect.core import oslayer
from recollect.core.clock import Clock
from recollect.core.tuning import HINTS

MOST = 256


@dataclass(frozen=True)
class _Proxy:
    cwd: str
    namespace: str
    last: datetime  # when it was last known to live


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
