"""The crash tests for as long as one likes: `python -m tests.crash.torture --minutes 10`.

In: counts or a duration, and a seed. Out: one line of a table per test as it ends, and exit code
1 when anything was lost, doubled or damaged. The same seed gives the same cuts, flips and delays.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.crash import faults, flips, kill, power
from tests.crash.oracle import Findings, chosen_seed
from tests.fakes.vfs import Trouble

ROW = "{:<44}{:>9}{:>12}{:>7}{:>9}{:>9}{:>10}"


@dataclass
class Torture:
    seed: int
    failed: bool = False

    def row(self, test: str, count: int, findings: Findings, seconds: float) -> None:
        cells = (len(findings.lost), len(findings.doubled), len(findings.corrupt))
        print(ROW.format(test, count, self.seed, *cells, f"{seconds:.1f}"), flush=True)
        if findings:
            self.failed = True
            print(f"  {findings}", flush=True)

    def timed(self, test: str, work: Callable[[str], tuple[int, Findings]]) -> None:
        """Run one test in a directory of its own and print its line."""
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        scratch = tempfile.mkdtemp(prefix="recollect-torture-", dir=parent)
        start = time.monotonic()
        try:
            count, findings = work(scratch)
        except AssertionError as error:
            count, findings = 0, Findings(corrupt=[str(error)])
        finally:
            shutil.rmtree(scratch)
        self.row(test, count, findings, time.monotonic() - start)

    def kills(self, count: int) -> None:
        start = time.monotonic()
        report = kill.run(count, self.seed)
        name = f"kill -9, {report.acknowledged} acknowledged"
        self.row(name, report.cycles, report.findings, time.monotonic() - start)

    def cuts(self, count: int) -> None:
        for workload in power.WORKLOADS:

            def work(scratch: str, workload: power.Workload = workload) -> tuple[int, Findings]:
                steps = power.record(workload, os.path.join(scratch, "home"))
                chance = random.Random(self.seed)
                report = power.cut(steps, count // len(power.WORKLOADS) + 1, chance, scratch)
                return report.cuts, report.findings

            self.timed(f"power cut, {workload.__name__}", work)

    def faults(self) -> None:
        for name, kind in faults.KINDS.items():
            for fresh in (False, True):

                def work(
                    scratch: str, kind: Trouble = kind, fresh: bool = fresh
                ) -> tuple[int, Findings]:
                    report = faults.run(replace(kind), scratch, fresh=fresh)
                    return report.runs, report.findings

                self.timed(f"{name}, {'new' if fresh else 'old'} store", work)

    def flips(self, count: int) -> None:
        def work(scratch: str) -> tuple[int, Findings]:
            flips.run(count, random.Random(self.seed), scratch)
            return count, Findings()

        self.timed("bit flips", work)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0, help="rounds of everything until then")
    parser.add_argument("--kill", type=int, default=0, metavar="N", help="kill -9 cycles")
    parser.add_argument("--cuts", type=int, default=0, metavar="N", help="power cuts")
    parser.add_argument("--flips", type=int, default=0, metavar="N", help="bit flips")
    parser.add_argument("--faults", action="store_true", help="every fault at every call")
    parser.add_argument("--seed", type=int, default=None, help="default: RECOLLECT_SEED or random")
    chosen = parser.parse_args()
    torture = Torture(chosen_seed() if chosen.seed is None else chosen.seed)
    print(ROW.format("test", "count", "seed", "lost", "doubled", "corrupt", "seconds"))
    if chosen.kill:
        torture.kills(chosen.kill)
    if chosen.cuts:
        torture.cuts(chosen.cuts)
    if chosen.flips:
        torture.flips(chosen.flips)
    if chosen.faults:
        torture.faults()
    end = time.monotonic() + chosen.minutes * 60
    while chosen.minutes and time.monotonic() < end and not torture.failed:
        torture.kills(100)
        torture.cuts(1000)
        torture.flips(200)
        torture.faults()
        torture.seed += 1
    return int(torture.failed)


if __name__ == "__main__":
    sys.exit(main())
