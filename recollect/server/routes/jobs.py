"""`/api/jobs`: background work, and cancelling or retrying it."""

from typing import Annotated

from msgspec import Meta

from recollect.core.values import Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime
from recollect.service import jobs
from recollect.service.jobs import JobAct, JobLine


class JobList(Value, frozen=True, kw_only=True):
    items: tuple[JobLine, ...]


class JobChange(Value, frozen=True, kw_only=True):
    job_id: Annotated[str, Meta(min_length=1, max_length=200)]
    act: JobAct


def listed(runtime: ServerRuntime, parameters: NoParameters) -> JobList:
    return JobList(items=jobs.jobs(runtime))


def change(runtime: ServerRuntime, parameters: NoParameters, wanted: JobChange) -> JobList:
    jobs.act(runtime, wanted.job_id, wanted.act)
    return listed(runtime, parameters)


ENDPOINTS = (
    Endpoint("GET", "/api/jobs", "Background work, running and ended.", listed, JobList),
    Endpoint(
        "POST", "/api/jobs", "Cancel a job, or try it again.", change, JobList, body=JobChange
    ),
)
