"""A report on a period, for people and for agents that plan.

In: a period and a project. Out: a report as data and as Markdown: overview, days, types, sessions,
what was learned and done, next steps, the files with the most memories, and how many beliefs wait
for a decision.
"""

import os
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from recollect.core.bounded_wait import Late
from recollect.core.errors import BadInput
from recollect.core.kinds import TYPES
from recollect.core.values import Moment, Record, Value
from recollect.lifecycle.file_freshness import ASKED_S, in_background
from recollect.service import beliefs
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, namespaces_to_list, project_id
from recollect.store.interface import Cursor, RecordFilter

Period = Literal["day", "week", "weekly", "month", "monthly"]

HOTSPOTS = 15
MOST = 20
SESSIONS = 50
PAGES = 40
DAYS = {"day": 1, "week": 7, "weekly": 7, "month": 30, "monthly": 30}
_BULLET = re.compile(r"^[ \t]*+[-*][ \t]++(.+)$", re.MULTILINE)


class ReportQuery(Scope, frozen=True, kw_only=True):
    """A named period that ends now, or the time from `since` to `until`."""

    period: Period = "week"
    since: Moment | None = None
    until: Moment | None = None
    format: Literal["json", "markdown"] = "json"


class Overview(Value, frozen=True, kw_only=True):
    events: int
    prompts: int
    sessions: int
    memories: int
    knowledge: int
    retrievals: int
    injected_tokens: int


class Day(Value, frozen=True, kw_only=True):
    day: str
    events: int
    memories: int
    sessions: int


class ReportedSession(Value, frozen=True, kw_only=True):
    session_id: str
    host: str
    status: str
    started_at: Moment
    minutes: int
    memories: int


class ReportItem(Value, frozen=True, kw_only=True):
    """Something learned, done or planned, and the memory that contains it."""

    text: str
    record_id: str


class Hotspot(Value, frozen=True, kw_only=True):
    path: str
    memories: int


class Report(Value, frozen=True, kw_only=True):
    since: Moment
    until: Moment
    overview: Overview
    timeline: tuple[Day, ...]
    types: dict[str, int]
    sessions: tuple[ReportedSession, ...]
    learnings: tuple[ReportItem, ...]
    tasks: tuple[ReportItem, ...]
    next_steps: tuple[ReportItem, ...]
    hotspots: tuple[Hotspot, ...]
    waiting: int  # beliefs that are proposed or disputed: somebody should decide about them
    complete: bool
    markdown: str = ""


def report(runtime: ServiceRuntime, asked: ReportQuery) -> Report:
    until = asked.until or runtime.clock.now()
    since = asked.since or until - timedelta(days=DAYS[asked.period])
    if since >= until:
        raise BadInput("the period ends before it begins", field="since")
    namespaces = namespaces_to_list(runtime, asked)
    records, complete = _records(runtime, namespaces, since, until)
    tallies = {
        what: [
            one
            for namespace in namespaces
            for one in runtime.store.upkeep.tally(
                what, since, until, seconds=86_400, namespace=namespace
            )
        ]
        for what in ("events", "sessions", "receipts")
    }
    counts = {what: sum(one.count for one in found) for what, found in tallies.items()}
    overview = Overview(
        events=counts["events"],
        prompts=sum(one.count for one in tallies["events"] if one.kind == "prompt"),
        sessions=counts["sessions"],
        memories=len(records),
        knowledge=sum(not one.traits.is_turn for one in records),
        retrievals=counts["receipts"],
        injected_tokens=sum(one.size for one in tallies["receipts"]),
    )
    days: dict[str, Counter[str]] = {}
    for record in records:
        days.setdefault(record.valid_from.strftime("%Y-%m-%d"), Counter())["records"] += 1
    for what, found in tallies.items():
        for one in found:
            days.setdefault(one.at.strftime("%Y-%m-%d"), Counter())[what] += one.count
    return Report(
        since=since,
        until=until,
        overview=overview,
        timeline=tuple(
            Day(
                day=day,
                events=of["events"],
                memories=of["records"],
                sessions=of["sessions"],
            )
            for day, of in sorted(days.items())
        ),
        types=dict(Counter(_type(record) for record in records).most_common()),
        sessions=_sessions(runtime, namespaces, since, until, records),
        learnings=_learnings(records),
        tasks=_tasks(records),
        next_steps=_next_steps(runtime, namespaces, since, records),
        hotspots=_hotspots(runtime, records),
        waiting=sum(len(beliefs.waiting(runtime, namespace)) for namespace in namespaces),
        complete=complete,
    )


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"


def markdown(made: Report) -> str:
    """The report as Markdown."""
    view = made.overview
    lines = [
        f"# What happened from {_day(made.since)} to {_day(made.until)}",
        "",
        f"{_many(view.sessions, 'session')}, {_many(view.prompts, 'prompt')}, "
        f"{_many(view.events, 'event')}; {_many(view.memories, 'memory', 'memories')}, "
        f"{view.knowledge} of them notes, beliefs or summaries; "
        f"{_many(view.retrievals, 'retrieval')} injected about "
        f"{_many(view.injected_tokens, 'token')}.",
    ]
    if made.timeline:
        lines += ["", "## Days", "", "| day | sessions | events | memories |", "|---|---|---|---|"]
        lines += [f"| {one.day} | {one.sessions} | {one.events} | {one.memories} |"
                  for one in made.timeline]  # fmt: skip
    if made.types:
        lines += ["", "## Kinds of memories", ""]
        lines += [f"- {name}: {count}" for name, count in made.types.items()]
    for title, told in (
        ("Learned", made.learnings),
        ("Done", made.tasks),
        ("Next steps", made.next_steps),
    ):
        if told:
            lines += ["", f"## {title}", "", *(f"- {one.text}" for one in told)]
    if made.hotspots:
        lines += ["", "## Files", "", *(f"- {one.path}: {one.memories}" for one in made.hotspots)]
    if made.sessions:
        lines += ["", "## Sessions", ""]
        lines += [
            f"- {one.started_at.astimezone(UTC):%Y-%m-%d %H:%M} {one.host}, {one.minutes} min, "
            f"{one.memories} memories ({one.status})"
            for one in made.sessions
        ]
    if made.waiting:
        lines += ["", f"{_many(made.waiting, 'belief')} to decide about: recollect review"]
    return "\n".join(lines) + "\n"


def _hotspots(runtime: ServiceRuntime, records: Sequence[Record]) -> tuple[Hotspot, ...]:
    """Files by the memories about them. Hooks name a file by its whole path, other doors by its
    path in the project: it is one file. Tools that list or search name directories, too."""
    roots = {one.project_id: one.roots for one in runtime.store.projects.all()}
    found: Counter[str] = Counter()
    folders = {above for known in roots.values() for root in known for above in _above(root + "/")}
    for record in records:
        here = roots.get(project_id(record.namespace) or "", ())
        paths = {_in_project(path, here) for path in record.files}
        found.update(paths)
        folders.update(above for path in paths for above in _above(path))
    ranked = [path for path, _ in found.most_common() if path not in folders]
    known = ["/", *(root for some in roots.values() for root in some)]
    there = _directories(ranked[: 2 * HOTSPOTS], known)
    files = [path for path in ranked if path not in there][:HOTSPOTS]
    return tuple(Hotspot(path=path, memories=found[path]) for path in files)


def _above(path: str) -> Iterator[str]:
    """The directories in which it lies."""
    while (above := posixpath.dirname(path)) not in ("", path):
        yield above
        path = above


def _directories(paths: Sequence[str], roots: Sequence[str]) -> set[str]:
    """Which of them are directories on this machine; none when its disk hangs."""

    def look() -> set[str]:
        return {
            path for path in paths if any(os.path.isdir(os.path.join(root, path)) for root in roots)
        }

    try:
        return in_background(look, patience_s=ASKED_S)
    except Late:
        return set()


def _in_project(path: str, roots: Sequence[str]) -> str:
    normal = posixpath.normpath(path)
    inside = (root.rstrip("/") + "/" for root in roots)
    return normal.removeprefix(next((one for one in inside if normal.startswith(one)), ""))


def _records(
    runtime: ServiceRuntime, namespaces: tuple[str, ...], since: datetime, until: datetime
) -> tuple[list[Record], bool]:
    """The memories of what happened in the period, newest first, at most PAGES pages per namespace
    so that it stays fast; and whether these are all. An import today is of the days it tells of."""
    found: list[Record] = []
    complete = True
    for namespace in namespaces:
        place: Cursor | None = None
        for _ in range(PAGES):
            page = runtime.visible_store.records.page(
                namespace, RecordFilter(since=since, until=until), before=place, limit=200,
                by_happening=True,
            )  # fmt: skip
            found += page.items
            place = page.next
            if place is None:
                break
        complete = complete and place is None
    found.sort(key=lambda record: (record.valid_from, record.record_id), reverse=True)
    return found, complete


def _sessions(
    runtime: ServiceRuntime,
    namespaces: tuple[str, ...],
    since: datetime,
    until: datetime,
    records: list[Record],
) -> tuple[ReportedSession, ...]:
    held = Counter(record.session_id for record in records)
    found = [
        one
        for namespace in namespaces
        for one in runtime.store.sessions.page(namespace, limit=200).items
        if one.last_event_at >= since and one.started_at < until
    ]
    found.sort(key=lambda one: (one.started_at, one.session_id), reverse=True)
    return tuple(
        ReportedSession(
            session_id=one.session_id,
            host=one.surface,
            status=one.status,
            started_at=one.started_at,
            minutes=round((one.last_event_at - one.started_at).total_seconds() / 60),
            memories=held[one.session_id],
        )
        for one in found[:SESSIONS]
    )


def _learnings(records: list[Record]) -> tuple[ReportItem, ...]:
    told: dict[str, str] = {}
    for record in records:
        if record.stands and (record.traits.is_belief or _is_lesson(record)):
            told.setdefault(record.title, record.record_id)
        for line in _section(record, "Learned"):
            told.setdefault(line, record.record_id)
    return _first(told)


def _is_lesson(record: Record) -> bool:
    return record.observation_type is not None and TYPES[record.observation_type].is_lesson


def _tasks(records: list[Record]) -> tuple[ReportItem, ...]:
    told: dict[str, str] = {}
    for record in records:
        if record.traits.is_summary:
            for line in _section(record, "Completed") or [record.title]:
                told.setdefault(line, record.record_id)
    if not told:  # without summaries: the titles of turns
        for record in records:
            if record.traits.is_turn and record.category is None:
                told.setdefault(record.title, record.record_id)
    return _first(told)


def _next_steps(
    runtime: ServiceRuntime, namespaces: tuple[str, ...], since: datetime, records: list[Record]
) -> tuple[ReportItem, ...]:
    told: dict[str, str] = {}
    for namespace in namespaces:
        stood = runtime.visible_store.sessions.last_checkpoint(namespace)
        if stood is not None and stood.created_at is not None and stood.created_at >= since:
            for line in stood.next_steps:
                told.setdefault(line, stood.checkpoint_id)
    for record in records:
        if record.traits.is_summary:
            for line in _section(record, "Next steps"):
                told.setdefault(line, record.record_id)
    return _first(told)


def _section(record: Record, name: str) -> list[str]:
    """The bullets under a heading of a summary."""
    if not record.traits.is_summary:
        return []
    _, found, rest = record.detail.partition(f"### {name}\n")
    return _BULLET.findall(rest.partition("\n### ")[0]) if found else []


def _first(told: dict[str, str]) -> tuple[ReportItem, ...]:
    return tuple(
        ReportItem(text=text, record_id=where) for text, where in list(told.items())[:MOST]
    )


def _type(record: Record) -> str:
    return record.knowledge_type or record.observation_type or record.kind


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d")
