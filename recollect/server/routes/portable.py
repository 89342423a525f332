"""`/api/import`, `/api/export`, `/api/backups`, `/api/forget`, `/api/scrub`, `/api/move`,
`/api/separate`."""

import os
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, field
from starlette.responses import Response, StreamingResponse

from recollect.core import projects, store_key
from recollect.core.errors import BadInput, Conflict
from recollect.core.kinds import RecordKind
from recollect.core.values import Moment, Name, RecordName, Value
from recollect.hosts import registry
from recollect.portable import exports
from recollect.portable.backups import made_at
from recollect.portable.erasure import ErasureOutcome, ErasureSelection
from recollect.portable.importing import ImportOffer, ImportRequest, estimate
from recollect.portable.transcript_import import Period
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import saved_searches
from recollect.service.record_ids import resolve_each
from recollect.service.scope import (
    Scope,
    namespace_of,
    namespace_to_write,
    project_id,
    project_names,
    worked_namespaces,
)
from recollect.store.interface import BackupInfo, Chosen

Text = Annotated[str, Meta(min_length=1, max_length=2048)]
ALL_ROWS = ("event", "memory", "entity", "relationship", "fact", "procedure", "preference",
            "checkpoint", "receipt", "operation", "version", "session")  # fmt: skip
# Files to read, and a key to read them with; what is read is scrubbed like everything else.
ON_THIS_MACHINE = ("sources", "home", "directory", "env", "keys")
# What is to be forgotten may be a secret that was stored before a rule for it existed.
COMPARED = ("session_id", "entity", "text", "path")


# --- import --------------------------------------------------------------------------------------


class ImportBody(Value, frozen=True, kw_only=True):
    sources: Annotated[tuple[Text, ...], Meta(max_length=50)] = ()
    project: Text | None = None
    since: Moment | None = None
    until: Moment | None = None
    home: Text | None = None
    directory: Text | None = None
    env: dict[str, Annotated[str, Meta(max_length=2048)]] = field(default_factory=dict)
    most_commits: Annotated[int, Meta(ge=1, le=100_000)] = 2000
    dry_run: bool = False
    llm: bool = False
    keys: Annotated[str, Meta(max_length=4096)] = ""  # of encrypted exports, from the command line

    def request(self) -> ImportRequest:
        store_key.take_over(self.keys.encode())
        given = [*self.sources, self.project or "", self.home or "", self.directory or ""]
        if any("\0" in one for one in [*given, *self.env.values()]):
            raise BadInput("a path cannot hold NUL", field="sources")
        known = registry.transcript_environment()
        return ImportRequest(
            sources=self.sources, project=self.project, since=self.since, until=self.until,
            home=self.home or "", directory=self.directory or "",
            env={name: value for name, value in self.env.items() if name in known},
            most_commits=self.most_commits, dry_run=self.dry_run, llm=self.llm,
        )  # fmt: skip


class ImportOffers(Value, frozen=True, kw_only=True):
    offers: tuple[ImportOffer, ...]
    llm_estimate: dict[str, int]


class ImportState(Value, frozen=True, kw_only=True):
    state: str
    problem: str
    problems: tuple[str, ...]
    total: int
    done: int
    rate: float
    seconds: float
    remaining_s: float
    sources: dict[str, dict[str, int]]


def offers(runtime: ServerRuntime, body: ImportBody) -> ImportOffers:
    found = runtime.importing.offers(body.request())
    return ImportOffers(offers=tuple(found), llm_estimate=estimate(found))


def begin(runtime: ServerRuntime, body: ImportBody) -> ImportState:
    return ImportState(**runtime.importing.start(body.request()).snapshot())


def state(runtime: ServerRuntime) -> ImportState:
    return ImportState(**runtime.importing.progress.snapshot())


# --- export --------------------------------------------------------------------------------------


class ExportParameters(Value, frozen=True, kw_only=True):
    format: Literal["jsonl", "json", "markdown"] = "jsonl"
    project: Text | None = None
    rows: Annotated[str, Meta(max_length=300)] | None = None
    kind: RecordKind | None = None
    since: Moment | None = None
    until: Moment | None = None


class ExportStream(Value, frozen=True):
    """A stream in the format that was asked for, not one JSON value."""


def export(runtime: ServerRuntime, parameters: ExportParameters) -> Response:
    rows = frozenset(parameters.rows.split(",")) if parameters.rows else None
    unknown = sorted((rows or frozenset()) - set(ALL_ROWS))
    if unknown:
        raise BadInput(
            f"there are no rows of kind {unknown[0]!r}",
            field="rows",
            hint=f"known: {', '.join(ALL_ROWS)}",
        )
    chosen = (
        (namespace_of(runtime, parameters.project),)
        if parameters.project
        else worked_namespaces(runtime)
    )
    wanted = exports.ExportSelection(
        namespaces=chosen,
        kinds=rows or (frozenset({"memory"}) if parameters.kind else None),
        memory_kinds=frozenset({parameters.kind}) if parameters.kind else None,
        period=Period(parameters.since, parameters.until),
    )
    write, media = {
        "jsonl": (exports.jsonl, "application/x-ndjson"),
        "json": (exports.document, "application/json"),
        "markdown": (exports.markdown, "text/markdown; charset=utf-8"),
    }[parameters.format]
    chunks = write(runtime.store, runtime.actor, wanted, runtime.clock.now())
    counted = _as_job(
        runtime, chunks, f"{parameters.format} of {parameters.project or 'everything'}"
    )
    return StreamingResponse(_gathered(counted), media_type=media)


def _as_job(runtime: ServerRuntime, chunks: Iterator[bytes], what: str) -> Iterator[bytes]:
    """Counts the bytes. A stream that is cancelled breaks off: nobody may take it for whole."""
    with runtime.jobs.running("export", what) as job:
        for chunk in chunks:
            if job.cancelled:
                raise Conflict("the export was cancelled")
            job.done += len(chunk)
            yield chunk


def _gathered(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Join small chunks: Starlette takes each one from a thread."""
    waiting: list[bytes] = []
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size > 1 << 16:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


# --- backups -------------------------------------------------------------------------------------


class BackupFile(Value, frozen=True, kw_only=True):
    path: str
    bytes: int
    made_at: datetime | None
    events: int | None = None
    records: int | None = None


def make_backup(runtime: ServerRuntime) -> BackupFile:
    made: BackupInfo = runtime.backups.create()
    return BackupFile(
        path=made.path, bytes=made.bytes, made_at=made_at(made.path), events=made.events,
        records=made.records,
    )  # fmt: skip


def list_backups(runtime: ServerRuntime) -> list[BackupFile]:
    return [
        BackupFile(path=path, bytes=os.stat(path).st_size, made_at=made_at(path))
        for path in runtime.backups.made()
    ]


# --- forget, scrub, move -------------------------------------------------------------------------


class SelectionBody(Value, frozen=True, kw_only=True):
    """What to forget or move: one of the first seven, within `project` or everywhere."""

    record_ids: Annotated[tuple[RecordName, ...], Meta(max_length=10_000)] = ()
    session_id: Name | None = None
    entity: Name | None = None
    text: Text | None = None
    older_than: Moment | None = None
    path: Text | None = None
    everything: bool = False
    project: Text | None = None
    dry_run: bool = True
    backups: bool = False
    never_again: bool = False
    target: Text | None = None


class SelectedInProject(Value, frozen=True, kw_only=True):
    namespace: str
    project: str
    counts: dict[str, int]
    record_ids: tuple[str, ...]
    titles: tuple[str, ...]


class SelectionOutcome(Value, frozen=True, kw_only=True):
    done: bool
    counts: dict[str, int]
    chosen: tuple[SelectedInProject, ...]
    files: tuple[str, ...] = ()
    backups: int = 0
    tombstones: int = 0
    found: dict[str, int] = field(default_factory=dict)


class ScrubBody(Value, frozen=True, kw_only=True):
    dry_run: bool = True
    backups: bool = False


def forget(runtime: ServerRuntime, body: SelectionBody) -> SelectionOutcome:
    selection = _selection(runtime, body)
    erasure = runtime.erasure
    if body.dry_run:
        return _outcome(runtime, erasure.preview(selection, backups=body.backups), done=False)
    outcome = erasure.forget(
        selection, runtime.actor, backups=body.backups, never_again=body.never_again
    )
    return _outcome(runtime, outcome, done=True)


def scrub(runtime: ServerRuntime, body: ScrubBody) -> SelectionOutcome:
    apply = not body.dry_run
    outcome = runtime.erasure.scrub(runtime.actor, apply=apply, backups=body.backups)
    dirty, found = saved_searches.scrub(runtime, apply=apply)
    if dirty:
        where = projects.namespace(runtime.actor)
        outcome = outcome.also(Chosen(where, {"saved search": dirty}), found)
    return _outcome(runtime, outcome, done=apply)


def move(runtime: ServerRuntime, body: SelectionBody) -> SelectionOutcome:
    if body.target is None:
        raise BadInput("target is missing: the project to move to", field="target")
    target = namespace_to_write(runtime, Scope(project=body.target))
    outcome = runtime.erasure.move(
        _selection(runtime, body), target, runtime.actor, apply=not body.dry_run
    )
    return _outcome(runtime, outcome, done=not body.dry_run)


class SeparateBody(Value, frozen=True, kw_only=True):
    """A folder, by its absolute path."""

    path: Text


class SeparatedProject(Value, frozen=True, kw_only=True):
    project_id: str
    namespace: str
    root: str
    counts: dict[str, int]


def separate(runtime: ServerRuntime, body: SeparateBody) -> SeparatedProject:
    if not os.path.isabs(body.path) or not os.path.isdir(body.path):
        raise BadInput(f"there is no directory {body.path!r}", field="path")
    place = projects.locate(body.path)
    if place.is_global:
        raise BadInput(
            f"{body.path} belongs to no project", field="path",
            hint="A project is a git repository, or a folder with a build file.",
        )  # fmt: skip
    namespace, outcome = runtime.erasure.separate(place, runtime.actor)
    return SeparatedProject(
        project_id=project_id(namespace), namespace=namespace, root=place.root,
        counts=outcome.counts,
    )  # fmt: skip


def _selection(runtime: ServerRuntime, body: SelectionBody) -> ErasureSelection:
    return ErasureSelection(
        record_ids=resolve_each(runtime, body.record_ids),
        session_id=body.session_id,
        entity=body.entity,
        text=body.text,
        before=body.older_than,
        path=body.path,
        everything=body.everything,
        namespace=namespace_of(runtime, body.project) if body.project else None,
    )


def _outcome(runtime: ServerRuntime, outcome: ErasureOutcome, *, done: bool) -> SelectionOutcome:
    names = {"": "global", **project_names(runtime)}
    return SelectionOutcome(
        done=done,
        counts=outcome.counts,
        chosen=tuple(_selected(one, names) for one in outcome.chosen),
        files=outcome.files,
        backups=outcome.backups,
        tombstones=outcome.tombstones,
        found=outcome.found,
    )


def _selected(one: Chosen, names: dict[str, str]) -> SelectedInProject:
    project = project_id(one.namespace)
    return SelectedInProject(
        namespace=one.namespace, project=names.get(project, project), counts=one.counts,
        record_ids=one.record_ids[:1000], titles=one.titles,
    )  # fmt: skip


ENDPOINTS = (
    Endpoint("GET", "/api/import", "The progress of the import.", state),
    Endpoint("POST", "/api/import", "Import history.", begin, as_sent=ON_THIS_MACHINE),
    Endpoint(
        "POST", "/api/import/offers", "What can be imported.", offers, as_sent=ON_THIS_MACHINE
    ),
    Endpoint(
        "GET", "/api/export", "Export everything, or a selection.", export, returns=ExportStream
    ),
    Endpoint("GET", "/api/backups", "Backups, newest first.", list_backups),
    Endpoint("POST", "/api/backups", "Make a backup now.", make_backup),
    Endpoint(
        "POST", "/api/forget", "Erase a selection, or with dry_run only count it.", forget,
        as_sent=COMPARED,
    ),
    Endpoint(
        "POST", "/api/scrub", "Remove secrets from what is stored, or with dry_run only find them.",
        scrub,
    ),
    Endpoint("POST", "/api/move", "Move memories to another project.", move, as_sent=COMPARED),
    Endpoint(
        "POST", "/api/separate", "Make a folder a project of its own, with its memories.", separate
    ),
)  # fmt: skip
