"""Two arms on hand-made numbers."""

import random
import statistics

import pytest

from recollect.service.arm_statistics import LEAST_SESSIONS, Comparison, Estimate, compare


def test_means_and_difference_of_numbers_known_by_hand() -> None:
    found = compare([4.0, 6.0] * 8, [8.0, 12.0] * 8, 0.5)
    assert found.memory is not None and found.silent is not None and found.difference is not None
    assert (found.memory.value, found.silent.value, found.difference.value) == (5, 10, -5)
    assert found.clear and (found.memory_sessions, found.silent_sessions) == (16, 16)
    # The standard errors are 0.25 and 0.5 (spread 1 and 2, 16 sessions); 1.96 of them each side.
    for one, error in ((found.memory, 0.25), (found.silent, 0.5), (found.difference, 0.559)):
        assert one.low == pytest.approx(one.value - 1.96 * error, abs=0.3 * error)
        assert one.high == pytest.approx(one.value + 1.96 * error, abs=0.3 * error)
    assert found.relative is not None and found.relative.value == -0.5
    assert found.relative.low is not None and -0.6 < found.relative.low < -0.5
    assert compare([4.0, 6.0] * 8, [8.0, 12.0] * 8, 0.5) == found  # the seed is fixed


def test_equal_arms_differ_by_nothing_that_is_clear() -> None:
    values = [float(number % 7) for number in range(70)]
    found = compare(values, values, 0.5)
    assert found.difference is not None and found.difference.value == 0 and not found.clear
    assert found.difference.low is not None and found.difference.low < 0


def test_a_part_of_nothing_is_not_given() -> None:
    found = compare([1.0] * 10, [0.0] * 10, 0.5)
    assert found.clear and found.relative is None
    seldom = compare([0.0] * 30, [0.0] * 28 + [1.0] * 2, 0.5)  # some samples have no silent one
    assert seldom.relative == Estimate(value=-1)


def test_few_sessions_have_a_mean_and_no_interval() -> None:
    few = [3.0] * (LEAST_SESSIONS - 1)
    found = compare(few, [9.0] * 50, 0.5)
    assert found.memory == Estimate(value=3) and found.difference == Estimate(value=-6)
    assert found.relative is not None and found.relative.value == pytest.approx(-2 / 3)
    assert not found.clear
    assert compare([], [], 0.2) == Comparison(
        memory_sessions=0, silent_sessions=0, memory=None, silent=None, difference=None,
        relative=None, clear=False, more_sessions=None,
    )  # fmt: skip
    alone = compare([1.0], [], 0.2)
    assert alone.memory == Estimate(value=1) and alone.difference is None


def test_how_many_sessions_are_missing() -> None:
    # Mean 10, variance 25 in each arm; a difference of 2 needs (2.8 / 2)^2 * (25 / .5 + 25 / .5)
    # = 196 sessions.
    arm = [5.0, 15.0] * 25
    scale = statistics.variance(arm) / 25
    found = compare(arm, arm, 0.5)
    assert found.more_sessions == pytest.approx(196 * scale - 100, abs=1)
    # A small share makes it dearer: 25 / .9 + 25 / .1 instead of 100.
    found = compare(arm, arm, 0.1)
    assert found.more_sessions == pytest.approx(1.96 * 277.8 * scale - 100, abs=1)
    assert compare([10.0, 10.1] * 20, [10.0, 10.1] * 20, 0.5).more_sessions == 0
    assert compare([0.0] * 20, [0.0] * 20, 0.5).more_sessions is None
    assert compare(arm, arm, 1.0).more_sessions is None


def test_the_interval_of_no_difference_holds_zero_about_as_often_as_it_says() -> None:
    chance = random.Random(7)
    held = 0
    for _ in range(60):
        arms = [[float(chance.expovariate(0.2) // 1) for _ in range(40)] for _ in range(2)]
        held += not compare(arms[0], arms[1], 0.5).clear
    assert held >= 52
