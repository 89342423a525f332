"""Memories, and their vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from recollect.core.kinds import KnowledgeType, RecordKind
from recollect.core.values import (
    BeliefState,
    Citation,
    Freshness,
    Record,
    Vector,
)
from recollect.store.interface.paging import Cursor, Page


@dataclass(frozen=True)
class RecordFilter:
    """What a listing of memories is narrowed to; None means all."""

    kind: RecordKind | None = None
    session_id: str | None = None
    sessions: tuple[str, ...] | None = None
    type: str | None = None
    concept: str | None = None
    file: str | None = None  # its path, or the end of it
    since: datetime | None = None  # when what they tell of happened (valid_from)
    until: datetime | None = None
    stored_since: datetime | None = None
    content_hash: str | None = None
    cites_files: bool = False
    state: BeliefState | None = None
    freshness: Freshness | None = None
    used: bool | None = None  # whether an agent was ever told of it


BeliefTime = Literal["valid_from", "valid_until", "last_accessed"]


@dataclass(frozen=True)
class RecordCount:
    """How many memories there are of a kind, type, state and freshness that were used, or never."""

    kind: str
    type: str
    state: BeliefState
    freshness: Freshness
    used: bool
    count: int


@dataclass(frozen=True)
class FilesNamed:
    """The files that memories name, and how many do; the files that drifted and orphaned memories
    cite, as they were then, and how many do. Not all the files of such a memory have changed."""

    named: list[tuple[str, int]]
    cited: list[tuple[Citation, int]]


@dataclass(frozen=True)
class Hit:
    """A memory found by words. `score` is the backend's own, larger is better; `by` says how."""

    record: Record
    score: float
    by: Literal["words", "substring"]


class Records(Protocol):
    """Memories: the live ones. What was merged, edited or deleted lies in the archive."""

    def put(
        self, records: Sequence[Record], vectors: Sequence[Vector] = (), *, over: bool = False
    ) -> list[Record]:
        """Store new memories with created_at stamped, all or none. RecordExists on a collision.
        With `over`, for what is derived from events, what stands under the same ids is replaced: no
        version is kept, created_at stays, its vectors go. Ids of another namespace are refused."""

    def get(self, namespace: str, record_ids: Sequence[str]) -> list[Record]:
        """The ones that exist, in the order asked for."""

    def ending(self, namespace: str, ending: str) -> list[str]:
        """A few of the ids that end so, of live and of archived memories."""

    def page(
        self,
        namespace: str,
        where: RecordFilter | None = None,
        *,
        before: Cursor | None = None,
        after: Cursor | None = None,
        limit: int = 50,
        as_of: datetime | None = None,
        by_position: bool = False,
        by_happening: bool = False,
    ) -> Page[Record]:
        """Newest first, by when they were stored, or `by_happening`, by when what they tell of
        happened; with `after`, those that come right after a place in time, oldest first. With
        `as_of`: what memory held at that moment. With `by_position`, for the turns of a
        session: as they happened, whenever they were written, the last first, without a `next`."""

    def counts(self, namespace: str, where: RecordFilter | None = None) -> list[RecordCount]:
        """How many there are, by what they are; hidden ones are counted, too."""

    def beliefs(
        self,
        namespace: str,
        *,
        by: BeliefTime = "valid_from",
        since: datetime | None = None,
        state: BeliefState | None = None,
        used: bool | None = None,
        type: KnowledgeType | None = None,
        category: str | None = None,
        limit: int,
    ) -> list[Record]:
        """Beliefs that have such a time, the last first. Those of a type or a category are found
        by an index, however many others there are."""

    def files(self, namespace: str) -> FilesNamed:
        """The files that memories name and cite."""

    def search(
        self,
        namespaces: Sequence[str],
        query: str,
        limit: int,
        *,
        raw: bool = False,
        most_terms: int = 32,
    ) -> list[Hit]:
        """By words, best first. The query is any text: at most so many of its rarest words count,
        none is an operator. `raw` takes the backend's own query language instead. A query that the
        index refuses is looked for literally, newest first; BadInput when it was `raw` and is not
        found so either. An empty query finds nothing."""

    def touch(
        self,
        namespace: str,
        used: Sequence[str],
        at: datetime,
        freshness: Mapping[str, Freshness] | None = None,
    ) -> int:
        """Count an access of memories, and note how some stand to their files now. Neither is an
        edit. Returns of how many the freshness changed."""

    def of_events(self, namespace: str, event_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Which live memories come from these events; events without any are left out."""


def with_content(records: Records, namespace: str, content_hash: str) -> Record | None:
    """The newest live memory with this content, if any."""
    same = RecordFilter(content_hash=content_hash)
    return next(iter(records.page(namespace, same, limit=1).items), None)


class Vectors(Protocol):
    """Vectors are derived: they can be dropped and made again."""

    def put(self, vectors: Sequence[Vector]) -> int:
        """Store or replace vectors of things that exist; returns how many were stored. A blob that
        is not as long as its model's vectors raises DamagedRow that names the owner."""

    def knowledge(self, namespace: str, model: str) -> Iterator[tuple[str, bytes]]:
        """Id and whole vector (part 0) of every memory that is no episode."""

    def of(self, namespace: str, model: str, record_ids: Sequence[str]) -> list[Vector]:
        """The vectors that these memories have, by memory and part."""

    indexed: bool
    """Whether the backend has an index of its own that finds vectors by nearness."""

    def nearest(
        self, namespace: str, model: str, vector: bytes, limit: int
    ) -> list[tuple[str, float]]:
        """Memories nearest in meaning by an index of the backend's own, each with its cosine, best
        first; a memory may come with several parts. Nothing when the backend is not `indexed`."""

    def count(self, namespace: str, model: str) -> int:
        """How many memories have a vector of this model."""

    def missing(self, namespace: str, model: str, limit: int) -> list[Record]:
        """Memories that have no vector of this model, oldest first."""

    def misfits(self, namespace: str, model: str, *, drop: bool = False) -> list[str]:
        """Memories with a vector that is not as long as this model's, which `of` and `knowledge`
        leave out. Reads all of them. `drop`: they lose their vectors, and so are missing."""
