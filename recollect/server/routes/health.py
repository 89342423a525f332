"""`/healthz`: the state of the daemon and its counters."""

from typing import Any

from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime


def health(runtime: ServerRuntime, parameters: NoParameters) -> dict[str, Any]:
    return runtime.health()


ENDPOINTS = (
    Endpoint(
        "GET", "/healthz", "Version, uptime, queues, errors.", health, dict[str, Any], always=True
    ),
)
