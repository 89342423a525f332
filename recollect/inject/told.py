"""What each session was told, so that nothing is told twice while the agent still has it.

In: what a brief held. Out: ids. Only compaction and clearing empty an agent's context, so only they
forget here; after a restart of the daemon the receipts remember.
"""

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
