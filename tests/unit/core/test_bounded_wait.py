"""Waiting has an end, whatever hangs; and what hangs does not take the others with it."""

import subprocess
import sys
import threading

import pytest

from recollect.core.bounded_wait import BoundedThreads, Late, LatestAnswer
from tests.fakes.waiting import PATIENCE_S

LONG = 60.0


def test_results_and_errors_come_back() -> None:
    bounded = BoundedThreads(1, "test")
    assert bounded.run(LONG, max, 1, 2) == 2
    with pytest.raises(ZeroDivisionError):
        bounded.run(LONG, lambda: 1 // 0)
    assert [bounded.run(LONG, abs, -number) for number in range(100)] == list(range(100))


def test_more_callers_than_threads_wait_for_their_turn() -> None:
    bounded = BoundedThreads(2, "test", hung_s=LONG)
    done: list[int] = []
    callers = [
        threading.Thread(target=lambda n=n: done.append(bounded.run(LONG, abs, n)))
        for n in range(50)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert sorted(done) == list(range(50))


def test_when_all_hang_the_next_is_late_at_once_and_then_all_is_well_again() -> None:
    bounded = BoundedThreads(3, "test", hung_s=0)
    release = threading.Event()
    while len(bounded._begun) < 3:  # one that did not begin in time is dropped
        with pytest.raises(Late):
            bounded.run(0.01, release.wait, LONG)
    with pytest.raises(Late):
        bounded.run(LONG, abs, 1)  # with this patience it would be a minute
    release.set()
    while True:  # as soon as one of them is back
        try:
            assert bounded.run(LONG, abs, -1) == 1
            break
        except Late:
            continue


def test_who_hangs_does_not_keep_the_process_from_ending() -> None:
    program = (
        "import time\nfrom recollect.core.bounded_wait import BoundedThreads, Late\n"
        "try:\n    BoundedThreads(1, 'x').run(0.01, time.sleep, 600)\n"
        "except Late:\n    print('late')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert done.stdout == "late\n"


def test_who_cannot_wait_gets_the_answer_before() -> None:
    go_on = threading.Semaphore(0)
    numbers = iter(range(10))

    def look() -> int:
        go_on.acquire()
        return next(numbers)

    latest = LatestAnswer(look, -1, "test")
    assert latest.get(0.01)[0] == -1
    awaited = latest.get(0.01)[1]
    assert awaited is not None and latest.get(0.01)[1] > awaited  # type: ignore[operator]
    go_on.release()
    while (found := latest.get(0.01))[0] == -1:  # all who asked meanwhile asked the same
        continue
    assert found[0] == 0
    go_on.release()
    assert latest.get(LONG) == (1, None)


def test_an_error_is_told_to_who_asked_and_the_next_asks_again() -> None:
    divisors = iter([0, 1])
    look = lambda: 7 // next(divisors)  # noqa: E731

    latest = LatestAnswer(look, -1, "test")
    with pytest.raises(ZeroDivisionError):
        latest.get(LONG)
    assert latest.get(LONG) == (7, None)
