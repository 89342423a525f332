"""Parses a prompt into what search uses: words, stems, phrases, identifiers, dates and times.

In: any text, even a pasted file. Out: a `Query`, and its `QueryTerms`, weighted by the statistics
of the store. Of a long prompt only the rarest words are kept. A date needs a month, since a bare
number is rarely a year; "yesterday", "last week", "two days ago" and "since March" become spans of
time as seen from a given moment, in the machine's time zone. Nothing here raises.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.core import text_words
from recollect.core.text_words import STOP_WORDS, words
from recollect.core.tuning import FLOOR, MATCHING
from recollect.retrieve.vocabulary import GRAM_BITS, grams_of

if TYPE_CHECKING:
    from recollect.retrieve.index import Index
from collections.abc import Iterator
from datetime import datetime, timedelta

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


# --- times that depend on now -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time in microseconds since 1970; the end is not included."""

    start: int
    end: int


_COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_UNITS = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}
_RELATIVE = re.compile(
    r"\b(?:(?P<day>today|yesterday|the day before yesterday|tonight|last night|this morning)"
    r"|(?P<which>last|past|previous|this)\s+(?P<unit>week|month|year)"
    r"|(?:in|over|during|within)?\s*the\s+(?:last|past)\s+(?P<n>\d{1,3}|a|an|few|couple of|"
    + "|".join(_COUNTS)
    + r")\s+(?P<units>hour|day|week|month|year)s?"
    r"|(?P<ago>\d{1,3}|a|an|few|a few|couple of|a couple of|"
    + "|".join(_COUNTS)
    + r")\s+(?P<agos>hour|day|week|month|year)s?\s+ago"
    r"|(?:on|last|this|since)\s+(?P<weekday>" + "|".join(_WEEKDAYS) + r"))\b",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    # "Who looks after the ledger" names no time.
    r"(?<!look )(?<!looks )(?<!looked )(?<!looking )(?<!named )\b(?P<side>before|after|since)\s+"
    r"(?:we|i|you|the|our|that)\s+(?P<what>[\w./ -]{3,60})",
    re.I,
)


_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", re.I)


def spans_in(text: str, now: int) -> tuple[Span, ...]:
    """The spans that a text names in words like "last week" or "since March", as seen from `now`.
    A date alone is no span: `dates_in` finds it."""
    # Without a zone Python counts calendar days, which have 23 to 25 hours.
    here = datetime.fromtimestamp(now / 1_000_000)
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    head = text[:20_000]
    found = []
    for match in _RELATIVE.finditer(head):
        for start, end in _span(match, here, midnight):
            found.append((start, max(end, here) if _follows_since(match) else end))
    for match in filter(_follows_since, _PATTERN.finditer(head)):
        date = _date(match, head)
        began = None if date is None else _first_moment(date, here)
        if began is not None and began < here:
            found.append((began, here))
    return tuple(
        Span(round(start.timestamp() * 1_000_000), round(end.timestamp() * 1_000_000))
        for start, end in found
    )


def _follows_since(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 12) : match.start()]
    return match[0][:5].lower() == "since" or _SINCE.search(before) is not None


def _first_moment(date: Date, here: datetime) -> datetime | None:
    """When a date began; without a year, the last time."""
    try:
        start = datetime(date.year or here.year, date.month, date.day or 1)
        return start if date.year or start < here else start.replace(year=start.year - 1)
    except ValueError:  # 31 February
        return None


def anchors_in(text: str) -> list[tuple[str, str]]:
    """Events that a text uses as a date: `("before", "migration")`. Dates are not included."""
    found = []
    for match in _ANCHOR.finditer(text[:4000]):
        what = re.split(r"[,?!]|\b(?:did|do|was|were|how|what|which|who)\b", match["what"])[0]
        if what.strip() and not dates_in(what) and not _RELATIVE.search(what):
            found.append(("before" if match["side"].lower() == "before" else "after", what.strip()))
    return found[:2]


def _span(
    match: re.Match[str], here: datetime, midnight: datetime
) -> Iterator[tuple[datetime, datetime]]:
    part = {name: (value or "").lower() for name, value in match.groupdict().items()}
    day = timedelta(days=1)
    if part["day"]:
        back = {"yesterday": 1, "last night": 1, "the day before yesterday": 2}.get(part["day"], 0)
        yield midnight - back * day, midnight - (back - 1) * day
    elif part["unit"]:
        yield _calendar(part["unit"], part["which"] != "this", midnight)
    elif part["n"]:
        yield _earlier(here, _count(part["n"]), part["units"]), here
    elif part["ago"]:
        length = _UNITS[part["agos"]]
        when = _earlier(here, _count(part["ago"]), part["agos"])
        if length < 1:
            yield when - timedelta(hours=1), when + timedelta(hours=1)
        else:
            start = when.replace(hour=0, minute=0, second=0, microsecond=0)
            slack = length // 2 * day  # a month ago is about a month ago
            yield start - slack, start + slack + day
    else:
        back = (midnight.weekday() - _WEEKDAYS.index(part["weekday"])) % 7 or 7
        yield midnight - back * day, midnight - (back - 1) * day


def _earlier(here: datetime, count: int, unit: str) -> datetime:
    if unit == "hour":  # elapsed time, across changes of daylight saving time
        return datetime.fromtimestamp(here.timestamp() - count * 3600)
    return here - timedelta(days=count * _UNITS[unit])


def _calendar(unit: str, last: bool, midnight: datetime) -> tuple[datetime, datetime]:
    if unit == "week":
        start = midnight - timedelta(days=midnight.weekday())
        before = start - timedelta(days=7)
    elif unit == "month":
        start = midnight.replace(day=1)
        before = (start - timedelta(days=1)).replace(day=1)
    else:
        start = midnight.replace(month=1, day=1)
        before = start.replace(year=start.year - 1)
    return (before, start) if last else (start, midnight + timedelta(days=1))


def _count(text: str) -> int:
    if text.isdigit():
        return int(text)
    if text in _COUNTS:
        return _COUNTS.index(text)
    return {"a": 1, "an": 1, "couple of": 2, "a couple of": 2}.get(text, 3)


MOST_STEMS = 48  # of a long prompt the rarest are kept
MOST_UNKNOWN = 16  # words that no memory holds: only their 4-grams can match
GIST = 45  # words embedded of the head and of the tail of a long prompt: more take more time
_READ = 2000  # characters of the head and of the tail in which they are looked for


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    words: tuple[str, ...]  # distinct, in order
    stems: tuple[str, ...]  # of `words`, one each
    content: frozenset[str]  # the stems that carry meaning
    dates: tuple[Date, ...]

    @property
    def gist(self) -> str:
        """The text to embed: of a long prompt its head and its tail, where the request is."""
        pieces = self.text[:_READ].split()
        if len(pieces) <= 2 * GIST:
            return self.text
        return " ".join(pieces[:GIST] + self.text[-_READ:].split()[-GIST:])


Intent = Literal["recall", "preference", "procedure", "person", "place", "time", "reason", "task"]
_INTENTS: tuple[tuple[Intent, str], ...] = (
    ("recall", r"\b(remember|recall|last time|previously|what did (we|i|you)|did we)\b"),
    ("preference", r"\b(i (prefer|like|want|use)|my (preferred|favou?rite|usual))\b"),
    ("procedure", r"\b(how (do|can|should|to)|steps?|walk me through|runbook)\b"),
    ("person", r"\b(who|whose|whom)\b"),
    ("place", r"\b(where|which (file|folder|directory|repo\w*))\b"),
    ("time", r"\b(when|what (day|date))\b"),
    ("reason", r"\bwhy\b"),
)


def intent(text: str) -> Intent:
    """What kind of answer a prompt wants, by rules; most prompts are tasks."""
    head = text[:4000]
    return next((name for name, rule in _INTENTS if re.search(rule, head, re.IGNORECASE)), "task")


def parse(text: str) -> Query:
    distinct = tuple(dict.fromkeys(words(text)))
    stems = tuple(map(text_words.stem, distinct))
    pairs = zip(distinct, stems, strict=True)
    content = frozenset(stem for word, stem in pairs if word not in STOP_WORDS)
    return Query(text, distinct, stems, content, dates_in(text))


@dataclass(frozen=True)
class QueryTerms:
    """A query weighted by the statistics of the store: rare terms count more."""

    stems: tuple[str, ...]
    stem_idf: NDArray[np.float64]  # reduced for stop words
    known: float  # of the words that tell something, the share by weight that the store holds
    grams: NDArray[np.uint32]
    gram_number: NDArray[np.uint16]  # gram -> 1 + its index in `grams`, 0 for all others
    gram_idf: NDArray[np.float64]
    documents: int
    mean_grams: float
    mean_session_window: float


def weigh(query: Query, indexes: Sequence["Index"]) -> QueryTerms:
    """Weights by the statistics of all these namespaces together, so that scores compare."""
    session_windows = sum(index.session_windows.count for index in indexes)
    documents = sum(index.count for index in indexes)
    every = list(dict.fromkeys(query.stems))
    counts = np.zeros(len(every))  # session windows that hold each stem
    for index in indexes:
        numbers = index.vocabulary.stem_numbers(every)
        counts[numbers >= 0] += index.stem_session_windows.view[numbers[numbers >= 0]]
    holders_of = dict(zip(every, counts.tolist(), strict=True))
    by_word = list(zip(query.words, query.stems, strict=True))
    stop = {stem for word, stem in by_word if word in STOP_WORDS}
    absent = [word for word, stem in by_word if word not in STOP_WORDS and not holders_of[stem]]
    unknown = set(absent[:MOST_UNKNOWN])
    # The stems to search with: of those that some memory holds, the rarest.
    names = [stem for stem, count in holders_of.items() if count]
    weights = idf(np.array([holders_of[one] for one in names], dtype=np.float64), session_windows)
    weights *= [MATCHING.stop_weight if stem in stop else 1.0 for stem in names]
    rarest = sorted(np.argsort(-weights, kind="stable")[:MOST_STEMS].tolist())
    stems, weights = tuple(names[at] for at in rarest), weights[rarest]
    chosen = set(stems)
    kept = [word for word, stem in by_word if stem in chosen or word in unknown]
    grams = np.unique(grams_of(kept)[0])
    holders = sum((index.gram_documents[grams] for index in indexes), np.zeros(len(grams)))
    grams, holders = grams[holders > 0], holders[holders > 0]
    gram_number = np.zeros(1 << GRAM_BITS, dtype=np.uint16)
    gram_number[grams] = np.arange(1, len(grams) + 1)
    # In a small store every word that it has is common, and would count for nothing.
    total = session_windows + FLOOR.others
    missing = len(unknown) * float(idf(np.zeros(1), total)[0])
    telling = np.array([holders_of[stem] for stem in stems if stem not in stop])
    present = float(idf(telling, total).sum())
    return QueryTerms(
        stems,
        weights,
        present / (present + missing) if present else 0.0,
        grams,
        gram_number,
        idf(holders, documents),
        documents,
        sum(index.total_grams for index in indexes) / max(1, documents),
        sum(index.session_windows.total for index in indexes) / max(1, session_windows),
    )


def idf(holders: NDArray[Any], total: int) -> NDArray[np.float64]:
    """Inverse document frequency, never negative."""
    return np.log1p((total - holders + 0.5) / (holders + 0.5))
