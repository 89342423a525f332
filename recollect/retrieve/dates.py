"""Dates that a text names, as far as it names them.

In: text. Out: year, month and day, each or none; only mentions with a month count, since a bare
number is rarely a year. Impossible dates are passed over.
"""

import re
from dataclasses import dataclass

_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?\b"
_YEAR = r"(?:,?\s*(?:of\s+)?(?P<{0}>(?:19|20)\d\d)\b)?"

_PATTERN = re.compile(
    r"\b(?:(?P<iy>(?:19|20)\d\d)[-/](?P<im>\d{1,2})(?:[-/](?P<id>\d{1,2}))?\b"
    + "|"
    + (_DAY + r"\s+(?:of\s+)?" + _MONTH.replace("{0}", "{1}") + _YEAR.replace("{0}", "{2}")).format(
        "d1", "m1", "y1"
    )
    + "|"
    + (_MONTH + r"\s+" + _DAY.replace("{0}", "{1}") + _YEAR.replace("{0}", "{2}")).format(
        "m2", "d2", "y2"
    )
    + "|"
    + (_MONTH + _YEAR.replace("{0}", "{1}")).format("m3", "y3")
    + ")",
    re.IGNORECASE,
)
# "may" and "march" are verbs more often than months: alone they need a capital or a preposition.
_DOUBTFUL = re.compile(r"(?:\b(?:in|of|since|until|by|last|this|next|during|early|late)\s+)$", re.I)


@dataclass(frozen=True, slots=True)
class Date:
    month: int
    year: int | None = None
    day: int | None = None


def dates_in(text: str) -> tuple[Date, ...]:
    """The dates a text names, in order, each once."""
    found: dict[Date, None] = {}
    for match in _PATTERN.finditer(text[:20_000]):
        date = _date(match, text)
        if date is not None:
            found[date] = None
    return tuple(found)


def _date(match: re.Match[str], text: str) -> Date | None:
    part = match.groupdict()
    name = part["m1"] or part["m2"] or part["m3"]
    year = part["iy"] or part["y1"] or part["y2"] or part["y3"]
    day = part["id"] or part["d1"] or part["d2"]
    if name is None:
        month = int(part["im"])
    else:
        month = _NAMES.index(name[:3].lower()) + 1
        if part["m3"] and not year and name.lower() in ("may", "march", "mar", "dec", "jan", "sep"):
            before = text[max(0, match.start() - 12) : match.start()]
            if not (name[0].isupper() and before.strip()) and not _DOUBTFUL.search(before):
                return None
    if not 1 <= month <= 12 or not 1 <= int(day or 1) <= 31:
        return None
    return Date(month, int(year) if year else None, int(day) if day else None)
