"""Events, and the buffer of those that no run of extraction has finished."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from recollect.core.values import (
    Arrival,
    EventKind,
    StoredEvent,
)
from recollect.store.interface.paging import Cursor, Page


@dataclass(frozen=True)
class Outcome:
    """What became of one event: stored, a repeat of one that is there, refused because the same id
    is there with other content, or kept out on purpose (which the store never hears of)."""

    event_id: str
    status: Literal["stored", "duplicate", "conflict", "kept out"]
    seq: int | None = None


@dataclass(frozen=True)
class Batch:
    """Unextracted events that are claimed by one run, in order."""

    namespace: str
    events: tuple[StoredEvent, ...]
    counted: bool = False  # the run is counted against them


@dataclass(frozen=True)
class Counted:
    """How a run is counted. Events that had so many are set aside with the reason at once;
    finishing them takes them out all the same."""

    reason: str
    quarantine_after: int


@dataclass(frozen=True)
class SetAside:
    """An event whose runs failed too often, and why."""

    event_id: str
    session_id: str
    kind: EventKind
    at: datetime
    failures: int
    reason: str


@dataclass(frozen=True)
class Backlog:
    """What waits for extraction in one namespace."""

    namespace: str
    count: int
    bytes: int
    quarantined: int
    newest: datetime | None
    set_aside: tuple[SetAside, ...] = ()  # the oldest, as many as were asked for


class Events(Protocol):
    """What agents did. Events are never changed and never deleted by retrieval or extraction."""

    def put(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Store events, each on its own: a repeat is a no-op that keeps the first
        transaction time; the same id with another digest is refused and the first one stays."""

    def get(self, namespace: str, event_id: str) -> StoredEvent | None:
        """The event, or None."""

    def page(
        self,
        namespace: str,
        *,
        session_id: str | None = None,
        kind: EventKind | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[StoredEvent]:
        """Newest first: of a project as they arrived, of a session as they happened. Following
        `next` to the end meets every event that was there at the start exactly once, whatever is
        stored meanwhile. BadCursor when the event at which a session's page begins is gone."""

    def session(
        self,
        namespace: str,
        session_id: str,
        limit: int | None = None,
        *,
        around: Iterable[int] | None = None,
        before: int | None = None,
        after: int | None = None,
    ) -> tuple[StoredEvent, ...]:
        """A session's events, or the first of them, as they happened: by the monotonic clock within
        a boot, boots by the wall time of their earliest event, and by number where there is no
        clock. Every other reading of a session is a part of this one.

        `around` events, by number: from `before` events ahead of the earliest of them to `after`
        behind the latest; where these are None the turn that they belong to, from the last prompt
        ahead of them up to the next one."""

    def position(self, namespace: str, session_id: str, seq: int) -> int:
        """A number by which parts of a session can be put in order: its own, or that of whatever
        came later and arrived earlier."""

    def claim(
        self, namespace: str, limit: int, max_bytes: int, counted: Counted | None = None
    ) -> Batch | None:
        """Take up to `limit` unextracted events for one run; None when nothing is free. Takes at
        least one event, however large, and of those that failed before only a few at a time, so
        that the bad one ends up with few others. A claim dies with its process. With `counted`
        the run is counted against each event before it starts: one that ends the process is
        counted too."""

    def release(self, batch: Batch, failed: str | None = None) -> int:
        """Give a claim back unfinished: its events are as unextracted as before, and a run that was
        counted against them is not. A run that failed stays counted, with the reason. Returns how
        many events are set aside."""

    def retry(self, namespace: str) -> int:
        """Put quarantined events back in line; returns how many."""

    def backlog(self, *, reasons: int = 0) -> list[Backlog]:
        """What waits, per namespace, with up to so many of the events that are set aside."""
