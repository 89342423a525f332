"""Protocols for what routes use of the daemon's Runtime, beyond what `service` uses."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from recollect.ingest.turn_writer import TurnWriter
from recollect.lifecycle.maintenance_loop import MaintenanceLoop
from recollect.portable.backups import Backups
from recollect.portable.erasure import Erasure
from recollect.portable.importing import Importer
from recollect.server.live import Live
from recollect.server.tokens import Tokens
from recollect.service.runtime import ServiceRuntime


class LoadedLearning(Protocol):
    def run_now(self, namespaces: Sequence[str], wait_s: float) -> bool:
        """Extract waiting events now; False when that takes longer than `wait_s`."""

    def retry(self, namespace: str) -> int:
        """Put events that were set aside back in line; returns their number."""

    def status(self) -> dict[str, Any]: ...


class ServerRuntime(ServiceRuntime, Protocol):
    live: Live
    maintenance: MaintenanceLoop
    backups: Backups
    turn_writer: TurnWriter
    started_at: datetime
    port: int

    @property
    def tokens(self) -> Tokens: ...

    @property
    def importing(self) -> Importer: ...

    @property
    def erasure(self) -> Erasure: ...

    @property
    def loaded_learning(self) -> LoadedLearning | None:
        """None while it is being loaded."""

    def learning(self) -> LoadedLearning:
        """Waits until extraction is loaded; StoreError when that takes too long."""

    def health(self) -> dict[str, Any]: ...
