"""`/api/stats`, `/api/week`, `/api/report`, `/api/analytics`, `/api/alarms`: figures, warnings."""

from msgspec import structs

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime
from recollect.service import alarms, analytics, report
from recollect.service import effect as effects
from recollect.service import week as weeks
from recollect.service.alarms import Alarm
from recollect.service.analytics import (
    AnalyticsOverview,
    AnalyticsQuery,
    Economics,
    HostLine,
    Point,
    RetrievalFigures,
    StatsAnswer,
)
from recollect.service.effect import Effect, EffectQuery
from recollect.service.report import Report, ReportQuery
from recollect.service.scope import Scope
from recollect.service.week import Week, WeekQuery


class ActivityByDay(Value, frozen=True, kw_only=True):
    items: tuple[Point, ...]


class Types(Value, frozen=True, kw_only=True):
    events: dict[str, int]
    memories: dict[str, int]
    observation_types: dict[str, int]


class Hosts(Value, frozen=True, kw_only=True):
    items: tuple[HostLine, ...]


class Heatmap(Value, frozen=True, kw_only=True):
    """Rows are weekdays, Monday first; columns are hours."""

    rows: tuple[tuple[int, ...], ...]


class Concepts(Value, frozen=True, kw_only=True):
    concepts: dict[str, int]


class Anomalies(Value, frozen=True, kw_only=True):
    items: tuple[analytics.Anomaly, ...]


class Alarms(Value, frozen=True, kw_only=True):
    items: tuple[Alarm, ...]


def stats(runtime: ServerRuntime, asked: Scope) -> StatsAnswer:
    return analytics.stats(runtime, asked)


def week(runtime: ServerRuntime, asked: WeekQuery) -> Week:
    return weeks.week(runtime, asked)


def make_report(runtime: ServerRuntime, asked: ReportQuery) -> Report:
    found = report.report(runtime, asked)
    if asked.format == "markdown":
        return structs.replace(found, markdown=report.markdown(found))
    return found


def effect(runtime: ServerRuntime, asked: EffectQuery) -> Effect:
    return effects.effect(runtime, asked)


def overview(runtime: ServerRuntime, asked: AnalyticsQuery) -> AnalyticsOverview:
    return analytics.overview(runtime, asked)


def timeline(runtime: ServerRuntime, asked: AnalyticsQuery) -> ActivityByDay:
    return ActivityByDay(items=analytics.timeline(runtime, asked))


def types(runtime: ServerRuntime, asked: AnalyticsQuery) -> Types:
    return Types(**analytics.types(runtime, asked))


def sessions(runtime: ServerRuntime, asked: AnalyticsQuery) -> Hosts:
    return Hosts(items=analytics.hosts(runtime, asked))


def heatmap(runtime: ServerRuntime, asked: AnalyticsQuery) -> Heatmap:
    return Heatmap(rows=analytics.heatmap(runtime, asked))


def concepts(runtime: ServerRuntime, asked: AnalyticsQuery) -> Concepts:
    return Concepts(concepts=analytics.stats(runtime, asked).concepts)


def retrieval(runtime: ServerRuntime, asked: AnalyticsQuery) -> RetrievalFigures:
    return analytics.retrieval(runtime, asked)


def economics(runtime: ServerRuntime, asked: AnalyticsQuery) -> Economics:
    return analytics.economics(runtime, asked)


def anomalies(runtime: ServerRuntime, asked: AnalyticsQuery) -> Anomalies:
    return Anomalies(items=analytics.anomalies(runtime, asked))


def list_alarms(runtime: ServerRuntime, asked: NoParameters) -> Alarms:
    return Alarms(items=alarms.alarms(alarms.alarm_inputs(runtime)))


ENDPOINTS = (
    Endpoint("GET", "/api/stats", "Counts of what is stored.", stats, StatsAnswer, Scope),
    Endpoint(
        "GET", "/api/week", "What was learned and ended, what waits, what was used.",
        week, Week, WeekQuery,
    ),
    Endpoint(
        "GET", "/api/report", "What happened in a period, as data or Markdown.",
        make_report, Report, ReportQuery,
    ),
    Endpoint(
        "GET", "/api/report/effect", "Sessions with memory beside silent ones (shadow mode).",
        effect, Effect, EffectQuery,
    ),
    Endpoint(
        "GET", "/api/analytics", "The main figures of a period.",
        overview, AnalyticsOverview, AnalyticsQuery,
    ),
    Endpoint(
        "GET", "/api/analytics/timeline", "Activity by day.",
        timeline, ActivityByDay, AnalyticsQuery,
    ),
    Endpoint("GET", "/api/analytics/types", "Counts by kind.", types, Types, AnalyticsQuery),
    Endpoint(
        "GET", "/api/analytics/sessions", "Sessions by agent.", sessions, Hosts, AnalyticsQuery
    ),
    Endpoint(
        "GET", "/api/analytics/heatmap", "Events by weekday and hour.",
        heatmap, Heatmap, AnalyticsQuery,
    ),
    Endpoint(
        "GET", "/api/analytics/concepts", "The most frequent concepts.",
        concepts, Concepts, AnalyticsQuery,
    ),
    Endpoint(
        "GET", "/api/analytics/retrieval", "Latency and injected tokens over time.",
        retrieval, RetrievalFigures, AnalyticsQuery,
    ),
    Endpoint(
        "GET", "/api/analytics/economics", "Tokens spent to learn something, and tokens saved.",
        economics, Economics, AnalyticsQuery,
    ),
    Endpoint(
        "GET", "/api/analytics/anomalies", "Sessions that differ much from the average.",
        anomalies, Anomalies, AnalyticsQuery,
    ),
    Endpoint(
        "GET", "/api/alarms", "Warnings that are not errors.", list_alarms, Alarms
    ),
)  # fmt: skip
