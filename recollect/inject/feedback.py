"""The user's verdicts on injected memories.

In: a verdict: useful, wrong or never. Out: an entry in the operation log, which ranking and
injection take into account from then on.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from recollect.core.errors import NotFound
from recollect.core.values import Operation, Record
from recollect.extract.tombstones import Tombstones
from recollect.store.interface import Store, details_of

# `none` is what an undo leaves where there was no verdict before.
Verdict = Literal["useful", "wrong", "never", "none"]
FACTORS = {"useful": 1.15, "never": 0.0}  # what a verdict does to a score


@dataclass(frozen=True)
class Doubts:
    """Memories that were rated wrong and are still as they were, and the events of their turns."""

    records: frozenset[str]
    events: frozenset[str]


class Feedback:
    def __init__(self, store: Store, tombstones: Tombstones | None = None) -> None:
        self._store = store
        self.tombstones = tombstones or Tombstones(store)
        self._known: dict[str, dict[str, Verdict]] = {}
        self._doubts: dict[str, Doubts] = {}

    def give(self, namespace: str, record_id: str, verdict: Verdict, actor: str) -> Operation:
        """Note a verdict on a memory; the newest one counts. NotFound for an unknown memory.
        What is never to be seen again is not extracted again either, until the verdict changes."""
        found = self._store.records.get(namespace, [record_id])
        if not found:
            raise NotFound(f"there is no memory {record_id}")
        before = self.of(namespace).get(record_id)
        if verdict == "never":
            self.tombstones.refuse(found[0], actor)
        elif before == "never":
            self.tombstones.lift(namespace, record_id, "verdict", actor)
        detail = {
            "record_id": record_id,
            "verdict": verdict,
            "before": before or "none",
            "text": _digest(found[0]),
        }
        operation = self._store.transaction(
            lambda tx: tx.log("feedback", namespace, actor, detail=detail)
        )
        self.forget_known()
        return operation

    def of(self, namespace: str) -> dict[str, Verdict]:
        """The verdicts that hold in a namespace, by memory."""
        kept = self._known  # if it is forgotten meanwhile, this answer goes with it
        verdicts = kept.get(namespace)
        if verdicts is None:
            verdicts = kept.setdefault(namespace, self._read(namespace))
        return verdicts

    def doubts(self, record: Record) -> bool:
        """Whether a memory was rated wrong and was not mended since, or is a note or turn made from
        the same events as one that was. A belief, or the summary of a session, says more than one
        turn did."""
        kept = self._doubts
        found = kept.get(record.namespace)
        if found is None:
            found = kept.setdefault(record.namespace, self._read_doubts(record.namespace))
        if record.record_id in found.records:
            return True
        of_a_turn = not (record.traits.is_belief or record.traits.is_summary)
        return of_a_turn and not found.events.isdisjoint(record.source_event_ids)

    def forget_known(self) -> None:
        """Verdicts were given, or a memory edited, here or by another daemon: all is read anew."""
        self._known, self._doubts = {}, {}

    def _read(self, namespace: str) -> dict[str, Verdict]:
        return {name: detail["verdict"] for name, detail in self._details(namespace).items()}

    def _read_doubts(self, namespace: str) -> Doubts:
        details = self._details(namespace)
        wrong = [name for name, detail in details.items() if detail["verdict"] == "wrong"]
        still = [
            one
            for one in self._store.records.get(namespace, wrong)
            if details[one.record_id].get("text", _digest(one)) == _digest(one)
        ]
        return Doubts(
            records=frozenset(one.record_id for one in still),
            events=frozenset(
                event
                for one in still
                if not (one.traits.is_belief or one.traits.is_summary)
                for event in one.source_event_ids
            ),
        )

    def _details(self, namespace: str) -> dict[str, dict[str, Any]]:
        """The newest verdict on each memory."""
        return {
            detail["record_id"]: detail
            for detail in details_of(self._store.log, namespace, "feedback")
            if isinstance(detail, dict)  # erasing a memory takes what was said of it along
        }


def _digest(record: Record) -> str:
    """Tells whether a memory was edited since it was rated, without keeping its words."""
    said = "\0".join((record.title, record.summary, record.detail, *record.facts))
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()
