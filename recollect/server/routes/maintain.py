"""`/api/maintain`: what a pass over old memories would do, and doing it."""

from datetime import datetime

from recollect.core.values import Value
from recollect.lifecycle.maintenance import MaintenanceReport
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.runtime import ServerRuntime


class Maintained(Value, frozen=True, kw_only=True):
    """What was done, or would be; `memories` counts those that are there by age."""

    at: datetime
    preview: bool
    finished: bool
    counts: dict[str, int]
    forgotten: dict[str, int]
    memories: dict[str, dict[str, int]]
    bytes: int
    bytes_free: int
    too_large: bool


def look(runtime: ServerRuntime, parameters: Nothing) -> Maintained:
    return _told(runtime.maintenance.preview())


def run(runtime: ServerRuntime, parameters: Nothing) -> Maintained:
    return _told(runtime.maintenance.run())


def _told(report: MaintenanceReport) -> Maintained:
    return Maintained(
        at=report.at,
        preview=report.preview,
        finished=report.finished,
        counts=dict(sorted((+report.counts).items())),
        forgotten=dict(sorted((+report.forgotten).items())),
        memories=report.memories,
        bytes=report.bytes,
        bytes_free=report.bytes_free,
        too_large=report.tight,
    )


ENDPOINTS = (
    Endpoint("GET", "/api/maintain", "What maintenance would do now.", look, Maintained),
    Endpoint("POST", "/api/maintain", "Shorten and forget what is old.", run, Maintained),
)
