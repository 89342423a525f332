"""Other programs' memories, found where they keep them.

In: the home, or a path. Out: stores of a known shape. A file of another shape is none of them.
"""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.core.foreign_database import opened
from recollect.portable.foreign import kiro_learn, observation_stores
from recollect.portable.foreign.cells import ForeignItem

# Program: where it keeps its database, below the home.
PLACES = {
    "kiro-learn": (".kiro-learn/*.db",),
    "kiro-memory": (
        ".kiro-memory/*.db",
        ".contextkit/*.db",
        ".total-recall/*.db",
        ".totalrecall/*.db",
    ),
    "claude-mem": (".claude-mem/*.db",),
}


@dataclass(frozen=True)
class ForeignStore:
    program: str
    path: str
    rows: int
    bytes: int

    def items(self) -> Iterator[ForeignItem]:
        with opened(self.path) as database:
            if database is not None:
                reader = kiro_learn if self.program == kiro_learn.PROGRAM else observation_stores
                yield from reader.items(database, self.program)


def find(home: str) -> list[ForeignStore]:
    found = []
    for patterns in PLACES.values():
        for pattern in patterns:
            for path in sorted(glob.glob(os.path.join(glob.escape(home), pattern))):
                store = recognise(path)
                if store is not None:
                    found.append(store)
    return found


def recognise(path: str) -> ForeignStore | None:
    """Whose database this is, by its tables."""
    with opened(path) as database:
        if database is None:
            return None
        theirs = kiro_learn.recognises(database)
        program = kiro_learn.PROGRAM if theirs else observation_stores.program(database)
        if not program:
            return None
        tables = kiro_learn.TABLES if theirs else observation_stores.TABLES
        rows = sum(database.count(table) for table in tables)
    return ForeignStore(program, path, rows, os.stat(path).st_size)
