"""`python -m tests.bench.prompt_cost [memories] [turns]`: CPU of a prompt in a large project.

In: a made-up project, 50,000 memories with vectors and 20,000 turns with ten touches each, and
prompts of twelve words. Out: CPU from question to brief, p50 and p95, and without the embedding. To
compare two versions, run it in both trees at the same time: the ratio counts, not the milliseconds.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from recollect.core import ids
from recollect.core import vector_bytes as layout
from recollect.core.clock import SystemClock
from recollect.core.settings import Settings
from recollect.core.values import Action, Record, TurnWork, Vector
from recollect.daemon.runtime import Runtime
from recollect.embedding.embedder import MODEL
from recollect.ingest.messages import RecallQuestion
from recollect.work.terms import terms

NAMESPACE = "/actor/ada/project/p/"
NOW = datetime.now(UTC)
BATCH = 500
PROMPTS = 200
WARM = 40


class Words:
    def __init__(self) -> None:
        self._chance = random.Random(1)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._all = ["".join(self._chance.choices(letters, k=6)) for _ in range(6000)]
        self._often = [1 / (n + 2) for n in range(6000)]

    def text(self, count: int) -> str:
        return " ".join(self._chance.choices(self._all, self._often, k=count))

    def path(self) -> str:
        number = min(4999, int(self._chance.paretovariate(0.6)))
        return f"src/{self._all[number % 200]}/{self._all[number]}.py"


def fill_memories(runtime: Runtime, words: Words, count: int) -> None:
    chance = np.random.default_rng(1)
    for start in range(0, count, BATCH):
        made = [
            Record(record_id=ids.new_id(ids.RECORD), namespace=NAMESPACE, kind="observation",
                   title=words.text(8), summary=words.text(12), observation_type="discovery",
                   level="distilled", strategy="rules", author="assistant",
                   session_id=f"s{(start + n) // 8}",
                   valid_from=NOW - timedelta(minutes=count - start - n))
            for n in range(BATCH)
        ]  # fmt: skip
        runtime.store.records.put(made)
        rows = chance.normal(size=(BATCH, 384)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        runtime.store.vectors.put(
            [
                Vector(namespace=NAMESPACE, source_kind="record", source_id=one.record_id,
                       model=MODEL, dim=384, vector=layout.encode(row))
                for one, row in zip(made, rows, strict=True)
            ]
        )  # fmt: skip


def fill_work(runtime: Runtime, words: Words, count: int) -> None:
    for start in range(0, count, BATCH):
        runtime.store.turn_works.put(
            [
                TurnWork(turn_id=ids.new_ulid(), namespace=NAMESPACE,
                         session_id=f"s{(start + n) // 5}", person="ada",
                         branch=f"b{(start + n) // 200}",
                         at=NOW - timedelta(minutes=count - start - n),
                         actions=tuple(Action(how="edit", path=words.path()) for _ in range(10)),
                         terms=dict.fromkeys(terms(words.text(60)), 1))
                for n in range(BATCH)
            ]
        )  # fmt: skip
    runtime.work.fill([NAMESPACE])


def main(memories: int = 50_000, turns: int = 20_000) -> None:
    words = Words()
    with tempfile.TemporaryDirectory() as home:
        models = os.environ["RECOLLECT_MODEL_DIR"]
        settings = Settings(home=home, actor="ada", reserve_mb=0, model_dir=models)
        runtime = Runtime(settings, SystemClock())
        recall = runtime.load_recall()
        assert recall.embedder is not None
        recall.embedder.load()
        recall.recall_now.limit_ms = 60_000
        fill_memories(runtime, words, memories)
        fill_work(runtime, words, turns)
        recall.index_cache.fill([NAMESPACE])
        whole, rest = [], []
        for number in range(WARM + PROMPTS):
            text = words.text(12)
            question = RecallQuestion("prompt", text, (NAMESPACE,), f"q{number}", None, 9500)
            began = time.process_time()
            recall.recall_now(question)
            answered = time.process_time()
            recall.engine.vector(text)
            whole.append(1000 * (answered - began))
            rest.append(whole[-1] - 1000 * (time.process_time() - answered))
        runtime.close()
    for name, values in (("whole", whole[WARM:]), ("without embedding", rest[WARM:])):
        p95 = sorted(values)[int(0.95 * len(values))]
        print(f"{name}: p50 {statistics.median(values):.1f}, p95 {p95:.1f} ms of CPU")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
