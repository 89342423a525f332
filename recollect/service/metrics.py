"""The figures of the daemon in Prometheus' text format, for `GET /metrics`.

In: the report of health, and how long recalls took. Out: lines of text. Nothing of a memory, an
event or a project is in them: names of agents, doors, alarms and counters are the only labels.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from recollect.ingest.counters import Durations

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_Sample = tuple[Mapping[str, str], float]


def exposition(health: Mapping[str, Any], recalls: Durations) -> str:
    lines: list[str] = []

    def add(name: str, kind: str, what: str, samples: Iterable[_Sample]) -> None:
        lines.extend((f"# HELP recollect_{name} {what}", f"# TYPE recollect_{name} {kind}"))
        lines.extend(_line(name, labels, value) for labels, value in samples)

    def gauge(name: str, what: str, value: float | None) -> None:
        add(name, "gauge", what, [] if value is None else [({}, value)])

    spool, waiting = health["spool"], health["unextracted"]
    embedding, budget = health["embedding"], health["extraction"].get("budget", {})
    about = {"version": health["version"], "store": health["store"]["kind"]}
    add("info", "gauge", "The version and the kind of store.", [(about, 1)])
    gauge("healthy", "1 when the status is ok, else 0.", health["status"] == "ok")
    gauge("uptime_seconds", "Time since the daemon started.", health["uptime_s"])
    gauge("disk_full", "1 when the disk is full.", health["disk_full"])
    gauge("errors_last_hour", "Errors of the last hour.", health["errors_last_hour"]["count"])
    gauge("memories", "Stored memories, turns included.", embedding.get("memories"))
    gauge("memories_embedded", "Memories that have a vector.", embedding.get("embedded"))
    gauge("search_index_bytes", "Size of the search indexes.", embedding.get("cache_bytes"))
    gauge("spool_events", "Events that wait in the spool.", spool["events"])
    gauge("spool_bytes", "Size of the spool.", spool["bytes"])
    gauge("spool_dropped", "Frames that did not fit into the spool.", spool["dropped"])
    gauge("spool_damaged", "Frames in the spool that are not readable.", spool["damaged"])
    gauge("unextracted_events", "Events that wait for extraction.", waiting["events"])
    gauge("unextracted_bytes", "Size of the events that wait.", waiting["bytes"])
    gauge("quarantined_events", "Events set aside after failed runs.", waiting["quarantined"])
    gauge("model_calls_today", "Calls of language models today (UTC).", budget.get("calls"))
    gauge("model_tokens_today", "Tokens of language models today.", budget.get("tokens"))
    gauge("model_dollars_today", "Estimated cost of today's calls.", budget.get("usd"))
    gauge(
        "maintained_timestamp_seconds",
        "When maintenance last ran.",
        _timestamp(health["maintained_at"]),
    )
    add(
        "last_event_timestamp_seconds",
        "gauge",
        "When an agent last reported something.",
        (({"agent": host}, _timestamp(at) or 0) for host, at in health["hosts"].items()),
    )
    add(
        "door_answers",
        "gauge",
        "1 when a door answers, else 0.",
        (({"door": name}, door["answers"]) for name, door in health["doors"].items()),
    )
    add(
        "alarms",
        "gauge",
        "Alarms by name and level.",
        _counted({"name": one.name, "level": one.level} for one in health["alarms"]),
    )
    add(
        "counted_total",
        "counter",
        "What was counted since the daemon started, by name.",
        (({"name": name}, total) for name, total in health["counts"].items()),
    )
    lines.extend(_histogram("recall_seconds", "Time to make a brief, or to say nothing.", recalls))
    return "\n".join(lines) + "\n"


def _histogram(name: str, what: str, taken: Durations) -> list[str]:
    buckets = [(f"{bound:g}", number) for bound, number in taken.up_to.items()]
    return [
        f"# HELP recollect_{name} {what}",
        f"# TYPE recollect_{name} histogram",
        *(
            _line(f"{name}_bucket", {"le": bound}, number)
            for bound, number in (*buckets, ("+Inf", taken.count))
        ),
        _line(f"{name}_sum", {}, taken.seconds),
        _line(f"{name}_count", {}, taken.count),
    ]


def _counted(labels: Iterable[dict[str, str]]) -> list[_Sample]:
    found: dict[tuple[tuple[str, str], ...], int] = {}
    for one in labels:
        key = tuple(one.items())
        found[key] = found.get(key, 0) + 1
    return [(dict(key), number) for key, number in found.items()]


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return (
        f"recollect_{name}{{{told}}} {value + 0:.15g}"
        if told
        else (f"recollect_{name} {value + 0:.15g}")
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _timestamp(at: datetime | None) -> float | None:
    return at.timestamp() if at is not None else None
