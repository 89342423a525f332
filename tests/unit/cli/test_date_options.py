"""Ages mean what their units say everywhere; what is not known is refused with the list."""

from datetime import UTC, datetime, timedelta

import click
import pytest

from recollect.cli.date_options import TIME


@pytest.mark.parametrize(
    ("typed", "age"),
    [
        ("45s", timedelta(seconds=45)),
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("90d", timedelta(days=90)),
        ("6 w", timedelta(days=42)),
        ("3mo", timedelta(days=90)),
        ("1y", timedelta(days=365)),
    ],
)
def test_an_age_is_as_long_as_it_says(typed: str, age: timedelta) -> None:
    before = datetime.now(UTC)
    found = TIME.convert(typed, None, None)
    assert before - age <= found <= datetime.now(UTC) - age


@pytest.mark.parametrize("typed", ["3M", "5q", "10", "m", "-3d", "999999y"])
def test_what_is_no_age_is_refused_with_the_units(typed: str) -> None:
    with pytest.raises(click.BadParameter, match=r"m \(minutes\), h, d, w, mo \(months\) or y"):
        TIME.convert(typed, None, None)


def test_a_date_is_a_date() -> None:
    assert TIME.convert("2026-11-01t12:00z", None, None) == datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("word", "days"), [("today", 0), ("Yesterday", 1), ("last week", 7)])
def test_words_mean_the_beginning_of_a_day(word: str, days: int) -> None:
    found = TIME.convert(word, None, None)
    assert (found.hour, found.minute, found.tzinfo is not None) == (0, 0, True)
    assert datetime.now().astimezone().date() - found.date() in (
        timedelta(days=days),
        timedelta(days=days + 1),  # midnight may have passed
    )
