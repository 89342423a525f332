"""Group commit, measured: `python -m tests.bench.ingest`.

In: a directory on a real disk. Out: acknowledged rows a second with 16 client threads (one event
a put), with one thread that commits 16 rows at a time, with one row per commit, and from a spool
that the daemon drains (read, scrubbed, stored, removed); rounds alternate in one run, medians
count. Exit code 1 when the threads are below half of the loop, or when 50,000 spooled events would
take more than two minutes of CPU.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable

from recollect.core.settings import Settings
from recollect.core.values import Arrival
from recollect.daemon.runtime import Runtime
from recollect.store.sqlite import SqliteStore
from tests.crash.oracle import arrival, open_store
from tests.torture.events import fill_spool

THREADS = 16
BYTES = 1000
BAR = 0.5
SPOOLED = 50_000
SPOOL_BAR_S = 120.0


def sixteen_threads(store: SqliteStore, arrivals: list[Arrival]) -> None:
    def client(number: int) -> None:
        for one in arrivals[number::THREADS]:
            store.events.put([one])

    threads = [threading.Thread(target=client, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def sixteen_at_a_time(store: SqliteStore, arrivals: list[Arrival]) -> None:
    for start in range(0, len(arrivals), THREADS):
        store.events.put(arrivals[start : start + THREADS])


def one_at_a_time(store: SqliteStore, arrivals: list[Arrival]) -> None:
    for one in arrivals:
        store.events.put([one])


Way = Callable[[SqliteStore, list[Arrival]], None]
WAYS: tuple[tuple[Way, float], ...] = (
    (sixteen_threads, 1.0),
    (sixteen_at_a_time, 1.0),
    (one_at_a_time, 0.1),  # so slow that a tenth of the rows is enough
)


def measure(directory: str, rows: int, rounds: int) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {way.__name__: [] for way, _ in WAYS}
    for _ in range(rounds):
        for way, share in WAYS:
            home = tempfile.mkdtemp(prefix="recollect-bench-", dir=directory)
            try:
                store = open_store(home)
                arrivals = [arrival(0, number, BYTES) for number in range(int(rows * share))]
                start = time.perf_counter()
                way(store, arrivals)
                seconds = time.perf_counter() - start
                assert store.upkeep.stats().events == len(arrivals)
                store.close()
            finally:
                shutil.rmtree(home)
            rates[way.__name__].append(len(arrivals) / seconds)
    return rates


def measure_drain(directory: str, rows: int, rounds: int) -> tuple[list[float], list[float]]:
    """Events a second, and seconds of CPU an event, of a daemon that only drains."""
    rates, costs = [], []
    for _ in range(rounds):
        home = tempfile.mkdtemp(prefix="recollect-bench-", dir=directory)
        try:
            fill_spool(pathlib.Path(home), rows, "x" * BYTES)
            runtime = Runtime(Settings(home=home, actor="bench", reserve_mb=0))
            start, cpu = time.perf_counter(), time.process_time()
            runtime.upkeep.drain()
            rates.append(rows / (time.perf_counter() - start))
            costs.append((time.process_time() - cpu) / rows)
            assert runtime.store.upkeep.stats().events == rows
            runtime.close()
        finally:
            shutil.rmtree(home)
    return rates, costs


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ingest", description=__doc__)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--directory", default="/var/tmp", help="on a disk, not in memory")
    chosen = parser.parse_args()
    os.makedirs(chosen.directory, exist_ok=True)
    rates = measure(chosen.directory, chosen.rows, chosen.rounds)
    rates["drained_spool"], costs = measure_drain(chosen.directory, chosen.rows, chosen.rounds)
    print(f"{'way':<20}{'median rows/s':>15}{'lowest':>10}{'highest':>10}")
    for name, found in rates.items():
        median = statistics.median(found)
        print(f"{name:<20}{median:>15.0f}{min(found):>10.0f}{max(found):>10.0f}")
    share = statistics.median(rates["sixteen_threads"]) / statistics.median(
        rates["sixteen_at_a_time"]
    )
    print(f"16 threads reach {share:.0%} of 16 rows a commit (bar: {BAR:.0%})")
    seconds = statistics.median(costs) * SPOOLED
    told = f"{SPOOLED:,} spooled events take {seconds:.0f} s of CPU (bar: {SPOOL_BAR_S:.0f} s)"
    print(told)
    return int(share < BAR or seconds > SPOOL_BAR_S)


if __name__ == "__main__":
    sys.exit(main())
