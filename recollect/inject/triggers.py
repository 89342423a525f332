"""When to look deeper, and when what was said before may be said again.

In: prompts. Out: decisions. Rules only; no model is asked on this path.
"""

import re
import threading
from collections import OrderedDict
from typing import Any

from recollect.core.errors import StoreError
from recollect.store.interface import Store

_EXPLICIT = re.compile(
    r"\b(remember (when|how|what|that|the|our|why)|do you (remember|recall)|recall (when|how|what)"
    r"|what did (we|i|you)|(how|why|where) did we|remind me|where we (left|were|stopped)"
    r"|where were we|last time|the other (day|time)"
    r"|(we|i) (already|previously)|as we (did|decided|discussed)"
    r"|earlier (we|you|today|this week)|have we (ever|already))\b",
    re.IGNORECASE,
)
TOPIC_CHANGE = 0.3
_SESSIONS = 500


def asks_to_remember(text: str) -> bool:
    """Whether a prompt asks for the past in so many words."""
    return _EXPLICIT.search(text[:4000]) is not None


class Topics:
    """What each session talks about: the mean of its last prompts' vectors."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, list[Any]] = OrderedDict()

    def changed(self, session_id: str, vector: Any) -> bool:
        """Whether a prompt is about something else than the ones before it; it is remembered."""
        if vector is None:
            return False
        with self._lock:
            recent = self._recent.setdefault(session_id, [])
            self._recent.move_to_end(session_id)
            while len(self._recent) > _SESSIONS:
                self._recent.popitem(last=False)
            likeness = max((float(before @ vector) for before in recent), default=1.0)
            changed = len(recent) > 1 and likeness < TOPIC_CHANGE
            self._recent[session_id] = [vector] if changed else [*recent[-2:], vector]
        return changed


class Said:
    """What each session was told already: nothing is repeated until its context is gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._told: OrderedDict[tuple[str, str], set[str]] = OrderedDict()

    def to(self, namespace: str, session_id: str) -> frozenset[str]:
        return frozenset(self._known(namespace, session_id))

    def add(self, namespace: str, session_id: str, record_ids: tuple[str, ...]) -> None:
        self._known(namespace, session_id).update(record_ids)

    def forget(self, namespace: str, session_id: str) -> None:
        """The session's context was compacted, cleared, or turned to another topic."""
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
        told = {record_id for receipt in page.items for record_id in receipt.injected}
        for receipt in page.items:
            items = receipt.detail.get("known", []) if isinstance(receipt.detail, dict) else []
            told |= {item["id"] for item in items if item["injected"]}
        return told
