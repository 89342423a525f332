"""Receipts and access counts, written after the answer is sent.

In: what a retrieval did. Out: rows, by a thread of its own; no prompt waits for them. When the
store cannot write, receipts are dropped and counted: they explain, they are not the truth.
"""

import logging
import queue
import threading
from collections.abc import Callable, Mapping

from recollect.core.errors import StoreError
from recollect.core.values import Freshness, Receipt
from recollect.ingest.counters import Counters
from recollect.store.interface import Store

log = logging.getLogger(__name__)

_WAITING = 1000
TEXT_KEPT = 20_000  # characters of an injected text; budgets are far below


class Receipts:
    def __init__(self, store: Store, counters: Counters) -> None:
        self._store = store
        self._counters = counters
        self.listeners: list[Callable[[Receipt], None]] = []
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._loop, name="recollect-receipts", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def keep(
        self, receipt: Receipt, found: Mapping[str, Mapping[str, Freshness]] | None = None
    ) -> None:
        """Write a receipt, and what was seen on the way: which memories were used, and how those
        of each namespace (`found`) stand to their files."""

        def write() -> None:
            self._store.receipts.put(receipt)
            for listener in self.listeners:
                listener(receipt)
            for namespace, states in (found or {}).items():
                used = [one for one in receipt.injected if one in states]
                known = {one: state for one, state in states.items() if state != "unknown"}
                if receipt.created_at and (used or known):
                    self._store.records.touch(namespace, used, receipt.created_at, known)

        try:
            self._queue.put_nowait(write)
        except queue.Full:
            self._counters.count("receipts dropped")

    def flush(self) -> None:
        """Wait until everything kept so far is written."""
        self._queue.join()

    def _loop(self) -> None:
        while True:
            write = self._queue.get()
            try:
                if write is None:
                    return
                write()
            except StoreError as error:
                log.warning("a receipt was not written: %s", error)
                self._counters.count("receipts dropped")
            finally:
                self._queue.task_done()
