"""Text that was injected, recognised when it comes back without its fence.

In: what a session was told, and later what its agent says. Out: that text without the lines that
are ours, so that a memory that an agent repeats word for word does not become a new memory. What a
user says is never looked at: whoever says a thing again means it.
"""

import hashlib
import re
import threading
from collections import OrderedDict

LINES = 20_000
SHORTEST = 40  # a shorter line may well be somebody's own

_DRESS = re.compile(r"^[\s>*•\-–—\"'`|]++|(?<![\s\"'`|.…])[\s\"'`|.…]++$")
_DATE = re.compile(r"^\[?\d{4}-\d\d-\d\d\]?\s*")
_ID = re.compile(r"\s\[[0-9a-z]{5}\]$")


class OwnText:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def injected(self, session_id: str, text: str) -> None:
        """Remember the lines that a session was told."""
        with self._lock:
            for line in text.splitlines():
                mark = _mark(session_id, line)
                if mark is None:
                    continue
                self._known[mark] = None
                self._known.move_to_end(mark)
            while len(self._known) > LINES:
                self._known.popitem(last=False)

    def without(self, session_id: str, text: str) -> str:
        """What an agent says, without the lines that its session was told."""
        if not self._known or len(text) < SHORTEST:
            return text
        lines = text.splitlines(keepends=True)
        kept = [line for line in lines if _mark(session_id, line) not in self._known]
        return text if len(kept) == len(lines) else "".join(kept)


def _mark(session_id: str, line: str) -> bytes | None:
    """What a line says, however it is dressed: quoted, as a list item, in other white space."""
    bare = _DRESS.sub("", _ID.sub("", _DATE.sub("", _DRESS.sub("", line))))
    if len(bare) < SHORTEST:
        return None
    said = f"{session_id}\0{' '.join(bare.lower().split())}"
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=12).digest()
