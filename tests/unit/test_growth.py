"""The measure of growth tells a square from a line."""

from collections.abc import Callable

import pytest

from tests.fakes.growth import assert_linear


def test_linear_work_passes() -> None:
    def work(size: int) -> Callable[[], object]:
        return lambda: sum(range(size))

    assert_linear(work, 50_000)


def test_a_square_does_not() -> None:
    def work(size: int) -> Callable[[], object]:
        return lambda: [sum(range(size)) for _ in range(size)]

    with pytest.raises(AssertionError, match="4 times the size takes"):
        assert_linear(work, 300)
