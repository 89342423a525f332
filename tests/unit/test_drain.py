"""The daemon takes in what hooks spooled: a batch at a time, and no file goes too early."""

import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from recollect.capture import frames, spool
from recollect.core.errors import DiskFull
from recollect.core.settings import Settings
from recollect.daemon import Daemon
from recollect.ingest.pipeline import Reply
from tests.torture.events import fill_spool


@pytest.fixture
def daemon(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    monkeypatch.setattr(spool, "BATCH_EVENTS", 10)
    one = Daemon(settings)
    yield one
    one._close()


def waiting(settings: Settings) -> int:
    names = os.listdir(os.path.join(settings.directory, "spool"))
    return len([name for name in names if name.endswith(".frame")])


def test_a_stop_does_not_wait_for_the_whole_spool(
    daemon: Daemon, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_spool(pathlib.Path(settings.directory), 35, "x")
    take = daemon._pipeline.spooled

    def stopped_meanwhile(given: Sequence[Any]) -> list[Reply]:
        daemon._stop.set()
        return take(given)

    monkeypatch.setattr(daemon._pipeline, "spooled", stopped_meanwhile)
    daemon._drain()
    assert waiting(settings) == 25
    assert daemon._store.upkeep.stats().events == 10


def test_a_file_stays_until_the_commit_that_holds_its_event(
    daemon: Daemon, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_spool(pathlib.Path(settings.directory), 35, "x")
    put = daemon._store.events.put

    def full_after_some(arrivals: Any) -> Any:
        if daemon._store.upkeep.stats().events >= 20:
            raise DiskFull()
        return put(arrivals)

    with monkeypatch.context() as patched:
        patched.setattr(daemon._store.events, "put", full_after_some)
        with pytest.raises(DiskFull):
            daemon._drain()
    assert waiting(settings) == 15
    assert daemon._store.upkeep.stats().events == 20
    daemon._drain()
    assert waiting(settings) == 0
    assert daemon._store.upkeep.stats().events == 35


def test_a_file_that_makes_us_stumble_is_set_aside(
    daemon: Daemon, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_spool(pathlib.Path(settings.directory), 3, "x")

    def stumble(given: Sequence[Any]) -> list[Reply]:
        return [Reply(frames.STORED), Reply(frames.NOT_NOW), Reply(frames.REFUSED)]

    monkeypatch.setattr(daemon._pipeline, "spooled", stumble)
    daemon._drain()
    assert waiting(settings) == 0
    assert spool.statistics(settings.directory).damaged == 1


def test_large_events_share_a_batch_only_with_few(tmp_path: pathlib.Path) -> None:
    def of_size(size: int) -> spool.Waiting:
        frame = frames.Frame(ulid="0" * 26, boot_id="b", mono_ns=0, wall_ns=0, stdin=bytes(size))
        return "", frame, b""

    given = [of_size(spool.BATCH_BYTES // 2) for _ in range(5)]
    assert [len(one) for one in spool.in_batches(iter(given))] == [2, 2, 1]
