"""The state of the daemon, and the store checked and repaired, which only the daemon can open."""

from datetime import datetime
from itertools import chain
from typing import Any, Literal

from msgspec import field
from starlette.responses import Response

from recollect.core import oslayer
from recollect.core.values import Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import metrics as prometheus


class StoreCheck(Value, frozen=True, kw_only=True):
    """`misfits`: memories with a vector that is not as long as the model's. Search leaves such a
    vector out, and the backfill makes it anew."""

    problems: tuple[str, ...]
    events: int
    records: int
    free_bytes: int
    orphans: dict[str, int] = field(default_factory=dict)
    backups: int = 0
    last_backup: datetime | None = None
    backup_days: int = 0
    misfits: tuple[str, ...] = ()


class RepairRequest(Value, frozen=True, kw_only=True):
    what: Literal["index", "orphans", "work"]


class RepairResult(Value, frozen=True, kw_only=True):
    done: str


def health(runtime: ServerRuntime) -> dict[str, Any]:
    return runtime.health()


def metrics(runtime: ServerRuntime) -> Response:
    text = prometheus.exposition(runtime.health(), runtime.counters.recalls())
    return Response(text, headers={"content-type": prometheus.CONTENT_TYPE})


def check(runtime: ServerRuntime) -> StoreCheck:
    stats, model = runtime.store.upkeep.stats(), runtime.recall().index_cache.model
    vectors, namespaces = runtime.store.vectors, runtime.store.projects.namespaces()
    misfits = (vectors.misfits(one, model) for one in namespaces)
    return StoreCheck(
        problems=tuple(runtime.store.upkeep.check()),
        events=stats.events,
        records=stats.records,
        free_bytes=oslayer.free_bytes(runtime.settings.directory),
        orphans=runtime.store.upkeep.repair("orphans", apply=False),
        backups=len(runtime.backups.made()),
        last_backup=runtime.backups.newest_at(),
        backup_days=runtime.settings.backup_days,
        misfits=tuple(chain.from_iterable(misfits)),
    )


def repair(runtime: ServerRuntime, body: RepairRequest) -> RepairResult:
    if body.what == "orphans":
        dropped = sum(runtime.store.upkeep.repair("orphans").values())
        return RepairResult(done=f"{dropped} orphaned rows were deleted")
    if body.what == "work":
        turns = runtime.turn_writer.rebuild_work()
        return RepairResult(done=f"the work index was rebuilt: {turns} turns")
    runtime.store.upkeep.repair("index")
    return RepairResult(done="the full-text index was rebuilt")


ENDPOINTS = (
    Endpoint("GET", "/healthz", "Version, uptime, queues, errors.", health, always=True),
    Endpoint(
        "GET", "/metrics", "The daemon's figures in Prometheus' text format.",
        metrics, returns=str, always=True,
    ),
    Endpoint("GET", "/api/doctor", "Check the database thoroughly.", check),
    Endpoint(
        "POST", "/api/doctor",
        "Rebuild the full-text index or the work index, or delete orphaned rows.",
        repair,
    ),
)  # fmt: skip
