"""Reads Kiro Memory (also Total Recall, ContextKit) and claude-mem: observations, summaries,
prompts.

In: their databases, whose tables are similar and whose columns have changed names over time; those
that exist are used. Out: memories and prompts. Their shapes are known from their public pages.
"""

from collections.abc import Iterator

from recollect.core.foreign_database import Database
from recollect.core.kinds import ObservationType
from recollect.portable.foreign.cells import ForeignItem, Row, text, texts, when

TABLES = ("observations", "summaries", "session_summaries", "user_prompts", "checkpoints")
_TYPES: dict[str, ObservationType] = {
    "decision": "decision",
    "bugfix": "error",
    "error": "error",
    "discovery": "discovery",
    "research": "discovery",
    "pattern": "pattern",
    "refactor": "pattern",
    "session_summary": "session_summary",
}
_SESSIONS = (
    "content_session_id",
    "claude_session_id",
    "memory_session_id",
    "sdk_session_id",
    "content_id",
    "session_id",
)
_TIMES = ("created_at_epoch", "created_at", "started_at_epoch", "started_at")
# What a summary tells, in the order in which it is read.
_TOLD = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def program(database: Database) -> str:
    """Which program made it: claude-mem names its tables after its SDK."""
    if not database.has("observations", "title"):
        return ""
    if "sdk_sessions" in database.tables or "session_summaries" in database.tables:
        return "claude-mem"
    return "kiro-memory" if database.tables & {"summaries", "sessions"} else ""


def items(database: Database, program: str) -> Iterator[ForeignItem]:
    sessions = _sessions(database)
    for table in ("observations", "session_summaries", "summaries", "checkpoints", "user_prompts"):
        make = {"observations": _observation, "user_prompts": _prompt}.get(table, _summary)
        for row in database.rows(table, order="id"):
            item = make(table, row, sessions)
            if item is not None:
                yield item


class _Session:
    def __init__(self, session_id: str, project: str) -> None:
        self.id = session_id
        self.project = project


def _sessions(database: Database) -> dict[str, _Session]:
    """Sessions under each of their names; the host's own name is used."""
    found: dict[str, _Session] = {}
    for table in ("sdk_sessions", "sessions"):
        for row in database.rows(table):
            names = [text(row, name) for name in (*_SESSIONS, "id")]
            named = [name for name in names if name]
            session = _Session(named[0], text(row, "project"))
            for name in named:
                found.setdefault(name, session)
    return found


def _session_of(row: Row, sessions: dict[str, _Session]) -> _Session:
    for name in _SESSIONS:
        given = text(row, name)
        if given in sessions:
            known = sessions[given]
            return _Session(known.id, text(row, "project") or known.project)
    given = next(filter(None, (text(row, name) for name in _SESSIONS)), "")
    return _Session(given, text(row, "project"))


def _observation(table: str, row: Row, sessions: dict[str, _Session]) -> ForeignItem | None:
    at = when(row, *_TIMES)
    title = text(row, "title") or text(row, "subtitle")
    if at is None or not title:
        return None
    session = _session_of(row, sessions)
    kind = text(row, "type").lower()
    detail = "\n\n".join(
        filter(None, (text(row, name) for name in ("narrative", "content", "text")))
    )
    return ForeignItem(
        key=f"{table} {text(row, 'id')}",
        at=at,
        project=session.project,
        session_id=session.id or None,
        kind="observation",
        title=title,
        summary=text(row, "subtitle") or detail[:1000],
        detail=detail,
        facts=texts(row, "facts"),
        concepts=texts(row, "concepts"),
        files=texts(row, "files", "files_modified", "files_read"),
        observation_type=_TYPES.get(kind),
        category=kind[:64] or None,
    )


def _summary(table: str, row: Row, sessions: dict[str, _Session]) -> ForeignItem | None:
    at = when(row, *_TIMES)
    names = ("task", "progress", "next_steps", "questions") if table == "checkpoints" else _TOLD
    told = [(name, text(row, name).strip()) for name in names]
    told = [(name, value) for name, value in told if value]
    if at is None or not told:
        return None
    session = _session_of(row, sessions)
    detail = "\n".join(f"{name.replace('_', ' ').capitalize()}: {value}" for name, value in told)
    return ForeignItem(
        key=f"{table} {text(row, 'id')}",
        at=at,
        project=session.project,
        session_id=session.id or None,
        kind="summary",
        title=told[0][1],
        summary=detail[:4000],
        detail=detail if len(detail) > 4000 else "",
        files=texts(row, "files", "files_edited", "files_read"),
        observation_type="session_summary",
        category="checkpoint" if table == "checkpoints" else None,
        importance=6,
    )


def _prompt(table: str, row: Row, sessions: dict[str, _Session]) -> ForeignItem | None:
    at = when(row, *_TIMES)
    said = text(row, "prompt_text", "text", "prompt", "content")
    if at is None or not said.strip():
        return None
    session = _session_of(row, sessions)
    return ForeignItem(
        key=f"{table} {text(row, 'id')}",
        at=at,
        project=session.project,
        session_id=session.id or None,
        prompt=said,
    )
