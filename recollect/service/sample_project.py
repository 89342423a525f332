"""A sample project with a few invented memories, to show what the dashboard looks like.

In: nothing. Out: a project called `sample`, which one call removes again.
"""

import os

from recollect.core import oslayer
from recollect.core.values import Value
from recollect.service import write
from recollect.service.runtime import ServiceRuntime

FOLDER = "sample"

_KNOWLEDGE: tuple[tuple[str, str, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("decision", "Retries go through one queue", "Retries had hammered the database; a queue "
     "with jitter spreads them.", "The retry storm of the first week", ("retries", "queue"),
     ("src/retry.py",)),
    ("constraint", "Amounts are integers in cents", "No float ever holds money.",
     "Rounding errors in invoices", ("money",), ("src/invoice.py",)),
    ("rejected", "No ORM in the billing service", "It hid two slow queries; plain SQL in one file "
     "stays.", "Tried for a day, measured, dropped", ("database",), ("src/queries.sql",)),
    ("heuristic", "Run the slow tests with one worker", "They share a database and fail together.",
     "When tests fail only in CI", ("tests",), ("tests/test_slow.py",)),
)  # fmt: skip
_OBSERVATIONS: tuple[tuple[str, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("error", "Deploy failed: the migration lock was held", "A worker kept its transaction open; "
     "stopping workers before migrating fixed it.", ("deploy", "database"), ("deploy.sh",)),
    ("discovery", "Invoices are rendered twice when the template warms up",
     "The first request fills the cache and renders again.", ("invoices",), ("src/render.py",)),
    ("tool_use", "Moved the nightly report to its own worker", "It no longer delays webhooks.",
     ("queue", "deploy"), ("src/worker.py", "deploy.sh")),
)  # fmt: skip


class SampleProject(Value, frozen=True, kw_only=True):
    project: str
    memories: int


def add(runtime: ServiceRuntime) -> SampleProject:
    """Adding it again changes nothing."""
    place = runtime.settings.path(FOLDER)
    oslayer.private_directory(place)
    oslayer.private_file(os.path.join(place, "Makefile"))  # so that this is a project of its own
    for kind, title, content, reason, concepts, files in _KNOWLEDGE:
        write.add_knowledge(
            runtime,
            write.NewKnowledge(
                project_path=place, type=kind, title=title, content=content, reason=reason,  # type: ignore[arg-type]
                concepts=concepts, files=files, author="user",
            ),
        )  # fmt: skip
    for observed, title, content, concepts, files in _OBSERVATIONS:
        write.add_observation(
            runtime,
            write.NewObservation(
                project_path=place, type=observed, title=title, content=content,  # type: ignore[arg-type]
                concepts=concepts, files=files, author="assistant",
            ),
        )  # fmt: skip
    write.add_summary(
        runtime,
        write.NewSummary(
            project_path=place,
            session_id="sample",
            request="Make webhooks reliable",
            completed=("Retries go through a queue with jitter",),
            learned=("The database, not the network, was the bottleneck",),
            next_steps=("Alert when the queue grows",),
            files=("src/retry.py",),
        ),
    )
    namespace = runtime.namespaces.of(place)
    stored = runtime.store.upkeep.stats(namespace, by_kind=False)
    return SampleProject(project=FOLDER, memories=stored.records)


def remove(runtime: ServiceRuntime) -> SampleProject:
    """Delete the memories of the sample project, and nothing else."""
    namespace = runtime.namespaces.of(runtime.settings.path(FOLDER))
    gone = 0
    while True:
        page = runtime.visible_store.records.page(namespace, limit=200)
        if not page.items:
            return SampleProject(project=FOLDER, memories=gone)
        ids = [record.record_id for record in page.items]
        runtime.memories.delete(namespace, ids, runtime.actor, "the sample")
        gone += len(ids)
