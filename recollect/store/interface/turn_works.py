"""What was done in each turn."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from recollect.core.values import TurnWork


class TurnWorks(Protocol):
    """Derived from events. The rows of a session go when one of its events is erased, moved or
    changed; whoever did that derives them again."""

    def put(self, works: Sequence[TurnWork]) -> None:
        """New ones, and others in place of what they were."""

    def all(self, namespace: str, session_id: str | None = None) -> list[TurnWork]:
        """In the order of time."""

    def stream(self, namespace: str, *, newest: int | None = None) -> Iterator[TurnWork]:
        """The same, or so many of the newest, read page by page: no more than one page is in
        memory, and rows that are put meanwhile may be missed."""

    def missing(self, namespace: str) -> list[str]:
        """The sessions that have events, and no rows here."""

    def delete(self, namespace: str, turn_ids: Sequence[str] | None = None) -> None:
        """Of these turns, or of all."""
