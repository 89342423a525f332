"""Rules in a process of their own give what rules give, and nothing they do holds up the daemon."""

import os
import pathlib
import signal
import threading
from collections.abc import Iterator, Sequence

import pytest

from recollect.core.errors import ExtractionFailed, StoreBusy
from recollect.core.values import Record, StoredEvent
from recollect.extract.interface import Extraction
from recollect.extract.rules.extractor import RulesExtractor
from recollect.extract.rules.store_reads import StoreReads
from recollect.extract.rules_worker import RulesWorker
from recollect.store.interface import Batch
from recollect.store.sqlite import SqliteStore
from tests.fakes import frozen_path
from tests.fakes.daemons import REPOSITORY
from tests.fakes.waiting import PATIENCE_S
from tests.unit.extract.session import CLOCK, Told, stored


@pytest.fixture
def apart(store: SqliteStore) -> Iterator[RulesWorker]:
    made = RulesWorker(StoreReads(store), CLOCK, cpu_s=1)
    yield made
    made.close()


def session(number: int = 1) -> Told:
    told = Told(f"s{number}")
    told.ask("always use pnpm, never npm in this repo. billing is deployed on fly.io")
    told.edit("/work/orbit/billing/retry.py").run("pnpm test", "FAIL retry", failed=True)
    told.edit("/work/orbit/billing/retry.py").run("pnpm test", "ok").run("pnpm add left-pad")
    told.answer("Fixed the retry storm in billing/retry.py: capped retries at 5 with backoff.")
    return told.signal("session-end")


def test_it_gives_what_the_rules_give(store: SqliteStore, apart: RulesWorker) -> None:
    reads = StoreReads(store, lambda namespace, value: "left-pad" in value)
    asking = RulesWorker(reads, CLOCK)
    batch = stored(store, session(1), session(2))
    here = RulesExtractor(reads, CLOCK).extract(batch)
    assert here.candidates and here.claims and here.checkpoints and here.derived and here.turns
    try:
        assert asking.extract(batch) == here
        assert asking.extract(batch) == here  # what it remembers changes nothing
    finally:
        asking.close()
    assert apart.extract(batch) != here  # nobody refuses anything there


def test_it_is_started_when_needed_and_its_memory_is_told(
    store: SqliteStore, apart: RulesWorker
) -> None:
    assert apart.status() == {"pid": None, "rss_mb": 0}
    apart.extract(stored(store, session()))
    told = apart.status()
    assert told["pid"] and 5 < told["rss_mb"] < 100
    assert not _opened(told["pid"], ".db")
    apart.close()
    assert not _lives(told["pid"])


def test_one_that_went_or_was_killed_is_replaced(store: SqliteStore, apart: RulesWorker) -> None:
    batch = stored(store, session())
    apart.extract(batch)
    first = apart.status()["pid"]
    os.kill(first, signal.SIGKILL)
    assert apart.extract(batch).candidates
    assert apart.status()["pid"] != first


def test_one_that_nobody_needs_goes_by_itself(store: SqliteStore) -> None:
    short = RulesWorker(StoreReads(store), CLOCK, idle_s=0.01)
    batch = stored(store, session())
    short.extract(batch)
    os.waitid(os.P_PID, short.status()["pid"] or _last(short), os.WEXITED | os.WNOWAIT)
    assert short.status()["pid"] is None
    assert short.extract(batch).candidates
    short.close()


def test_a_batch_that_never_ends_is_ended_and_the_next_one_goes_on(
    store: SqliteStore, apart: RulesWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{frozen_path()}{os.pathsep}{REPOSITORY}")
    frozen = stored(store, Told("s1").ask("FREEZE-ME, please"))
    with pytest.raises(ExtractionFailed, match="too much CPU time"):
        apart.extract(frozen)
    assert apart.status()["pid"] is None
    assert apart.extract(stored(store, session(2))).candidates


def test_the_clock_ends_it_too(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{frozen_path()}{os.pathsep}{REPOSITORY}")
    hasty = RulesWorker(StoreReads(store), CLOCK, wall_s=0.05)
    with pytest.raises(ExtractionFailed, match="before it was done"):
        hasty.extract(stored(store, Told("s1").ask("FREEZE-ME, please")))


def test_a_stop_does_not_wait_for_a_batch_that_never_ends(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{frozen_path()}{os.pathsep}{REPOSITORY}")
    asked = threading.Event()

    class Seen(StoreReads):
        def around(
            self, namespace: str, session_id: str, seqs: Sequence[int], before: int, after: int
        ) -> Sequence[StoredEvent]:
            asked.set()
            return super().around(namespace, session_id, seqs, before, after)

    stuck = RulesWorker(Seen(store), CLOCK, cpu_s=600)
    ended: list[BaseException] = []
    batch = stored(store, Told("s1").ask("FREEZE-ME, please"))

    def run() -> None:
        try:
            stuck.extract(batch)
        except ExtractionFailed as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert asked.wait(PATIENCE_S)
    stuck.close()
    thread.join(PATIENCE_S)
    assert ended and not thread.is_alive()


def test_a_store_that_is_away_is_said_so_and_leaves_no_half_talk(store: SqliteStore) -> None:
    class Away(StoreReads):
        away = True

        def by_hash(self, namespace: str, content_hash: str) -> Record | None:
            if self.away:
                raise StoreBusy("the server is away")
            return super().by_hash(namespace, content_hash)

    reads = Away(store)
    asking = RulesWorker(reads, CLOCK)
    batch = stored(store, session())
    with pytest.raises(StoreBusy):
        asking.extract(batch)
    reads.away = False
    assert asking.extract(batch).candidates
    asking.close()


def test_what_goes_wrong_in_the_rules_is_a_failure_with_its_kind(
    store: SqliteStore, apart: RulesWorker
) -> None:
    batch = stored(store, session())
    broken = Batch(batch.namespace, ("no event",))  # type: ignore[arg-type]
    with pytest.raises(ExtractionFailed, match="AttributeError in extraction"):
        apart.extract(broken)
    assert isinstance(apart.extract(batch), Extraction)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _opened(pid: int, ending: str) -> list[str]:
    names = [os.readlink(one) for one in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
    return [name for name in names if name.endswith(ending)]


def _last(apart: RulesWorker) -> int:
    assert apart._child is not None
    return apart._child._process.pid
