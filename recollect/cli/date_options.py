"""Times as people type them: 2026-11-01, 2026-11-01T12:00, 90d, 6w, 12h, 3mo, yesterday."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "mo": timedelta(days=30),
    "y": timedelta(days=365),
}
# Units are case-sensitive: whoever types 3M may mean months, and is asked, not given minutes.
_AGE = re.compile(rf"^(\d{{1,6}})\s*({'|'.join(_UNITS)})$")
# Days before today, at whose beginning the time is.
_WORDS = {"today": 0, "yesterday": 1, "last week": 7, "last month": 30}
FORMS = "TIME is 2026-11-01, 2026-11-01T15:30, yesterday or an age such as 12h, 7d, 6w or 3mo."


class Time(click.ParamType[datetime]):
    """Local time, unless the text says otherwise."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        text = str(value).strip()
        age = _AGE.match(text)
        if text.lower() in _WORDS:
            now = datetime.now().astimezone()
            today = now.replace(hour=0, minute=0, second=0, microsecond=0)
            return today - timedelta(days=_WORDS[text.lower()])
        try:
            if age:
                return datetime.now(UTC) - int(age[1]) * _UNITS[age[2]]
            found = datetime.fromisoformat(text.upper())
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a time. Write 2026-11-01, 2026-11-01T15:30, or an age such as "
                "7d: a number and s, m (minutes), h, d, w, mo (months) or y; or today, yesterday, "
                "last week, last month.",
                param,
                ctx,
            )
        return found if found.tzinfo else found.astimezone()


TIME = Time()


def time_option(name: str, help: str) -> Callable[[F], F]:
    """A time, with the accepted forms in its help."""
    return click.option(name, type=TIME, metavar="TIME", help=f"{help} {FORMS}")


since_option = time_option("--since", "Only what happened at TIME or later (not: was stored).")
until_option = time_option("--until", "Only what happened before TIME.")
as_of_option = time_option("--as-of", "Answer with what memory held at TIME.")


def iso(moment: datetime | None) -> str | None:
    """A time as the API takes it."""
    return moment.isoformat() if moment else None
