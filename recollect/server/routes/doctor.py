"""`/api/doctor`: what only the daemon can look at, and mend: the store."""

from datetime import datetime
from typing import Literal

from msgspec import field

from recollect.core import oslayer
from recollect.core.values import Value
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.runtime import ServerRuntime


class Checked(Value, frozen=True, kw_only=True):
    problems: tuple[str, ...]
    events: int
    records: int
    free_bytes: int
    orphans: dict[str, int] = field(default_factory=dict)
    backups: int = 0
    last_backup: datetime | None = None
    backup_days: int = 0


class Repair(Value, frozen=True, kw_only=True):
    what: Literal["index", "orphans"]


class Repaired(Value, frozen=True, kw_only=True):
    done: str


def check(runtime: ServerRuntime, parameters: Nothing) -> Checked:
    stats = runtime.store.upkeep.stats()
    return Checked(
        problems=tuple(runtime.store.upkeep.check()),
        events=stats.events,
        records=stats.records,
        free_bytes=oslayer.free_bytes(runtime.settings.directory),
        orphans=runtime.store.bulk.orphans(),
        backups=len(runtime.backups.made()),
        last_backup=runtime.backups.newest_at(),
        backup_days=runtime.settings.backup_days,
    )


def repair(runtime: ServerRuntime, parameters: Nothing, body: Repair) -> Repaired:
    if body.what == "orphans":
        dropped = sum(runtime.store.bulk.orphans(drop=True).values())
        return Repaired(done=f"{dropped} rows without an owner were dropped")
    runtime.store.upkeep.rebuild_index()
    return Repaired(done="the full-text index was made anew")


ENDPOINTS = (
    Endpoint("GET", "/api/doctor", "Check the database thoroughly.", check, Checked),
    Endpoint("POST", "/api/doctor", "Rebuild what is derived.", repair, Repaired, body=Repair),
)
