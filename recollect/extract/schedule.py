"""When which project is due for extraction: pure bookkeeping, no threads.

In: what was heard, how much of it, and the time. Out: the namespaces whose turn it is, in the order
in which they became due. A namespace that is waiting for its turn or being worked on is not due
again, however much is heard meanwhile.
"""

from dataclasses import dataclass


@dataclass
class _Waiting:
    bytes: int = 0
    heard: float = 0.0  # when something was last heard: idle counts from here
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
        one.heard = now

    def ask(self, namespace: str) -> None:
        """Somebody wants it done now."""
        one = self._waiting.setdefault(namespace, _Waiting())
        one.now, one.not_before = True, 0.0

    def due(self, now: float) -> list[str]:
        """Take those whose turn it is; each is busy until `finished`."""
        found = []
        for namespace, one in list(self._waiting.items()):
            if namespace not in self._busy and self._due_at(one) <= now:
                del self._waiting[namespace]
                self._busy.add(namespace)
                found.append(namespace)
        return found

    def finished(self, namespace: str, now: float, *, again: bool, wait_s: float = 0.0) -> None:
        """A run is over. `again`: something is left that it could have taken, to be tried at once
        or after `wait_s`. What was heard meanwhile has its own triggers, but waits as long."""
        self._busy.discard(namespace)
        if again:
            one = self._waiting.setdefault(namespace, _Waiting(heard=now))
            one.now = wait_s == 0.0
        if wait_s and namespace in self._waiting:
            self._waiting[namespace].not_before = now + wait_s

    def next_in(self, now: float) -> float | None:
        """How long until something is due; None when nothing waits."""
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
        moment = 0.0 if one.bytes >= self._size else one.heard + self._idle_s
        return max(moment, one.not_before)
