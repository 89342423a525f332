"""Sessions, their checkpoints, and receipts of what was told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.core.values import (
    Checkpoint,
    Receipt,
    Session,
    SessionStatus,
)
from recollect.store.interface.paging import Cursor, Page


class Sessions(Protocol):
    """A session is seen when its first event arrives; hosts tell when it ends, or never."""

    def get(self, namespace: str, session_id: str) -> Session | None: ...
    def page(
        self, namespace: str, *, before: Cursor | None = None, limit: int = 50
    ) -> Page[Session]: ...
    def end(self, ended: Sequence[tuple[str, str]], status: SessionStatus, at: datetime) -> int:
        """Close sessions, each named by namespace and id; how many of them there are."""

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
