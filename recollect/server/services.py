"""What routes need, in one value; made by the daemon's wiring."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.core.clock import Clock
from recollect.core.settings import Settings
from recollect.ingest.counters import Counters
from recollect.ingest.pipeline import Pipeline
from recollect.lifecycle.maintenance_loop import MaintenanceLoop
from recollect.portable.parts import Portable
from recollect.server.live import Live
from recollect.server.tokens import Tokens
from recollect.service.desk import Desk
from recollect.store.interface import Store


@dataclass(frozen=True)
class Services:
    settings: Settings
    clock: Clock
    store: Store
    pipeline: Pipeline
    counters: Counters
    live: Live
    tokens: Tokens
    port: int
    started_at: datetime
    health: Callable[[], dict[str, Any]]
    desk: Desk
    portable: Portable
    extraction: Callable[[], Any]  # None until it is loaded
    housekeeper: MaintenanceLoop
