"""Last stage: what was told and why, as a receipt that is written after the answer is sent.

In: a draft and the text that was made of it. Out: a `Receipt` with the very text and every line
that was found, with the parts of its score and the reason why it was left out; and rows of it and
of access counts, by a thread of its own: no prompt waits for them. When the store cannot write,
receipts are dropped and counted: they explain, they are not the truth.
"""

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from recollect.core import ids
from recollect.core.errors import StoreError
from recollect.core.text_words import count_tokens
from recollect.core.values import Freshness, Receipt
from recollect.ingest.counters import Counters
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft
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


MOST_LINES = 60
QUERY_KEPT = 2000
FOUND = 4


def make_receipt(
    draft: Draft, text: str, injected: tuple[str, ...], latency_us: int, now: datetime
) -> Receipt:
    question = draft.question
    memories = [line for line in draft.lines if line.record is not None]
    others = [line for line in draft.lines if line.record is None]
    chosen = set(injected)
    return Receipt(
        receipt_id=ids.new_id(ids.RECEIPT),
        namespace=question.namespaces[0],
        session_id=question.session_id,
        event_id=question.event_id,
        trigger=question.trigger,
        query=question.text[:QUERY_KEPT],
        injected=injected,
        detail={
            "text": text[:TEXT_KEPT],
            "candidates": [_memory(line, chosen) for line in memories[:MOST_LINES]],
            "known": [_other(line, told=bool(text)) for line in others[:MOST_LINES]],
            "told": list(told_by(draft)) if text else [],
            "stages_us": draft.stages,
            "confidence": round(draft.confidence, FOUND),
            "idle": round(draft.idle, FOUND),
            **draft.notes,
        },
        tokens=count_tokens(text),
        latency_us=latency_us,
        created_at=now,
    )


def told_by(draft: Draft) -> dict[str, None]:
    """What the session need not be told again."""
    return dict.fromkeys(key for line in draft.kept for key in line.told_as)


def _memory(line: BriefLine, chosen: set[str]) -> dict[str, Any]:
    assert line.record is not None
    return {
        "record_id": line.id,
        "title": "" if line.sensitive else line.record.title,
        "score": round(line.score, FOUND),
        "chance": round(line.chance, FOUND),
        "parts": line.parts,
        "injected": line.id in chosen,
        "freshness": line.record.freshness,
        "why_not": line.why_not,
    }


def _other(line: BriefLine, *, told: bool) -> dict[str, Any]:
    return {
        "id": line.id,
        "kind": line.section,
        "text": "" if line.sensitive else render.forms(line, as_sections=True)[0],
        "score": round(line.score, FOUND),
        "chance": round(line.chance, FOUND),
        "why": line.why,
        "injected": told and not line.why_not,
        "why_not": line.why_not,
    }
