"""`python -m tests.e2e.torture_hook [rounds]`: every hostile condition again and again.

In: how many rounds, about 490 calls each. Out: a line per round; exit status 1 and the conditions'
names when a single call misbehaved. For `make torture`; `make test` does one round.
"""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.conditions import CONDITIONS, prepare, run


def one_round(scratch: Path) -> tuple[int, list[str]]:
    """How many calls were made, and what failed."""
    cases = [
        (condition, prepare(condition, kind, Path(tempfile.mkdtemp(dir=scratch))))
        for condition in CONDITIONS
        for kind in condition.kinds
    ]
    failed = []
    with ThreadPoolExecutor(8) as pool:
        runs = [(pool.submit(run, *case), case) for case in cases]
        for future, (condition, hook) in runs:
            if error := future.exception():
                failed.append(f"{condition.name} ({hook.kind}): {error!r}"[:500])
    return sum(len(condition.events) for condition, _ in cases), failed


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    calls = failures = 0
    for index in range(rounds):
        with tempfile.TemporaryDirectory() as scratch:
            made, failed = one_round(Path(scratch))
        calls += made
        failures += len(failed)
        print(f"round {index + 1}: {calls} calls, {failures} conditions failed", flush=True)
        for line in failed:
            print("  " + line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
