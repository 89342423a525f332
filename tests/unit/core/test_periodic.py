"""Repeated work: it goes on after a failure, and ends when it is closed."""

import threading

from recollect.core.errors import StoreError
from recollect.core.periodic import Job, Periodic

PATIENCE_S = 60.0


def test_a_job_that_fails_is_reported_and_keeps_no_other_from_running() -> None:
    problems: list[str] = []
    runs: list[str] = []
    enough = threading.Event()

    def failing() -> None:
        runs.append("failing")
        raise StoreError("away") if len(runs) == 1 else ValueError("a defect")

    def other() -> None:
        if runs.count("failing") >= 2:
            enough.set()

    periodic = Periodic(
        "work",
        Job(failing, 0.001, at_once=True),
        Job(other, 0.001),
        on_error=problems.append,
    )
    periodic.start()
    assert enough.wait(PATIENCE_S)
    periodic.close()
    assert problems[:2] == ["work: away", "work failed; the log says why"]
    assert not [one for one in threading.enumerate() if one.name == "recollect-work"]


def test_nothing_runs_before_its_first_interval_or_after_the_end() -> None:
    ran = threading.Event()
    early = threading.Event()
    periodic = Periodic("work", Job(early.set, 3600), Job(ran.set, 0.0, at_once=True))
    periodic.start()
    assert ran.wait(PATIENCE_S)
    periodic.close()
    ran.clear()
    assert not early.is_set() and not ran.is_set()


def test_one_that_never_started_can_be_closed() -> None:
    Periodic("work", Job(lambda: None, 1.0)).close()


def test_a_stop_that_others_share_ends_it() -> None:
    stop = threading.Event()
    periodic = Periodic("work", Job(stop.set, 0.001, at_once=True), stop=stop)
    periodic.start()
    periodic.close()
    assert stop.is_set()
