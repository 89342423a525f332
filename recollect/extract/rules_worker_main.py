"""The extraction worker: takes batches from its line, answers with what the rules made of them.

In: a file descriptor, the daemon's process, CPU seconds a batch may take, seconds to wait for one.
It has no database: what the rules read they ask for. It ends when the line does, when the daemon is
gone, when it was idle for long, and when the kernel says that its CPU seconds are over.
"""

import contextlib
import os
import resource
import sys
import traceback
from collections.abc import Sequence
from datetime import datetime
from multiprocessing.connection import Connection
from typing import Any

from recollect.core import oslayer
from recollect.core.clock import ManualClock
from recollect.core.values import Record, StoredEvent
from recollect.extract import pickle_channel
from recollect.extract.rules import RulesExtractor
from recollect.store.interface import Batch

_NICE = 5  # hooks and prompts first


class _Asking:
    """The rules' questions, answered at the other end of the line."""

    def __init__(self, line: Connection) -> None:
        self._line = line

    def around(
        self, namespace: str, session_id: str, seqs: Sequence[int], before: int, after: int
    ) -> Sequence[StoredEvent]:
        return self._ask_many("around", namespace, session_id, seqs, before, after)

    def beginning(self, namespace: str, session_id: str, limit: int) -> Sequence[StoredEvent]:
        return self._ask_many("beginning", namespace, session_id, limit)

    def latest(self, namespace: str, session_id: str, limit: int) -> Sequence[StoredEvent]:
        return self._ask_many("latest", namespace, session_id, limit)

    def calls(self, namespace: str, limit: int) -> Sequence[StoredEvent]:
        return self._ask_many("calls", namespace, limit)

    def by_hash(self, namespace: str, content_hash: str) -> Record | None:
        return next(iter(self._ask_many("by_hash", namespace, content_hash)), None)

    def observed(self, namespace: str, session_id: str, limit: int) -> Sequence[Record]:
        return self._ask_many("observed", namespace, session_id, limit)

    def refused(self, namespace: str, value: str) -> bool:
        return any(self._ask_many("refused", namespace, value))

    def _ask_many(self, name: str, *args: Any) -> Sequence[Any]:
        pickle_channel.send(self._line, ("ask", name, args))
        return pickle_channel.receive_all(self._line)


class _Moment(ManualClock):
    """The time is the daemon's, told with each batch."""

    def set(self, now: datetime) -> None:
        self._now = now


def serve(line: Connection, cpu_s: int, idle_s: float) -> None:
    clock = _Moment()
    rules = RulesExtractor(_Asking(line), clock)
    while line.poll(idle_s):
        match pickle_channel.receive(line):
            case ("there?",):
                pickle_channel.send(line, "here")
            case ("extract", namespace, now):
                _allow(cpu_s)
                clock.set(now)
                pickle_channel.send(
                    line, _extracted(rules, Batch(namespace, pickle_channel.receive_all(line)))
                )


def _extracted(rules: RulesExtractor, batch: Batch) -> tuple[Any, ...]:
    try:
        return ("done", rules.extract(batch))
    except (EOFError, OSError):
        raise  # nobody is there to be told
    except Exception as error:  # noqa: BLE001 - told, and counted against the batch
        return ("failed", type(error).__name__, traceback.format_exc())


def _allow(seconds: int) -> None:
    """So much CPU from now on. In the middle of one long match no line of Python runs that could
    look at a clock; the kernel can."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def main() -> None:
    number, parent, cpu_s, idle_s = sys.argv[1:]
    oslayer.die_with(int(parent))
    os.nice(_NICE)
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))  # it may hold what nobody should find
    with contextlib.suppress(EOFError, OSError):  # the daemon has gone
        serve(Connection(int(number)), int(cpu_s), float(idle_s))


if __name__ == "__main__":
    main()
