"""`/api/doctor`: what only the daemon can look at, and mend: the store."""

from typing import Literal

from recollect.core import oslayer
from recollect.core.values import Value
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.services import Services


class Checked(Value, frozen=True, kw_only=True):
    problems: tuple[str, ...]
    events: int
    records: int
    free_bytes: int


class Repair(Value, frozen=True, kw_only=True):
    what: Literal["index"]


class Repaired(Value, frozen=True, kw_only=True):
    done: str


def check(services: Services, parameters: Nothing) -> Checked:
    stats = services.store.upkeep.stats()
    return Checked(
        problems=tuple(services.store.upkeep.check()),
        events=stats.events,
        records=stats.records,
        free_bytes=oslayer.free_bytes(services.settings.directory),
    )


def repair(services: Services, parameters: Nothing, body: Repair) -> Repaired:
    services.store.upkeep.rebuild_index()
    return Repaired(done="the full-text index was made anew")


ENDPOINTS = (
    Endpoint("GET", "/api/doctor", "Check the database thoroughly.", check, Checked),
    Endpoint("POST", "/api/doctor", "Rebuild what is derived.", repair, Repaired, body=Repair),
)
