"""Errors at the n-th call: the same short workload, once for every call that could fail.

In: a kind of trouble. Out: findings, and what the clients were told instead of "stored". After
each run the trouble passes, the store is opened again and held against the acknowledgements.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from recollect.core.errors import (
    DiskFull,
    ReadOnlyStore,
    RecollectError,
    StoreClosed,
    StoreError,
    StoreFailed,
)
from recollect.store.sqlite import SqliteStore
from tests.crash.oracle import (
    Findings,
    Told,
    compare,
    delete_note,
    learn,
    namespace,
    numbers_stored,
    open_store,
    put_event,
    put_note,
)
from tests.fakes.vfs import FailingVFS, Trouble

FULL = Trouble("write", error="full")
FULL_FOR_A_WHILE = Trouble("write", error="full", lasts=True)
FULL_BY_HALF = Trouble("write", error="full", torn=True)
WRITE = Trouble("write")
TORN_WRITE = Trouble("write", torn=True)
SYNC = Trouble("sync")
TRUNCATE = Trouble("truncate")
READ = Trouble("read")
READ_ONLY = Trouble("write", error="read-only", lasts=True)

KINDS = {
    "disk full once": FULL,
    "disk full for a while": FULL_FOR_A_WHILE,
    "disk full in the middle of a write": FULL_BY_HALF,
    "EIO on write": WRITE,
    "EIO in the middle of a write": TORN_WRITE,
    "EIO on sync": SYNC,
    "EIO on truncate": TRUNCATE,
    "EIO on read": READ,
    "read-only from then on": READ_ONLY,
}


@dataclass
class Report:
    runs: int = 0
    struck: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    findings: Findings = field(default_factory=Findings)


def run(kind: Trouble, scratch: str, *, fresh: bool = False, step: int = 1) -> Report:
    """Let the first call fail, then the second... until the workload is done before the n-th.
    `fresh`: the store is made under the trouble, its schema included."""
    template = os.path.join(scratch, "template")
    if not fresh:
        _prepare(template)
    report = Report()
    nth = 1
    while True:
        trouble = replace(kind, nth=nth)
        home = os.path.join(scratch, "home")
        if not fresh:
            shutil.copytree(template, home)
        report.findings.add(_one(home, trouble, report))
        shutil.rmtree(home)
        report.runs += 1
        report.struck += trouble.struck
        if not trouble.struck:
            return report
        nth += step


def _prepare(home: str) -> None:
    store = open_store(home)
    for number in range(3):
        put_event(store, 0, number, lambda told: None)
    store.close()


def _one(home: str, trouble: Trouble, report: Report) -> Findings:
    told: list[Told] = []
    vfs = FailingVFS("failing", trouble)
    try:
        store = _opened(home, vfs, trouble, report)
        try:
            _workload(store, told, trouble, report)
        finally:
            store.close()
    finally:
        vfs.unregister()
    again = open_store(home)
    try:
        return compare(again, told, clients=1)
    finally:
        again.close()


def _opened(home: str, vfs: FailingVFS, trouble: Trouble, report: Report) -> SqliteStore:
    """The store; when the trouble hits the opening itself, it must be told, and pass."""
    try:
        return open_store(home, vfs.name)
    except RecollectError as error:
        _expect(error, trouble, report)
        trouble.passes()
        return open_store(home, vfs.name)


def _workload(store: SqliteStore, told: list[Told], trouble: Trouble, report: Report) -> None:
    store.writer.checkpoint_pages = 8
    stored: list[int] = []
    _patiently(store, trouble, report, lambda: stored.extend(numbers_stored(store, 0)))
    start = len(stored)
    notes: list[str] = []

    def forget() -> None:
        if notes:
            delete_note(store, 0, notes[0], told.append)

    def put(number: int) -> Callable[[], None]:
        return lambda: put_event(store, 0, number, told.append)

    acts: list[Callable[[], object]] = [put(start + number) for number in range(2)]
    acts.append(lambda: learn(store, 0, told.append))
    acts.append(lambda: notes.append(put_note(store, 0, told.append)))
    acts.append(lambda: store.records.search([namespace(0)], "learned", 5))
    acts.append(forget)
    acts += [put(start + number) for number in range(2, 4)]
    for act in acts:
        _patiently(store, trouble, report, act)
        if store.writer.failure is not None:
            _stays_stopped(store, trouble)
            return


def _patiently(
    store: SqliteStore, trouble: Trouble, report: Report, act: Callable[[], object]
) -> object:
    """Do something; when there is no room, make room and do it again at once."""
    try:
        return act()
    except RecollectError as error:
        _expect(error, trouble, report)
        if isinstance(error, DiskFull):
            assert store.writer.failure is None
            trouble.passes()
            return act()
        return act() if store.writer.failure is None else None


def _stays_stopped(store: SqliteStore, trouble: Trouble) -> None:
    """A store that failed is never tried again: not one more call that writes reaches the disk."""
    before = trouble.calls
    trouble.passes()
    try:
        put_event(store, 0, 10_000, lambda told: None)
    except StoreError as error:
        assert isinstance(error, (StoreFailed, ReadOnlyStore)), error
    else:
        raise AssertionError("a failed store took a write")
    if trouble.operation != "read":
        assert trouble.calls == before


def _expect(error: RecollectError, trouble: Trouble, report: Report) -> None:
    """Trouble is called by its name, and never damage."""
    report.answers[type(error).__name__] += 1
    named = {"full": DiskFull, "read-only": ReadOnlyStore}.get(trouble.error, StoreFailed)
    assert isinstance(error, (named, StoreClosed)), f"{type(error).__name__}: {error}"
