"""What was done in each turn."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from recollect.core.values import TurnWork


class TurnWorks(Protocol):
    """Derived from events. The rows of a session go when one of its events is erased, moved or
    changed; whoever did that derives them again."""

    def put(self, works: Sequence[TurnWork]) -> None:
        """New ones, and others in place of what they were."""

    def all(
        self, namespace: str, session_id: str | None = None, *, newest: int | None = None
    ) -> Iterator[TurnWork]:
        """In the order of time, all or so many of the newest; read page by page, so that no more
        than one page is in memory."""

    def sessions(self, namespace: str) -> set[str]:
        """The sessions that have any."""

    def clear(self, namespace: str) -> None: ...
