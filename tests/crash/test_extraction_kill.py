"""kill -9 between a model's answer and the commit: no memory is lost, none is there twice."""

import multiprocessing
import os
import signal
import tempfile
from collections import Counter

from recollect.core.clock import SystemClock
from recollect.core.settings import Settings
from recollect.extract.interface import Extraction
from recollect.ingest.memories import Memories
from recollect.llm.base import ModelRequest
from recollect.reconcile.extraction_run import BATCH_EVENTS, NEVER_ENDED, ExtractionWorker
from recollect.store.interface import Batch
from recollect.store.sql import transaction
from recollect.store.sqlite import SqliteStore
from recollect.store.sqlite.transaction import SqliteTransaction
from tests.fakes.extraction import Angles, EachPrompt, Scripted, memory
from tests.fakes.stored import set_aside_in
from tests.fakes.waiting import PATIENCE_S
from tests.make import NAMESPACE, arrival

KILLS = 50
STEPS = ("answer", "put_record", "put_vector", "finish", "after")


def open_store(home: str) -> SqliteStore:
    return SqliteStore(Settings(home=home, actor="ada", reserve_mb=0))


def die(home: str, number: int) -> None:
    """The process that is killed: one event, one run, which dies at one of the steps."""
    step = STEPS[number % len(STEPS)]

    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def answer(request: ModelRequest) -> str:
        if step == "answer":
            kill()
        found = [part.split('"')[0] for part in request.prompt.split('<event id="')[1:]]
        texts = [part.split("\n")[1] for part in request.prompt.split("<event ")[1:]]
        return "".join(memory(text, one) for text, one in zip(texts, found, strict=True))

    store = open_store(home)
    store.events.put([arrival(f"memory {number}")])
    if step in ("put_record", "put_vector", "finish"):
        owner = transaction if step == "put_vector" else SqliteTransaction
        real = getattr(owner, step)

        def dies(*given: object, **how: object) -> None:
            real(*given, **how)
            kill()

        setattr(owner, step, dies)
    worker(store, answer).run(NAMESPACE)
    kill()


def worker(store: SqliteStore, answer: object) -> ExtractionWorker:
    provider = Scripted(answer)  # type: ignore[arg-type]
    return ExtractionWorker(
        store,
        SystemClock(),
        Memories(store),
        EachPrompt(),
        provider=lambda: provider,
        embedder=Angles(),
    )


def freeze(home: str, poison: str) -> None:
    """A daemon that somebody kills because one event freezes it."""

    class Freezing(EachPrompt):
        def extract(self, batch: Batch) -> Extraction:
            if any(getattr(one.event.body, "content", "") == poison for one in batch.events):
                os.kill(os.getpid(), signal.SIGKILL)
            return super().extract(batch)

    store = open_store(home)
    run = ExtractionWorker(store, SystemClock(), Memories(store), Freezing(), embedder=Angles()).run
    while run(NAMESPACE).again:
        pass
    store.close()


def plain(request: ModelRequest) -> str:
    found = [part.split('"')[0] for part in request.prompt.split('<event id="')[1:]]
    texts = [part.split("\n")[1] for part in request.prompt.split("<event ")[1:]]
    return "".join(memory(text, one) for text, one in zip(texts, found, strict=True))


def test_what_ends_the_daemon_is_set_aside_at_its_third_start_and_the_rest_goes_on() -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crash.test_extraction_kill"])
    with tempfile.TemporaryDirectory() as home:
        store = open_store(home)
        store.events.put([arrival(f"memory {number}") for number in range(40)])
        store.events.put([arrival("poison"), arrival("the last of them")])
        store.close()
        ended = []
        for _ in range(4):
            process = context.Process(target=freeze, args=(home, "poison"))
            process.start()
            process.join(PATIENCE_S)
            ended.append(process.exitcode)
        assert ended == [-signal.SIGKILL] * 3 + [0]
        store = open_store(home)
        aside = set_aside_in(store)
        assert {(one.failures, one.reason) for one in aside} == {(3, NEVER_ENDED)}
        assert len(aside) <= BATCH_EVENTS >> 6  # a few of its neighbours, not all 42
        assert store.upkeep.stats(NAMESPACE).records >= 42 - len(aside)
        assert store.events.backlog()[0].count == 0
        store.close()


def test_a_killed_run_loses_nothing_and_doubles_nothing() -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.crash.test_extraction_kill"])
    with tempfile.TemporaryDirectory() as home:
        for number in range(KILLS):
            process = context.Process(target=die, args=(home, number))
            process.start()
            process.join(PATIENCE_S)
            assert process.exitcode == -signal.SIGKILL
        store = open_store(home)
        before = store.upkeep.stats(NAMESPACE).records
        assert before > 0  # those that died after the commit
        store.events.retry(NAMESPACE)  # kills were counted against them, and somebody looked
        while worker(store, plain).run(NAMESPACE).again:
            pass
        found = Counter(one.title for one in store.records.page(NAMESPACE, limit=500).items)
        sources = Counter(
            event
            for one in store.records.page(NAMESPACE, limit=500).items
            for event in one.source_event_ids
        )
        assert found == Counter({f"memory {number}": 1 for number in range(KILLS)})
        assert set(sources.values()) == {1} and len(sources) == KILLS
        assert store.events.backlog() == [] and store.upkeep.check() == []
        store.close()
