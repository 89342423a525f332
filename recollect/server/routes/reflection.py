"""`/api/reflection`: a look back over what was learned, as proposals."""

from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import reflection
from recollect.service.reflection import Reflection, ReflectionRequest


def run(runtime: ServerRuntime, asked: ReflectionRequest) -> Reflection:
    with runtime.jobs.running("reflection", f"the last {asked.days} days") as job:
        return reflection.reflect(runtime, asked, job)


ENDPOINTS = (
    Endpoint(
        "POST", "/api/reflection", "Propose what follows from the last days; nothing is decided.",
        run,
    ),
)  # fmt: skip
