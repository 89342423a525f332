"""`/api/import`, `/api/export`, `/api/backups`, `/api/forget`, `/api/scrub`, `/api/move`,
`/api/separate`."""

import os
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from starlette.responses import Response, StreamingResponse

from recollect.core import projects
from recollect.core.errors import BadInput
from recollect.core.kinds import RecordKind
from recollect.core.values import Moment, Name, RecordId, Value
from recollect.hosts import registry
from recollect.portable import exports
from recollect.portable.backups import made_at
from recollect.portable.erasure import ErasureOutcome, ErasureSelection
from recollect.portable.importing import ImportOffer, ImportRequest, estimate
from recollect.portable.transcript_import import Period
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.runtime import ServerRuntime
from recollect.service.scope import ALL, Scope, listing, project_id
from recollect.store.interface import BackupInfo, Chosen

Text = Annotated[str, Meta(min_length=1, max_length=2048)]
ALL_ROWS = ("event", "memory", "entity", "relationship", "fact", "procedure", "preference",
            "checkpoint", "receipt", "operation", "version", "session")  # fmt: skip


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

    def request(self) -> ImportRequest:
        given = [*self.sources, self.project or "", self.home or "", self.directory or ""]
        if any("\0" in one for one in [*given, *self.env.values()]):
            raise BadInput("a path cannot hold NUL", field="sources")
        return ImportRequest(
            sources=self.sources,
            project=self.project,
            since=self.since,
            until=self.until,
            home=self.home or "",
            env={
                name: value
                for name, value in self.env.items()
                if name in registry.transcript_environment()
            },
            directory=self.directory or "",
            most_commits=self.most_commits,
            dry_run=self.dry_run,
            llm=self.llm,
        )


class OfferShown(Value, frozen=True, kw_only=True):
    source: str
    path: str
    sessions: int
    messages: int
    bytes: int
    first: datetime | None
    last: datetime | None
    projects: dict[str, int]


class Offers(Value, frozen=True, kw_only=True):
    offers: tuple[OfferShown, ...]
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


def offers(runtime: ServerRuntime, parameters: Nothing, body: ImportBody) -> Offers:
    found = runtime.importing.offers(body.request())
    return Offers(offers=tuple(map(_shown, found)), llm_estimate=estimate(found))


def begin(runtime: ServerRuntime, parameters: Nothing, body: ImportBody) -> ImportState:
    return ImportState(**runtime.importing.start(body.request()).snapshot())


def state(runtime: ServerRuntime, parameters: Nothing) -> ImportState:
    return ImportState(**runtime.importing.progress.snapshot())


def _shown(offer: ImportOffer) -> OfferShown:
    return OfferShown(**{name: getattr(offer, name) for name in OfferShown.__struct_fields__})


# --- export --------------------------------------------------------------------------------------


class ExportParameters(Value, frozen=True, kw_only=True):
    format: Literal["jsonl", "json", "markdown"] = "jsonl"
    project: Text | None = None
    rows: Annotated[str, Meta(max_length=300)] | None = None
    kind: RecordKind | None = None
    since: Moment | None = None
    until: Moment | None = None


class Exported(Value, frozen=True):
    """A stream of lines, not one value."""


def export(runtime: ServerRuntime, parameters: ExportParameters) -> Response:
    rows = frozenset(parameters.rows.split(",")) if parameters.rows else None
    unknown = sorted((rows or frozenset()) - set(ALL_ROWS))
    if unknown:
        raise BadInput(
            f"there are no rows of kind {unknown[0]!r}",
            field="rows",
            hint=f"known: {', '.join(ALL_ROWS)}",
        )
    chosen = (_namespace(runtime, parameters.project),) if parameters.project else None
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
    return StreamingResponse(_gathered(chunks), media_type=media)


def _gathered(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """In larger pieces: each goes through a thread of its own."""
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


class BackupShown(Value, frozen=True, kw_only=True):
    path: str
    bytes: int
    made_at: datetime | None
    events: int | None = None
    records: int | None = None


class BackupList(Value, frozen=True, kw_only=True):
    items: tuple[BackupShown, ...]


def make_backup(runtime: ServerRuntime, parameters: Nothing) -> BackupShown:
    info: BackupInfo = runtime.backups.create()
    return BackupShown(
        path=info.path,
        bytes=info.bytes,
        made_at=made_at(info.path),
        events=info.events,
        records=info.records,
    )


def list_backups(runtime: ServerRuntime, parameters: Nothing) -> BackupList:
    return BackupList(
        items=tuple(
            BackupShown(path=path, bytes=os.stat(path).st_size, made_at=made_at(path))
            for path in runtime.backups.made()
        )
    )


# --- forget, scrub, move -------------------------------------------------------------------------


class AimBody(Value, frozen=True, kw_only=True):
    """One of the first six, and where."""

    record_ids: Annotated[tuple[RecordId, ...], Meta(max_length=10_000)] = ()
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


class ChosenShown(Value, frozen=True, kw_only=True):
    namespace: str
    project: str
    counts: dict[str, int]
    record_ids: tuple[str, ...]
    titles: tuple[str, ...]


class OutcomeShown(Value, frozen=True, kw_only=True):
    done: bool
    counts: dict[str, int]
    chosen: tuple[ChosenShown, ...]
    files: tuple[str, ...] = ()
    backups: int = 0
    tombstones: int = 0
    found: dict[str, int] = field(default_factory=dict)


class ScrubBody(Value, frozen=True, kw_only=True):
    dry_run: bool = True
    backups: bool = False


def forget(runtime: ServerRuntime, parameters: Nothing, body: AimBody) -> OutcomeShown:
    aim = _aim(runtime, body)
    erasure = runtime.erasure
    if body.dry_run:
        return _told(runtime, erasure.preview(aim, backups=body.backups), done=False)
    outcome = erasure.forget(aim, runtime.actor, backups=body.backups, never_again=body.never_again)
    return _told(runtime, outcome, done=True)


def scrub(runtime: ServerRuntime, parameters: Nothing, body: ScrubBody) -> OutcomeShown:
    outcome = runtime.erasure.scrub(runtime.actor, apply=not body.dry_run, backups=body.backups)
    return _told(runtime, outcome, done=not body.dry_run)


def move(runtime: ServerRuntime, parameters: Nothing, body: AimBody) -> OutcomeShown:
    if body.target is None:
        raise BadInput("say which project they should go to", field="target")
    target = _namespace(runtime, body.target)
    outcome = runtime.erasure.move(
        _aim(runtime, body), target, runtime.actor, apply=not body.dry_run
    )
    return _told(runtime, outcome, done=not body.dry_run)


class SeparateBody(Value, frozen=True, kw_only=True):
    """A folder, by its absolute path."""

    path: Text


class Separated(Value, frozen=True, kw_only=True):
    project_id: str
    namespace: str
    root: str
    counts: dict[str, int]


def separate(runtime: ServerRuntime, parameters: Nothing, body: SeparateBody) -> Separated:
    if not os.path.isabs(body.path) or not os.path.isdir(body.path):
        raise BadInput(f"there is no directory {body.path!r}", field="path")
    place = projects.locate(body.path)
    if place.is_global:
        raise BadInput(
            f"{body.path} belongs to no project", field="path",
            hint="A project is a git repository, or a folder with a build file.",
        )  # fmt: skip
    actor = runtime.actor
    namespace, outcome = runtime.erasure.separate(place, actor)
    return Separated(
        project_id=project_id(namespace),
        namespace=namespace,
        root=place.root,
        counts=outcome.counts,
    )


def _aim(runtime: ServerRuntime, body: AimBody) -> ErasureSelection:
    return ErasureSelection(
        record_ids=body.record_ids,
        session_id=body.session_id,
        entity=body.entity,
        text=body.text,
        before=body.older_than,
        path=body.path,
        everything=body.everything,
        namespace=_namespace(runtime, body.project) if body.project else None,
    )


def _namespace(runtime: ServerRuntime, project: str) -> str:
    """A project by its directory, its id or its name; `global` is what belongs to none."""
    if project == ALL:
        raise BadInput("this is for one project, not for all", field="project")
    (found,) = listing(runtime, Scope(project=project))
    return found


def _told(runtime: ServerRuntime, outcome: ErasureOutcome, *, done: bool) -> OutcomeShown:
    names = {one.project_id: one.name for one in runtime.store.projects.all()}
    return OutcomeShown(
        done=done,
        counts=outcome.counts,
        chosen=tuple(_chosen(one, names) for one in outcome.chosen),
        files=outcome.files,
        backups=outcome.backups,
        tombstones=outcome.tombstones,
        found=outcome.found,
    )


def _chosen(one: Chosen, names: dict[str, str]) -> ChosenShown:
    project: Any = one.namespace.rstrip("/").rpartition("/project/")[2]
    return ChosenShown(
        namespace=one.namespace,
        project=names.get(project, "global" if "/project/" not in one.namespace else project),
        counts=one.counts,
        record_ids=one.record_ids[:1000],
        titles=one.titles,
    )


ENDPOINTS = (
    Endpoint("GET", "/api/import", "How the import goes.", state, ImportState),
    Endpoint("POST", "/api/import", "Import history.", begin, ImportState, body=ImportBody),
    Endpoint(
        "POST", "/api/import/offers", "What could be imported.", offers, Offers, body=ImportBody
    ),
    Endpoint(
        "GET", "/api/export", "Everything, or some of it.", export, Exported, ExportParameters
    ),
    Endpoint("GET", "/api/backups", "Backups, newest first.", list_backups, BackupList),
    Endpoint("POST", "/api/backups", "Make a backup now.", make_backup, BackupShown),
    Endpoint(
        "POST", "/api/forget", "Erase, or with dry_run show.", forget, OutcomeShown, body=AimBody
    ),
    Endpoint(
        "POST", "/api/scrub", "Find old secrets, or take them out.", scrub, OutcomeShown,
        body=ScrubBody,
    ),
    Endpoint(
        "POST", "/api/move", "Give memories to another project.", move, OutcomeShown, body=AimBody
    ),
    Endpoint(
        "POST", "/api/separate", "Make a folder a project of its own, with what it captured.",
        separate, Separated, body=SeparateBody,
    ),
)  # fmt: skip
