import fcntl
from pathlib import Path

import pytest

from recollect.capture import starter
from recollect.capture.fallback import Deadline
from recollect.core.clock import SystemClock
from tests.fakes.frame_server import FrameServer

CLOCK = SystemClock()


def attempted(directory: Path, seconds_ago: float, failures: int = 1) -> None:
    last = CLOCK.mono_ns() - int(seconds_ago * 1e9)
    (directory / "start.lock").write_text(f"{CLOCK.boot_id()} {last} {failures}\n")


@pytest.mark.parametrize(("seconds_ago", "worth_waiting"), [(0.5, True), (5, False), (9, False)])
def test_only_a_fresh_attempt_of_another_is_waited_for(
    tmp_path: Path, seconds_ago: float, worth_waiting: bool
) -> None:
    attempted(tmp_path, seconds_ago)
    before = (tmp_path / "start.lock").read_text()
    assert starter.start(str(tmp_path)) == worth_waiting
    assert (tmp_path / "start.lock").read_text() == before


def test_while_another_hook_decides_this_one_waits_for_its_daemon(tmp_path: Path) -> None:
    with open(tmp_path / "start.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert starter.start(str(tmp_path))
    assert (tmp_path / "start.lock").read_text() == ""


def test_a_launcher_without_a_python_starts_nothing_and_counts_as_failed(tmp_path: Path) -> None:
    (tmp_path / "launcher").write_text("/no/python\n/x\n/x\n")
    attempted(tmp_path, 40, failures=2)
    assert not starter.start(str(tmp_path))
    assert (tmp_path / "start.lock").read_text().split()[2] == "3"


def test_a_daemon_that_listens_ends_the_wait_and_the_count_of_failures(tmp_path: Path) -> None:
    attempted(tmp_path, 0.1, failures=3)
    with FrameServer(str(tmp_path / "hook.sock")):
        assert starter.wait(str(tmp_path), Deadline(CLOCK.mono_ns()))
    assert (tmp_path / "start.lock").read_text().split()[2] == "0"


def test_the_wait_ends_with_its_deadline(tmp_path: Path) -> None:
    assert not starter.wait(str(tmp_path), Deadline(CLOCK.mono_ns() - 3 * 10**9))


def test_the_daemon_gets_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RECOLLECT_INTERNAL", "PYTHONPATH", "PYTHONHOME", "OTHER"):
        monkeypatch.setenv(name, "x")
    environment = starter._environment("/data")
    assert environment["RECOLLECT_HOME"] == "/data"
    assert environment["OTHER"] == "x"
    assert not {"RECOLLECT_INTERNAL", "PYTHONPATH", "PYTHONHOME"} & set(environment)
