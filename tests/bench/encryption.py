"""What encryption costs: `python -m tests.bench.encryption`.

In: a directory on a real disk. Out: microseconds of CPU for storing an event (16 a commit), for
finding by words in a store that was just opened, and for reading a stored event; the size of the
file; the time that `recollect encrypt` takes a store of that size. Rounds with and without a key
alternate in one run, medians count. `--only plain` compares two builds of SQLite, a process each.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable

import apsw

from recollect.core import store_key
from recollect.core.settings import Settings
from recollect.store.sqlite import DATABASE, SqliteStore, upkeep
from tests.crash.oracle import arrival, memory, namespace

EVENTS = 3000
RECORDS = 600
SEARCHES = 300
READS = 2000


def cpu_us(work: Callable[[], object], count: int) -> float:
    before = time.process_time()
    work()
    return (time.process_time() - before) / count * 1e6


def measure(home: str, source: str) -> dict[str, float]:
    chosen = Settings(home=home, reserve_mb=0, encryption_key=source)
    store = SqliteStore(chosen)
    arrivals = [arrival(0, number, 1000) for number in range(EVENTS)]

    def ingest() -> None:
        for start in range(0, EVENTS, 16):
            store.events.put(arrivals[start : start + 16])

    found = {"store an event": cpu_us(ingest, EVENTS)}
    store.records.put([memory(0) for _ in range(RECORDS)])
    store.close()
    store = SqliteStore(chosen)
    where = namespace(0)

    def search() -> None:
        for _ in range(SEARCHES):
            assert store.records.search([where], "durable acknowledged", 10)

    def read() -> None:
        for one in arrivals[:READS]:
            assert store.events.get(where, one.event.event_id)

    found["find by words"] = cpu_us(search, SEARCHES)
    found["read an event"] = cpu_us(read, READS)
    store.close()
    path = os.path.join(home, DATABASE)
    found["file, KB"] = os.path.getsize(path) / 1000
    if source:
        upkeep.recode(path, None)
        again = store_key.make(source)
        found["encrypt the store, ms"] = cpu_us(lambda: upkeep.recode(path, again), 1) / 1000
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.encryption", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--directory", default="/var/tmp", help="on a disk, not in memory")
    parser.add_argument("--only", choices=("plain", "encrypted"))
    chosen = parser.parse_args()
    ways = [chosen.only] if chosen.only else ["plain", "encrypted"]
    found: dict[str, dict[str, list[float]]] = {way: {} for way in ways}
    for _ in range(chosen.rounds):
        for way in ways:
            folder = tempfile.mkdtemp(prefix="recollect-bench-", dir=chosen.directory)
            try:
                source = f"file:{folder}/key" if way == "encrypted" else ""
                for name, value in measure(os.path.join(folder, "home"), source).items():
                    found[way].setdefault(name, []).append(value)
            finally:
                shutil.rmtree(folder)
    print(
        f"apsw {apsw.apsw_version()}, {getattr(apsw, 'mc_version', 'no cipher')}; CPU µs, medians"
    )
    for name in found[ways[-1]]:
        values = [f"{way} {statistics.median(found[way].get(name, [0])):.1f}" for way in ways]
        print(f"{name:<24}{'   '.join(values)}")


if __name__ == "__main__":
    main()
