"""`/api/maintain`: preview and run maintenance, which shortens and deletes old memories."""

from datetime import datetime

from recollect.core.values import Value
from recollect.lifecycle.maintenance import MaintenanceReport
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime


class MaintenanceResult(Value, frozen=True, kw_only=True):
    """What was done, or with `preview` would be; `memories` counts stored memories by age. `stale`:
    of how many a cited file changed or is gone, with the ids and titles of some."""

    at: datetime
    preview: bool
    finished: bool
    counts: dict[str, int]
    forgotten: dict[str, int]
    memories: dict[str, dict[str, int]]
    bytes: int
    bytes_free: int
    too_large: bool
    stale: int
    stale_named: dict[str, str]


def preview(runtime: ServerRuntime) -> MaintenanceResult:
    return _result(runtime.maintenance.preview())


def run(runtime: ServerRuntime) -> MaintenanceResult:
    return _result(runtime.maintenance.run())


def _result(report: MaintenanceReport) -> MaintenanceResult:
    return MaintenanceResult(
        at=report.at,
        preview=report.preview,
        finished=report.finished,
        counts=dict(sorted((+report.counts).items())),
        forgotten=dict(sorted((+report.forgotten).items())),
        memories=report.memories,
        bytes=report.bytes,
        bytes_free=report.bytes_free,
        too_large=report.tight,
        stale=report.stale,
        stale_named={one.record_id: one.title for one in report.stale_named},
    )


ENDPOINTS = (
    Endpoint("GET", "/api/maintain", "What maintenance would do now.", preview),
    Endpoint("POST", "/api/maintain", "Shorten and delete old memories.", run),
)
