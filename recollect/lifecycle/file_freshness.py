"""Tells whether the files that a memory cites have changed.

In: paths and a work tree. Out: citations when a memory is made (`cite`), and fresh, drifted or
orphaned when it is recalled (`FreshnessChecker`). A file whose change time is older than the memory
is not read, and digests are cached until the file changes. Nothing waits for a disk that hangs:
what is not known in time is unknown.
"""

import hashlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from recollect.core import safe_files
from recollect.core.bounded_wait import BoundedThreads, Late
from recollect.core.clock import to_micros
from recollect.core.projects import canonical, locate
from recollect.core.values import Citation, Freshness, Record
from recollect.store.interface import Store

T = TypeVar("T")

MOST_FILES = 8
MOST_BYTES = 1 << 20
PATIENCE_S = 0.03
BACKGROUND_S = 10.0
ASKED_S = 1.0  # that somebody who reads memories waits for a work tree whose disk is slow
MOST_RECORDS = 30
_CACHED = 8192
_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class FileFreshness:
    """The freshness of a memory, and the file that shows it."""

    state: Freshness = "unknown"
    path: str = ""


# --- when a memory is made ----------------------------------------------------------------------

_background = BoundedThreads(2, "recollect-trees", hung_s=BACKGROUND_S)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def cite(
    paths: Iterable[str], where: str | None, patience_s: float = BACKGROUND_S
) -> tuple[Citation, ...]:
    """The files among these paths that lie in the work tree around `where`, with their content's
    digest and the commit that was checked out. At most a few, small ones; never raises."""
    if not where or not where.startswith("/"):
        return ()
    try:
        return _background.run(patience_s, _cite, tuple(paths), where)
    except Late:
        return ()


def in_background(look: Callable[..., T], *arguments: Any, patience_s: float = BACKGROUND_S) -> T:
    """Read a work tree; Late when its disk hangs. Without a patience, no caller waits for it."""
    return _background.run(patience_s, look, *arguments)


def _cite(paths: Iterable[str], where: str) -> tuple[Citation, ...]:
    try:
        root = _work_tree(where)
        commit = _commit(root)
        found: list[Citation] = []
        for full in dict.fromkeys(os.path.realpath(os.path.join(where, path)) for path in paths):
            if not full.startswith(root + os.sep) or len(found) == MOST_FILES:
                continue
            shown = os.path.relpath(full, root)
            digest = _content(full)
            if digest and len(shown) <= 500:
                found.append(Citation(path=shown, sha256=digest, commit=commit))
        return tuple(found)
    except (OSError, ValueError):  # a path with NUL, a tree that vanished meanwhile
        return ()


def _work_tree(where: str) -> str:
    """The top of the work tree; a linked work tree has files of its own."""
    directory = os.path.realpath(where)
    home = os.path.realpath(os.path.expanduser("~"))
    while directory not in (home, os.path.dirname(directory)):
        if os.path.lexists(os.path.join(directory, ".git")):
            return directory
        directory = os.path.dirname(directory)
    return locate(where).root or canonical(where)


def _commit(root: str) -> str:
    """The commit that is checked out, read from git's files; empty when there is none, or when they
    hold something else."""
    git = os.path.join(root, ".git")
    if not os.path.isdir(git):
        pointer = safe_files.path_or_nothing(git)
        if not pointer.startswith("gitdir:"):
            return ""
        git = os.path.join(root, pointer[len("gitdir:") :].strip())
    head = safe_files.path_or_nothing(os.path.join(git, "HEAD"))
    if not head.startswith("ref:"):
        return _hex(head)
    name = head[len("ref:") :].strip()
    shared = safe_files.path_or_nothing(os.path.join(git, "commondir"))
    common = os.path.join(git, shared or ".")
    for place in (git, common):
        if found := _hex(safe_files.path_or_nothing(os.path.join(place, name))):
            return found
    for line in safe_files.text_or_nothing(os.path.join(common, "packed-refs")).splitlines():
        if line.endswith(f" {name}"):
            return _hex(line.split(" ", 1)[0])
    return ""


def _hex(text: str) -> str:
    return text if _COMMIT.fullmatch(text) else ""


def _content(path: str) -> str:
    """The digest of a plain file that is not too large, else empty."""
    try:
        return hashlib.sha256(safe_files.read_whole(path, MOST_BYTES)).hexdigest()
    except OSError:
        return ""


# --- when it is recalled ------------------------------------------------------------------------

_digests: OrderedDict[str, tuple[_Stamp, str]] = OrderedDict()
_digests_lock = threading.Lock()


def freshness_of(record: Record, roots: Sequence[str]) -> FileFreshness:
    """How a memory stands to its files in one of these work trees. Orphaned when all are gone,
    drifted when one changed or is gone."""
    if not record.citations or not roots:
        return FileFreshness()
    gone, changed = [], []
    for one in record.citations:
        state = _state_of_file(one, roots, to_micros(record.valid_from))
        if state == "same":
            continue
        if state == "changed":
            changed.append(one.path)
        elif state == "gone":
            gone.append(one.path)
        else:
            return FileFreshness()
    if len(gone) == len(record.citations):
        return FileFreshness("orphaned", gone[0])
    if changed or gone:
        return FileFreshness("drifted", (changed or gone)[0])
    return FileFreshness("fresh")


def changed_files(
    cited: Sequence[Citation], roots: Sequence[str], patience_s: float
) -> set[Citation]:
    """Which of these files are not as they were cited, or gone; none when a disk hangs."""

    def look() -> set[Citation]:
        return {one for one in cited if _state_of_file(one, roots) in ("changed", "gone")}

    try:
        return _background.run(patience_s, look)
    except Late:
        return set()


def _state_of_file(one: Citation, roots: Sequence[str], made: int = 0) -> str:
    """How a file stands to what a memory, made at that time, cites of it."""
    states = [_compared(os.path.join(root, one.path), one.sha256, made) for root in roots]
    return next((state for state in ("same", "changed", "gone") if state in states), "unknown")


def _compared(path: str, digest: str, made: int) -> str:
    if not digest:
        return "unknown"  # the file was not read when the memory was made
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except OSError:
        return "unknown"
    if status.st_ctime_ns // 1000 < made:
        return "same"  # unchanged since before the memory was made
    stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    with _digests_lock:
        known = _digests.get(path)
    if known is None or known[0] != stamp:
        found = _content(path)
        if not found:
            return "changed" if status.st_size > MOST_BYTES else "unknown"
        known = (stamp, found)
        with _digests_lock:
            _digests[path] = known
            _digests.move_to_end(path)
            while len(_digests) > _CACHED:
                _digests.popitem(last=False)
    return "same" if known[1] == digest else "changed"


class FreshnessChecker:
    """Checks files for recall, in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # A check that is still running hangs, and no other waits for it.
        self._looking = BoundedThreads(1, "recollect-fresh", hung_s=0)

    @staticmethod
    def roots(store: Store, namespace: str) -> list[str]:
        """Where the files of a project are now."""
        project_id = namespace.rstrip("/").rpartition("/project/")[2]
        if "/project/" not in namespace:
            return []
        return [
            value
            for info in store.projects.all()
            if info.project_id == project_id
            for kind, value in info.identities
            if kind == "root" and os.path.isdir(value)
        ]

    def freshness_of(
        self, records: Sequence[Record], patience_s: float = PATIENCE_S
    ) -> dict[str, FileFreshness]:
        """The freshness of the first few of these memories, as far as it is known in time."""
        asked = [one for one in records if one.citations][:MOST_RECORDS]
        if not asked:
            return {}
        try:
            return self._looking.run(patience_s, _look, self._store, asked)
        except Late:
            return {}


def with_freshness(store: Store, records: Iterable[Record]) -> list[Record]:
    """Memories with the freshness that they have now, as recall tells it; the one that is stored
    where it is not known in time."""
    all_of_them = list(records)
    cited = [one for one in all_of_them if one.citations]
    try:
        found = _background.run(ASKED_S, _look, store, cited) if cited else {}
    except Late:
        found = {}
    states = {name: one.state for name, one in found.items() if one.state != "unknown"}
    return [
        msgspec.structs.replace(one, freshness=states.get(one.record_id, one.freshness))
        for one in all_of_them
    ]


def _look(store: Store, records: Sequence[Record]) -> dict[str, FileFreshness]:
    roots: dict[str, list[str]] = {}
    found = {}
    for record in records:
        if record.namespace not in roots:
            roots[record.namespace] = FreshnessChecker.roots(store, record.namespace)
        found[record.record_id] = freshness_of(record, roots[record.namespace])
    return found
