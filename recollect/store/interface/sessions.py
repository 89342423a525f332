"""Sessions, their checkpoints, what was done in their turns, and receipts of what was told."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from recollect.core.values import (
    Checkpoint,
    Receipt,
    Session,
    SessionStatus,
    TurnWork,
)
from recollect.store.interface.paging import Cursor, Page


class Sessions(Protocol):
    """A session is seen when its first event arrives; hosts tell when it ends, or upkeep
    ends it when nothing more comes."""

    def get(self, namespace: str, session_id: str) -> Session | None: ...
    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[Session]: ...
    def end(
        self, ended: Sequence[tuple[str, str]] | None, status: SessionStatus, at: datetime
    ) -> int:
        """Close sessions, each named by namespace and id; how many of them there are, but for those
        that went on after this time. None: all that run and were silent by then, each at the time
        of its last event. A later event opens a session again."""

    def last_heard(self) -> dict[str, datetime]:
        """When each host last sent anything, over all namespaces; `doctor --prove` not counted."""

    def last_checkpoint(
        self, namespace: str, session_id: str | None = None
    ) -> Checkpoint | None: ...


class Receipts(Protocol):
    def put(self, receipt: Receipt) -> Receipt: ...
    def get(self, namespace: str, receipt_id: str) -> Receipt | None: ...
    def page(
        self,
        namespace: str,
        *,
        session_id: str | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Receipt]: ...

    def delete(self, namespace: str, receipt_ids: Sequence[str]) -> None: ...


class TurnWorks(Protocol):
    """Derived from events. The rows of a session go when one of its events is erased, moved or
    changed; whoever did that derives them again."""

    def put(self, works: Sequence[TurnWork]) -> None:
        """New ones, and others in place of what they were."""

    def stream(
        self, namespace: str, session_id: str | None = None, *, newest: int | None = None
    ) -> Iterator[TurnWork]:
        """In the order of time: of a session, of all, or so many of the newest. Read page by page:
        no more than one page is in memory, and rows that are put meanwhile may be missed."""

    def missing(self, namespace: str) -> list[str]:
        """The sessions that have events, and no rows here."""

    def delete(self, namespace: str, turn_ids: Sequence[str] | None = None) -> None:
        """Of these turns, or of all."""
