"""Attacks on what was captured: a store that hangs, a daemon that dies, arrivals in any order.

In: chance, a number of tries and a scratch directory. Out: what was lost, doubled or read in
another order than it happened. Real hooks, a real daemon, a real database.
"""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from tests.fakes.daemons import RealDaemon
from tests.torture.case import Case, Report

PATIENCE_S = 60.0
HOOKS = 4  # that fire while the store hangs, each try


def hanging_store(dice: random.Random, tries: int, scratch: Path) -> Report:
    """The database is held by somebody else, as a slow disk would hold it: hooks lose patience and
    spool what the daemon is still trying to store. Then the daemon is killed."""
    report = Report()
    daemon = RealDaemon(scratch / "home")
    daemon.install_hook()
    sent: list[str] = []
    try:
        for number in range(tries):
            daemon.start()
            texts = [f"try {number}, hook {hook}" for hook in range(HOOKS)]
            with _held(daemon.home / "recollect.db"):
                _fire(daemon, texts)
                # The spool is drained every two seconds; what is in flight gives up after five.
                time.sleep(dice.uniform(2.0, 3.5))
                daemon.kill()
            sent += texts
            report.tries += 1
        daemon.start()
        waited_for(lambda: not daemon.client.get("/healthz")["spool"]["events"])
        stored = [one["body"]["content"] for one in daemon.events("/")]
    finally:
        if daemon.process is not None:
            daemon.stop()
    for text in sent:
        if stored.count(text) != 1:
            report.failed("doubled" if text in stored else "lost", text)
    return report


def waited_for(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this should have come long ago"
        time.sleep(0.05)


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """Nobody else can write to this database meanwhile."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(5000)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()


def _fire(daemon: RealDaemon, texts: list[str]) -> None:
    """One hook a text, side by side, until all have ended."""

    def fire(text: str) -> None:
        payload = {"session_id": "s", "cwd": "/", "prompt": text}
        daemon.run_hook("claude-code", "UserPromptSubmit", payload)

    threads = [threading.Thread(target=fire, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


CASES = [Case("a store that hangs, then kill -9", hanging_store, tries=10)]
