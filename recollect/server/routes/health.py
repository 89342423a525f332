"""`/healthz`: whether it is well, and what it has been doing."""

from typing import Any

from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.runtime import ServerRuntime


def health(runtime: ServerRuntime, parameters: Nothing) -> dict[str, Any]:
    return runtime.health()


ENDPOINTS = (
    Endpoint(
        "GET", "/healthz", "Version, uptime, queues, errors.", health, dict[str, Any], always=True
    ),
)
