"""All rows of a namespace: to carry away, bring in, erase, clean and move."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

# What names a thing in any row: nobody's text, so neither cleaned nor rewritten.
IDENTITIES = frozenset(
    [
        "event_id",
        "namespace",
        "session_id",
        "actor_id",
        "record_id",
        "entity_id",
        "relationship_id",
        "fact_id",
        "procedure_id",
        "preference_id",
        "checkpoint_id",
        "receipt_id",
        "op_id",
        "source_id",
        "target_id",
        "parent_event_id",
        "digest",
        "boot_id",
        "content_hash",
        "superseded_by",
        "undoes",
        "made_by",
        "source_event_ids",
        "targets",
        "created",
        "injected",
        "snapshot",
    ]
)


@dataclass(frozen=True)
class Selection:
    """Which memories are meant; exactly one of the fields says so.

    A memory brings what it was made from and what else was made from that: of a thing that is
    forgotten nothing stays behind from which it could be made again. `words` are texts to look
    for, whatever their case; with `whole` only as whole words. `before` is about when things
    happened, and spares what is pinned."""

    record_ids: tuple[str, ...] = ()
    session_id: str | None = None
    words: tuple[str, ...] = ()
    whole: bool = False
    before: datetime | None = None
    path: str | None = None
    everything: bool = False


@dataclass(frozen=True)
class Chosen:
    """What a selection comes to, in one namespace: how many rows of each kind, the memories among
    them, and a few of their titles."""

    namespace: str
    counts: dict[str, int] = field(default_factory=dict)
    record_ids: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())


Row = tuple[str, dict[str, Any]]
"""A row as it travels: its kind, and its columns as plain data."""


@dataclass(frozen=True)
class Rewritten:
    """What cleaning would change or has changed: rows by kind, and what was taken out of them."""

    rows: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    records: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Bulk(Protocol):
    """Everything that is stored, as rows: to carry away, bring in, find, erase, clean and move.

    Vectors and indexes are derived and do not travel; they go when what they stand for goes."""

    def dump(self, namespace: str) -> Iterator[Row]:
        """Every row of a namespace as it is now, in an order in which `load` takes them; the
        project that it belongs to comes first."""

    def load(self, rows: Sequence[Row]) -> dict[str, int]:
        """Put rows where they were, all or none; those that are there already stay as they are.
        Returns how many were new, by kind. BadInput names a row that does not fit."""

    def erase(self, namespace: str, what: Selection, actor: str, *, apply: bool = True) -> Chosen:
        """Remove it, all or nothing, from rows, index, vectors and archive; operations that speak
        of it keep who, when and which ids. Says in the log that it was done, not what it was.
        StoreBusy while its events are being extracted. Without `apply` it is only said what
        this, or `move`, would take."""

    def move(self, namespace: str, what: Selection, target: str, actor: str) -> Chosen:
        """Give it to another namespace. With `everything` the project's marks follow, so that
        what comes next goes there too."""

    def rewrite(
        self, namespace: str, clean: Callable[[Any], tuple[Any, dict[str, int]]], *, apply: bool
    ) -> Rewritten:
        """Pass every text of a namespace through `clean`, which gives it back with what it took
        out; with `apply` changed rows are stored so, and their vectors dropped."""

    def forgotten(self, marks: Iterable[bytes]) -> set[bytes]:
        """Which of these marks (`core.event_identity`) are of events that were erased. As long as
        none was, no mark is asked for: they may cost something to make."""

    def sweep(self) -> None:
        """Leave no bytes of what was erased in any file of the store."""
