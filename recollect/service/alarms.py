"""Alarms: warnings that are not errors. Silence, junk, contradictions, full caches.

In: figures of the store and the daemon, as `AlarmInputs`. Out: alarms, each with what to do. The
rules are pure functions; `alarm_inputs` collects the figures.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from recollect.core import private_sessions
from recollect.core.kinds import KINDS, RecordKind
from recollect.core.values import Value
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import all_namespaces

SILENT = timedelta(days=7)
FORGOTTEN = timedelta(days=60)  # a host that was not used for this long is no longer expected
STALLED = timedelta(hours=6)
WINDOW = timedelta(days=30)
VERDICTS = 5
JUNK = 0.3
ADDED = 10
CONTRADICTED = 0.2
CACHE = 0.95
MADE: tuple[RecordKind, ...] = tuple(one.name for one in KINDS.values() if not one.is_turn)

Level = Literal["note", "warning", "error"]  # a note is for information only


class Alarm(Value, frozen=True, kw_only=True):
    name: Literal[
        "silent_host",
        "dead_extraction",
        "quarantined",
        "junk_rate",
        "contradiction_rate",
        "cache_size",
        "embedding_off",
        "private_session",
        "plugin_off",
    ]
    level: Level
    message: str
    hint: str


class AlarmInputs(Value, frozen=True, kw_only=True):
    """The figures that the rules use."""

    now: datetime
    hosts: dict[str, datetime]
    waiting: int = 0
    waiting_newest: datetime | None = None
    quarantined: int = 0
    last_run: datetime | None = None
    extracts: bool = False  # whether this store is extracted at all
    verdicts: dict[str, int] = msgspec.field(default_factory=dict)
    added: int = 0
    superseded: int = 0
    cache_bytes: int = 0
    cache_limit: int = 0
    embedding_problem: str = ""
    model_loaded: bool = False
    private: tuple[private_sessions.PrivateSession, ...] = ()  # private sessions that go on
    plugins: dict[str, str] = msgspec.field(default_factory=dict)  # switched off, with the reason


def alarms(facts: AlarmInputs) -> tuple[Alarm, ...]:
    return tuple(_all(facts))


def _all(facts: AlarmInputs) -> Iterator[Alarm]:
    yield from _silent(facts)
    yield from _extraction(facts)
    yield from _junk(facts)
    yield from _contradictions(facts)
    if facts.cache_limit and facts.cache_bytes > CACHE * facts.cache_limit:
        used, most = facts.cache_bytes >> 20, facts.cache_limit >> 20
        yield Alarm(
            name="cache_size",
            level="warning",
            message=f"the search indexes use {used} of {most} MB: some are loaded again and again",
            hint=f"recollect settings set cache_mb {2 * most}",
        )
    if facts.private:
        told, hint = private_sessions.describe(facts.private)
        yield Alarm(name="private_session", level="note", message=told, hint=hint)
    for name, problem in facts.plugins.items():
        yield Alarm(
            name="plugin_off",
            level="warning",
            message=f"the plugin {name} is switched off: {problem}",
            hint=f"recollect plugins enable {name}, or disable {name}",
        )
    if facts.embedding_problem and not facts.model_loaded:
        yield Alarm(
            name="embedding_off",
            level="warning",
            message=f"search works by words only: {facts.embedding_problem}",
            hint="recollect model fetch",
        )
    elif facts.embedding_problem:
        yield Alarm(
            name="embedding_off",
            level="note",
            message="new memories are found by words only until they are embedded: "
            f"{facts.embedding_problem}",
            hint="It is tried again within minutes; the machine may be busy.",
        )


def _silent(facts: AlarmInputs) -> Iterator[Alarm]:
    for host, heard in facts.hosts.items():
        if SILENT < facts.now - heard < FORGOTTEN:
            days = (facts.now - heard).days
            yield Alarm(
                name="silent_host",
                level="warning",
                message=f"{host} sent its last event {days} days ago",
                hint=f"recollect install {host}, or recollect doctor --prove",
            )


def _extraction(facts: AlarmInputs) -> Iterator[Alarm]:
    stalled = (
        facts.extracts
        and facts.waiting
        and facts.waiting_newest is not None
        and facts.now - facts.waiting_newest > STALLED
        and (facts.last_run is None or facts.now - facts.last_run > STALLED)
    )
    if stalled:
        yield Alarm(
            name="dead_extraction",
            level="error",
            message=f"{facts.waiting} {'event waits' if facts.waiting == 1 else 'events wait'} "
            "and nothing was extracted for hours",
            hint="recollect queue list",
        )
    if facts.quarantined:
        yield Alarm(
            name="quarantined",
            level="warning",
            message=f"{facts.quarantined} "
            f"{'event was' if facts.quarantined == 1 else 'events were'} "
            "set aside after failed extractions",
            hint="recollect queue list",
        )


def _junk(facts: AlarmInputs) -> Iterator[Alarm]:
    total = sum(count for verdict, count in facts.verdicts.items() if verdict != "none")
    bad = facts.verdicts.get("wrong", 0) + facts.verdicts.get("never", 0)
    if total >= VERDICTS and bad / total > JUNK:
        yield Alarm(
            name="junk_rate",
            level="warning",
            message=f"{bad} of the last {total} verdicts rate injected memories as wrong or never",
            hint="recollect receipt list",
        )


def _contradictions(facts: AlarmInputs) -> Iterator[Alarm]:
    if facts.added >= ADDED and facts.superseded / facts.added > CONTRADICTED:
        yield Alarm(
            name="contradiction_rate",
            level="warning",
            message=f"{facts.superseded} facts were replaced while {facts.added} memories were "
            "made: beliefs change unusually often",
            hint="recollect change list -p all",
        )


# --- collecting the figures ----------------------------------------------------------------------


def alarm_inputs(runtime: ServiceRuntime) -> AlarmInputs:
    now = runtime.clock.now()
    backlog = runtime.store.events.backlog()
    verdicts: Counter[str] = Counter()
    superseded = 0
    namespaces = all_namespaces(runtime)
    for namespace in namespaces:
        for operation in runtime.store.log.page(namespace, limit=200).items:
            if now - operation.at > WINDOW:
                break
            if operation.kind == "feedback" and isinstance(operation.detail, dict):
                verdicts[str(operation.detail.get("verdict"))] += 1
            superseded += operation.kind == "supersede"
    # More than this many make no difference to the alarm, and need not be counted.
    most = int(superseded / CONTRADICTED) + 1
    added = sum(
        runtime.store.records.stored_since(namespace, kind, now - WINDOW, most)
        for namespace in namespaces
        for kind in MADE
    )
    health = _embedding(runtime)
    runs = _last_run(runtime)
    return AlarmInputs(
        now=now,
        hosts=runtime.store.sessions.last_heard(),
        waiting=sum(one.count for one in backlog),
        waiting_newest=max((one.newest for one in backlog if one.newest), default=None),
        quarantined=sum(one.quarantined for one in backlog),
        last_run=runs,
        extracts=hasattr(runtime.store, "runs"),
        verdicts=dict(verdicts),
        added=added,
        superseded=superseded,
        cache_bytes=int(health.get("cache_bytes", 0)),
        cache_limit=runtime.settings.cache_mb << 20,
        embedding_problem=str(health.get("problem", "")),
        model_loaded=bool(health.get("loaded")),
        private=tuple(runtime.keep_out.private.running()),
        plugins={
            one["name"]: one["problem"]
            for one in runtime.plugins.running()
            if one["state"] in ("off", "missing")
        },
    )


def _embedding(runtime: ServiceRuntime) -> Mapping[str, Any]:
    found = runtime.loaded_recall
    return found.health() if found is not None else {}


def _last_run(runtime: ServiceRuntime) -> datetime | None:
    """When the last extraction run started; None when there was none."""
    return max((one.started_at for one in runtime.store.runs.latest()), default=None)
