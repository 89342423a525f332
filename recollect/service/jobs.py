"""All background work in one list: jobs that run or ran, and what waits by itself.

In: the runtime. Out: jobs, with what can be done about each. Extraction and embedding work off what
the rows say is missing: they come back by themselves and cannot be cancelled, only tried again.
"""

from datetime import datetime
from typing import Literal

from recollect.core.errors import Conflict
from recollect.core.jobs import BackgroundJob, JobKind, JobState
from recollect.core.values import Value, copied
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import project_id, project_names

EMBEDDING = "embedding"
_EXTRACTION = "extraction:"
JobAct = Literal["cancel", "retry"]


class JobLine(Value, frozen=True, kw_only=True):
    """`total` is 0 when nobody knows how much there is."""

    job_id: str
    kind: JobKind
    what: str
    state: JobState
    done: int
    total: int
    problem: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    can: tuple[JobAct, ...] = ()


def jobs(runtime: ServiceRuntime) -> tuple[JobLine, ...]:
    return (*_extractions(runtime), *_embedding(runtime), *map(_line, runtime.jobs.all()))


def act(runtime: ServiceRuntime, job_id: str, what: JobAct) -> None:
    """Cancel or retry a job; Conflict when that cannot be done."""
    if job_id == EMBEDDING and what == "retry":
        runtime.recall().embed_again()
    elif job_id.startswith(_EXTRACTION) and what == "retry":
        runtime.retry_extraction(_namespace(runtime, job_id))
    elif job_id == EMBEDDING or job_id.startswith(_EXTRACTION):
        raise Conflict(f"{job_id} is repeated automatically and cannot be cancelled")
    elif what == "cancel":
        runtime.jobs.cancel(job_id)
    else:
        runtime.jobs.retry(job_id)


def _line(job: BackgroundJob) -> JobLine:
    can: tuple[JobAct, ...] = ("cancel",) if job.ended_at is None else ()
    if job.ended_at is not None and job.again is not None and job.state != "done":
        can = ("retry",)
    return copied(JobLine, job, can=can)


def _extractions(runtime: ServiceRuntime) -> list[JobLine]:
    """One for each project whose events wait or were set aside."""
    names = project_names(runtime)
    runs = {run.namespace: run for run in runtime.store.runs.latest()}
    busy = runtime.extracting()
    told = []
    for one in runtime.store.events.backlog():
        if not one.count and not one.quarantined:
            continue
        project = project_id(one.namespace)
        run = runs.get(one.namespace)
        running = one.namespace in busy
        told.append(
            JobLine(
                job_id=f"{_EXTRACTION}{project or 'global'}",
                kind="extraction",
                what=names.get(project, project) or "(everywhere)",
                state="running" if running else "waiting" if one.count else "failed",
                done=0,
                total=one.count,
                problem=f"{one.quarantined} set aside: recollect queue list"
                if one.quarantined
                else (run.reason if run is not None else ""),
                can=() if running else ("retry",),
            )
        )
    return told


def _embedding(runtime: ServiceRuntime) -> list[JobLine]:
    recall = runtime.loaded_recall
    found = recall.health() if recall is not None else {}
    if not found or found["state"] == "off":
        return []
    missing = found["memories"] - found["embedded"]
    aside = len(found["set_aside"])
    if missing <= 0:
        return []
    working = found["state"] in ("working", "loading") and missing > aside
    return [
        JobLine(
            job_id=EMBEDDING,
            kind="embedding",
            what="vectors of memories",
            state="running" if working else "failed" if found["problem"] or aside else "waiting",
            done=found["embedded"],
            total=found["memories"],
            problem=found["problem"] or (f"{aside} set aside" if aside else ""),
            can=() if working else ("retry",),
        )
    ]


def _namespace(runtime: ServiceRuntime, job_id: str) -> str:
    for one in runtime.store.events.backlog():
        if job_id == f"{_EXTRACTION}{project_id(one.namespace) or 'global'}":
            return one.namespace
    raise Conflict(f"there is no waiting job {job_id}", hint="recollect jobs list")
