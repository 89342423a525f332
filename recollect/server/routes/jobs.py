"""`/api/jobs`: background work, and cancelling or retrying it."""

from typing import Annotated

from msgspec import Meta

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import jobs


class JobChange(Value, frozen=True, kw_only=True):
    job_id: Annotated[str, Meta(min_length=1, max_length=200)]
    act: jobs.JobAct


def change(runtime: ServerRuntime, wanted: JobChange) -> tuple[jobs.JobLine, ...]:
    jobs.act(runtime, wanted.job_id, wanted.act)
    return jobs.jobs(runtime)


ENDPOINTS = (
    Endpoint("GET", "/api/jobs", "Background work, running and ended.", jobs.jobs),
    Endpoint("POST", "/api/jobs", "Cancel a job, or try it again.", change),
)
