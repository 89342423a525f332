"""Last stage: the receipt of a brief, written after the answer is sent.

In: a draft and the text that was made from it. Out: a `Receipt` with the exact text and every line
that was found, with the parts of its score and the reason why it was left out. A thread of its own
writes receipts and access counts, so that no prompt waits for them. When the store cannot write,
they are dropped and counted: receipts explain briefs, nothing depends on them. This module also
keeps what each session was told, so that it is neither told twice nor taken for the agent's words.
"""

import contextlib
import hashlib
import logging
import queue
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
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


class ReceiptWriter:
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

    def keep(self, make: Callable[[], tuple[Receipt, Draft | None]]) -> None:
        """Write a receipt, and what was seen on the way to its draft: which memories were used,
        and whether the files of those that were found have changed. `make` is called in the
        thread that writes, so that no prompt waits for it either."""

        def write() -> None:
            receipt, draft = make()
            self._store.receipts.put(receipt)
            for listener in self.listeners:
                listener(receipt)
            for namespace, states in _freshness(draft).items() if draft is not None else ():
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
    draft: Draft,
    text: str,
    injected: tuple[str, ...],
    latency_us: int,
    now: datetime,
    receipt_id: str = "",
) -> Receipt:
    question = draft.question
    memories = [line for line in draft.lines if line.record is not None]
    others = [line for line in draft.lines if line.record is None]
    chosen = set(injected)
    return Receipt(
        receipt_id=receipt_id or ids.new_id(ids.RECEIPT),
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
            "told": list(dict.fromkeys(key for line in draft.kept for key in line.identity.told_as))
            if text
            else [],
            "stages_us": draft.stages,
            "confidence": round(draft.confidence, FOUND),
            "idle": round(draft.idle, FOUND),
            **draft.notes,
        },
        tokens=count_tokens(text),
        latency_us=latency_us,
        created_at=now,
    )


def _freshness(draft: Draft) -> dict[str, dict[str, Freshness]]:
    """Whether the files of the memories that were found have changed, by namespace."""
    seen: dict[str, dict[str, Freshness]] = {}
    for line in draft.lines:
        if line.record is not None:
            seen.setdefault(line.record.namespace, {})[line.id] = line.record.freshness
    return seen


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


_SESSIONS = 500
STARTED = "start"  # in a receipt: it answers what a session starts with


@dataclass
class SessionTold:
    """What one session was told."""

    keys: set[str] = field(default_factory=set)
    # The tokens of what it starts with; None: nobody answered its start, or its host has none.
    start: int | None = None


class ToldBefore:
    """What each session was told. Only compaction and clearing empty an agent's context, so only
    they forget here."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._told: OrderedDict[tuple[str, str], SessionTold] = OrderedDict()

    def in_session(self, namespace: str, session_id: str) -> SessionTold:
        """What need not be told again. Whoever tells more adds to it."""
        key = (namespace, session_id)
        with self._lock:
            if key in self._told:
                self._told.move_to_end(key)
                return self._told[key]
        before = SessionTold()
        with contextlib.suppress(StoreError):
            # After a restart of the daemon the receipts remember.
            page = self._store.receipts.page(namespace, session_id=session_id, limit=50)
            for receipt in page.items:
                before.keys.update(receipt.injected)
                if isinstance(receipt.detail, dict):
                    before.keys.update(receipt.detail.get("told", ()))
                    if receipt.detail.get(STARTED):
                        before.start = receipt.tokens
            if page.next is not None and before.start is None:
                before.start = 0  # so long a session was told what it starts with
        with self._lock:
            known = self._told.setdefault(key, before)
            while len(self._told) > _SESSIONS:
                self._told.popitem(last=False)
        return known

    def forget(self, namespace: str, session_id: str) -> None:
        """The session's context was compacted or cleared."""
        with self._lock:
            self._told[namespace, session_id] = SessionTold()


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
