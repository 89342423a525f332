"""Two daemons, one server, 200 events a second: `python -m tests.crash.torture_postgres`.

In: seconds, rate, restarts and a seed. Out: a line of figures, and exit code 1 when anything was
lost or doubled.
"""

import argparse
import pathlib
import sys
import tempfile
import time

from tests.crash import postgres
from tests.crash.oracle import chosen_seed
from tests.fakes.postgres import running


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--restarts", type=int, default=1)
    parser.add_argument("--seed", type=int, default=chosen_seed())
    chosen = parser.parse_args()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="recollect-pg-") as scratch,
        running(durable=True) as server,
    ):
        report = postgres.run(
            pathlib.Path(scratch),
            server,
            rate=chosen.rate,
            seconds=chosen.seconds,
            restarts=chosen.restarts,
            seed=chosen.seed,
        )
    print(
        f"seed {chosen.seed}: {report.sent} sent by two daemons in {chosen.seconds:.0f} s, "
        f"{report.restarts} restarts of the server, {report.spooled} spooled, "
        f"{report.stored} stored, {len(report.findings.lost)} lost, "
        f"{len(report.findings.doubled)} doubled, slowest hook {report.slowest_s:.2f} s, "
        f"{time.monotonic() - began:.0f} s in all"
    )
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
