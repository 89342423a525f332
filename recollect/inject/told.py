"""What each session was told: not to be told twice, and not to be taken for the agent's own words.

In: what a brief held, and later what the session's agent says. Out: ids that need not be told
again, and that text without the lines that are ours. Only compaction and clearing empty an agent's
context, so only they forget here; after a restart of the daemon the receipts remember.
"""

import hashlib
import re
import threading
from collections import OrderedDict

from recollect.core.errors import StoreError
from recollect.store.interface import Store

_SESSIONS = 500


class Told:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._told: OrderedDict[tuple[str, str], set[str]] = OrderedDict()

    def to(self, namespace: str, session_id: str) -> frozenset[str]:
        return frozenset(self._known(namespace, session_id))

    def add(self, namespace: str, session_id: str, record_ids: tuple[str, ...]) -> None:
        self._known(namespace, session_id).update(record_ids)

    def forget(self, namespace: str, session_id: str) -> None:
        """The session's context was compacted or cleared."""
        with self._lock:
            self._told[namespace, session_id] = set()

    def _known(self, namespace: str, session_id: str) -> set[str]:
        key = (namespace, session_id)
        with self._lock:
            if key in self._told:
                self._told.move_to_end(key)
                return self._told[key]
        before = self._from_receipts(namespace, session_id)
        with self._lock:
            known = self._told.setdefault(key, before)
            while len(self._told) > _SESSIONS:
                self._told.popitem(last=False)
        return known

    def _from_receipts(self, namespace: str, session_id: str) -> set[str]:
        """After a restart of the daemon the receipts remember."""
        try:
            page = self._store.receipts.page(namespace, session_id=session_id, limit=50)
        except StoreError:
            return set()
        told: set[str] = set()
        for receipt in page.items:
            told.update(receipt.injected)
            if isinstance(receipt.detail, dict):
                told.update(receipt.detail.get("told", ()))
        return told


LINES = 20_000
SHORTEST = 40  # a shorter line may well be somebody's own

_DRESS = re.compile(r"^[\s>*•\-–—\"'`|]++|(?<![\s\"'`|.…])[\s\"'`|.…]++$")
_DATE = re.compile(r"^\[?\d{4}-\d\d-\d\d\]?\s*")
_ID = re.compile(r"\s\[[0-9a-z]{5}\]$")


class OwnText:
    """Text that was injected, recognised when it comes back without its fence, so that a memory
    that an agent repeats word for word does not become a new memory. What a user says is never
    looked at: whoever says a thing again means it."""

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
