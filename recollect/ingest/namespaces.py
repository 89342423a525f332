"""Which project and namespace a directory belongs to, whatever its disk does.

In: paths from payloads, or as a user names them. Out: the namespace of a directory's project
(the actor's global one for what is no project), and the end of a transcript, in time. While a disk
hangs, such as the mount of a server that is down, a directory is taken for what it was the last
time. One that was never seen is taken for a project of its own, so that nothing of it gets into
other projects.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from recollect import privacy
from recollect.core import projects, safe_files
from recollect.core.bounded_wait import BoundedThreads, Late
from recollect.core.projects import ProjectPlace
from recollect.store.interface import Store

T = TypeVar("T")

PATIENCE_S = 0.2
THREADS = 8
_KNOWN = 1024


class DiskLookup:
    def __init__(
        self, look: Callable[[str], ProjectPlace] = projects.locate, patience_s: float = PATIENCE_S
    ) -> None:
        self._look = look
        self._patience_s = patience_s
        self._disk = BoundedThreads(THREADS, "recollect-places", hung_s=patience_s)
        self._lock = threading.Lock()
        self._last_places: OrderedDict[str, ProjectPlace] = OrderedDict()
        self._in_progress: dict[str, float] = {}  # paths that are being looked at, and since when

    def locate(self, directory: str) -> ProjectPlace:
        """The project of a directory, as far as it is known in time."""
        try:
            place = self._in_time(directory, lambda: self._look(directory))
        except Late:
            with self._lock:
                known = self._last_places.get(directory)
            # The branch may have changed since: of that nothing is known.
            return replace(known, branch="") if known else projects.unseen(directory)
        with self._lock:
            self._last_places[directory] = place
            self._last_places.move_to_end(directory)
            while len(self._last_places) > _KNOWN:
                self._last_places.popitem(last=False)
        return place

    def end_of(self, path: str, most: int) -> bytes | None:
        """The last bytes of a transcript: empty when it is not there yet, None when it never will
        be, because its folder is missing or it is not a file."""
        try:
            return self._in_time(path, lambda: _end(path, most))
        except Late:
            return b""

    def _in_time(self, path: str, look: Callable[[], T]) -> T:
        with self._lock:
            since = self._in_progress.get(path)
        if since is not None and since < time.monotonic() - self._patience_s:
            raise Late  # a second thread would hang as well

        def looking() -> T:
            with self._lock:
                self._in_progress.setdefault(path, time.monotonic())
            try:
                return look()
            finally:
                with self._lock:
                    self._in_progress.pop(path, None)

        return self._disk.run(self._patience_s, looking)


def _end(path: str, most: int) -> bytes | None:
    try:
        return safe_files.read_end(path, most)
    except safe_files.NotPlain:
        return None
    except OSError:
        return b"" if os.path.isdir(os.path.dirname(path)) else None


class Namespaces:
    def __init__(self, store: Store, actor: str) -> None:
        self._store = store
        self._actor = actor
        self._disk = DiskLookup()

    def of(self, directory: str | None) -> str:
        return self.of_place(self.locate(directory or "")[0])

    def of_place(self, place: ProjectPlace) -> str:
        return projects.namespace(self._actor, self._store.projects.resolve(place))

    def locate(self, directory: str) -> tuple[ProjectPlace, str | None]:
        """Where work happens, and the path as it may be stored. A path that holds something
        private is stored without it and belongs to the global project."""
        if not directory or not directory.startswith("/"):
            return ProjectPlace(), None
        shown = privacy.scrub(directory).text[:2048]
        if shown != directory or "\0" in directory or "[REDACTED" in directory:
            return ProjectPlace(), shown.replace("\0", "") or None
        return self._disk.locate(directory), shown
