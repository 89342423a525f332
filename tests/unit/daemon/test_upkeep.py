"""The daemon takes in what hooks spooled: a batch at a time, and no file goes too early."""

import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from recollect.capture import frames, spool
from recollect.core.errors import DiskFull
from recollect.core.settings import Settings
from recollect.daemon.runtime import Runtime
from recollect.ingest.messages import Reply
from tests.torture.events import fill_spool


@pytest.fixture
def runtime(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    monkeypatch.setattr(spool, "BATCH_EVENTS", 10)
    made = Runtime(settings)
    yield made
    made.close()


def waiting(settings: Settings) -> int:
    names = os.listdir(os.path.join(settings.directory, "spool"))
    return len([name for name in names if name.endswith(".frame")])


def test_a_stop_does_not_wait_for_the_whole_spool(
    runtime: Runtime, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_spool(pathlib.Path(settings.directory), 35, "x")
    take = runtime.pipeline.spooled

    def stopped_meanwhile(given: Sequence[Any]) -> list[Reply]:
        runtime.stopping.set()
        return take(given)

    monkeypatch.setattr(runtime.pipeline, "spooled", stopped_meanwhile)
    runtime.upkeep.drain()
    assert waiting(settings) == 25
    assert runtime.store.upkeep.stats().events == 10


def test_a_file_stays_until_the_commit_that_holds_its_event(
    runtime: Runtime, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_spool(pathlib.Path(settings.directory), 35, "x")
    put = runtime.store.events.put

    def full_after_some(arrivals: Any) -> Any:
        if runtime.store.upkeep.stats().events >= 20:
            raise DiskFull()
        return put(arrivals)

    with monkeypatch.context() as patched:
        patched.setattr(runtime.store.events, "put", full_after_some)
        with pytest.raises(DiskFull):
            runtime.upkeep.drain()
    assert waiting(settings) == 15
    assert runtime.store.upkeep.stats().events == 20
    runtime.upkeep.drain()
    assert waiting(settings) == 0
    assert runtime.store.upkeep.stats().events == 35


def test_a_file_that_makes_us_stumble_is_set_aside(
    runtime: Runtime, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_spool(pathlib.Path(settings.directory), 3, "x")

    def stumble(given: Sequence[Any]) -> list[Reply]:
        return [Reply(frames.STORED), Reply(frames.NOT_NOW), Reply(frames.REFUSED)]

    monkeypatch.setattr(runtime.pipeline, "spooled", stumble)
    runtime.upkeep.drain()
    assert waiting(settings) == 0
    assert spool.statistics(settings.directory).damaged == 1


def test_large_events_share_a_batch_only_with_few(tmp_path: pathlib.Path) -> None:
    def of_size(size: int) -> spool.Waiting:
        frame = frames.Frame(ulid="0" * 26, boot_id="b", mono_ns=0, wall_ns=0, stdin=bytes(size))
        return "", frame, b""

    given = [of_size(spool.BATCH_BYTES // 2) for _ in range(5)]
    assert [len(one) for one in spool.in_batches(iter(given))] == [2, 2, 1]
