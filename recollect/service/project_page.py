"""One project on one page: its branches, the files that matter, commands that work, open ends.

In: a project. Out: what the work index and the memories know of it. Rules and sessions have routes
of their own.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, structs

from recollect.core.values import Citation, Moment, Name, Value, copied
from recollect.lifecycle.file_freshness import FreshnessChecker, changed_files
from recollect.service.administration import ProjectLine, project_line
from recollect.service.runtime import ServiceRuntime
from recollect.service.scope import namespace_of
from recollect.work.index import ProjectWork

MOST_FILES = 2000
FILES = 12
BRANCHES = 8
COMMITS = 3
COMMANDS = 8
SESSIONS = 20  # the newest, of which open ends are read
OPEN_ENDS = 6
DISK_S = 1.0  # how long a page waits for the project's disk


class ProjectFilesQuery(Value, frozen=True, kw_only=True):
    project: Name
    limit: Annotated[int, Meta(ge=1, le=MOST_FILES)] = 200


class ProjectFile(Value, frozen=True, kw_only=True):
    """`sessions` touched it; `memories` name it, of which `stale` were made before it changed."""

    path: str
    sessions: int
    last: Moment | None
    people: tuple[str, ...]
    memories: int
    stale: int


class ProjectFiles(Value, frozen=True, kw_only=True):
    """Those that most sessions touched, first; `total`: of all."""

    items: tuple[ProjectFile, ...]
    total: int


class BranchLine(Value, frozen=True, kw_only=True):
    name: str
    sessions: int
    files: int
    last: Moment | None
    commits: tuple[str, ...]


class CommandLine(Value, frozen=True, kw_only=True):
    """`failed`: the last time."""

    command: str
    sessions: int
    last: Moment
    failed: bool
    error: str


class OpenEnd(Value, frozen=True, kw_only=True):
    session_id: str
    at: Moment | None
    task: str
    next_steps: tuple[str, ...]
    questions: tuple[str, ...]


class ProjectPage(Value, frozen=True, kw_only=True):
    """`commands`: what most sessions ran of late, first."""

    project: ProjectLine
    last_worked: Moment | None
    branches: tuple[BranchLine, ...]
    files: tuple[ProjectFile, ...]
    commands: tuple[CommandLine, ...]
    open_ends: tuple[OpenEnd, ...]


def page(runtime: ServiceRuntime, project: Name) -> ProjectPage:
    namespace = namespace_of(runtime, project)
    runtime.work.fill((namespace,))
    return ProjectPage(
        project=project_line(runtime, namespace),
        last_worked=runtime.work.ask(namespace, lambda work: _moment(max(work.last, default=0.0))),
        branches=runtime.work.ask(namespace, _branches),
        files=files(runtime, ProjectFilesQuery(project=project, limit=FILES)).items,
        commands=runtime.work.ask(namespace, _commands),
        open_ends=_open_ends(runtime, namespace),
    )


def files(runtime: ServiceRuntime, asked: ProjectFilesQuery) -> ProjectFiles:
    namespace = namespace_of(runtime, asked.project)
    runtime.work.fill((namespace,))
    mentioned = runtime.visible_store.records.files(namespace)
    known = _MemoriesByFile(mentioned.named)

    def read(work: ProjectWork) -> list[ProjectFile]:
        people = sorted(work.by_person.items())
        return [
            ProjectFile(
                path=path,
                sessions=work.often[number],
                last=_moment(work.last[number]),
                people=tuple(
                    name for name, counts in people
                    if name and number < len(counts) and counts[number]
                ),
                memories=known.of(path),
                stale=0,
            )
            for number, path in enumerate(work.path)
            if path and not work.is_ignored(path)
        ]  # fmt: skip

    found = runtime.work.ask(namespace, read)
    found.sort(key=lambda one: (-one.sessions, -one.memories, one.path))
    shown = found[: asked.limit]
    names = {os.path.basename(one.path) for one in shown}
    changed = _changed(runtime, namespace, mentioned.cited, names)
    items = tuple(structs.replace(one, stale=changed.of(one.path)) for one in shown)
    return ProjectFiles(items=items, total=len(found))


def _changed(
    runtime: ServiceRuntime,
    namespace: str,
    citations: Sequence[tuple[Citation, int]],
    names: set[str],
) -> "_MemoriesByFile":
    """Of each file of these names that changed: how many memories cite what it was before."""
    cited = {one: count for one, count in citations if os.path.basename(one.path) in names}
    roots = FreshnessChecker.roots(runtime.store, namespace)
    changed = changed_files(tuple(cited), roots, DISK_S)
    return _MemoriesByFile((one.path, count) for one, count in cited.items() if one in changed)


class _MemoriesByFile:
    """How many memories name a file. They may name it by another part of its path."""

    def __init__(self, counts: Iterable[tuple[str, int]]) -> None:
        self._by_name: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for path, count in counts:
            self._by_name[os.path.basename(path)].append((path, count))

    def of(self, path: str) -> int:
        return sum(
            count
            for told, count in self._by_name.get(os.path.basename(path), ())
            if f"/{told}".endswith(f"/{path}") or f"/{path}".endswith(f"/{told}")
        )


def _branches(work: ProjectWork) -> tuple[BranchLine, ...]:
    found = [
        BranchLine(
            name=name,
            sessions=len(branch.sessions),
            files=len(branch.files),
            last=_moment(max(branch.sessions.values(), default=0.0)),
            commits=tuple(
                subject
                for _, _, subjects in sorted(branch.commits.values(), reverse=True)
                for subject in reversed(subjects)
            )[:COMMITS],
        )
        for name, branch in work.by_branch.items()
    ]
    found.sort(key=lambda one: (one.last is not None, one.last, one.name), reverse=True)
    return tuple(found[:BRANCHES])


def _commands(work: ProjectWork) -> tuple[CommandLine, ...]:
    now = time.time()
    often = sorted(work.runs.items(), key=lambda one: (-one[1].weight(now), one[0]))
    return tuple(
        CommandLine(
            command=command,
            sessions=len(one.sessions),
            last=datetime.fromtimestamp(one.last_at, UTC),
            failed=one.last.failed,
            error=one.last.error,
        )
        for command, one in often[:COMMANDS]
    )


def _open_ends(runtime: ServiceRuntime, namespace: str) -> tuple[OpenEnd, ...]:
    ended = runtime.recall().ended
    found = []
    for session in runtime.store.sessions.page(namespace, limit=SESSIONS).items:
        stood = runtime.visible_store.sessions.last_checkpoint(namespace, session.session_id)
        stood = stood and ended.current_checkpoint(stood, (namespace,))
        if stood and (stood.next_steps or stood.questions):
            found.append(copied(OpenEnd, stood, at=stood.created_at))
    return tuple(found[:OPEN_ENDS])


def _moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
