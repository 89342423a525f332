"""Decides when a project is due for extraction. No threads, no clock.

In: namespaces and sizes of events, and the time. Out: the namespaces that are due, in order. A
namespace that is already due or being extracted does not become due again, however many events
arrive meanwhile.
"""

from dataclasses import dataclass


@dataclass
class _Waiting:
    bytes: int = 0
    last_event: float = 0.0  # when: idle time counts from here
    not_before: float = 0.0
    now: bool = False


class Schedule:
    def __init__(self, *, idle_s: float, size: int) -> None:
        self._idle_s = idle_s
        self._size = size
        self._waiting: dict[str, _Waiting] = {}
        self._busy: set[str] = set()

    def on_event(self, namespace: str, size: int, now: float) -> None:
        """An event arrived."""
        one = self._waiting.setdefault(namespace, _Waiting())
        one.bytes += size
        one.last_event = now

    def request(self, namespace: str) -> None:
        """Make a namespace due now."""
        one = self._waiting.setdefault(namespace, _Waiting())
        one.now, one.not_before = True, 0.0

    def due(self, now: float) -> list[str]:
        """Take the namespaces that are due; each is busy until `finished`."""
        found = []
        for namespace, one in list(self._waiting.items()):
            if namespace not in self._busy and self._due_at(one) <= now:
                del self._waiting[namespace]
                self._busy.add(namespace)
                found.append(namespace)
        return found

    def finished(self, namespace: str, now: float, *, again: bool, wait_s: float = 0.0) -> None:
        """A run is over. `again`: events are left, to be tried at once or after `wait_s`. Events
        that arrived meanwhile wait as long."""
        self._busy.discard(namespace)
        if again:
            one = self._waiting.setdefault(namespace, _Waiting(last_event=now))
            one.now = wait_s == 0.0
        if wait_s and namespace in self._waiting:
            self._waiting[namespace].not_before = now + wait_s

    def next_in(self, now: float) -> float | None:
        """Seconds until a namespace is due; None when none waits."""
        moments = [
            self._due_at(one) for name, one in self._waiting.items() if name not in self._busy
        ]
        return max(0.0, min(moments) - now) if moments else None

    @property
    def busy(self) -> frozenset[str]:
        return frozenset(self._busy)

    def waits(self, namespace: str) -> bool:
        return namespace in self._busy or (
            namespace in self._waiting and self._waiting[namespace].now
        )

    def _due_at(self, one: _Waiting) -> float:
        if one.now:
            return 0.0
        moment = 0.0 if one.bytes >= self._size else one.last_event + self._idle_s
        return max(moment, one.not_before)
