"""`python -m tests.torture --minutes 30`: every case again and again, each time with a new seed.

In: how long, a seed, words that choose cases, a file for the table. Out: a line per case as it
ends, a table of all rounds at the end, and exit code 1 when a single promise was broken. Every case
runs at least once. `--seed` repeats a round exactly.
"""

import argparse
import importlib
import logging
import pkgutil
import random
import shutil
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests import torture
from tests.crash.oracle import chosen_seed
from tests.torture.case import KINDS, Case, Failure, Report

_MOST_SHOWN = 5


@dataclass
class Tally:
    """What all rounds of one case came to."""

    case: Case
    rounds: int = 0
    tries: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)

    def add(self, report: Report, seconds: float) -> None:
        self.rounds += 1
        self.tries += report.tries
        self.seconds += seconds
        self.failures += report.failures

    def counts(self) -> list[int]:
        return [sum(failure.kind == kind for failure in self.failures) for kind in KINDS]


def cases() -> list[Case]:
    """The cases of every module in this package."""
    found: list[Case] = []
    for module in pkgutil.iter_modules(torture.__path__):
        found += getattr(importlib.import_module(f"{torture.__name__}.{module.name}"), "CASES", [])
    return found


def attempt(case: Case, seed: int) -> Report:
    """One round of a case in a directory of its own. A case that breaks is a failure, too."""
    scratch = Path(tempfile.mkdtemp(prefix="recollect-torture-"))
    try:
        return case.attack(random.Random(seed), case.tries, scratch)
    except Exception:  # noqa: BLE001  a broken case is reported, and the others still run
        report = Report(case.tries)
        report.failed("wrong", traceback.format_exc(limit=-4))
        return report
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def rows(tallies: list[Tally], first_seed: int) -> list[str]:
    """The table, in Markdown: it is read in the terminal and kept in the docs."""
    head = ["case", "tries", "seeds", *KINDS, "seconds"]
    table = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for tally in tallies:
        last = first_seed + tally.rounds - 1
        seeds = f"{first_seed}" if tally.rounds == 1 else f"{first_seed} to {last}"
        numbers = [str(number) for number in tally.counts()]
        cells = [tally.case.name, f"{tally.tries:,}", seeds, *numbers, f"{tally.seconds:.0f}"]
        table.append("| " + " | ".join(cells) + " |")
    return table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0, help="more rounds until then")
    parser.add_argument("--seed", type=int, default=None, help="default: RECOLLECT_SEED or random")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases whose name holds this")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table there, too")
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)  # what a store says while it is attacked is not the table's
    tallies = [Tally(case) for case in cases() if chosen.only in case.name]
    seed = first = chosen_seed() if chosen.seed is None else chosen.seed
    began = time.monotonic()
    done = False
    while not done:
        for tally in tallies:
            done = time.monotonic() - began >= chosen.minutes * 60
            if done and tally.rounds:
                break
            start = time.monotonic()
            report = attempt(tally.case, seed)
            tally.add(report, time.monotonic() - start)
            state = f"{len(report.failures)} FAILED" if report.failures else "ok"
            print(f"{tally.case.name}: {report.tries} tries, seed {seed}, {state}", flush=True)
            for failure in report.failures[:_MOST_SHOWN]:
                print(f"  {failure.kind}: {failure.what}", flush=True)
        seed += 1
    table = rows(tallies, first)
    print("\n".join(table))
    if chosen.table:
        day = datetime.now(UTC).date().isoformat()
        minutes = (time.monotonic() - began) / 60
        text = (
            f"Made on {day} by `python -m tests.torture --seed {first}` in {minutes:.0f} minutes."
        )
        chosen.table.write_text("\n".join([text, "", *table]) + "\n", encoding="utf-8")
    return int(any(tally.failures for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
