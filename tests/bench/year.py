"""A year of one developer, simulated: `python -m tests.bench.year [--days 365] [--events 100000]`.

In: made-up hook payloads through the real pipeline, store and daily maintenance, with a
clock that is moved by hand, and with extraction by rules after each session. Out: a table by
month: how much is kept at each stage, what the graph holds beside the things that were learned,
how large the store is, how much of it is junk, how much of what was planted is still found, and
the longest step of maintenance, run of extraction and transaction (which is all that can keep other
writes waiting). Exit status 1 when a bar is missed.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from recollect.capture.frames import Frame
from recollect.core import ids, projects
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import Entity, Preference, Procedure, Record, Relationship
from recollect.daemon.runtime import Runtime
from recollect.extract.watcher import RunFollowUp
from recollect.lifecycle.maintenance import Maintenance
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index_cache import IndexCache
from recollect.store.interface import Cursor
from tests.bench.developer import ANSWERS, NOISE, Developer, Planted

DEPTH = 5
ASKED = 150  # planted questions a month, newest and oldest alike
BAR_S = 1.0  # no step, run or transaction may keep others waiting for longer
RAW_DAYS = 8.0  # a turn is summed up after one day and leaves six days later, at night
FOUND = 0.95
START = datetime(2026, 1, 5, 9, tzinfo=UTC)  # a Monday


@dataclass(frozen=True)
class Month:
    """One row of the table."""

    number: int
    events: int
    raw: int
    oldest_raw_days: float
    compressed: int
    distilled: int
    observations: int
    knowledge: int
    summaries: int  # of sessions, days and weeks
    entities: int
    facts: int  # that hold
    relations: int
    procedures: int
    preferences: int
    waiting: int  # names heard once
    learned: int  # distinct things told so far: what was planted, wishes, routines
    archive: int
    megabytes: float
    junk: float
    found: float  # of all that was planted
    found_old: float  # of what was planted more than 30 days ago
    pass_cpu_s: float
    step_cpu_s: float
    step_wall_s: float
    run_cpu_s: float  # the longest run of extraction
    write_cpu_s: float  # the longest transaction
    write_wall_s: float

    @property
    def ratio(self) -> float:
        """Rows of knowledge and graph for each distinct thing that was learned."""
        graph = self.entities + self.facts + self.relations + self.procedures + self.preferences
        return round((self.knowledge + graph) / max(1, self.learned), 2)


class Year:
    def __init__(
        self,
        home: str,
        *,
        events_a_day: int,
        seed: int = 1,
        maintain: bool = True,
        extract: bool = True,
    ) -> None:
        self.clock = ManualClock(START)
        root = os.path.join(os.path.realpath(home), "work")
        os.makedirs(root)
        open(os.path.join(root, "pyproject.toml"), "w").close()
        settings = Settings(
            home=os.path.join(home, "data"), actor="ada", reserve_mb=0, embedding=False
        )
        self.runtime = Runtime(settings, self.clock)
        self.store, self.memories = self.runtime.store, self.runtime.memories
        self.pipeline, self.turn_writer = self.runtime.pipeline, self.runtime.turn_writer
        self.turn_writer.start()
        self.engine = SearchEngine()
        self.shelves = IndexCache(self.store, self.engine, 4096)
        self.memories.listeners.append(self.shelves)
        self.maintenance = Maintenance(self.store, self.memories, self.clock, settings)
        self.developer = Developer(seed, root, events_a_day)
        place = projects.locate(root, home="/nowhere")
        self.namespace = projects.namespace("ada", self.store.projects.resolve(place))
        self._maintain = maintain
        self._learning = self.runtime.load_learning()
        self._extract = extract
        self.events = 0
        self._time_nothing()
        self._time_writes()

    def _time_nothing(self) -> None:
        self.pass_cpu = self.step_cpu = self.step_wall = self.run_cpu = 0.0
        self.write_cpu = self.write_wall = 0.0

    def _time_writes(self) -> None:
        """How long each transaction holds the one writer."""
        engine, write = self.store.engine, self.store.engine.write

        def timed(work: Callable[[Any], Any], *, when_full: bool = False) -> Any:
            def measured(db: Any) -> Any:
                wall, cpu = time.monotonic(), time.thread_time()
                try:
                    return work(db)
                finally:
                    self.write_wall = max(self.write_wall, time.monotonic() - wall)
                    self.write_cpu = max(self.write_cpu, time.thread_time() - cpu)

            return write(measured, when_full=when_full)

        engine.write = timed  # type: ignore[method-assign]

    def close(self) -> None:
        self.runtime.close()

    def day(self, number: int) -> None:
        """A working day, then the night with its maintenance."""
        began = self.clock.now()
        if number % 7 < 5:
            for session in self.developer.day(number):
                for name, payload in session:
                    self._hook(name, payload)
                self.turn_writer.wait(600)
                if self._extract:
                    self._learn()
                self.clock.advance(minutes=5)
        rest = 24 * 3600 - (self.clock.now() - began).total_seconds()
        self.clock.advance(seconds=max(0.0, rest))
        if self._maintain:
            self._night()

    def _hook(self, name: str, payload: dict[str, object]) -> None:
        self.clock.advance(seconds=20)
        frame = Frame(
            ulid=ids.new_ulid(int(self.clock.now().timestamp() * 1000)),
            boot_id=self.clock.boot_id(),
            mono_ns=self.clock.mono_ns(),
            wall_ns=int(self.clock.now().timestamp() * 1e9),
            argv=(b"claude-code", name.encode()),
            cwd=self.developer.root.encode(),
            stdin=json.dumps(payload).encode(),
        )
        self.pipeline.spooled([(frame, frame.ulid.encode())])
        self.events += 1

    def _learn(self) -> None:
        """What the watcher does when a session has been idle for a while."""
        after = RunFollowUp(again=True)
        while after.again and not after.wait_s:
            began = time.process_time()
            after = self._learning.worker.run(self.namespace)
            self.run_cpu = max(self.run_cpu, time.process_time() - began)

    def _night(self) -> None:
        last = [time.process_time(), time.monotonic()]
        began = last[0]

        def pause() -> None:
            cpu, wall = time.process_time(), time.monotonic()
            self.step_cpu = max(self.step_cpu, cpu - last[0])
            self.step_wall = max(self.step_wall, wall - last[1])
            last[:] = time.process_time(), time.monotonic()

        self.maintenance.run(pause)
        self.pass_cpu = max(self.pass_cpu, time.process_time() - began)

    # --- the row ---

    def month(self, number: int, day: int) -> Month:
        records = self.all()
        episodes = [one for one in records if one.kind == "episode"]
        by_level = {level: [one for one in episodes if one.level == level]
                    for level in ("raw", "compressed", "distilled")}  # fmt: skip
        now = self.clock.now()
        ages = [(now - one.created_at).total_seconds() / 86400
                for one in by_level["raw"] if one.created_at]  # fmt: skip
        current = {one.key: one for one in self.developer.planted}
        asked = list(current.values())
        step = max(1, len(asked) // ASKED)
        chosen = asked[::step]
        old = [one for one in chosen if day - one.day > 30]
        hits = {one.key: self.finds(one) for one in chosen}
        junk = sum(is_junk(one) for one in records) / max(1, len(records))
        space = self.store.upkeep.space()
        graph = self.store.graph
        kinds = Counter(one.kind for one in records)
        found = Month(
            number=number,
            events=self.events,
            raw=len(by_level["raw"]),
            oldest_raw_days=round(max(ages, default=0.0), 1),
            compressed=len(by_level["compressed"]),
            distilled=len(by_level["distilled"]),
            observations=kinds["observation"],
            knowledge=kinds["knowledge"],
            summaries=kinds["summary"],
            entities=len(graph.all(self.namespace, Entity)),
            facts=len(graph.facts(self.namespace)),
            relations=len(graph.all(self.namespace, Relationship)),
            procedures=len(graph.all(self.namespace, Procedure)),
            preferences=len(graph.all(self.namespace, Preference)),
            waiting=len(graph.waiting(self.namespace)),
            learned=len(current) + len(self.developer.habits),
            archive=self.store.aging.purge("archive", now, apply=False),
            megabytes=round((space.bytes - space.free) / 1e6, 1),
            junk=round(junk, 3),
            found=round(sum(hits.values()) / max(1, len(hits)), 3),
            found_old=round(sum(hits[one.key] for one in old) / len(old), 3) if old else 1.0,
            pass_cpu_s=round(self.pass_cpu, 2),
            step_cpu_s=round(self.step_cpu, 3),
            step_wall_s=round(self.step_wall, 3),
            run_cpu_s=round(self.run_cpu, 3),
            write_cpu_s=round(self.write_cpu, 3),
            write_wall_s=round(self.write_wall, 3),
        )
        self._time_nothing()
        return found

    def finds(self, planted: Planted) -> bool:
        """Whether one of the first few memories holds the answer and what it is about."""
        self.shelves.fill([self.namespace])
        ranked = self.engine.search(planted.question, [self.namespace], limit=DEPTH, floor=False)
        found = self.store.records.get(self.namespace, [one.id for one in ranked.results])
        name = planted.key.split()[0]
        texts = ["\n".join((r.title, r.summary, r.detail, *r.facts)) for r in found]
        return any(name in text and planted.answer in text for text in texts)

    def all(self) -> list[Record]:
        found: list[Record] = []
        cursor: Cursor | None = None
        while True:
            page = self.store.records.page(self.namespace, before=cursor, limit=1000)
            found += page.items
            if page.next is None:
                return found
            cursor = page.next


def is_junk(record: Record) -> bool:
    """A memory of noise alone."""
    said = [line.strip() for line in record.detail.split("\n\nCommands:")[0].split("\n")]
    return bool(record.detail) and all(not one or one in NOISE or one in ANSWERS for one in said)


def run(
    days: int, events: int, show: Callable[[Month], None], *, maintain: bool = True
) -> list[Month]:
    workdays = sum(day % 7 < 5 for day in range(days))
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    home = tempfile.mkdtemp(prefix="recollect-year-", dir=parent)
    year = Year(home, events_a_day=max(1, round(events / workdays)), maintain=maintain)
    months = max(1, round(days / 30.4))
    rows: list[Month] = []
    try:
        for day in range(days):
            year.day(day)
            if (day + 1) * months // days > day * months // days:
                rows.append(year.month(len(rows) + 1, day))
                show(rows[-1])
    finally:
        year.close()
        shutil.rmtree(home)
    return rows


HEAD = (
    "month  events  raw (days) compr. distil.  obs. summ. | "
    "learned knowl.  ent. facts  rel. proc. pref. wait ratio | "
    "archive    MB   junk  found  >30 d | pass/s step/s  run/s write/s  wall/s"
)


def line(row: Month) -> str:
    return (
        f"{row.number:5} {row.events:7} {row.raw:4} {row.oldest_raw_days:6} {row.compressed:6} "
        f"{row.distilled:7} {row.observations:5} {row.summaries:5} | "
        f"{row.learned:7} {row.knowledge:6} {row.entities:5} {row.facts:5} {row.relations:5} "
        f"{row.procedures:5} {row.preferences:5} {row.waiting:4} {row.ratio:5} | {row.archive:7} "
        f"{row.megabytes:5} {row.junk:6} {row.found:6} {row.found_old:6} | {row.pass_cpu_s:6} "
        f"{row.step_cpu_s:6} {row.run_cpu_s:6} {row.write_cpu_s:7} {row.write_wall_s:7}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--without", action="store_true", help="never run maintenance, to compare")
    chosen = parser.parse_args()
    print(HEAD, flush=True)
    rows = run(
        chosen.days,
        chosen.events,
        lambda row: print(line(row), flush=True),
        maintain=not chosen.without,
    )
    missed = missed_bars(rows)
    print("\n".join(missed) or "Every bar is kept.")
    return 1 if missed else 0


def missed_bars(rows: Sequence[Month]) -> list[str]:
    """What a year must not do; each in a sentence."""
    found: list[str] = []
    for row in rows:
        where = f"month {row.number}:"
        slow = {"step of maintenance": row.step_cpu_s, "run of extraction": row.run_cpu_s,
                "transaction": row.write_cpu_s}  # fmt: skip
        found += [f"{where} a {name} took {took} s of CPU, the bar is {BAR_S} s"
                  for name, took in slow.items() if took >= BAR_S]  # fmt: skip
        if row.oldest_raw_days > RAW_DAYS:
            found.append(f"{where} a turn is {row.oldest_raw_days} days old, kept are {RAW_DAYS}")
        if row.found < FOUND or row.found_old < FOUND:
            found.append(f"{where} only {min(row.found, row.found_old)} of what was told is found")
    full = [row for row in rows if row.learned >= 50]
    for before, after in pairwise(full):
        if after.ratio > before.ratio * 1.1:
            found.append(f"month {after.number}: knowledge grew faster than what was learned, "
                         f"{before.ratio} to {after.ratio} rows a thing")  # fmt: skip
        if after.junk > max(0.05, before.junk * 1.2):
            found.append(f"month {after.number}: junk grew from {before.junk} to {after.junk}")
    return found


if __name__ == "__main__":
    sys.exit(main())
