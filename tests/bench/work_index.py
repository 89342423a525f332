"""What the work index costs, measured: `python -m tests.bench.work_index`.

In: made-up sessions, in stores of growing size. Out: microseconds of CPU of this process for each
event, in three parts: deriving (what one event adds to its turn), storing (the row of its turn, and
the same in memory), loading (a project from its rows, once, for each event in it). Sizes alternate
in each round; medians count. Exit code 1 when deriving and storing take more than 0.3 ms an event
in any store, or half as much again in the largest store as in the smallest.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from recollect.core import ids
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Body, Event, EventKind, EventSource, TextBody, TurnWork
from recollect.hosts.adapter import answer_draft, tool_draft
from recollect.store.sqlite import SqliteStore
from recollect.work.cache import WorkCache
from recollect.work.turn_work import work_of
from tests.make import NAMESPACE, NOON

BAR_US = 300.0
FLAT = 1.5
CALLS = 12  # of tools in one turn
PER_TURN = CALLS + 2  # with prompt and answer
TURNS = 20  # of a round
FILES = 3_000
SHOP = "/home/ada/shop"
WORDS = tuple(f"{a}{b}" for a in ("retry", "order", "price", "cart", "login") for b in range(80))
OUTPUT = "collected 40 items\n" + "tests/unit/test_shop.py ....\n" * 60


class Sessions:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._turns = 0

    def turn(self) -> list[Event]:
        self._turns += 1
        session = f"s{self._turns // 6}"
        at = NOON + timedelta(minutes=self._turns)
        prompt = TextBody(content=f"Please mend {self._words(12)} and test it.")
        answer = answer_draft(f"I mended {self._words(40)}.")
        assert answer is not None
        bodies: list[tuple[EventKind, Body]] = [
            ("prompt", prompt),
            *(self._call() for _ in range(CALLS)),
            ("session_summary", answer.body),
        ]
        return [
            Event(
                event_id=ids.new_ulid(), session_id=session, actor_id="ada", namespace=NAMESPACE,
                kind=kind, body=body, valid_time=at,
                source=EventSource(surface="claude-code", project_path=SHOP, branch="fix"),
            )
            for kind, body in bodies
        ]  # fmt: skip

    def _call(self) -> tuple[EventKind, Body]:
        path = f"/home/ada/shop/src/part{self._random.randrange(FILES) // 50}/{self._word()}.py"
        which = self._random.randrange(3)
        if which == 0:
            old, new = self._code(), self._code()
            given = {"file_path": path, "old_string": old, "new_string": f"def cap(n):\n{new}"}
            draft = tool_draft("Edit", given, {"filePath": path}, call="x")
        elif which == 1:
            draft = tool_draft("Read", {"file_path": path}, {"file": {"content": OUTPUT}}, call="x")
        else:
            command = f"cd /home/ada/shop && python -m pytest -q {path} 2>&1 | tail -5"
            draft = tool_draft("Bash", {"command": command}, {"stdout": OUTPUT}, call="x")
        return "tool_use", draft.body

    def _code(self) -> str:
        """As much text as one side of an edit has in real sessions."""
        lines = (f"    {self._word()}_{self._word()} = self.{self._word()}(1)" for _ in range(18))
        return "\n".join(lines)

    def _word(self) -> str:
        return self._random.choice(WORDS)

    def _words(self, count: int) -> str:
        return " ".join(self._word() for _ in range(count))


def cpu_us(work: Callable[[], object], events: int) -> float:
    began = time.process_time_ns()
    work()
    return (time.process_time_ns() - began) / 1000 / events


@dataclass
class Measured:
    """A store of one size, and what was measured in it."""

    sessions: Sessions
    store: SqliteStore
    cache: WorkCache
    load: float
    derive: list[float] = field(default_factory=list)
    keep: list[float] = field(default_factory=list)

    def round(self) -> None:
        turns = [self.sessions.turn() for _ in range(TURNS)]
        made: list[TurnWork] = []
        self.derive.append(cpu_us(lambda: made.extend(works_of(turns)), TURNS * PER_TURN))
        self.keep.append(cpu_us(lambda: self._put(made), TURNS * PER_TURN))

    def _put(self, works: Iterable[TurnWork]) -> None:
        """Each turn by itself, as it is written."""
        for one in works:
            self.cache.put([one])


def works_of(turns: Iterable[list[Event]]) -> list[TurnWork]:
    return [one for one in map(work_of, turns) if one is not None]


def filled(place: str, size: int) -> Measured:
    sessions = Sessions(size)
    chosen = Settings(home=f"{place}/{size}", actor="ada", reserve_mb=0)
    store = SqliteStore(chosen, ManualClock(NOON))
    store.turn_works.put(works_of(sessions.turn() for _ in range(size)))
    cache = WorkCache(store)
    load = cpu_us(lambda: cache.fill([NAMESPACE]), size * PER_TURN)
    return Measured(sessions, store, cache, load)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, nargs="+", default=[100, 2_000, 15_000])
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        stores = {size: filled(place, size) for size in chosen.turns}
        for _ in range(chosen.rounds):
            for one in stores.values():
                one.round()
        print("CPU microseconds an event (median); a turn has", PER_TURN, "events")
        print(f"{'turns':>8} {'touches':>9} {'derive':>8} {'store':>8} {'sum':>8} {'load':>8}")
        sums = []
        for size, one in stores.items():
            rows = list(one.store.turn_works.stream(NAMESPACE))
            touches = sum(bool(action.path) for row in rows for action in row.actions)
            derive, keep = statistics.median(one.derive), statistics.median(one.keep)
            sums.append(derive + keep)
            figures = (derive, keep, derive + keep, one.load)
            print(f"{size:>8} {touches:>9}", *(f"{figure:>8.1f}" for figure in figures))
            one.store.close()
    return 0 if max(sums) <= BAR_US and sums[-1] <= FLAT * sums[0] else 1


if __name__ == "__main__":
    sys.exit(main())
