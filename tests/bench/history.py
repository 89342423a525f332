"""An evening's import, measured: `python -m tests.bench.history`.

In: the 90 recorded sessions and their 120 questions (`--data`, ../shared/bench by default; they are
no part of the project). Out: messages a second of CPU time without embedding, and how well the
memory that was made answers: any@5 at session level over everything, over episodes alone and over
extracted knowledge alone, with how much text each of them holds, and which of them finds what.
"""

import argparse
import contextlib
import glob
import gzip
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.bench.metrics import groups, mean, measure
from recollect.core.errors import ModelUnavailable
from recollect.core.settings import Settings
from recollect.core.values import Record
from recollect.daemon.learning import Learning
from recollect.daemon.runtime import Runtime
from recollect.embedding.backfill import Backfill
from recollect.embedding.embedder import Embedder
from recollect.hosts import registry
from recollect.portable.import_progress import ImportTally
from recollect.portable.importing import ImportRequest
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.index_cache import IndexCache
from recollect.store.interface import Store

RATE = 100.0
ABOVE = 0.03
SHARE = 0.8
TEXT = 0.15
ASKED = 60
PATIENCE = 20  # batches that the model may be too slow for


@contextlib.contextmanager
def person(data: pathlib.Path) -> Iterator[pathlib.Path]:
    """A home in which Claude Code has kept the sessions."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="recollect-bench-"))
    try:
        folder = home / ".claude" / "projects" / "sessions"
        folder.mkdir(parents=True)
        for path in sorted(glob.glob(str(data / "sessions" / "*.jsonl.gz"))):
            name = os.path.basename(path).removesuffix(".gz")
            with gzip.open(path) as file:
                (folder / name).write_bytes(file.read())
        yield home
    finally:
        shutil.rmtree(home)


def questions(data: pathlib.Path) -> list[dict[str, Any]]:
    covered = set(json.loads((data / "sessions" / "covered_queries.json").read_text()))
    with gzip.open(data / "entire_commit2session" / "queries.jsonl.gz", "rt") as lines:
        return [one for one in map(json.loads, lines) if one["id"] in covered]


def sessions_by_file(home: pathlib.Path) -> dict[str, str]:
    """The name of a file, which the questions use, for each session's id."""
    found = registry.readers()["claude-code"].find(str(home), {})
    return {pathlib.Path(one.path).stem: one.session_id for one in found}


def text_of(records: Sequence[Record]) -> int:
    return sum(
        len(one.title) + len(one.summary) + len(one.detail) + sum(map(len, one.facts))
        for one in records
    )


def all_records(store: Store) -> list[Record]:
    found: list[Record] = []
    for namespace in store.projects.namespaces():
        cursor = None
        while True:
            page = store.records.page(namespace, before=cursor, limit=500)
            found += page.items
            cursor = page.next
            if cursor is None:
                break
    return found


def answered(
    engine: SearchEngine,
    shelves: IndexCache,
    namespaces: list[str],
    records: Sequence[Record],
    hidden: Sequence[Record],
    asked: list[dict[str, Any]],
    session_of: dict[str, str],
) -> list[dict[str, float]]:
    """How each question is answered when some memories are out of sight."""
    for namespace in namespaces:
        shelves.drop(namespace)
    shelves.fill(namespaces)
    for namespace in namespaces:
        gone = [one.record_id for one in hidden if one.namespace == namespace]
        if gone:
            shelves.removed(namespace, gone)
    of = {one.record_id: one.session_id or one.record_id for one in records}
    rows = []
    for one in asked:
        gold = frozenset(session_of[name] for name in one["gold_groups"] if name in session_of)
        ranked = engine.search(one["query"], namespaces, limit=ASKED)
        names = groups([result.id for result in ranked.results if result.id in of], of)
        rows.append(measure(names, gold))
    return rows


def who_finds_what(rows: dict[str, list[dict[str, float]]]) -> str:
    """Whether knowledge finds what episodes miss: more than both together find, no way of laying
    the two lists together can give."""
    hits = {name: [row["any@5"] > 0 for row in found] for name, found in rows.items()}
    pairs = Counter(zip(hits["episodes"], hits["knowledge"], strict=True))
    changed = sum(a != b for a, b in zip(hits["everything"], hits["episodes"], strict=True))
    total = len(hits["episodes"])
    return (
        f"found by both {pairs[True, True]}, by episodes only {pairs[True, False]}, "
        f"by knowledge only {pairs[False, True]}, by neither {pairs[False, False]}; "
        f"by either {(total - pairs[False, False]) / total:.3f}\n"
        f"everything answers {changed} of {total} otherwise than episodes alone"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.history", description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/bench"))
    data = parser.parse_args().data
    if not (data / "sessions").is_dir():
        print(f"no sessions in {data}: nothing is measured")
        return 0
    with person(data) as home:
        return run(data, home)


def embed_all(backfill: Backfill) -> None:
    """As the daemon does it: what takes too long on a busy machine is tried again."""
    slow = 0
    while True:
        try:
            if not backfill.step():
                return
        except ModelUnavailable:
            slow += 1
            if slow > PATIENCE:
                raise


class Place:
    """The parts of a daemon that an import needs."""

    def __init__(self, home: pathlib.Path, name: str, embedder: Embedder | None) -> None:
        settings = Settings(home=str(home / name), actor="bench", reserve_mb=0)
        self.home = home
        self._runtime = Runtime(settings)
        self.store, self.memories = self._runtime.store, self._runtime.memories
        self._runtime.turn_writer.start()
        self._learning = Learning(self._runtime, embedder)
        self._learning.start()

    def take(self) -> ImportTally:
        """Import, episodes, extraction by rules."""
        done = self._runtime.importing.run(
            ImportRequest(sources=("claude-code",), home=str(self.home))
        )
        self._runtime.turn_writer.wait(3600)
        self._learning.run_now(self.store.projects.namespaces(), 3600)
        return done.sources["claude-code"]

    def close(self) -> None:
        self._learning.close()
        self._runtime.close()


def rate_without_embedding(home: pathlib.Path) -> float:
    """In a place of its own: embedding runs beside everything else and cannot be told apart."""
    place = Place(home, "plain", None)
    began = time.process_time()
    tally = place.take()
    cpu = time.process_time() - began
    place.close()
    print(f"{tally.sessions} sessions, {tally.stored} events: {cpu:.1f} s of CPU")
    return tally.stored / cpu


def run(data: pathlib.Path, home: pathlib.Path) -> int:
    rate = rate_without_embedding(home)
    print(f"{rate:.0f} messages a second of CPU, without embedding (bar: {RATE:.0f})", flush=True)
    embedder = Embedder(os.environ.get("RECOLLECT_MODEL_DIR", ""))
    with contextlib.suppress(ModelUnavailable):
        embedder.load()
    place = Place(home, "whole", embedder)
    place.take()
    store = place.store
    namespaces = store.projects.namespaces()
    engine = SearchEngine(embedder)
    shelves = IndexCache(store, engine, cache_mb=4096)
    backfill = Backfill(store, embedder, shelves.embedded)
    embed_all(backfill)
    records = all_records(store)
    episodes = [one for one in records if one.kind == "episode"]
    knowledge = [one for one in records if one.kind != "episode"]
    session_of = sessions_by_file(home)
    asked = questions(data)
    found = {}
    rows = {}
    everything: list[Record] = []
    sizes = {
        "everything": text_of(records),
        "episodes": text_of(episodes),
        "knowledge": text_of(knowledge),
    }
    for name, hidden in (
        ("everything", everything),
        ("episodes", knowledge),
        ("knowledge", episodes),
    ):
        rows[name] = answered(engine, shelves, namespaces, records, hidden, asked, session_of)
        found[name] = mean(rows[name])
        print(
            f"{name:<11} any@5 {found[name]['any@5']:.3f}  any@10 {found[name]['any@10']:.3f}  "
            f"MRR {found[name]['MRR']:.3f}  {sizes[name] / 1000:.0f} thousand characters"
        )
    print(who_finds_what(rows))
    gain = found["everything"]["any@5"] - found["episodes"]["any@5"]
    share = found["knowledge"]["any@5"] / found["episodes"]["any@5"]
    text = sizes["knowledge"] / sizes["episodes"]
    print(f"everything is {100 * gain:+.1f} points from episodes alone (bar: +{100 * ABOVE:.0f})")
    print(f"knowledge alone reaches {share:.0%} of episodes (bar: {SHARE:.0%}) "
          f"with {text:.0%} of their text (bar: {TEXT:.0%})")  # fmt: skip
    place.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
