"""The log of decisions, runs of extraction, and what language models used."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from recollect.core.errors import CannotUndo, NotFound
from recollect.core.values import (
    ArchivedVersion,
    ExtractionRun,
    Operation,
    OperationKind,
    Usage,
)
from recollect.store.interface.paging import Cursor, Page


class Log(Protocol):
    """The append-only log of decisions, and the archive from which they are undone."""

    def get(self, namespace: str, op_id: str) -> Operation | None: ...
    def page(
        self,
        namespace: str,
        *,
        kind: OperationKind | None = None,
        made: str | None = None,
        before: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Operation]:
        """Newest first: all, of a kind, or those that `made` a memory what it is and what its
        earlier versions were."""

    def versions(self, namespace: str, source_id: str) -> list[ArchivedVersion]:
        """Earlier versions of a memory, newest first."""

    def undo(self, namespace: str, op_id: str, actor: str, *, apply: bool = True) -> Operation:
        """Put back exactly what an operation displaced and take away what it made. The undo is
        an operation and can be undone. NotFound for an unknown one; CannotUndo when a later
        operation touched the same memories, or the archive no longer holds them. Without `apply`
        it is only tried, and the operation itself is returned."""


def details_of(log: Log, namespace: str, kind: OperationKind) -> list[Any]:
    """The details of all operations of a kind, oldest first."""
    found: list[Any] = []
    before = None
    while True:
        page = log.page(namespace, kind=kind, before=before, limit=500)
        found += [one.detail for one in page.items]
        before = page.next
        if before is None:
            return found[::-1]


def undoable(log: Log, namespace: str, op_ids: Sequence[str]) -> set[str]:
    """Those of them that `undo` would take back now."""
    found = set()
    for op_id in op_ids:
        with contextlib.suppress(CannotUndo, NotFound):
            found.add(log.undo(namespace, op_id, "", apply=False).op_id)
    return found


class Runs(Protocol):
    """What runs of extraction did. Old ones are forgotten when there are many."""

    def put(self, run: ExtractionRun) -> None: ...
    def latest(self) -> list[ExtractionRun]:
        """The newest run of each namespace."""


@dataclass(frozen=True)
class Spent:
    """What language models used in a day; cost in millionths of a US dollar."""

    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    unpriced: bool = False

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Usages(Protocol):
    """What calls of language models used, so that a day's budget holds over restarts."""

    def reserve(self, worst: Usage, *, most_tokens: int, most_micros: int) -> bool:
        """Count a call's worst case in advance, if the whole store stays within both limits on
        that day with it; False, and nothing counted, if not. However many ask at once, together
        they stay within. A call that is never settled stays counted at its worst."""

    def settle(self, worst: Usage, actual: Usage) -> None:
        """Put what a call really used in the place of what was reserved for it. Both are of the
        same day and kind; a reservation is settled once."""

    def spent(self, day: str, namespace: str | None = None) -> Spent:
        """The day's total, of one namespace or all."""
