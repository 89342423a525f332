"""The storage seam: what every backend promises, and the words it speaks in, by topic.

In: values of `core`. Out: values of `core`. All methods may raise StoreError; what else each one
can raise stands in its docstring. `tests/contract/store/` holds every backend to it.

Every read and write names its namespace and sees no other: namespaces are compared for equality.
A write has been committed durably when its method returns.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from recollect.store.interface.aging import Age, Aged, Aging, Alike, Due, Forgetting, Purged
from recollect.store.interface.bulk import IDENTITIES, Bulk, Chosen, Rewritten, Row, Selection
from recollect.store.interface.events import Backlog, Batch, Counted, Events, Outcome, SetAside
from recollect.store.interface.graph import Graph, GraphChanges, Waiting
from recollect.store.interface.operations import Log, Runs, Spent, Usages, details_of, undoable
from recollect.store.interface.paging import Cursor, Page
from recollect.store.interface.projects import ProjectInfo, Projects, known_project
from recollect.store.interface.records import (
    BeliefTime,
    FilesNamed,
    Hit,
    RecordCount,
    RecordFilter,
    Records,
    Vectors,
    with_content,
)
from recollect.store.interface.sessions import Receipts, Sessions, TurnWorks
from recollect.store.interface.transaction import Transaction
from recollect.store.interface.upkeep import (
    BackupInfo,
    Change,
    ChangeKind,
    Changes,
    Damage,
    Repaired,
    ScrubStep,
    Space,
    Stats,
    Tallied,
    Tally,
    Upkeep,
)

__all__ = [
    "IDENTITIES",
    "Age",
    "Aged",
    "Aging",
    "Alike",
    "Backlog",
    "BackupInfo",
    "Batch",
    "BeliefTime",
    "Bulk",
    "Change",
    "ChangeKind",
    "Changes",
    "Chosen",
    "Counted",
    "Cursor",
    "Damage",
    "Due",
    "Events",
    "FilesNamed",
    "Forgetting",
    "Graph",
    "GraphChanges",
    "Hit",
    "Log",
    "Outcome",
    "Page",
    "ProjectInfo",
    "Projects",
    "Purged",
    "Receipts",
    "RecordCount",
    "RecordFilter",
    "Records",
    "Repaired",
    "Rewritten",
    "Row",
    "Runs",
    "ScrubStep",
    "Selection",
    "Sessions",
    "SetAside",
    "Space",
    "Spent",
    "Stats",
    "Store",
    "Tallied",
    "Tally",
    "Transaction",
    "TurnWorks",
    "Upkeep",
    "Usages",
    "Vectors",
    "Waiting",
    "details_of",
    "known_project",
    "undoable",
    "with_content",
]

T = TypeVar("T")


class Store(ABC):
    """All of it, on one engine."""

    events: Events
    records: Records
    vectors: Vectors
    graph: Graph
    sessions: Sessions
    receipts: Receipts
    turn_works: TurnWorks
    runs: Runs
    log: Log
    projects: Projects
    aging: Aging
    usage: Usages
    bulk: Bulk
    upkeep: Upkeep
    changes: Changes

    @abstractmethod
    def transaction(self, work: Callable[[Transaction], T], *, when_full: bool = False) -> T:
        """Run one atomic unit of work. Transactions do not nest. With `when_full` it is tried on a
        full disk too, because it makes room."""

    @abstractmethod
    def close(self) -> None:
        """Finish what was accepted, then close. A second close is a no-op."""
