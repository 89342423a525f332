"""Recollect from Python: the same operations as everywhere, on the daemon of this machine.

In: plain arguments. Out: typed values. The daemon is started when there is none. What it refuses
raises Refused with its words; a daemon that cannot be started raises CannotStart.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote

from recollect.client import TIMEOUT_S, Client, NotRunning, Refused
from recollect.core import settings
from recollect.core.errors import BadInput
from recollect.core.kinds import KnowledgeType, ObservationType, RecordKind
from recollect.core.settings import Fusion
from recollect.core.values import Operation, Preference, Receipt, Record, Session

if TYPE_CHECKING:
    from recollect.server.routes.beliefs import Decided
    from recollect.server.routes.portable import BackupFile, ImportState
    from recollect.service.administration import EmbeddingStats, ProjectLine
    from recollect.service.alarms import Alarm
    from recollect.service.analytics import AnalyticsOverview, StatsAnswer
    from recollect.service.context import ContextAnswer, Explanation
    from recollect.service.conversation_compaction import CompactAnswer
    from recollect.service.effect import Effect
    from recollect.service.graph import EntityRecall
    from recollect.service.jobs import JobLine
    from recollect.service.read import History, Provenance, TimelineAnswer
    from recollect.service.reflection import Reflection
    from recollect.service.report import Report
    from recollect.service.search import SearchAnswer
    from recollect.service.sessions import ConversationPage, Resume, SessionDetail
    from recollect.service.undo import Undone
    from recollect.service.write import Added, Changed, Deleted

__all__ = ["Memory", "NotRunning", "Refused"]

T = TypeVar("T")
Mode = Literal["hybrid", "keyword", "semantic"]
Verdict = Literal["useful", "wrong", "never"]
Turn = tuple[str, str]
_LOOK_S = 0.2


class Memory:
    """One user's memory. `project` is where its methods look and write unless they are told
    otherwise: a path, an id, a name, `global` or `all`; by default the current directory."""

    def __init__(
        self, project: str | None = None, *, home: str | None = None, timeout: float = TIMEOUT_S
    ) -> None:
        self._settings = settings.load(flags={"home": home} if home else None)
        self._client = Client(self._settings, timeout)
        self._project = os.path.abspath(project or os.getcwd()) if _is_path(project) else project

    # --- finding ---

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode = "hybrid",
        kind: RecordKind | None = None,
        type: ObservationType | KnowledgeType | None = None,
        concept: str | None = None,
        file: str | None = None,
        session_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        raw: bool = False,
        full: bool = False,
        fusion: Fusion | None = None,
        k: int | None = None,
        fetch_depth: int | None = None,
        project: str | None = None,
    ) -> "SearchAnswer":
        """Memories that answer a query, best first, with scores and their parts. `fusion` is linear
        or rrf, instead of the setting; `k` and `fetch_depth` are of rrf."""
        from recollect.service.search import SearchAnswer

        return self._get(
            SearchAnswer, "/api/search", query=query, limit=limit, mode=mode, kind=kind, type=type,
            concept=concept, file=file, session_id=session_id, since=since, until=until,
            as_of=as_of, raw=raw or None, full=full or None, fusion=fusion, k=k,
            fetch_depth=fetch_depth, project=self._where(project),
        )  # fmt: skip

    def semantic_search(self, query: str, *, limit: int = 10, **narrow: Any) -> "SearchAnswer":
        """By meaning alone; `narrow` is as in `search`."""
        return self.search(query, limit=limit, mode="semantic", **narrow)

    def hybrid_search(self, query: str, *, limit: int = 10, **narrow: Any) -> "SearchAnswer":
        """By words and meaning; `narrow` is as in `search`."""
        return self.search(query, limit=limit, mode="hybrid", **narrow)

    def get_smart_context(
        self,
        query: str = "",
        token_budget: int = 2000,
        *,
        as_of: datetime | None = None,
        project: str | None = None,
    ) -> "ContextAnswer":
        """What matters for a task, chosen and cut to a budget: what an agent would be given, or
        would have been given at a moment."""
        from recollect.service.context import ContextAnswer

        return self._get(
            ContextAnswer, "/api/context", query=query or None, token_budget=token_budget,
            as_of=as_of, project=self._where(project),
        )  # fmt: skip

    def explain(
        self, query: str, *, threshold: float | None = None, project: str | None = None
    ) -> "Explanation":
        """The candidates for a query with every part of their scores."""
        from recollect.service.context import Explanation

        return self._get(
            Explanation, "/api/explain", query=query, threshold=threshold,
            project=self._where(project),
        )  # fmt: skip

    def get(self, record_ids: Sequence[str]) -> tuple[Record, ...]:
        """The memories that exist, in the order asked for; 1 to 100 ids."""
        found = self._ask("POST", "/api/memories/batch", {"ids": list(record_ids)})
        return _as(tuple[Record, ...], found["items"])

    def memories(self, *, project: str | None = None, **narrow: Any) -> Iterator[Record]:
        """All memories, newest first, page by page; `narrow` is as in `search`."""
        yield from self._all(Record, "/api/memories", project=self._where(project), **narrow)

    def timeline(
        self,
        anchor: str | None = None,
        *,
        at: datetime | None = None,
        before: int = 5,
        after: int = 5,
        project: str | None = None,
    ) -> "TimelineAnswer":
        """Memories in order of time: around one, around a moment, or the newest."""
        from recollect.service.read import TimelineAnswer

        return self._get(
            TimelineAnswer, "/api/timeline", anchor=anchor, at=at, before=before, after=after,
            project=self._where(project),
        )  # fmt: skip

    def entity(self, name: str, *, project: str | None = None) -> "EntityRecall":
        """Everything that is known about a name."""
        from recollect.service.graph import EntityRecall

        where = self._where(project)
        return self._get(EntityRecall, "/api/recall-entity", name=name, project=where)

    # --- writing ---

    def add(
        self,
        title: str,
        content: str = "",
        *,
        type: ObservationType = "discovery",
        facts: Sequence[str] = (),
        concepts: Sequence[str] = (),
        files: Sequence[str] = (),
        importance: int = 5,
        session_id: str | None = None,
        project: str | None = None,
    ) -> "Added":
        """Remember an observation. The same words again are the same memory."""
        return self._added(
            "/api/observations", project, title=title, content=content, type=type,
            facts=list(facts), concepts=list(concepts), files=list(files), importance=importance,
            session_id=session_id,
        )  # fmt: skip

    def add_knowledge(
        self,
        type: KnowledgeType,
        title: str,
        content: str = "",
        *,
        reason: str | None = None,
        alternatives: Sequence[str] = (),
        severity: Literal["hard", "soft"] | None = None,
        context: str | None = None,
        confidence: float = 1.0,
        concepts: Sequence[str] = (),
        files: Sequence[str] = (),
        session_id: str | None = None,
        project: str | None = None,
    ) -> "Added":
        """Remember a constraint, a decision, a heuristic, or a way that was rejected."""
        return self._added(
            "/api/knowledge", project, type=type, title=title, content=content, reason=reason,
            alternatives=list(alternatives), severity=severity, context=context,
            confidence=confidence, concepts=list(concepts), files=list(files),
            session_id=session_id,
        )  # fmt: skip

    def add_summary(
        self,
        request: str,
        *,
        investigated: Sequence[str] = (),
        completed: Sequence[str] = (),
        learned: Sequence[str] = (),
        next_steps: Sequence[str] = (),
        questions: Sequence[str] = (),
        notes: str = "",
        files: Sequence[str] = (),
        session_id: str | None = None,
        project: str | None = None,
    ) -> "Added":
        """Sum up a session; with its id, it can be resumed from here."""
        return self._added(
            "/api/summaries", project, request=request, investigated=list(investigated),
            completed=list(completed),
            learned=list(learned), next_steps=list(next_steps), questions=list(questions),
            notes=notes, files=list(files), session_id=session_id,
        )  # fmt: skip

    def note(self, text: str, *, project: str | None = None) -> "Added":
        """Remember a few words."""
        return self._added("/api/notes", project, text=text)

    def edit(self, record_id: str, *, reason: str = "", **change: Any) -> "Changed":
        """Change title, summary, detail, facts, concepts, files, importance or confidence."""
        from recollect.service.write import Changed

        body = {**change, "reason": reason}
        return _as(Changed, self._ask("PATCH", f"/api/memories/{_part(record_id)}", body))

    def pin(self, record_id: str, pinned: bool = True) -> "Changed":
        from recollect.service.write import Changed

        path = f"/api/memories/{_part(record_id)}/pin"
        return _as(Changed, self._ask("POST", path, {"pinned": pinned}))

    def move(self, record_id: str, project: str) -> "Changed":
        """To another project."""
        from recollect.service.write import Changed

        path = f"/api/memories/{_part(record_id)}/move"
        return _as(Changed, self._ask("POST", path, {"project": self._where(project)}))

    def delete(self, *record_ids: str, reason: str = "", never: bool = False) -> "Deleted":
        """With `never`, what they say is not learned again either, until the delete is undone."""
        from recollect.service.write import Deleted

        body = {"ids": list(record_ids), "reason": reason, "never": never}
        return _as(Deleted, self._ask("POST", "/api/memories/delete", body))

    def undo(self, op_id: str | None = None, *, project: str | None = None) -> "Undone":
        """Take an operation back; without an id, the newest of the project."""
        from recollect.service.undo import Undone

        if op_id:
            return _as(Undone, self._ask("POST", f"/api/operations/{_part(op_id)}/undo"))
        query = {"project": self._where(project)}
        return _as(Undone, self._ask("POST", "/api/undo", query=query))

    def feedback(self, record_id: str, verdict: Verdict) -> str:
        """Say that a memory was useful, wrong, or never to be injected again."""
        body = {"record_id": record_id, "verdict": verdict}
        return str(self._ask("POST", "/api/feedback", body)["op_id"])

    # --- beliefs ---

    def rules(self, *, project: str | None = None) -> tuple[Record, ...]:
        """What agents are told to hold to: the beliefs that hold here and everywhere."""
        return self._beliefs("held", project)

    def review(self, *, project: str | None = None) -> tuple[Record, ...]:
        """What waits for a decision: proposed, or in dispute with another belief."""
        return self._beliefs("waiting", project)

    def keep(self, record_id: str, *, reason: str = "", both: bool = False) -> "Decided":
        """A belief that waits, or ended, holds; with `both`, also those it is in dispute with."""
        return self._decide(record_id, "keep", reason=reason, both=both)

    def drop(self, record_id: str, *, reason: str = "") -> "Decided":
        """A belief does not hold."""
        return self._decide(record_id, "drop", reason=reason)

    def correct(self, record_id: str, text: str, *, reason: str = "") -> "Decided":
        """Another text holds instead of a belief."""
        return self._decide(record_id, "correct", text=text, reason=reason)

    def profile(self) -> tuple[Record | Preference, ...]:
        """Who you are: lines that were added, then what you said in prompts."""
        found = self._ask("GET", "/api/profile")
        lines = _as(tuple[Record, ...], found["items"])
        return *lines, *_as(tuple[Preference, ...], found["stated"])

    def add_to_profile(self, text: str) -> "Added":
        """A line that every session starts with."""
        from recollect.service.write import Added

        return _as(Added, self._ask("POST", "/api/profile", {"text": text}))

    def reflect(
        self, days: int = 7, *, preview: bool = False, project: str | None = None
    ) -> "Reflection":
        """Propose what follows from the last days; with `preview`, nothing is written."""
        from recollect.service.reflection import Reflection

        body = {"days": days, "preview": preview, "project": self._where(project)}
        return _as(Reflection, self._ask("POST", "/api/reflection", body))

    def _beliefs(self, show: str, project: str | None) -> tuple[Record, ...]:
        found = self._ask(
            "GET", "/api/beliefs", query={"show": show, "project": self._where(project)}
        )
        return _as(tuple[Record, ...], found["items"])

    def _decide(self, record_id: str, how: str, **given: Any) -> "Decided":
        from recollect.server.routes.beliefs import Decided

        return _as(Decided, self._ask("POST", f"/api/beliefs/{_part(record_id)}/{how}", given))

    # --- in and out ---

    def export(
        self,
        format: Literal["jsonl", "json", "markdown"] = "jsonl",
        *,
        rows: Sequence[str] = (),
        kind: RecordKind | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        project: str | None = None,
    ) -> Iterator[bytes]:
        """An export, piece by piece; project `all` is everything. `rows` are kinds of rows, such as
        memory, event and fact; `kind` is that of memories."""
        self.jobs()  # starts the daemon if there is none
        where = self._where(project)
        query = {
            "format": format, "rows": ",".join(rows) or None, "kind": kind, "since": _text(since),
            "until": _text(until), "project": None if where == "all" else where,
        }  # fmt: skip
        yield from self._client.stream(self._client.path("/api/export", query))

    def import_history(
        self,
        *sources: str,
        since: datetime | None = None,
        until: datetime | None = None,
        dry_run: bool = False,
        llm: bool = False,
        project: str | None = None,
    ) -> "ImportState":
        """Import from agents and programs by name, or from files, as `recollect import` does, and
        wait for it. `project` is the directory that it is narrowed to."""
        from recollect.hosts.registry import transcript_environment
        from recollect.server.routes.portable import ImportState

        where = {name: os.environ[name] for name in transcript_environment() if name in os.environ}
        body = {
            "sources": list(sources), "since": _text(since), "until": _text(until),
            "dry_run": dry_run, "llm": llm, "project": project and os.path.abspath(project),
            "home": os.path.expanduser("~"), "directory": os.getcwd(), "env": where,
        }  # fmt: skip
        given = {name: value for name, value in body.items() if value is not None}
        state = _as(ImportState, self._ask("POST", "/api/import", given))
        while state.state == "running":
            time.sleep(_LOOK_S)
            state = self._get(ImportState, "/api/import")
        return state

    def backup(self) -> "BackupFile":
        """Make a backup now; `recollect backup restore` puts one in place."""
        from recollect.server.routes.portable import BackupFile

        return _as(BackupFile, self._ask("POST", "/api/backups"))

    def backups(self) -> tuple["BackupFile", ...]:
        """The backups, newest first."""
        from recollect.server.routes.portable import BackupFile

        return _as(tuple[BackupFile, ...], self._ask("GET", "/api/backups")["items"])

    def jobs(self) -> tuple["JobLine", ...]:
        """Background work, running and ended."""
        from recollect.service.jobs import JobLine

        return _as(tuple[JobLine, ...], self._ask("GET", "/api/jobs")["items"])

    def cancel_job(self, job_id: str) -> tuple["JobLine", ...]:
        """The jobs after that."""
        return self._change_job(job_id, "cancel")

    def retry_job(self, job_id: str) -> tuple["JobLine", ...]:
        """The jobs after that."""
        return self._change_job(job_id, "retry")

    def _change_job(self, job_id: str, act: str) -> tuple["JobLine", ...]:
        from recollect.service.jobs import JobLine

        changed = self._ask("POST", "/api/jobs", {"job_id": job_id, "act": act})
        return _as(tuple[JobLine, ...], changed["items"])

    # --- looking back ---

    def history(self, record_id: str) -> "History":
        from recollect.service.read import History

        return self._get(History, f"/api/memories/{_part(record_id)}/history")

    def provenance(self, record_id: str) -> "Provenance":
        """The raw events that a memory comes from."""
        from recollect.service.read import Provenance

        return self._get(Provenance, f"/api/memories/{_part(record_id)}/provenance")

    def operations(self, *, project: str | None = None) -> Iterator[Operation]:
        """What was decided about memories, newest first."""
        yield from self._all(Operation, "/api/operations", project=self._where(project))

    def receipts(self, *, project: str | None = None) -> Iterator[Receipt]:
        """What was injected and why, newest first."""
        yield from self._all(Receipt, "/api/receipts", project=self._where(project))

    def sessions(self, *, project: str | None = None) -> Iterator[Session]:
        yield from self._all(Session, "/api/sessions", project=self._where(project))

    def session(self, session_id: str) -> "SessionDetail":
        from recollect.service.sessions import SessionDetail

        return self._get(SessionDetail, f"/api/sessions/{_part(session_id)}")

    def conversation(
        self, session_id: str, *, after: int = 0, limit: int = 200
    ) -> "ConversationPage":
        from recollect.service.sessions import ConversationPage

        path = f"/api/sessions/{_part(session_id)}/conversation"
        return self._get(ConversationPage, path, after=after, limit=limit)

    def resume(self, session_id: str | None = None, *, project: str | None = None) -> "Resume":
        """Where work stopped, as data and as a text to begin with."""
        from recollect.service.sessions import Resume

        where = self._where(project)
        return self._get(Resume, "/api/resume", session_id=session_id, project=where)

    def report(
        self,
        period: Literal["day", "week", "month"] = "week",
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        project: str | None = None,
    ) -> "Report":
        """What happened in a period; `markdown` holds it as a page."""
        from recollect.service.report import Report

        return self._get(
            Report, "/api/report", period=period, since=since, until=until, format="markdown",
            project=self._where(project),
        )  # fmt: skip

    def effect(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        project: str | None = None,
    ) -> "Effect":
        """Sessions with memory beside those in which shadow mode kept it silent."""
        from recollect.service.effect import Effect

        where = self._where(project)
        return self._get(Effect, "/api/report/effect", since=since, until=until, project=where)

    # --- the rest ---

    def stats(self, *, project: str | None = None) -> "StatsAnswer":
        from recollect.service.analytics import StatsAnswer

        return self._get(StatsAnswer, "/api/stats", project=self._where(project))

    def analytics(self, days: int = 30, *, project: str | None = None) -> "AnalyticsOverview":
        from recollect.service.analytics import AnalyticsOverview

        where = self._where(project)
        return self._get(AnalyticsOverview, "/api/analytics", days=days, project=where)

    def projects(self) -> tuple["ProjectLine", ...]:
        from recollect.service.administration import ProjectLine

        return _as(tuple[ProjectLine, ...], self._ask("GET", "/api/projects")["items"])

    def alarms(self) -> tuple["Alarm", ...]:
        from recollect.service.alarms import Alarm

        return _as(tuple[Alarm, ...], self._ask("GET", "/api/alarms")["items"])

    def embedding_stats(self) -> "EmbeddingStats":
        from recollect.service.administration import EmbeddingStats

        return self._get(EmbeddingStats, "/api/embeddings/stats")

    def compact_conversation(
        self,
        turns: Sequence[Turn | Mapping[str, str]],
        token_budget: int = 2000,
        *,
        store: bool = False,
        window: Mapping[str, int] | None = None,
        session_id: str | None = None,
        project: str | None = None,
    ) -> "CompactAnswer":
        """A conversation of (role, text), or of {"role": ..., "content": ...}, that takes three
        quarters of its budget or more: the newest as they are, a summary of the rest. `store` keeps
        what was summed up as an episode. With `window` (total, system_prompt, user_profile,
        preferences, response_reserve, in tokens) the answer says how many are left for memories."""
        from recollect.service.conversation_compaction import CompactAnswer

        told = [_turn(one) for one in turns]
        body = {"turns": told, "token_budget": token_budget, "store": store}
        where = {"session_id": session_id, "project": self._where(project), "window": window}
        body |= {name: value for name, value in where.items() if value is not None}
        return _as(CompactAnswer, self._ask("POST", "/api/compact", body))

    # --- parts ---

    def _where(self, project: str | None) -> str | None:
        if project is None:
            return self._project
        return os.path.abspath(project) if _is_path(project) else project

    def _get(self, answer: type[T], path: str, /, **query: Any) -> T:
        return _as(answer, self._ask("GET", path, query=query))

    def _all(self, row: type[T], path: str, /, **query: Any) -> Iterator[T]:
        before: str | None = None
        while True:
            page = self._ask("GET", path, query={**query, "before": before})
            for one in page["items"]:
                yield _as(row, one)
            before = page["next"]
            if before is None:
                return

    def _added(self, path: str, project: str | None, **body: Any) -> "Added":
        from recollect.service.write import Added

        given = {name: value for name, value in body.items() if value is not None}
        return _as(Added, self._ask("POST", path, {**given, "project": self._where(project)}))

    def _ask(
        self, method: str, path: str, body: Any = None, query: dict[str, Any] | None = None
    ) -> Any:
        """Ask the daemon; start it when it is not there, and wait for recall to be loaded."""
        told = {name: _text(value) for name, value in (query or {}).items()}
        try:
            return self._client.ask(method, self._client.path(path, told), body)
        except NotRunning:
            from recollect.cli import process

            process.start(self._settings)
        return self._client.ask(method, self._client.path(path, told), body)


def _is_path(project: str | None) -> bool:
    return project is None or project.startswith(("/", ".", "~")) or os.path.isdir(project)


def _part(text: str) -> str:
    """One segment of a path."""
    return quote(text, safe="")


def _text(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone()).isoformat()
    return value


def _as(kind: type[T], data: Any) -> T:
    import msgspec

    return msgspec.convert(data, type=kind)


def _turn(given: object) -> dict[str, str]:
    match given:
        case {"role": str(role), "content": str(content), **rest} if not rest:
            return {"role": role, "content": content}
        case (str(role), str(content)):
            return {"role": role, "content": content}
    told = 'a turn is (role, text) or {"role": role, "content": text}, both of them strings'
    raise BadInput(f"{told}, not {given!r:.100}", field="turns")
