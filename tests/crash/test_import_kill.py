"""An import that is killed, twenty times over, and taken up again ends as one that was not."""

import os
import pathlib
import random
import re
import signal
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.portable import transcript_import
from recollect.portable.importing import ImportRequest
from recollect.store.sql import records
from recollect.store.sqlite import events
from tests.fakes.transcripts import MAKERS
from tests.fakes.waiting import PATIENCE_S
from tests.unit.portable.conftest import NOW, wire

KILLS = 20


def person(home: pathlib.Path) -> None:
    """All hosts, three sessions each (one where they share a database), in projects that are
    gone."""
    for name, make in MAKERS.items():
        for number in range(1 if name in ("opencode", "kilo") else 3):
            make(home, f"/gone/project{number}", f"{name}-{number}")


def import_all(home: pathlib.Path, settings: Settings) -> None:
    desk = wire(home, settings, ManualClock(start=NOW))
    try:
        desk.importing.run(ImportRequest(home=str(home)))
        assert desk.turn_writer.wait(PATIENCE_S)
    finally:
        desk.turn_writer.close()
        desk.store.close()


def contents(settings: Settings) -> list[str]:
    """Everything, with the random ids of projects replaced by their names, and the store's numbers
    by their order: a write that was cut off may use up a number."""
    desk = wire(pathlib.Path("/"), settings, ManualClock(start=NOW))
    assert desk.turn_writer.wait(PATIENCE_S)
    names = {one.project_id: one.name for one in desk.store.projects.all()}
    desk.turn_writer.close()
    found = []
    rows = [row for one in desk.store.projects.namespaces() for row in desk.store.bulk.dump(one)]
    order = {seq: at for at, seq in enumerate(sorted(row["seq"] for kind, row in rows
                                                     if kind == "event"))}  # fmt: skip
    for kind, row in rows:
        for name in ("seq", "position"):
            if row.get(name) is not None:
                row[name] = order[row[name]]
        text = msgspec.json.encode([kind, row], order="deterministic").decode()
        found.append(re.sub(r"prj_[0-9A-Z]{26}", lambda match: names[match[0]], text))
    assert desk.store.upkeep.check() == []
    desk.store.close()
    return sorted(found)


def killed(home: pathlib.Path, settings: Settings, at: int, before: bool) -> bool:
    """Run in a child that ends itself with SIGKILL at a write; whether it came to that."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return os.WIFSIGNALED(status)
    code = 1
    try:
        count = [0]

        def dying(work: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any, **more: Any) -> Any:
                count[0] += 1
                if count[0] == at and before:
                    os.kill(os.getpid(), signal.SIGKILL)
                result = work(*arguments, **more)
                if count[0] == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return result

            return run

        # Inside the transaction, in the writer's thread: nothing of it is committed yet. And
        # around whole writes: then all of it is.
        events._put = dying(events._put)
        records.insert = dying(records.insert)
        events.SqliteEvents.put = dying(events.SqliteEvents.put)  # type: ignore[method-assign]
        import_all(home, settings)
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


def test_twenty_kills_and_a_resume_equal_one_clean_run(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_import, "BATCH", 3)  # many commits, so many places to die at
    home = tmp_path / "person"
    home.mkdir()
    person(home)
    clean = Settings(home=str(tmp_path / "clean"), actor="ada", reserve_mb=0)
    import_all(home, clean)
    expected = contents(clean)
    assert len(expected) > 16 * 7

    drawn = random.Random(int(os.environ.get("RECOLLECT_SEED", "11")))
    torn = Settings(home=str(tmp_path / "torn"), actor="ada", reserve_mb=0)
    kills = 0
    while kills < KILLS:
        kills += killed(home, torn, drawn.randrange(1, 12), before=drawn.random() < 0.5)
    import_all(home, torn)
    assert contents(torn) == expected
