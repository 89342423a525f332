"""What hooks ask a user's disk: which project a directory belongs to, and how a transcript ends.

In: paths from payloads. Out: an answer within a moment, whatever the disk does. While it hangs, as
the mount of a server that is away does, a directory is taken for what it was the last time, and
one that was never seen for a project of its own: nothing of it may end up among other projects'.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from recollect.core import projects, safe_files
from recollect.core.bounded_wait import BoundedThreads, Late
from recollect.core.projects import Place

T = TypeVar("T")

PATIENCE_S = 0.2
THREADS = 8
_KNOWN = 1024


class DiskLookup:
    def __init__(
        self, look: Callable[[str], Place] = projects.locate, patience_s: float = PATIENCE_S
    ) -> None:
        self._look = look
        self._patience_s = patience_s
        self._disk = BoundedThreads(THREADS, "recollect-places", hung_s=patience_s)
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Place] = OrderedDict()
        self._asked: dict[str, float] = {}  # paths that are being looked at, and since when

    def locate(self, directory: str) -> Place:
        """The project of a directory, as far as it can be told in time."""
        try:
            place = self._in_time(directory, lambda: self._look(directory))
        except Late:
            with self._lock:
                known = self._known.get(directory)
            return known if known is not None else projects.unseen(directory)
        with self._lock:
            self._known[directory] = place
            self._known.move_to_end(directory)
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return place

    def end_of(self, path: str, most: int) -> bytes | None:
        """The last bytes of a transcript: nothing when it is not there yet, None when it never
        will be: its folder is not there, or it is something else than a file."""
        try:
            return self._in_time(path, lambda: _end(path, most))
        except Late:
            return b""

    def _in_time(self, path: str, look: Callable[[], T]) -> T:
        with self._lock:
            since = self._asked.get(path)
        if since is not None and since < time.monotonic() - self._patience_s:
            raise Late  # a second thread would hang as well

        def looking() -> T:
            with self._lock:
                self._asked.setdefault(path, time.monotonic())
            try:
                return look()
            finally:
                with self._lock:
                    self._asked.pop(path, None)

        return self._disk.run(self._patience_s, looking)


def _end(path: str, most: int) -> bytes | None:
    try:
        return safe_files.read_end(path, most)
    except safe_files.NotPlain:
        return None
    except OSError:
        return b"" if os.path.isdir(os.path.dirname(path)) else None
