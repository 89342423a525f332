"""What people said of injected memories, and what follows from it.

In: useful, wrong or never. Out: a decision in the log; ranking and injection heed it from then on.
"""

from typing import Literal

from recollect.core.errors import NotFound
from recollect.core.values import Operation
from recollect.extract.tombstones import Tombstones
from recollect.store.interface import Store, details_of

# `none` is what an undo leaves where there was no verdict before.
Verdict = Literal["useful", "wrong", "never", "none"]
FACTORS = {"useful": 1.15, "wrong": 0.5}


class Feedback:
    def __init__(self, store: Store, tombstones: Tombstones | None = None) -> None:
        self._store = store
        self.tombstones = tombstones or Tombstones(store)
        self._known: dict[str, dict[str, Verdict]] = {}

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
        detail = {"record_id": record_id, "verdict": verdict, "before": before or "none"}
        operation = self._store.transaction(
            lambda tx: tx.log("feedback", namespace, actor, detail=detail)
        )
        if (known := self._known.get(namespace)) is not None:
            known[record_id] = verdict
        else:
            self.forget_known()
        return operation

    def of(self, namespace: str) -> dict[str, Verdict]:
        """The verdicts that hold in a namespace, by memory."""
        kept = self._known  # if it is forgotten meanwhile, this answer goes with it
        verdicts = kept.get(namespace)
        if verdicts is None:
            verdicts = kept.setdefault(namespace, self._read(namespace))
        return verdicts

    def forget_known(self) -> None:
        """Verdicts were given, here or to another daemon: they are read anew when needed."""
        self._known = {}

    def _read(self, namespace: str) -> dict[str, Verdict]:
        return {
            detail["record_id"]: detail["verdict"]
            for detail in details_of(self._store.log, namespace, "feedback")
            if isinstance(detail, dict)  # erasing a memory takes what was said of it along
        }


def factor(verdicts: dict[str, Verdict], record_id: str) -> float:
    """What a verdict does to a score; 0 takes the memory out."""
    verdict = verdicts.get(record_id)
    return 0.0 if verdict == "never" else FACTORS.get(verdict or "", 1.0)
