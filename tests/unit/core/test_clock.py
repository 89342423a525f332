from datetime import UTC, datetime, timedelta

import pytest

from recollect.core.clock import ManualClock, SystemClock, from_micros, to_micros


def test_the_wall_clock_can_jump_while_order_goes_on(clock: ManualClock) -> None:
    clock.advance(seconds=2)
    before = clock.mono_ns()
    clock.jump(days=-1)
    assert clock.mono_ns() == before == 2_000_000_000
    assert clock.now() < datetime(2026, 1, 1, tzinfo=UTC)


def test_micros_are_exact_both_ways() -> None:
    for moment in (
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2026, 7, 8, 9, 10, 11, 121314, tzinfo=UTC),
        datetime(9999, 12, 31, tzinfo=UTC),
    ):
        assert from_micros(to_micros(moment)) == moment
    assert from_micros(to_micros(datetime(2026, 1, 1, tzinfo=UTC)) + 1) - datetime(
        2026, 1, 1, tzinfo=UTC
    ) == timedelta(microseconds=1)


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="without an offset"):
        to_micros(datetime(2026, 1, 1))


def test_the_systems_clock_names_its_boot_and_runs_forward() -> None:
    clock = SystemClock()
    assert clock.boot_id() and clock.boot_id() == SystemClock().boot_id()
    assert clock.mono_ns() <= clock.mono_ns()
    assert clock.now().tzinfo == UTC
