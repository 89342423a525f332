"""Alarms: warnings that are not errors. Silence, junk, contradictions, full caches.

In: figures of the store and the daemon, as `AlarmInputs`. Out: alarms, each with what to do. The
rules are pure functions; `alarm_inputs` collects the figures.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from recollect.core import private_sessions
from recollect.core.kinds import KINDS, RecordKind
from recollect.core.settings import MODELS
from recollect.core.values import Value
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import all_namespaces
from recollect.store.interface import RecordFilter

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


class Alarm(Value, frozen=True):
    name: Literal[
        "silent_host", "dead_extraction", "quarantined", "junk_rate", "contradiction_rate",
        "cache_size", "embedding_off", "private_session", "plugin_off",
    ]  # fmt: skip
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
    verdicts: dict[str, int] = msgspec.field(default_factory=dict)
    added: int = 0
    superseded: int = 0
    cache_bytes: int = 0
    cache_limit: int = 0
    embedding_problem: str = ""
    other_model: str = ""  # one that could be used in its place
    model_loaded: bool = False
    private: tuple[private_sessions.PrivateSession, ...] = ()  # private sessions that go on
    plugins: dict[str, str] = msgspec.field(default_factory=dict)  # switched off, with the reason


def alarms(facts: AlarmInputs) -> tuple[Alarm, ...]:
    return tuple(_all(facts))


def _all(facts: AlarmInputs) -> Iterator[Alarm]:
    for host, heard in facts.hosts.items():
        if SILENT < facts.now - heard < FORGOTTEN:
            told = f"{host} sent its last event {(facts.now - heard).days} days ago"
            hint = f"recollect install {host}, or recollect doctor --prove"
            yield Alarm("silent_host", "warning", told, hint)
    yield from _extraction(facts)
    total = sum(count for verdict, count in facts.verdicts.items() if verdict != "none")
    bad = facts.verdicts.get("wrong", 0) + facts.verdicts.get("never", 0)
    if total >= VERDICTS and bad / total > JUNK:
        told = f"{bad} of the last {total} verdicts rate injected memories as wrong or never"
        yield Alarm("junk_rate", "warning", told, "recollect receipt list")
    if facts.added >= ADDED and facts.superseded / facts.added > CONTRADICTED:
        told = f"{facts.superseded} facts were replaced while {facts.added} memories were made: "
        told += "beliefs change unusually often"
        yield Alarm("contradiction_rate", "warning", told, "recollect change list -p all")
    if facts.cache_limit and facts.cache_bytes > CACHE * facts.cache_limit:
        used, most = facts.cache_bytes >> 20, facts.cache_limit >> 20
        told = f"the search indexes use {used} of {most} MB: some are loaded again and again"
        hint = f"recollect settings set cache_mb {2 * most}"
        yield Alarm("cache_size", "warning", told, hint)
    if facts.private:
        yield Alarm("private_session", "note", *private_sessions.describe(facts.private))
    for name, problem in facts.plugins.items():
        hint = f"recollect plugins enable {name}, or disable {name}"
        yield Alarm("plugin_off", "warning", f"the plugin {name} is switched off: {problem}", hint)
    if problem := facts.embedding_problem:
        if not facts.model_loaded:
            told = f"search works by words only: {problem}"
            hint = "recollect model fetch"
            if other := facts.other_model:
                told += f". {other} is here and intact; with it every memory is embedded anew"
                hint += f", or recollect settings set embedding_model {other}"
            yield Alarm("embedding_off", "warning", told, hint)
        else:
            told = f"new memories are found by words only until they are embedded: {problem}"
            hint = "It is tried again within minutes; the machine may be busy."
            yield Alarm("embedding_off", "note", told, hint)


def _extraction(facts: AlarmInputs) -> Iterator[Alarm]:
    stalled = (
        facts.waiting
        and facts.waiting_newest is not None
        and facts.now - facts.waiting_newest > STALLED
        and (facts.last_run is None or facts.now - facts.last_run > STALLED)
    )
    if stalled:
        waits = "event waits" if facts.waiting == 1 else "events wait"
        told = f"{facts.waiting} {waits} and nothing was extracted for hours"
        yield Alarm("dead_extraction", "error", told, "recollect queue list")
    if facts.quarantined:
        were = "event was" if facts.quarantined == 1 else "events were"
        told = f"{facts.quarantined} {were} set aside after failed extractions"
        yield Alarm("quarantined", "warning", told, "recollect queue list")


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
    made = [RecordFilter(kind=kind, stored_since=now - WINDOW) for kind in MADE]
    added = sum(
        one.count
        for namespace in (namespaces if superseded else ())  # else it makes no difference
        for where in made
        for one in runtime.store.records.counts(namespace, where)
    )
    recall = runtime.loaded_recall
    health = recall.health() if recall is not None else {}
    return AlarmInputs(
        now=now,
        hosts=runtime.store.sessions.last_heard(),
        waiting=sum(one.count for one in backlog),
        waiting_newest=max((one.newest for one in backlog if one.newest), default=None),
        quarantined=sum(one.quarantined for one in backlog),
        last_run=max((one.started_at for one in runtime.store.runs.latest()), default=None),
        verdicts=dict(verdicts),
        added=added,
        superseded=superseded,
        cache_bytes=int(health.get("cache_bytes", 0)),
        cache_limit=runtime.settings.cache_mb << 20,
        embedding_problem=str(health.get("problem", "")),
        other_model=_other_model(runtime) if health.get("problem") else "",
        model_loaded=bool(health.get("loaded")),
        private=tuple(runtime.keep_out.private.running()),
        plugins={
            one["name"]: one["problem"]
            for one in runtime.plugins.running()
            if one["state"] in ("off", "missing")
        },
    )


def _other_model(runtime: ServiceRuntime) -> str:
    """A model that lies intact beside the one that was chosen."""
    from recollect.embedding import weights  # only when a model is broken

    chosen = runtime.settings.embedding_model
    others = (one for one in MODELS if one != chosen)
    return next((one for one in others if weights.status(runtime.settings.models, one).ready), "")
