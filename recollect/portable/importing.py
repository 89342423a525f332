"""Imports history: what is available, what is wanted of it, and the import itself.

In: names of hosts and programs, or paths. Out: an overview, then events and memories, with
progress. One import at a time; what one leaves unfinished, the next one continues.
"""

import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

from recollect import __version__
from recollect.core.clock import Clock
from recollect.core.errors import BadInput, Conflict, RecollectError
from recollect.core.jobs import Jobs
from recollect.core.projects import ProjectPlace
from recollect.core.values import IMPORTED, IMPORTED_FOR_MODEL, Event, EventSource, Value
from recollect.hosts import registry
from recollect.hosts.adapter import prompt_draft
from recollect.hosts.transcript import Transcript
from recollect.ingest.memories import Memories
from recollect.ingest.pipeline import Pipeline
from recollect.portable import exports, foreign, git_history
from recollect.portable.attribution import Attribution
from recollect.portable.foreign.cells import ForeignItem
from recollect.portable.import_progress import ImportProgress
from recollect.portable.imported_records import FoundRecord, RecordImporter
from recollect.portable.transcript_import import Period, TranscriptImporter, derived_id
from recollect.store.interface import Store

log = logging.getLogger(__name__)

BATCH = 100
CATCH_UP_SESSIONS = 200
CATCH_UP_AGE = timedelta(days=14)
# Roughly: the characters of a token, and what extraction sends of a transcript's bytes. Five
# sessions of Claude Code had a share of .07; an estimate is better too high.
CHARACTERS_PER_TOKEN = 4
PROMPT_SHARE = 0.2


@dataclass(frozen=True)
class ImportRequest:
    """What to import. No source means every one that is found."""

    sources: tuple[str, ...] = ()
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    home: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""  # where the request was made: which repository `git` means
    most_commits: int = git_history.MOST
    dry_run: bool = False
    llm: bool = False  # may a language model, if one is chosen, read what is imported?

    @property
    def client(self) -> str:
        return IMPORTED_FOR_MODEL if self.llm else IMPORTED

    @property
    def period(self) -> Period:
        return Period(self.since, self.until)


class ImportOffer(Value, frozen=True):
    """A source, and what is known of it before it is read."""

    source: str
    path: str
    sessions: int
    messages: int
    bytes: int
    first: datetime | None
    last: datetime | None
    projects: dict[str, int] = msgspec.field(default_factory=dict)


class ItemSource(Protocol):
    """Something that has memories and prompts: another program's database, or a plugin."""

    @property
    def program(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def items(self) -> Iterator[ForeignItem]: ...


PluginItems = Callable[[str, str], Iterator[dict[str, Any]]]
PLUGIN = "plugin:"


@dataclass(frozen=True)
class PluginSource:
    """What a plugin has to import; how much that is nobody knows before."""

    plugin: str
    path: str  # what the plugin is given
    read: PluginItems
    rows: int = 0
    bytes: int = 0

    @property
    def program(self) -> str:
        return PLUGIN + self.plugin

    def items(self) -> Iterator[ForeignItem]:
        for number, item in enumerate(self.read(self.plugin, self.path), 1):
            try:
                yield msgspec.convert(item, ForeignItem)
            except msgspec.ValidationError as error:
                raise BadInput(f"item {number} of {self.program} is not valid: {error}") from error


@dataclass
class _Plan:
    transcripts: list[Transcript] = field(default_factory=list)
    stores: list[ItemSource] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)


class Importer:
    def __init__(
        self,
        store: Store,
        pipeline: Pipeline,
        memories: Memories,
        clock: Clock,
        actor: str,
        derive_work: Callable[[str], None],
        stopping: Callable[[], bool] = lambda: False,
        plugin_items: PluginItems = lambda plugin, argument: iter(()),
        jobs: Jobs | None = None,
    ) -> None:
        self._store = store
        self._pipeline = pipeline
        self._memories = memories
        self._clock = clock
        self._actor = actor
        self._derive_work = derive_work
        self._stopping = stopping
        self._plugin_items = plugin_items
        self._jobs = jobs or Jobs(clock)
        self._lock = threading.Lock()
        self.progress = ImportProgress(state="none")

    # --- what there is ---

    def offers(self, request: ImportRequest) -> list[ImportOffer]:
        plan = self._plan(request)
        attribution = self._attribution(plan, request)
        offers = [
            _offer_of(host, [one for one in plan.transcripts if one.host == host], attribution)
            for host in dict.fromkeys(one.host for one in plan.transcripts)
        ]
        offers += [
            ImportOffer(one.program, one.path, 0, one.rows, one.bytes, None, None)
            for one in plan.stores
        ]
        offers += [
            ImportOffer("export", path, 0, 0, os.stat(path).st_size, None, None)
            for path in plan.exports
        ]
        for path in plan.repositories:
            commits = git_history.count(path, request.since, request.most_commits)
            if commits:
                offers.append(ImportOffer("git", path, 0, commits, 0, None, None))
        return offers

    # --- doing it ---

    def start(self, request: ImportRequest) -> ImportProgress:
        """Begin in the background. Raises Conflict while another import runs."""
        if not self._lock.acquire(blocking=False):
            raise Conflict(
                "another import is running", hint="Wait until it is done, then try again."
            )
        progress = self.progress = self._new_progress(request)
        worker = threading.Thread(
            target=self._guarded, args=(request, progress), name="recollect-import", daemon=True
        )
        worker.start()
        return progress

    def run(self, request: ImportRequest) -> ImportProgress:
        """The same in this thread."""
        with self._lock:
            progress = self.progress = self._new_progress(request)
            try:
                self._run(request, progress)
            finally:
                self._end(progress)
            return progress

    def _guarded(self, request: ImportRequest, progress: ImportProgress) -> None:
        try:
            self._run(request, progress)
        except RecollectError as error:
            log.error("import: %s", error)
            progress.problem = str(error)
            progress.state = "failed"
        except Exception:
            log.exception("import failed")
            progress.problem = "Unexpected error; the log has the details."
            progress.state = "failed"
        finally:
            self._end(progress)
            self._lock.release()

    def _new_progress(self, request: ImportRequest) -> ImportProgress:
        what = ", ".join(request.sources) or "everything that is found"
        job = self._jobs.begin("import", what, lambda: self.start(request))
        return ImportProgress(state="running", job=job)

    def _end(self, progress: ImportProgress) -> None:
        if progress.job is not None:
            done = progress.state == "done"
            self._jobs.end(progress.job, "done" if done else "failed", progress.problem)

    def _run(self, request: ImportRequest, progress: ImportProgress) -> None:
        plan = self._plan(request)
        progress.total = (
            sum(one.bytes for one in plan.transcripts)
            + sum(one.bytes for one in plan.stores)
            + sum(os.stat(path).st_size for path in plan.exports)
            + sum(
                git_history.count(path, request.since, request.most_commits)
                for path in plan.repositories
            )
        )
        attribution = self._attribution(plan, request)
        history = TranscriptImporter(
            self._store,
            self._pipeline,
            self._clock,
            self._actor,
            attribution,
            progress,
            dry_run=request.dry_run,
            client=request.client,
        )
        # The oldest first: what is learned from one session is there for the next.
        for one in sorted(plan.transcripts, key=lambda one: _text(one.began)):
            if self._stopped(progress):
                return
            history.import_session(one, request.period, one.bytes)
        for store in plan.stores:
            self._take_store(store, request, attribution, history, progress)
        for path in plan.repositories:
            self._take_commits(path, request, attribution, progress)
        for path in plan.exports:
            self._take_export(path, request, progress)
        if not self._stopped(progress):
            progress.state = "done"

    def _stopped(self, progress: ImportProgress) -> bool:
        if self._stopping() or (progress.job is not None and progress.job.cancelled):
            progress.state = "stopped"
            return True
        return False

    def catch_up(
        self, hosts: Mapping[str, datetime], home: str, env: Mapping[str, str]
    ) -> ImportProgress | None:
        """Import what connected hosts' transcripts have and the store lacks, from the time at which
        each host was connected: earlier history is imported only on request. Bounded, and skipped
        while an import runs."""
        if not self._lock.acquire(blocking=False):
            return None
        progress = ImportProgress(state="running")
        try:
            edge = self._clock.now() - CATCH_UP_AGE
            found = [
                (one, Period(since=max(since, edge)))
                for host, since in hosts.items()
                for one in registry.readers()[host].find(home, env)
            ]
            found = [(one, period) for one, period in found if period.touches(one)]
            directories = [one.cwd for one, _ in found]
            attribution = Attribution(self._store, self._actor, directories, home)
            history = TranscriptImporter(
                self._store, self._pipeline, self._clock, self._actor, attribution, progress
            )
            newest = sorted(found, key=lambda pair: _text(pair[0].ended))[-CATCH_UP_SESSIONS:]
            for one, period in newest:
                if self._stopped(progress):
                    return progress
                if history.missing(one):
                    history.import_session(one, period)
            progress.state = "done"
        finally:
            self._lock.release()
        return progress

    # --- parts ---

    def _plan(self, request: ImportRequest) -> _Plan:
        home = request.home or os.path.expanduser("~")
        plan = _Plan()
        wanted = request.sources or tuple(registry.readers())
        for source in wanted:
            self._add(plan, source, home, request)
        if not request.sources:
            plan.stores += foreign.find(home)
        if request.project:
            within = os.path.realpath(request.project)
            plan.transcripts = [one for one in plan.transcripts if _inside(one.cwd, within)]
            if not request.sources:
                plan.repositories = [one for one in [git_history.repository(within)] if one]
        plan.transcripts = [one for one in plan.transcripts if request.period.touches(one)]
        return plan

    def _add(self, plan: _Plan, source: str, home: str, request: ImportRequest) -> None:
        if source in registry.readers():
            plan.transcripts += registry.readers()[source].find(home, request.env)
        elif source in foreign.PLACES:
            plan.stores += [one for one in foreign.find(home) if one.program == source]
        elif source.startswith(PLUGIN):
            name, _, argument = source.removeprefix(PLUGIN).partition(":")
            plan.stores.append(PluginSource(name, argument, self._plugin_items))
        elif source == "git" or source.startswith("git:"):
            given = source.partition(":")[2] or request.project or request.directory
            found = git_history.repository(os.path.expanduser(given)) if given else ""
            if not found:
                raise BadInput(
                    f"there is no git repository at {given or '?'}", field="source",
                    hint="A `.git` that points elsewhere counts when that repository points back.",
                )  # fmt: skip
            plan.repositories.append(found)
        else:
            self._add_path(plan, os.path.abspath(os.path.expanduser(source)), source)

    def _add_path(self, plan: _Plan, path: str, given: str) -> None:
        if not os.path.isfile(path):
            known = ", ".join([*registry.readers(), *foreign.PLACES, "git", "plugin:NAME"])
            raise BadInput(
                f"{given!r} is neither a source nor a file", field="source", hint=f"one of {known}"
            )
        store = foreign.recognise(path)
        if store is not None:
            plan.stores.append(store)
        elif exports.is_export(path):
            plan.exports.append(path)
        else:
            found = registry.transcripts_in(path)
            if not found:
                raise BadInput(
                    f"{given} is neither an export of Recollect, nor a transcript or database "
                    "that it knows", field="source",
                )  # fmt: skip
            plan.transcripts += found

    def _attribution(self, plan: _Plan, request: ImportRequest) -> Attribution:
        directories = [one.cwd for one in plan.transcripts]
        return Attribution(
            self._store, self._actor, directories, request.home or None, dry_run=request.dry_run
        )

    def _take_store(
        self,
        store: ItemSource,
        request: ImportRequest,
        attribution: Attribution,
        history: TranscriptImporter,
        progress: ImportProgress,
    ) -> None:
        brought = RecordImporter(self._store, self._memories, dry_run=request.dry_run)
        waiting: list[FoundRecord] = []
        events: list[Event] = []
        for item in store.items():
            if self._stopped(progress):
                return
            if not request.period.covers(item.at):
                continue
            if os.path.isabs(item.project) and self._pipeline.kept_out(item.project):
                progress.step(store.program, 0, read=1, kept_out=1)
                continue
            namespace = attribution.of_name(store.program, item.project)
            if request.project and namespace != attribution.namespace(request.project):
                continue
            if item.kind is not None:
                waiting.append(
                    FoundRecord(**vars(item), program=store.program, namespace=namespace)
                )
            else:
                event = self._event(store.program, item, namespace)
                events += [event] if event is not None else []
            if len(waiting) >= BATCH:
                self._bring(brought, waiting, store.program, progress)
                waiting = []
        self._bring(brought, waiting, store.program, progress)
        self._put(events, store.program, history)
        progress.step(store.program, store.bytes)

    def _event(self, program: str, item: ForeignItem, namespace: str) -> Event | None:
        if item.event is not None:
            return msgspec.structs.replace(item.event, namespace=namespace, actor_id=self._actor)
        draft = prompt_draft(item.prompt)
        if draft is None:
            return None
        return Event(
            event_id=derived_id(item.at, program, item.key),
            session_id=(item.session_id or program)[:256],
            actor_id=self._actor,
            namespace=namespace,
            kind="prompt",
            body=draft.body,
            valid_time=item.at,
            source=EventSource(surface=program, version=__version__, client_id=IMPORTED),
        )

    def _put(self, events: Sequence[Event], program: str, history: TranscriptImporter) -> None:
        """Store prompts, except those that the host's transcript or hooks have delivered
        already."""
        for session in dict.fromkeys((one.namespace, one.session_id) for one in events):
            here = [one for one in events if (one.namespace, one.session_id) == session]
            history.import_events(program, *session, here)

    def _bring(
        self,
        brought: RecordImporter,
        waiting: list[FoundRecord],
        source: str,
        progress: ImportProgress,
    ) -> None:
        if waiting:
            new, known = brought.store_new(waiting)
            progress.step(source, 0, read=len(waiting), stored=new, known=known)

    def _take_commits(
        self, path: str, request: ImportRequest, attribution: Attribution, progress: ImportProgress
    ) -> None:
        if why := self._pipeline.kept_out(path):
            progress.complain(f"{path} is kept out: {why}")
            return
        brought = RecordImporter(self._store, self._memories, dry_run=request.dry_run)
        namespace = attribution.namespace(path)
        waiting: list[FoundRecord] = []
        for found in git_history.commits(path, namespace, request.since, request.most_commits):
            if self._stopped(progress):
                return
            if not request.period.covers(found.at):
                continue
            waiting.append(found)
            if len(waiting) == BATCH:
                self._bring(brought, waiting, git_history.PROGRAM, progress)
                progress.step(git_history.PROGRAM, BATCH)
                waiting = []
        self._bring(brought, waiting, git_history.PROGRAM, progress)
        progress.step(git_history.PROGRAM, len(waiting))

    def _take_export(self, path: str, request: ImportRequest, progress: ImportProgress) -> None:
        def step(size: int, read: int, loaded: dict[str, int]) -> None:
            new = sum(loaded.values())
            progress.step("export", size, read=read, stored=new, known=read - new)

        exports.ExportReader(self._store, self._actor).read(path, step, dry_run=request.dry_run)
        if request.dry_run:
            return
        for namespace in self._store.projects.namespaces():
            self._memories.reloaded(namespace)
            self._derive_work(namespace)


def estimate(offers: Iterable[ImportOffer]) -> dict[str, Any]:
    """Roughly what extraction of all this by a language model would send."""
    size = sum(one.bytes for one in offers if one.sessions)
    return {"tokens": int(size / CHARACTERS_PER_TOKEN * PROMPT_SHARE)}


def _offer_of(host: str, found: list[Transcript], attribution: Attribution) -> ImportOffer:
    places = [attribution.place(one.cwd) for one in found]
    labels = _labels(places)
    times = [at for one in found for at in (one.began, one.ended) if at is not None]
    return ImportOffer(
        source=host,
        path=os.path.dirname(found[0].path),
        sessions=len(found),
        messages=sum(one.messages for one in found),
        bytes=sum(one.bytes for one in found),
        first=min(times, default=None),
        last=max(times, default=None),
        projects=dict(Counter(labels[place] for place in places).most_common()),
    )


def _labels(places: Iterable[ProjectPlace]) -> dict[ProjectPlace, str]:
    """The names of these projects; where a name is ambiguous, its path."""
    distinct = set(places)
    shared = Counter(place.name for place in distinct)
    return {
        place: place.root if place.root and shared[place.name] > 1 else place.name
        for place in distinct
    }


def _inside(directory: str, within: str) -> bool:
    real = os.path.realpath(directory) if directory else ""
    return real == within or real.startswith(within.rstrip("/") + "/")


def _text(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""
