"""What grows old, and when it may go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from recollect.core.kinds import Level, RecordKind


@dataclass(frozen=True)
class Aged:
    """An episode that is due for its next stage."""

    record_id: str
    session_id: str
    created_at: datetime
    chars: int


@dataclass(frozen=True)
class Forgetting:
    """When a memory may go, as moments: what is as old as that, or older."""

    now: datetime
    replaced: datetime  # a turn whose summary was made by then
    distilled: datetime  # a compressed turn made by then is distilled, not dropped
    retained: Mapping[str, datetime] = field(default_factory=dict)  # by kind; the others for ever
    short_turns: datetime | None = None  # of distilled turns
    important: int = 8  # from this importance on nothing goes


@dataclass(frozen=True)
class Due:
    """A memory that is to go, and why."""

    record_id: str
    reason: str


@dataclass(frozen=True)
class Alike:
    """Observations of one type about the same files, oldest first."""

    observation_type: str
    files: tuple[str, ...]
    record_ids: tuple[str, ...]


@dataclass(frozen=True)
class Age:
    """How old a memory is and how often it was used, for statistics."""

    kind: RecordKind
    level: Level
    created_at: datetime
    access_count: int


Purged = Literal["receipts", "archive"]


class Aging(Protocol):
    """What grows old. Nothing is due that is pinned, important, written by hand, held by a
    checkpoint, or brought back by an undo."""

    def episodes(self, namespace: str, level: Level, before: datetime) -> list[Aged]:
        """Episodes of a level made at or before a moment that no mark names, by session and
        position. Turns stay when they are taken, so pinned ones are among them."""

    def forgettable(self, namespace: str, rules: Forgetting, limit: int | None = None) -> list[Due]:
        """What may go, oldest first, each once."""

    def alike(
        self, namespace: str, since: datetime, before: datetime, least: int, important: int
    ) -> list[Alike]:
        """Observations made after `since` and not after `before`, at least so many of the same
        type and files."""

    def ages(self, namespace: str) -> list[Age]: ...
    def gone(self, namespace: str, record_ids: Sequence[str]) -> set[str]:
        """Those that are not there because they were forgotten, deleted or merged, or because
        something else stands for them; what never was is not among them. Ever after for what has a
        mark (`Transaction.put_record`), else as long as the archive holds it."""

    def purge(
        self,
        what: Purged,
        before: datetime,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        apply: bool = True,
    ) -> int:
        """Drop receipts of a namespace that were made before a moment, or archived versions of all
        namespaces that ended before it, oldest first; returns how many. Only counted without
        `apply`."""
