"""`/api/stats`, `/api/week`, `/api/report`, `/api/analytics`, `/api/alarms`: figures, warnings."""

from msgspec import structs

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import alarms, analytics, effect, report, week
from recollect.service.analytics import AnalyticsQuery


class Types(Value, frozen=True, kw_only=True):
    events: dict[str, int]
    memories: dict[str, int]
    observation_types: dict[str, int]


class Heatmap(Value, frozen=True, kw_only=True):
    """Rows are weekdays, Monday first; columns are hours."""

    rows: tuple[tuple[int, ...], ...]


class Concepts(Value, frozen=True, kw_only=True):
    concepts: dict[str, int]


def make_report(runtime: ServerRuntime, asked: report.ReportQuery) -> report.Report:
    found = report.report(runtime, asked)
    if asked.format == "markdown":
        return structs.replace(found, markdown=report.markdown(found))
    return found


def types(runtime: ServerRuntime, asked: AnalyticsQuery) -> Types:
    return Types(**analytics.types(runtime, asked))


def heatmap(runtime: ServerRuntime, asked: AnalyticsQuery) -> Heatmap:
    return Heatmap(rows=analytics.heatmap(runtime, asked))


def concepts(runtime: ServerRuntime, asked: AnalyticsQuery) -> Concepts:
    return Concepts(concepts=analytics.stats(runtime, asked).concepts)


def list_alarms(runtime: ServerRuntime) -> tuple[alarms.Alarm, ...]:
    return alarms.alarms(alarms.alarm_inputs(runtime))


ENDPOINTS = (
    Endpoint("GET", "/api/stats", "Counts of what is stored.", analytics.stats),
    Endpoint(
        "GET", "/api/week", "What was learned and ended, what waits, what was used.", week.week
    ),
    Endpoint("GET", "/api/report", "What happened in a period, as data or Markdown.", make_report),
    Endpoint(
        "GET", "/api/report/effect", "Sessions with memory beside silent ones (shadow mode).",
        effect.effect,
    ),
    Endpoint("GET", "/api/analytics", "The main figures of a period.", analytics.overview),
    Endpoint("GET", "/api/analytics/timeline", "Activity by day.", analytics.timeline),
    Endpoint("GET", "/api/analytics/types", "Counts by kind.", types),
    Endpoint("GET", "/api/analytics/sessions", "Sessions by agent.", analytics.hosts),
    Endpoint("GET", "/api/analytics/heatmap", "Events by weekday and hour.", heatmap),
    Endpoint("GET", "/api/analytics/concepts", "The most frequent concepts.", concepts),
    Endpoint(
        "GET", "/api/analytics/retrieval", "Latency and injected tokens over time.",
        analytics.retrieval,
    ),
    Endpoint(
        "GET", "/api/analytics/economics", "Tokens spent to learn something, and tokens saved.",
        analytics.economics,
    ),
    Endpoint(
        "GET", "/api/analytics/anomalies", "Sessions that differ much from the average.",
        analytics.anomalies,
    ),
    Endpoint("GET", "/api/alarms", "Warnings that are not errors.", list_alarms),
)  # fmt: skip
