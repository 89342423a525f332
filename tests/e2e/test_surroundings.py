"""A machine that misbehaves: what was acknowledged stays, and hooks stay silent."""

import pathlib
import random
import subprocess
import sys

import pytest

from recollect.core import daemon_stage
from tests.crash.oracle import chosen_seed
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S
from tests.torture import surroundings
from tests.torture.case import Attack


@pytest.mark.parametrize(
    ("attack", "tries"),
    [
        (surroundings.read_only_disk, 2),
        (surroundings.little_memory, 1),
        (surroundings.no_new_processes, 4),
        (surroundings.damaged_model, 1),
        (surroundings.odd_days, 500),
        (surroundings.jumping_clock, 2),
    ],
)
def test_nothing_is_lost_or_broken(attack: Attack, tries: int, tmp_path: pathlib.Path) -> None:
    seed = chosen_seed()
    report = attack(random.Random(seed), tries, tmp_path)
    assert not report.failures, f"seed {seed}: {report.failures[:5]}"


_NO_WATCHER = """
import sys, threading
from recollect.daemon import __main__

start = threading.Thread.start

def refused(thread):
    if thread.name == "recollect-watch":
        raise RuntimeError("can't start new thread")
    start(thread)

threading.Thread.start = refused
sys.exit(__main__.main())
"""


def test_a_daemon_that_gets_no_thread_for_learning_ends_in_words(tmp_path: pathlib.Path) -> None:
    daemon = RealDaemon(tmp_path / "home", embedding="false")
    done = subprocess.run(
        [sys.executable, "-c", _NO_WATCHER],
        env=daemon.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "too little memory, or too many processes" in done.stderr
    left = daemon_stage.read(str(daemon.home))
    assert left is not None and left.life == "failed"
