"""Power cuts: the I/O of a workload is recorded once, then cut at many random instants.

In: recorded logs, a number of cuts, a seed. Out: findings. Each cut's image is opened with the
ordinary VFS and held against what the clients had been told by then.
"""

import os
import random
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import apsw

from recollect.core.clock import SystemClock
from recollect.core.errors import NewerDatabase, RecollectError
from recollect.store.sql.migrations import Migration
from recollect.store.sqlite import DATABASE, SqliteStore
from recollect.store.sqlite.connect import open_writer
from recollect.store.sqlite.migrations import MIGRATIONS, migrate
from tests.crash.oracle import (
    CLIENTS,
    MOMENT,
    Findings,
    Told,
    compare,
    converse,
    delete_note,
    open_store,
    put_note,
)
from tests.fakes.vfs import Disk, RecordingVFS, Step

SECOND = Migration(
    MIGRATIONS[-1].version + 1,
    "second",
    """
    CREATE TABLE later (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    ALTER TABLE events ADD COLUMN later TEXT NOT NULL DEFAULT 'x';
    INSERT INTO later (text) SELECT body FROM events;
    CREATE INDEX events_by_later ON events (later);
    """,
)


@dataclass
class Report:
    cuts: int = 0
    findings: Findings = field(default_factory=Findings)
    losing: int = 0  # cuts that lost something
    first: str = ""  # where the first finding was


Prepare = Callable[[SqliteStore], None]
Workload = Callable[[str, RecordingVFS, Prepare], None]


def together(store: SqliteStore, vfs: RecordingVFS, numbers: range, size: int = 300) -> None:
    """All clients at once, so that commits are shared."""
    threads = [
        threading.Thread(target=converse, args=(store, client, vfs.tell, numbers, size))
        for client in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def first_open(home: str, vfs: RecordingVFS, prepare: Prepare) -> None:
    """The file, its header, its journal mode and its schema come into being."""
    store = open_store(home, vfs.name)
    prepare(store)
    together(store, vfs, range(1))
    store.close()


def group_commits(home: str, vfs: RecordingVFS, prepare: Prepare) -> None:
    store = open_store(home, vfs.name)
    prepare(store)
    together(store, vfs, range(40))
    store.close()


def checkpoints(home: str, vfs: RecordingVFS, prepare: Prepare) -> None:
    """The log is folded into the database every few commits, between and under writes."""
    store = open_store(home, vfs.name)
    prepare(store)
    store.writer.checkpoint_pages = 40
    together(store, vfs, range(30), size=3000)
    store.close()


def deletes(home: str, vfs: RecordingVFS, prepare: Prepare) -> None:
    store = open_store(home, vfs.name)
    prepare(store)
    store.writer.checkpoint_pages = 60
    for _ in range(6):
        notes = [put_note(store, 0, vfs.tell) for _ in range(6)]
        for record_id in notes:
            delete_note(store, 0, record_id, vfs.tell)
        store.aging.purge("archive", MOMENT.replace(year=2100))
    store.close()


def reopened(home: str, vfs: RecordingVFS, prepare: Prepare) -> None:
    """Several lives: closing folds and removes the log, opening makes a new one."""
    for life in range(5):
        store = open_store(home, vfs.name)
        prepare(store)
        together(store, vfs, range(life * 6, life * 6 + 6))
        store.close()


def migration(home: str, vfs: RecordingVFS, prepare: Prepare) -> None:
    store = open_store(home, vfs.name)
    prepare(store)
    together(store, vfs, range(12))
    store.close()
    connection = open_writer(os.path.join(home, DATABASE), vfs.name)
    migrate(connection, SystemClock(), (*MIGRATIONS, SECOND))
    connection.close()


WORKLOADS = (first_open, group_commits, checkpoints, deletes, reopened, migration)


def nothing(store: SqliteStore) -> None:
    """The store as it is."""


def sync_less(store: SqliteStore) -> None:
    """The control: a store that acknowledges what is not on the disk yet."""
    store.writer._connection.pragma("synchronous", "NORMAL")


def record(workload: Workload, home: str, prepare: Prepare = nothing) -> list[Step]:
    os.makedirs(home)
    vfs = RecordingVFS(f"recording-{workload.__name__}-{id(home)}")
    try:
        workload(home, vfs, prepare)
    finally:
        vfs.unregister()
    return vfs.steps


def cut(steps: list[Step], cuts: int, chance: random.Random, scratch: str) -> Report:
    """Cut a log at random instants and look at what is left each time."""
    instants = sorted(chance.randrange(len(steps) + 1) for _ in range(cuts))
    disk = Disk()
    report = Report()
    for instant, step in enumerate([*steps, None]):
        while report.cuts < cuts and instants[report.cuts] == instant:
            findings = look(disk.cut(chance), disk.told, scratch)
            report.cuts += 1
            report.losing += bool(findings.lost)
            if findings and not report.first:
                report.first = f"cut at step {instant} of {len(steps)}"
            report.findings.add(findings)
        if step is not None:
            disk.apply(step)
    return report


def look(
    image: dict[str, bytes], told: list[Told], scratch: str, clients: int = CLIENTS
) -> Findings:
    """Open what a cut left, with the ordinary VFS, and compare."""
    home = os.path.join(scratch, "image")
    os.makedirs(home, mode=0o700)
    try:
        for name, content in image.items():
            with open(os.path.join(home, name), "wb") as file:
                file.write(content)
        try:
            store = _open(home)
        except RecollectError as error:
            return Findings(corrupt=[f"cannot be opened: {type(error).__name__}: {error}"])
        try:
            return compare(store, told, clients)
        except RecollectError as error:
            return Findings(corrupt=[f"cannot be read: {type(error).__name__}: {error}"])
        finally:
            store.close()
    finally:
        shutil.rmtree(home)


def _open(home: str) -> SqliteStore:
    try:
        return open_store(home)
    except NewerDatabase:
        _take_back(home)
        return open_store(home)


def _take_back(home: str) -> None:
    """Undo the second migration, having seen that all of it is there."""
    connection = apsw.Connection(os.path.join(home, DATABASE))
    missing = connection.execute(
        "SELECT count(*) FROM events WHERE later = 'x'"
        " AND NOT EXISTS (SELECT 1 FROM later WHERE later.text = events.body)"
    ).get
    assert missing == 0
    connection.execute(
        "DROP INDEX events_by_later; DROP TABLE later; ALTER TABLE events DROP COLUMN later;"
        f"DELETE FROM _migrations WHERE version = {SECOND.version}"
    )
    connection.close()
