"""Memory of the real daemon: `python -m tests.bench.memory [--words 70 190] [--memories 50000]`.

In: synthetic memories of so many words on average, with a vector a part. Out: RSS of a daemon
with model and one namespace warm, its peak, and what the index says of itself. Exit code 1 when
it is above the bar.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from recollect.bench import latency
from recollect.core import ids, projects, vector_bytes
from recollect.core.settings import Settings
from recollect.core.values import Record, Vector
from recollect.embedding.chunking import parts
from recollect.embedding.embedder import MODEL
from recollect.store.sqlite import SqliteStore
from tests.fakes.daemons import RealDaemon

BAR_MB = 350
PROMPTS = 30
SETTLED = 8  # looks, a second apart, that see no change
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def fill(home: str, project: str, memories: int, words: int) -> None:
    """A data directory as it would be after a long time of work on one project."""
    latency.WORDS = words
    writer = latency.TextGenerator([])
    store = SqliteStore(Settings(home=home, actor="ada", reserve_mb=0))
    try:
        namespace = projects.namespace("ada", store.projects.resolve(projects.locate(project)))
        coming = _memories(writer, namespace, memories)
        while batch := list(islice(coming, 500)):
            store.records.put(
                [record for record, _ in batch], [vector for _, rows in batch for vector in rows]
            )
    finally:
        store.close()


def _memories(
    writer: latency.TextGenerator, namespace: str, count: int
) -> Iterator[tuple[Record, list[Vector]]]:
    for number in range(count):
        text = writer.text(writer.length())
        record = Record(
            record_id=ids.new_id("mr_"),
            namespace=namespace,
            kind="episode",
            title=text[:150],
            summary=text[:300],
            detail=text,
            strategy="rules",
            author="assistant",
            session_id=f"s{number // latency.TURNS}",
            position=number % latency.TURNS,
            valid_from=_BEGAN + timedelta(minutes=number),
        )
        rows = writer.vectors(len(parts(text)))
        yield (
            record,
            [
                Vector(
                    namespace=namespace,
                    source_kind="record",
                    source_id=record.record_id,
                    part=part,
                    model=MODEL,
                    dim=vector_bytes.DIMENSIONS,
                    vector=vector_bytes.encode(row),
                )
                for part, row in enumerate(rows)
            ],
        )


def warm(home: pathlib.Path, project: str) -> tuple[int, int, float]:
    """RSS and its peak in MB, of the daemon and its extraction worker together, and what the caches
    say they hold, after a round of prompts."""
    daemon = RealDaemon(home)
    daemon.environment["MALLOC_ARENA_MAX"] = "2"  # as `recollect start` and the service set it
    daemon.start()
    try:
        writer = latency.TextGenerator([], seed=2)

        def ask(number: int) -> None:
            prompt = {"session_id": f"p{number}", "cwd": project, "prompt": writer.text(12)}
            daemon.run_hook("claude-code", "UserPromptSubmit", prompt)

        def held() -> int:
            return int(daemon.client.get("/healthz")["embedding"]["cache_bytes"])

        ask(0)
        seen = [0]
        while seen[-1] == 0 or len(set(seen[-SETTLED:])) > 1 or len(seen) < SETTLED:
            time.sleep(1)
            seen.append(held())
        for number in range(1, PROMPTS):
            ask(number)
        daemon.client.ask("POST", "/api/queue/run", {"wait_s": 60})
        worker = daemon.client.get("/healthz")["extraction"]["worker"]["pid"]
        assert daemon.process is not None
        told = [
            pathlib.Path(f"/proc/{pid}/status").read_text()
            for pid in (daemon.process.pid, worker)
            if pid is not None
        ]
        rss, peak = (sum(_mb(one, field) for one in told) for field in ("VmRSS", "VmHWM"))
        return rss, peak, held() / 2**20
    finally:
        daemon.stop()


def _mb(status: str, field: str) -> int:
    return int(status.split(f"{field}:")[1].split()[0]) >> 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory", description=__doc__)
    parser.add_argument("--words", type=int, nargs="+", default=[70, 190])
    parser.add_argument("--memories", type=int, default=50_000)
    parser.add_argument("--keep", help="a directory to keep the filled homes in, for another run")
    chosen = parser.parse_args()
    most = 0
    for words in chosen.words:
        root = pathlib.Path(chosen.keep or tempfile.mkdtemp(prefix="recollect-bench-"))
        home, project = root / f"home-{words}", root / "project"
        project.mkdir(parents=True, exist_ok=True)
        (project / "Makefile").touch()
        if not home.exists():
            fill(str(home), str(project), chosen.memories, words)
        try:
            rss, peak, cache = warm(home, str(project))
        finally:
            if not chosen.keep:
                shutil.rmtree(root)
        most = max(most, rss)
        print(
            f"{chosen.memories:,} memories of {words} words on average: RSS {rss} MB, peak {peak}, "
            f"caches {cache:.0f} MB by their own account (bar: {BAR_MB})",
            flush=True,
        )
    return int(most > BAR_MB)


if __name__ == "__main__":
    os.environ.setdefault("RECOLLECT_MODEL_DIR", os.path.join(sys.prefix, "models"))
    sys.exit(main())
