"""`recollect maintain` against the real daemon, on a store that was filled long before."""

import json
import pathlib
from datetime import UTC, datetime, timedelta

from recollect.core.clock import ManualClock
from recollect.store.sqlite import SqliteStore
from tests.e2e.test_commands import run
from tests.fakes.daemons import RealDaemon
from tests.make import record


def test_maintain_shows_what_is_due_does_it_once_and_says_so(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home")
    past = datetime.now(UTC) - timedelta(days=3)
    store = SqliteStore(daemon.settings, ManualClock(past))
    text = "We decided to use port 7325 because nothing else does."
    store.records.put(
        [record("A turn", kind="episode", detail=text, session_id="s", valid_from=past)]
    )
    store.close()
    daemon.start()
    try:
        shown = json.loads(run(daemon, "maintain", "--dry-run", "--json").stdout)
        assert shown["preview"] is True and shown["counts"]["turns compressed"] == 1
        done = json.loads(run(daemon, "maintain", "--json").stdout)
        assert (done["counts"], done["finished"]) == (shown["counts"], True)
        again = run(daemon, "maintain")
        assert again.returncode == 0 and "Nothing was due." in again.stdout
        assert "compressed turns" in again.stdout
    finally:
        daemon.stop()
