"""What the suite promises of itself: no process outlives the run that started it."""

import pathlib
import subprocess
import sys

from tests.fakes import processes
from tests.fakes.daemons import REPOSITORY

FAILING = """
from tests.fakes.daemons import RealDaemon

def test_that_fails_before_it_stops_its_daemon(tmp_path):
    RealDaemon(tmp_path / "home").start()
    assert False, "on purpose"
"""
FORGETFUL = """
from tests.fakes.daemons import RealDaemon

def test_that_passes_and_leaves_its_daemon(tmp_path):
    RealDaemon(tmp_path / "home").start()
"""


def suite(place: pathlib.Path, text: str) -> str:
    """What a run of the suite with one more test says."""
    place.mkdir()
    test = place / "test_it.py"
    test.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider",
         "--rootdir", str(place), "--basetemp", str(place / "temporary"), str(test)],
        cwd=REPOSITORY, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert processes.naming(str(place)) == {}
    return done.stdout


def test_a_daemon_of_a_test_that_failed_has_ended(tmp_path: pathlib.Path) -> None:
    told = suite(tmp_path / "failing", FAILING)
    assert "on purpose" in told and "1 failed in" in told, "its daemon went with the test"


def test_a_daemon_that_is_left_is_ended_and_fails_the_run(tmp_path: pathlib.Path) -> None:
    told = suite(tmp_path / "forgetful", FORGETFUL)
    assert "1 passed, 1 error in" in told
    assert "tests left processes behind: RECOLLECT_HOME=" in told and "recollect.daemon" in told
