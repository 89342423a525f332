"""kill -9: a process that serves four writing clients dies at a random instant, again and again.

In: a number of cycles and a seed. Out: findings and counts. The acknowledgements go through one
pipe per client to the process that survives.
"""

import multiprocessing
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

from tests.crash.oracle import (
    CLIENTS,
    Findings,
    Told,
    compare,
    converse,
    numbers_stored,
    open_store,
)

CYCLES_PER_HOME = 12  # then a new one, so that some are killed while it is made


@dataclass
class Report:
    cycles: int = 0
    acknowledged: int = 0
    findings: Findings = field(default_factory=Findings)


def serve(home: str, starts: list[int], pipes: list["Connection[Told, Told]"]) -> None:
    """The process that is killed: a store and its clients."""
    store = open_store(home)

    def client(number: int) -> None:
        converse(store, number, pipes[number].send, range(starts[number], 1 << 30))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run(cycles: int, seed: int, note: Callable[[Report], None] = lambda report: None) -> Report:
    chance = random.Random(seed)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crash.kill"])
    report = Report()
    home = ""
    told: list[Told] = []
    starts = [0] * CLIENTS
    try:
        for cycle in range(cycles):
            if cycle % CYCLES_PER_HOME == 0:
                if home:
                    shutil.rmtree(home)
                home = tempfile.mkdtemp(prefix="recollect-kill-")
                told, starts = [], [0] * CLIENTS
            fresh = _live_and_die(context, home, starts, chance.uniform(0.020, 0.350))
            told += fresh
            store = open_store(home)
            findings = compare(store, told)
            starts = [len(numbers_stored(store, client)) for client in range(CLIENTS)]
            store.close()
            report.cycles += 1
            report.acknowledged += len(fresh)
            report.findings.add(findings)
            note(report)
            if findings:
                break
    finally:
        if home:
            shutil.rmtree(home)
    return report


def _live_and_die(
    context: multiprocessing.context.ForkServerContext, home: str, starts: list[int], delay: float
) -> list[Told]:
    """Start the process, kill it after `delay` seconds; what its clients were told meanwhile."""
    ends = [context.Pipe(duplex=False) for _ in range(CLIENTS)]
    process = context.Process(target=serve, args=(home, starts, [theirs for _, theirs in ends]))
    process.start()
    for _, theirs in ends:
        theirs.close()
    told: list[Told] = []
    killed = False
    deadline = time.monotonic() + delay
    listening: list[Connection[Told, Told]] = [ours for ours, _ in ends]
    while listening:
        if not killed and time.monotonic() >= deadline:
            process.kill()
            killed = True
        for pipe in wait(listening, None if killed else max(0.0, deadline - time.monotonic())):
            assert isinstance(pipe, Connection)
            try:
                told.append(pipe.recv())
            except (EOFError, OSError):  # the end, or a message that the kill cut in two
                listening.remove(pipe)
                pipe.close()
    process.join()
    assert process.exitcode == -9, f"the process ended by itself: {process.exitcode}"
    process.close()
    return told
