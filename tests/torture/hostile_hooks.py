"""Every hostile condition of the hook as a case: no call may fail, print or hang."""

import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.conditions import CONDITIONS, prepare, run
from tests.torture.case import Case, Report


def _conditions(chance: random.Random, tries: int, scratch: Path) -> Report:
    """All conditions, both hooks, in an order of its own each time."""
    report = Report()
    for _ in range(tries):
        cases = [
            (condition, prepare(condition, kind, Path(tempfile.mkdtemp(dir=scratch))))
            for condition in CONDITIONS
            for kind in condition.kinds
        ]
        chance.shuffle(cases)
        with ThreadPoolExecutor(8) as pool:
            runs = [(pool.submit(run, *case), case) for case in cases]
            for future, (condition, hook) in runs:
                report.tries += len(condition.events)
                if error := future.exception():
                    report.failed("wrong", f"{condition.name} ({hook.kind}): {error!r}"[:500])
    return report


CASES = [Case("hostile conditions of the hook", _conditions, 1)]
