"""Background work as jobs."""

import threading

import pytest

from recollect.core.clock import ManualClock
from recollect.core.errors import BadInput, Conflict, NotFound
from recollect.core.jobs import ENDED, Jobs


@pytest.fixture
def jobs() -> Jobs:
    return Jobs(ManualClock())


def test_a_job_runs_as_long_as_its_block_and_how_it_ended_is_kept(jobs: Jobs) -> None:
    with jobs.running("export", "everything") as job:
        job.done, job.total = 3, 10
        (running,) = jobs.all()
        assert (running.state, running.done, running.total) == ("running", 3, 10)
    with pytest.raises(BadInput), jobs.running("import", "claude-code"):
        raise BadInput("there is no such file")
    with pytest.raises(ValueError), jobs.running("import"):
        raise ValueError("words of a user")
    ended = [(one.kind, one.state, one.problem) for one in jobs.all()]
    assert ended == [
        ("import", "failed", "ValueError"),
        ("import", "failed", "there is no such file"),
        ("export", "done", ""),
    ]


def test_a_job_that_is_cancelled_learns_of_it_and_ends_so(jobs: Jobs) -> None:
    with jobs.running("maintenance") as job:
        jobs.cancel(job.job_id)
        assert job.cancelled
    assert jobs.all()[0].state == "cancelled"
    with pytest.raises(Conflict, match="has ended"):
        jobs.cancel(job.job_id)
    with pytest.raises(NotFound):
        jobs.cancel("import-99")


def test_what_ended_can_be_started_again_if_it_says_how(jobs: Jobs) -> None:
    again = threading.Event()
    job = jobs.begin("maintenance", again=again.set)
    with pytest.raises(Conflict, match="is running"):
        jobs.retry(job.job_id)
    jobs.end(job, "failed")
    jobs.retry(job.job_id)
    assert again.wait(30)
    with jobs.running("export") as once:
        pass
    with pytest.raises(Conflict, match="cannot be started"):
        jobs.retry(once.job_id)


def test_the_last_ones_are_remembered(jobs: Jobs) -> None:
    for _ in range(ENDED + 5):
        with jobs.running("export"):
            pass
    assert len(jobs.all()) == ENDED and jobs.all()[0].job_id == f"export-{ENDED + 5}"
