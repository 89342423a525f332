"""The rules worker: a process that receives batches and answers with what the rules extract.

In: a file descriptor, the daemon's pid, CPU seconds per batch, seconds to wait for a batch. It has
no database: the rules ask the daemon for what they read. It ends when the connection closes, when
the daemon is gone, when it was idle for long, and when it exceeds its CPU seconds.
"""

import contextlib
import functools
import sys
import traceback
from datetime import datetime
from multiprocessing.connection import Connection
from typing import Any

from recollect.core import oslayer
from recollect.core.clock import ManualClock
from recollect.extract import pickle_channel
from recollect.extract.rules.extractor import RulesExtractor
from recollect.store.interface import Batch

_NICE = 5  # hooks and prompts first


class _RemoteReads:
    """What the rules read (`StoreReads`), asked of the daemon over the connection."""

    def __init__(self, line: Connection) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Any:
        return functools.partial(self._ask, name)

    def _ask(self, name: str, *args: Any) -> Any:
        pickle_channel.send(self._line, ("ask", name, args))
        return pickle_channel.receive_answer(self._line)


class _DaemonClock(ManualClock):
    """The daemon's time, sent with each batch."""

    def set(self, now: datetime) -> None:
        self._now = now


def serve(line: Connection, cpu_s: int, idle_s: float) -> None:
    clock = _DaemonClock()
    reads: Any = _RemoteReads(line)
    rules = RulesExtractor(reads, clock)
    while line.poll(idle_s):
        match pickle_channel.receive(line):
            case ("there?",):
                pickle_channel.send(line, "here")
            case ("extract", namespace, now):
                oslayer.limit_cpu(cpu_s)
                clock.set(now)
                pickle_channel.send(
                    line, _extracted(rules, Batch(namespace, pickle_channel.receive_all(line)))
                )


def _extracted(rules: RulesExtractor, batch: Batch) -> tuple[Any, ...]:
    try:
        return ("done", rules.extract(batch))
    except (EOFError, OSError):
        raise  # the daemon is gone
    except Exception as error:  # noqa: BLE001 - reported, and counted against the batch
        return ("failed", type(error).__name__, traceback.format_exc())


def main() -> None:
    number, parent, cpu_s, idle_s = sys.argv[1:]
    oslayer.die_with(int(parent))
    oslayer.be_background(_NICE)
    with contextlib.suppress(EOFError, OSError):  # the daemon has gone
        serve(oslayer.inherited_pipe(number), int(cpu_s), float(idle_s))


if __name__ == "__main__":
    main()
