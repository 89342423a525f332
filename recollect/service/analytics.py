"""Figures: what was captured, remembered and injected, over time, and what that saved.

In: a number of days and a project. Out: counts by day, weekday and hour, kind, host; latency;
tokens. Tokens of what was captured are estimated as a quarter of its bytes.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from msgspec import Meta

from recollect.core.kinds import traits
from recollect.core.values import Session, Value
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import Scope, all_namespaces, namespaces_to_list, project_id
from recollect.store.interface import Cursor, RecordFilter, Stats, Tallied, Tally

BYTES_PER_TOKEN = 4
LATENCIES = 500
LEAST_SESSIONS = 5
FAR = 2.5


class AnalyticsQuery(Scope, frozen=True, kw_only=True):
    """`utc_offset_min`: the time zone for days and hours, in minutes from UTC."""

    days: Annotated[int, Meta(ge=1, le=366)] = 30
    utc_offset_min: Annotated[int, Meta(ge=-840, le=840)] = 0


class Point(Value, frozen=True, kw_only=True):
    day: str
    events: int = 0
    prompts: int = 0
    memories: int = 0
    sessions: int = 0
    retrievals: int = 0


class HostLine(Value, frozen=True, kw_only=True):
    host: str
    sessions: int
    minutes: int


class RetrievalPoint(Value, frozen=True, kw_only=True):
    day: str
    retrievals: int
    tokens: int
    mean_ms: float
    longest_ms: float


class RetrievalFigures(Value, frozen=True, kw_only=True):
    """Retrievals by day; the percentiles are of the newest 500."""

    timeline: tuple[RetrievalPoint, ...]
    triggers: dict[str, int]
    p50_ms: float | None
    p95_ms: float | None
    spoke: int
    silent: int


class Economics(Value, frozen=True, kw_only=True):
    """Tokens spent to learn what is remembered, against tokens to read it again. Captured text is
    estimated from its bytes."""

    discovery_tokens: int
    memory_tokens: int
    injected_tokens: int
    retrievals: int
    compression: float | None
    saved_tokens: int


class Anomaly(Value, frozen=True, kw_only=True):
    """A session that differs much from the mean, by `z` standard deviations."""

    session_id: str
    host: str
    what: Literal["minutes", "memories"]
    value: float
    mean: float
    z: float


class AnalyticsOverview(Value, frozen=True, kw_only=True):
    days: int
    events: int
    memories: int
    sessions: int
    retrievals: int
    projects: int
    economics: Economics


class StatsAnswer(Value, frozen=True, kw_only=True):
    """Counts of what is stored."""

    events: int
    records: int
    sessions: int
    embedded: int
    projects: int
    event_kinds: dict[str, int]
    record_kinds: dict[str, int]
    observation_types: dict[str, int]
    concepts: dict[str, int]


def stats(runtime: ServiceRuntime, scope: Scope) -> StatsAnswer:
    namespaces = namespaces_to_list(runtime, scope)
    found = (
        [runtime.store.upkeep.stats()]
        if namespaces == all_namespaces(runtime)
        else [runtime.store.upkeep.stats(namespace) for namespace in namespaces]
    )

    def summed(of: Callable[[Stats], dict[str, int]]) -> dict[str, int]:
        total: Counter[str] = Counter()
        for one in found:
            total.update(of(one))
        return dict(total.most_common())

    return StatsAnswer(
        events=sum(one.events for one in found),
        records=sum(one.records for one in found),
        sessions=sum(one.sessions for one in found),
        embedded=sum(one.embedded for one in found),
        projects=len({project_id(namespace) for namespace in namespaces} - {""}),
        event_kinds=summed(lambda one: one.event_kinds),
        record_kinds=summed(lambda one: one.record_kinds),
        observation_types=summed(lambda one: one.observation_types),
        concepts=summed(lambda one: one.concepts),
    )


def overview(runtime: ServiceRuntime, asked: AnalyticsQuery) -> AnalyticsOverview:
    return AnalyticsOverview(
        days=asked.days,
        events=_count(_tally(runtime, asked, "events")),
        memories=_count(_tally(runtime, asked, "records")),
        sessions=_count(_tally(runtime, asked, "sessions")),
        retrievals=_count(_tally(runtime, asked, "receipts")),
        projects=len(
            {project_id(namespace) for namespace in namespaces_to_list(runtime, asked)} - {""}
        ),
        economics=economics(runtime, asked),
    )


def timeline(runtime: ServiceRuntime, asked: AnalyticsQuery) -> tuple[Point, ...]:
    """One point per day, empty days included."""
    days: dict[str, Counter[str]] = {day: Counter() for day in _days(runtime, asked)}
    named: tuple[tuple[Tallied, str], ...] = (
        ("events", "events"),
        ("records", "memories"),
        ("sessions", "sessions"),
        ("receipts", "retrievals"),
    )
    for what, name in named:
        for one in _tally(runtime, asked, what):
            of = days.setdefault(_day(one.at, asked), Counter())
            of[name] += one.count
            if what == "events" and one.kind == "prompt":
                of["prompts"] += one.count
    return tuple(Point(day=day, **of) for day, of in sorted(days.items()))


def types(runtime: ServiceRuntime, asked: AnalyticsQuery) -> dict[str, dict[str, int]]:
    """Events and memories of the period by kind, and all memories by type."""
    return {
        "events": _by_kind(_tally(runtime, asked, "events")),
        "memories": _by_kind(_tally(runtime, asked, "records")),
        "observation_types": stats(runtime, asked).observation_types,
    }


def hosts(runtime: ServiceRuntime, asked: AnalyticsQuery) -> tuple[HostLine, ...]:
    found: dict[str, list[Tally]] = {}
    for one in _tally(runtime, asked, "sessions"):
        found.setdefault(one.kind, []).append(one)
    lines = [
        HostLine(
            host=host,
            sessions=_count(tallies),
            minutes=sum(one.size for one in tallies) // 60,
        )
        for host, tallies in found.items()
    ]
    return tuple(sorted(lines, key=lambda one: (-one.sessions, one.host)))


def heatmap(runtime: ServiceRuntime, asked: AnalyticsQuery) -> tuple[tuple[int, ...], ...]:
    """Events by weekday (Monday first) and hour."""
    table = [[0] * 24 for _ in range(7)]
    for one in _tally(runtime, asked, "events"):
        local = _local(one.at, asked)
        table[local.weekday()][local.hour] += one.count
    return tuple(tuple(row) for row in table)


def retrieval(runtime: ServiceRuntime, asked: AnalyticsQuery) -> RetrievalFigures:
    days: dict[str, list[Tally]] = {}
    tallies = _tally(runtime, asked, "receipts")
    for one in tallies:
        days.setdefault(_day(one.at, asked), []).append(one)
    recent = [
        receipt
        for namespace in namespaces_to_list(runtime, asked)
        for receipt in runtime.store.receipts.page(namespace, limit=LATENCIES).items
    ]
    took = sorted(receipt.latency_us / 1000 for receipt in recent)
    spoke = sum(bool(receipt.injected) for receipt in recent)
    return RetrievalFigures(
        timeline=tuple(
            RetrievalPoint(
                day=day,
                retrievals=_count(of),
                tokens=sum(one.size for one in of),
                mean_ms=round(sum(one.took_us for one in of) / _count(of) / 1000, 2),
                longest_ms=max(one.longest_us for one in of) / 1000,
            )
            for day, of in sorted(days.items())
        ),
        triggers=_by_kind(tallies),
        p50_ms=_share(took, 0.50),
        p95_ms=_share(took, 0.95),
        spoke=spoke,
        silent=len(recent) - spoke,
    )


def economics(runtime: ServiceRuntime, asked: AnalyticsQuery) -> Economics:
    discovery = sum(one.size for one in _tally(runtime, asked, "events")) // BYTES_PER_TOKEN
    kept = sum(
        one.size for one in _tally(runtime, asked, "records") if not traits(one.kind).is_turn
    )
    receipts = _tally(runtime, asked, "receipts")
    injected = sum(one.size for one in receipts)
    memory = kept // BYTES_PER_TOKEN
    return Economics(
        discovery_tokens=discovery,
        memory_tokens=memory,
        injected_tokens=injected,
        retrievals=_count(receipts),
        compression=round(discovery / memory, 1) if memory else None,
        saved_tokens=max(0, discovery - injected) if injected else 0,
    )


def anomalies(runtime: ServiceRuntime, asked: AnalyticsQuery) -> tuple[Anomaly, ...]:
    """Sessions of the period that took much longer or shorter, or left many more memories."""
    since = runtime.clock.now() - timedelta(days=asked.days)
    found: list[tuple[Session, float, float]] = []
    for namespace in namespaces_to_list(runtime, asked):
        held: Counter[str | None] = Counter()
        place: Cursor | None = None
        while True:
            page = runtime.visible_store.records.page(
                namespace, RecordFilter(since=since), before=place, limit=500, by_happening=True
            )
            held.update(record.session_id for record in page.items)
            place = page.next
            if place is None:
                break
        for one in runtime.store.sessions.page(namespace, limit=200).items:
            if one.last_event_at >= since:
                minutes = (one.last_event_at - one.started_at).total_seconds() / 60
                found.append((one, minutes, float(held[one.session_id])))
    odd: list[Anomaly] = []
    if len(found) >= LEAST_SESSIONS:
        odd += _outliers("minutes", [(one, minutes) for one, minutes, _ in found])
        odd += _outliers("memories", [(one, memories) for one, _, memories in found])
    return tuple(sorted(odd, key=lambda one: -abs(one.z)))


def _outliers(
    what: Literal["minutes", "memories"], figures: list[tuple[Session, float]]
) -> Iterator[Anomaly]:
    values = [value for _, value in figures]
    mean, spread = statistics.fmean(values), statistics.pstdev(values)
    for session, value in figures:
        seen = round(value, 1) != round(mean, 1)  # else the two are shown as the same number
        if seen and spread and abs(value - mean) / spread > FAR:
            yield Anomaly(
                session_id=session.session_id,
                host=session.surface,
                what=what,
                value=round(value, 1),
                mean=round(mean, 1),
                z=round((value - mean) / spread, 2),
            )


# --- parts ---------------------------------------------------------------------------------------


def _tally(runtime: ServiceRuntime, asked: AnalyticsQuery, what: Tallied) -> list[Tally]:
    until = runtime.clock.now() + timedelta(seconds=1)
    since = until - timedelta(days=asked.days)
    return [
        one
        for namespace in namespaces_to_list(runtime, asked)
        for one in runtime.store.upkeep.tally(what, since, until, namespace=namespace)
    ]


def _count(tallies: Sequence[Tally]) -> int:
    return sum(one.count for one in tallies)


def _by_kind(tallies: Sequence[Tally]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in tallies:
        total[one.kind] += one.count
    return dict(total.most_common())


def _local(moment: datetime, asked: AnalyticsQuery) -> datetime:
    return moment.astimezone(UTC) + timedelta(minutes=asked.utc_offset_min)


def _day(moment: datetime, asked: AnalyticsQuery) -> str:
    return _local(moment, asked).strftime("%Y-%m-%d")


def _days(runtime: ServiceRuntime, asked: AnalyticsQuery) -> list[str]:
    today = _local(runtime.clock.now(), asked)
    return [(today - timedelta(days=back)).strftime("%Y-%m-%d") for back in range(asked.days)]


def _share(ordered: Sequence[float], share: float) -> float | None:
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)
