"""What was refused stays refused: a stone on the value, not on the row.

In: a memory that somebody never wants to see again. Out: whether a text says the same. Only
fingerprints are kept, so a stone does not repeat what it covers. Words are compared without case,
punctuation and articles, in their order: "tabs, not spaces" is not "spaces, not tabs".
"""

import dataclasses
import hashlib
import re
import threading
import unicodedata

import msgspec

from recollect.core.values import Candidate, Operation, Record
from recollect.extract.interface import (
    ChangeClaim,
    Claim,
    Dropped,
    Extraction,
    FactClaim,
    PreferenceClaim,
)
from recollect.store.interface import Store, Transaction

REFUSED = "refused"
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset({"a", "an", "the"})


class Tombstones:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: dict[str, frozenset[str]] = {}

    def refuse(self, record: Record, actor: str, *, deleted: bool = False) -> Operation:
        """Never again this memory, nor another that says the same. `deleted`: it goes itself too,
        and bringing it back takes the stone away."""
        return self._log(record, actor, lifted=False, deleted=deleted)

    def lift(self, record: Record, actor: str) -> Operation:
        """Take the stone away again."""
        return self._log(record, actor, lifted=True)

    def forget_known(self) -> None:
        """Stones came or went, here or by another daemon: they are read anew when needed."""
        with self._lock:
            self._known.clear()

    def went_with(self, namespace: str, record_id: str) -> bool:
        """Whether the last stone of a memory was put when it was deleted, and still lies."""
        stones = [
            one for one in self._store.log.tombstones(namespace) if one.get("record") == record_id
        ]
        return bool(stones) and bool(stones[-1].get("deleted"))

    def refused(self, namespace: str, text: str) -> bool:
        return fingerprint(text) in self._of(namespace)

    def gate(self, extraction: Extraction, namespace: str) -> Extraction:
        """The extraction without what was refused."""
        stones = self._of(namespace)
        if not stones:
            return extraction
        kept: list[Candidate] = []
        dropped = list(extraction.dropped)
        for candidate in extraction.candidates:
            record = candidate.record
            if _says(stones, record.title, record.summary):
                dropped.append(Dropped(record.title, REFUSED))
                continue
            facts = tuple(fact for fact in record.facts if not _says(stones, fact))
            kept.append(
                msgspec.structs.replace(
                    candidate, record=msgspec.structs.replace(record, facts=facts)
                )
            )
        claims = tuple(one for one in extraction.claims if not _says(stones, _said(one)))
        return dataclasses.replace(
            extraction, candidates=tuple(kept), claims=claims, dropped=tuple(dropped)
        )

    def _log(self, record: Record, actor: str, *, lifted: bool, deleted: bool = False) -> Operation:
        namespace = record.namespace
        marks = sorted({fingerprint(text) for text in texts_of(record)} - {""})
        detail: dict[str, object] = {
            "fingerprints": marks,
            "lifted": lifted,
            "record": record.record_id,
            "deleted": deleted,
        }

        def work(tx: Transaction) -> Operation:
            return tx.log("tombstone", namespace, actor, detail=detail)

        operation = self._store.transaction(work)
        self.forget_known()
        return operation

    def _of(self, namespace: str) -> frozenset[str]:
        with self._lock:
            known = self._known.get(namespace)
            if known is None:
                stones: set[str] = set()
                for detail in self._store.log.tombstones(namespace):
                    marks = detail["fingerprints"]
                    (stones.difference_update if detail["lifted"] else stones.update)(marks)
                known = self._known[namespace] = frozenset(stones)
        return known


def fingerprint(text: str) -> str:
    """The same for texts that say the same in the same words; nothing for no words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = [word for word in _WORD.findall(folded) if word not in _ARTICLES]
    if not words:
        return ""
    return hashlib.blake2b(" ".join(words).encode(), digest_size=12).hexdigest()


def texts_of(record: Record) -> tuple[str, ...]:
    """What of a memory is a value by itself."""
    return record.title, record.summary, *record.facts


def _says(stones: frozenset[str], *texts: str) -> bool:
    return any(fingerprint(text) in stones for text in texts)


def _said(claim: Claim) -> str:
    match claim:
        case FactClaim():
            return f"{claim.subject} {claim.predicate} {claim.object}"
        case PreferenceClaim():
            return claim.value
        case ChangeClaim():
            return claim.text
    return ""
