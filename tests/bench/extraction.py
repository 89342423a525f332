"""`python -m tests.bench.extraction`: how good the rules are on the gold set.

In: the gold set (docs/howto/gold.md), and with `--sessions` a directory of transcripts for its real
part. Out: precision, recall and junk per half and per kind, and the misses with `-v`.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from recollect.core.clock import ManualClock
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings
from recollect.core.values import Arrival, Record
from recollect.extract.interface import Extraction, ProcedureClaim
from recollect.extract.rules.extractor import RulesExtractor
from recollect.extract.rules.store_reads import StoreReads
from recollect.store.interface import Batch, Transaction
from recollect.store.sqlite import SqliteStore
from tests.bench import gold
from tests.bench.gold import GoldSession, GoldTurn, Label

_DUMP = 1_200
_SUMMARY_DUMP = 3_000


@dataclass(frozen=True)
class MeasuredMemory:
    """A record or a procedure, as it is held against labels."""

    kinds: frozenset[str]
    title: str
    text: str
    size: int
    event_ids: frozenset[str]
    proposed: bool = False  # nobody is told it: it counts as noticed, not for precision


@dataclass
class Score:
    memories: int = 0
    right: int = 0
    junk: int = 0
    wanted: int = 0
    found: int = 0
    by_kind: dict[str, Counter[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.memories if self.memories else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else 1.0

    @property
    def junk_share(self) -> float:
        return self.junk / self.memories if self.memories else 0.0

    def count(self, kind: str, what: str) -> None:
        self.by_kind.setdefault(kind, Counter())[what] += 1


def measure(sessions: Sequence[GoldSession]) -> dict[str, Score]:
    """Scores of both halves and of all. A project's sessions are extracted one after the other."""
    scores = {"tuned": Score(), "reported": Score(), "all": Score()}
    for session, extraction in extracted(sessions):
        for name in (session.half, "all"):
            judge(session, extraction, scores[name])
    return scores


def extracted(sessions: Iterable[GoldSession]) -> list[tuple[GoldSession, Extraction]]:
    """What the rules make of each session, in a store of its own, as the worker would ask them."""
    found = []
    with tempfile.TemporaryDirectory(prefix="recollect-gold-") as home:
        clock = ManualClock(gold.AFTERWARDS)
        store = SqliteStore(Settings(home=home, reserve_mb=0), clock)
        try:
            rules = RulesExtractor(StoreReads(store), clock)
            for session in sessions:
                store.events.put([Arrival(event=event) for event in session.events])
                namespace = session.events[0].namespace
                batch = store.events.claim(namespace, 100_000, 1 << 40) or Batch(namespace, ())
                extraction = rules.extract(batch)
                records = [candidate.record for candidate in extraction.candidates]
                store.records.put(records)
                store.transaction(partial(_finish, batch))
                found.append((session, extraction))
        finally:
            store.close()
    return found


def _finish(batch: Batch, work: Transaction) -> None:
    work.finish(batch)


def judge(session: GoldSession, extraction: Extraction, score: Score) -> None:
    memories = list(memories_of(extraction))
    taken: set[int] = set()
    for wanted in (True, False):
        for turn in session.turns:
            for label in turn.labels:
                if label.wanted is not wanted:
                    continue
                fitting = (
                    index
                    for index, memory in enumerate(memories)
                    if index not in taken and fits(memory, label, turn, session)
                )
                index = next(fitting, None)
                kind = sorted(label.kinds)[0] if index is None else _main(memories[index], label)
                if wanted:
                    score.wanted += 1
                    score.count(kind, "wanted")
                if index is not None:
                    taken.add(index)
                    score.right += not memories[index].proposed
                    score.found += wanted
                    score.count(kind, "right")
                elif wanted:
                    score.notes.append(f"MISS  {session.name} turn {turn.number}: {label}")
    for index, memory in enumerate(memories):
        if memory.proposed:
            continue
        score.memories += 1
        junk = _is_junk(memory, session)
        score.count(sorted(memory.kinds)[0] if index not in taken else "", "")
        if junk or index not in taken:
            score.junk += junk
            what = "JUNK " if junk else "EXTRA"
            kinds = "|".join(sorted(memory.kinds))
            score.notes.append(
                f"{what} {session.name}: [{kinds}] {memory.title} -- {memory.text[:240]!r}"
            )


def fits(memory: MeasuredMemory, label: Label, turn: GoldTurn, session: GoldSession) -> bool:
    """The matching rule of the guide."""
    if not memory.kinds & label.kinds:
        return False
    most = _SUMMARY_DUMP if "summary" in memory.kinds else _DUMP
    if "summary" not in memory.kinds and not memory.event_ids & turn.event_ids:
        return False
    text = memory.text.lower()
    return memory.size <= most and all(any(way in text for way in term) for term in label.terms)


def memories_of(extraction: Extraction) -> Iterable[MeasuredMemory]:
    for candidate in extraction.candidates:
        record = candidate.record
        said = " ".join([record.title, record.summary, *record.facts])
        yield MeasuredMemory(
            kinds_of(record),
            record.title,
            " ".join([said, *record.files]),
            len(said),
            frozenset(record.source_event_ids),
            record.state == "proposed",
        )
    for claim in extraction.claims:
        if isinstance(claim, ProcedureClaim):
            text = " ".join([claim.name, claim.trigger, *claim.steps])
            kinds = frozenset(["procedure"])
            yield MeasuredMemory(kinds, claim.name, text, len(text), frozenset(claim.event_ids))


def kinds_of(record: Record) -> frozenset[str]:
    """The kinds of the guide that a record is."""
    if record.traits.is_summary:
        return frozenset(["summary"])
    match record.knowledge_type:
        case "constraint":
            return frozenset(["constraint", "preference"])
        case "heuristic":
            return frozenset(["preference", "fact"])
        case "decision" | "rejected" as kind:
            return frozenset([kind])
    if record.observation_type == "tool_use":
        return frozenset(["change"])
    if record.tool_class in ("research", "delegation"):
        return frozenset(["research", "discovery"])
    return frozenset([record.observation_type or "other"])


def table(scores: dict[str, Score]) -> str:
    lines = [f"{'half':<10}{'memories':>9}{'labels':>8}{'precision':>11}{'recall':>8}{'junk':>7}"]
    for name, score in scores.items():
        lines.append(
            f"{name:<10}{score.memories:>9}{score.wanted:>8}{score.precision:>11.3f}"
            f"{score.recall:>8.3f}{score.junk_share:>7.3f}"
        )
    whole = scores["all"]
    lines.append("")
    lines.append(f"{'kind':<12}{'labels':>8}{'found':>8}")
    for kind, counts in sorted(whole.by_kind.items()):
        if kind and counts["wanted"]:
            lines.append(
                f"{kind:<12}{counts['wanted']:>8}{min(counts['right'], counts['wanted']):>8}"
            )
    return "\n".join(lines)


def _main(memory: MeasuredMemory, label: Label) -> str:
    return sorted(memory.kinds & label.kinds)[0]


def _is_junk(memory: MeasuredMemory, session: GoldSession) -> bool:
    """It comes from turns that hold nothing to keep, or says what must never be said."""
    if "summary" in memory.kinds:
        return not any(turn.labels for turn in session.turns)
    cited = [turn for turn in session.turns if memory.event_ids & turn.event_ids]
    if memory.kinds & {"preference", "constraint", "decision", "rejected"} and any(
        words.lower() in memory.text.lower() for turn in cited for words in turn.never
    ):
        return True
    return not any(turn.labels for turn in cited)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.extraction", description=__doc__)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="list what was missed or extra"
    )
    parser.add_argument("--half", choices=("tuned", "reported", "all"), default="all")
    parser.add_argument("--sessions", help="a directory of transcripts for the labels of real ones")
    options = parser.parse_args(arguments)
    try:
        sets = {"gold set": gold.own()}
        if options.sessions:
            sets["real sessions"] = gold.real(options.sessions)
            again = gold.real(options.sessions, gold.SECOND_READER)
            sets["real sessions, second reader"] = again
        for name, sessions in sets.items():
            scores = measure(sessions)
            turns = sum(len(one.turns) for one in sessions)
            sys.stdout.write(f"{name}: {len(sessions)} sessions, {turns} turns\n")
            sys.stdout.write(table(scores) + "\n\n")
            if options.verbose:
                sys.stdout.write("\n".join(scores[options.half].notes) + "\n\n")
    except RecollectError as error:
        sys.stderr.write(f"{error} {error.hint}".strip() + "\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
