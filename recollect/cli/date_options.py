"""Dates and ages as people type them: 2026-11-01, 2026-11-01T12:00, 90d, 6w, 12h, 30m, 3mo."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "mo": timedelta(days=30),
    "y": timedelta(days=365),
}
# As it is typed: who writes 3M may mean months, and is asked rather than given minutes.
_AGE = re.compile(rf"^(\d{{1,6}})\s*({'|'.join(_UNITS)})$")
AGES = "30m, 12h, 7d, 6w, 3mo or 1y"  # for help texts


class Time(click.ParamType[datetime]):
    name = "when"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        text = str(value).strip()
        age = _AGE.match(text)
        try:
            if age:
                return datetime.now(UTC) - int(age[1]) * _UNITS[age[2]]
            found = datetime.fromisoformat(text.upper())
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no time; write 2026-11-01, 2026-11-01T15:30 or an age such as 7d: a "
                "number and s, m (minutes), h, d, w, mo (months) or y",
                param,
                ctx,
            )
        return found if found.tzinfo else found.astimezone()


TIME = Time()
