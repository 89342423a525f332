"""Dates and ages as people type them: 2026-11-01, 2026-11-01T12:00, 90d, 6w, 12h."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

_AGE = re.compile(r"^(\d{1,6})\s*(h|d|w|m|y)$")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


class Moment(click.ParamType[datetime]):
    name = "when"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        text = str(value).strip().lower()
        age = _AGE.match(text)
        try:
            if age:
                return datetime.now(UTC) - timedelta(days=int(age[1]) * _DAYS[age[2]])
            found = datetime.fromisoformat(text.upper())
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is neither a date (2026-11-01) nor an age (90d, 6w)", param, ctx)
        return found if found.tzinfo else found.astimezone()


MOMENT = Moment()
