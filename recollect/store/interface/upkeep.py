"""Looking after the database, and hearing of other processes' writes."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol


@dataclass(frozen=True)
class Stats:
    """Counts of what is stored, for one namespace or all."""

    events: int = 0
    records: int = 0
    sessions: int = 0
    embedded: int = 0
    event_kinds: dict[str, int] = field(default_factory=dict)
    record_kinds: dict[str, int] = field(default_factory=dict)
    observation_types: dict[str, int] = field(default_factory=dict)
    concepts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Tally:
    """What happened in one stretch of time: how many of a kind, and what they add up to.

    `at` is the beginning of the stretch. `size` is in bytes for events and memories, in tokens
    for receipts, in seconds for sessions; `took_us` is latency, of receipts alone."""

    at: datetime
    kind: str
    count: int
    size: int = 0
    took_us: int = 0
    longest_us: int = 0


Tallied = Literal["events", "records", "sessions", "receipts"]


@dataclass(frozen=True)
class Damage:
    """A row that no longer matches its hash."""

    table: str
    id: str


@dataclass(frozen=True)
class ScrubStep:
    """One step of the idle scrubber: where it is, what it looked at, what it found."""

    position: tuple[str, int] | None
    checked: int
    damaged: tuple[Damage, ...]


@dataclass(frozen=True)
class Space:
    """Bytes of the database, how many of them are free inside it, and pages that were given back
    to the disk."""

    bytes: int
    free: int
    given_back: int = 0


@dataclass(frozen=True)
class BackupInfo:
    path: str
    bytes: int
    events: int
    records: int
    schema: int


Repaired = Literal["index", "orphans"]


class Upkeep(Protocol):
    def stats(self, namespace: str | None = None, *, by_kind: bool = True) -> Stats:
        """What is stored. Without `by_kind` only how many events, memories and sessions a namespace
        has: fast, however many."""

    def tally(
        self,
        what: Tallied,
        since: datetime,
        until: datetime,
        *,
        seconds: int = 3600,
        namespace: str | None = None,
    ) -> list[Tally]:
        """What happened in a period, by stretches of so many seconds (counted from 1970, UTC) and
        by kind (of a session: its host; of a receipt: its trigger), oldest first."""

    def backup(self, path: str) -> BackupInfo:
        """A verified copy of the running store; `path` appears only when it is whole."""

    def scrub(self, position: tuple[str, int] | None, limit: int) -> ScrubStep:
        """Compare the next rows with their hashes; `position` None starts over. Now and then it is
        also written down beside the database how much it holds, so that less is noticed when it is
        opened again; a server looks after that itself."""

    def space(self, *, give_back: int = 0) -> Space:
        """What the database takes, after up to so many free pages were given back to the disk."""

    def alone(self, work: str) -> AbstractContextManager[bool]:
        """Whether no other process on this store does this work now; it is ours until the block
        is left."""

    def repair(self, what: Repaired, *, apply: bool = True) -> dict[str, int]:
        """Make the full-text index and the counts of memories anew from the rows, or drop orphans:
        rows whose owner is gone, all of them derived or harmless; none should be. Returns how many
        of these there are, by kind; without `apply` that is all."""

    def check(self) -> list[str]:
        """What is wrong with the database; empty when nothing is."""


ChangeKind = Literal["records", "vectors", "events", "graph", "decisions", "projects", "all"]


@dataclass(frozen=True)
class Change:
    """What another process wrote: rows of a kind that came, changed or went, by id. `decisions`
    are stones and verdicts, `projects` names and marks. After a time in which nothing could be
    heard, `all` says that anything may have changed."""

    kind: ChangeKind
    namespace: str = ""
    ids: tuple[str, ...] = ()


class Changes(Protocol):
    """Other processes' writes. A store that has only one writer never tells of any."""

    def subscribe(self, told: Callable[[Change], None]) -> None:
        """Call this from a thread of the store's, after each commit of somebody else."""
