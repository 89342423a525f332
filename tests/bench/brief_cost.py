"""`python -m tests.bench.brief_cost [turns]`: what work costs a brief in a large project.

In: a made-up project of 20,000 turns and 200,000 touches, with words, files and branches by Zipf's
law and sessions in the order of time. Out: CPU per prompt of ranking files and of all lines about
work, CPU per turn that is put, CPU and memory of a cold load, and how long a prompt waits while the
project is loaded in the background.
"""

import argparse
import gc
import statistics
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

import numpy as np

from recollect.core.ids import new_ulid
from recollect.core.settings import Settings
from recollect.core.values import Action, How, TurnWork
from recollect.inject.gather import branch_line, files_line, runs_line
from recollect.store.sqlite import SqliteStore
from recollect.work.cache import WorkCache
from recollect.work.index import ProjectWork
from recollect.work.likely_files import Ask, rank

NAMESPACE = "/actor/ada/project/large/"
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
HOWS: Sequence[How] = ("edit", "read", "read", "read", "search", "run")
FILES = 5_000
WORDS = 60_000
BRANCHES = 800
COMMANDS = 3_000
PEOPLE = 8


class Made:
    """A project that was never worked in."""

    def __init__(self, seed: int = 17) -> None:
        self._random = Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._words = np.array([_word(n) for n in range(WORDS)])
        # As flat as the transcripts of /work/shared/bench/sessions, where three turns together
        # hold words whose shares of the turns add up to 22.
        self._word_odds = _zipf(WORDS, 1.35, 25.0)
        folders = [f"{_word(n)}/{_word(7 * n + 3)}" for n in range(240)]
        self._files = [
            f"{folders[int(n)]}/{'' if number % 5 else 'test_'}{_word(number)}.py"
            for number, n in enumerate(self._numbers.integers(0, len(folders), FILES))
        ]
        self._file_odds = _zipf(FILES, 0.9, 3.0)
        self._branch_odds = _zipf(BRANCHES, 0.7, 1.0)

    def turns(self, count: int) -> Iterator[TurnWork]:
        """In the order of time, four or five to a session."""
        at, made, session = BEGIN, 0, 0
        while made < count:
            session += 1
            at += timedelta(minutes=self._random.expovariate(1 / 180))
            branch = self._branch()
            person = f"p{session % PEOPLE}"
            near = self._numbers.choice(FILES, 40, p=self._file_odds).tolist()
            for _ in range(min(count - made, 1 + int(self._random.expovariate(1 / 3.6)))):
                at += timedelta(minutes=self._random.expovariate(1 / 6))
                yield self._turn(f"session {session}", at, branch, person, near)
                made += 1

    def _branch(self) -> str:
        if self._random.random() < 0.4:
            return "main"
        number = int(self._numbers.choice(BRANCHES, p=self._branch_odds))
        return f"{_word(number)}-{_word(3 * number + 1)}"

    def _turn(
        self, session: str, at: datetime, branch: str, person: str, near: Sequence[int]
    ) -> TurnWork:
        size = min(400, int(self._random.lognormvariate(4.15, 0.75)))
        drawn = self._numbers.choice(WORDS, 3 * size, p=self._word_odds)
        some, often = np.unique(drawn, return_counts=True)
        kept = self._numbers.permutation(len(some))[:size]
        touched = [
            self._files[int(near[min(int(self._random.expovariate(1 / 10)), len(near) - 1)])]
            for _ in range(min(300, int(self._random.lognormvariate(1.95, 0.85)) + 1))
        ]
        actions = [Action(how=self._random.choice(HOWS), path=path) for path in touched]
        if self._random.random() < 0.5:
            form = int(min(COMMANDS - 1, self._random.paretovariate(0.6) - 1))
            failed = self._random.random() < 0.2
            actions.append(Action(how="run", command=f"make {_word(form)}", failed=failed))
        defines: list[tuple[str, str]] = []
        if self._random.random() < 0.3:
            for _ in range(self._random.randint(1, 12)):
                defines.append((f"{_word(self._random.randrange(40_000))}Of", touched[0]))
        # As in real sessions: half of the turns edit, the mean of all is 11 names.
        edited: list[str] = []
        if self._random.random() < 0.5:
            count = min(100, int(self._random.expovariate(1 / 22)) + 1)
            numbers = (int(self._random.paretovariate(0.6)) % 40_000 for _ in range(count))
            edited = list(dict.fromkeys(f"{_word(one)}Of" for one in numbers))
        return TurnWork(
            turn_id=new_ulid(),
            namespace=NAMESPACE,
            session_id=session,
            at=at,
            person=person,
            branch=branch,
            actions=tuple(actions),
            commits=(f"Mend {_word(size)}",) if self._random.random() < 0.15 else (),
            defines=tuple(defines),
            edited={touched[0]: tuple(edited)} if edited else {},
            terms={str(self._words[some[n]]): int(often[n]) for n in kept},
        )

    def asks(self, turns: Sequence[TurnWork], count: int) -> list[Ask]:
        """Prompts in sessions of the last days, most of them under way."""
        found = []
        for _ in range(count):
            last = turns[-self._random.randint(1, min(len(turns), 300))]
            drawn = self._numbers.choice(
                WORDS, self._random.choice((3, 10, 20, 60)), p=self._word_odds
            )
            text = " ".join(map(str, self._words[drawn]))
            if self._random.random() < 0.3:
                text += f" {self._random.choice(self._files)}"
            session = last.session_id if self._random.random() < 0.7 else "new"
            at = turns[-1].at.timestamp() + 60
            found.append(Ask(text, at, session, last.person, last.branch))
        return found


def _zipf(size: int, power: float, shift: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    odds = 1 / (np.arange(size) + 1 + shift) ** power
    return np.asarray(odds / odds.sum())


_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aiou"]


def _word(number: int) -> str:
    """A made-up word that is its own stem."""
    parts = []
    number += len(_SYLLABLES)
    while number:
        number, part = divmod(number, len(_SYLLABLES))
        parts.append(_SYLLABLES[part])
    return "".join(parts) + "k"


def everything(work: ProjectWork, ask: Ask) -> list[str]:
    """All that a brief takes from work."""
    likely = rank(work, ask)[:8]
    found = (
        branch_line(work, ask, ()),
        runs_line(work, ask, ()),
        files_line(work, ask, likely, ()),
    )
    return [line.line for line in found if line is not None]


def cpu_ms(action: Callable[[], object]) -> float:
    begun = time.thread_time()
    action()
    return (time.thread_time() - begun) * 1000


def told(title: str, samples: Sequence[float]) -> None:
    ordered = sorted(samples)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(
        f"{title}: p50 {statistics.median(ordered):.3f}, p95 {p95:.3f}, most {ordered[-1]:.3f} ms"
    )


def measure_index(turns: Sequence[TurnWork], asks: Sequence[Ask]) -> None:
    work = ProjectWork()
    added = [cpu_ms(partial(work.add, one)) for one in turns]
    print(f"adding all turns: {sum(added):.0f} ms of CPU")
    told("adding one of the last tenth", added[-len(added) // 10 :])
    for ask in asks[:5]:
        everything(work, ask)
    told("ranking files at a prompt", [cpu_ms(partial(rank, work, ask)) for ask in asks])
    told("all lines at a prompt", [cpu_ms(partial(everything, work, ask)) for ask in asks])


def measure_memory(store: SqliteStore) -> None:
    tracemalloc.start()
    work = ProjectWork()
    for one in store.turn_works.stream(NAMESPACE):
        work.add(one)
    gc.collect()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"memory of the project: {held / 1e6:.0f} MB, {peak / 1e6:.0f} MB while it is read")


def measure_load(store: SqliteStore, asks: Sequence[Ask]) -> None:
    begun = time.process_time()
    WorkCache(store).fill([NAMESPACE])
    print(f"cold load: {(time.process_time() - begun) * 1000:.0f} ms of CPU")
    cache = WorkCache(store)
    waited: list[tuple[float, float]] = []
    begun = time.monotonic()
    for ask in asks:
        at = time.monotonic()
        question = partial(everything, ask=ask)
        cpu = cpu_ms(partial(cache.ask, NAMESPACE, question))
        waited.append(((time.monotonic() - at) * 1000, cpu))
        if cache.ready(NAMESPACE):
            break
        threading.Event().wait(0.02)
    took = time.monotonic() - begun
    print(f"loaded in the background in {took:.1f} s, with {len(waited)} prompts meanwhile")
    print(f"the first of them waited {waited[0][0]:.1f} ms")
    told("wall of the others", [wall for wall, _ in waited[1:]])
    told("CPU of the others", [cpu for _, cpu in waited[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", type=int, nargs="?", default=20_000)
    parser.add_argument("--asked", type=int, default=300)
    chosen = parser.parse_args()
    made = Made()
    turns = list(made.turns(chosen.turns))
    asks = made.asks(turns, chosen.asked)
    touches = sum(bool(one.path) for turn in turns for one in turn.actions)
    held = sum(len(turn.terms) for turn in turns)
    print(f"{len(turns)} turns, {touches} touches, {held / len(turns):.0f} words a turn")
    measure_index(turns, asks)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch:
        store = SqliteStore(Settings(home=scratch, actor="ada", reserve_mb=0))
        try:
            for at in range(0, len(turns), 500):
                store.turn_works.put(turns[at : at + 500])
            del turns
            measure_memory(store)
            measure_load(store, asks * 20)
        finally:
            store.close()


if __name__ == "__main__":
    main()
