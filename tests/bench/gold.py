"""The gold set of extraction: sessions as events, and what should be remembered of each turn.

In: `data/gold/turns.jsonl` (text and labels), or `real.jsonl` (labels) with a directory of Claude
Code transcripts. Out: sessions (docs/howto/gold.md). What cannot be read raises BadInput.
"""

import glob
import gzip
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import IO, Any

from recollect.core import ids, projects
from recollect.core.errors import BadInput
from recollect.core.values import Event, EventSource
from recollect.hosts import tools
from recollect.hosts.adapter import answer_draft, prompt_draft, tool_draft
from recollect.hosts.payloads import EventDraft

OWN = os.path.join(os.path.dirname(__file__), "data", "gold")
ACTOR = "gold"
_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
_STEP = timedelta(seconds=20)
SECOND_READER = "second reader"  # who labelled without having written a rule
AFTERWARDS = _START + timedelta(days=365)


@dataclass(frozen=True)
class Label:
    """What should (or may) be remembered of a turn."""

    kinds: frozenset[str]
    terms: tuple[tuple[str, ...], ...]  # of each, one spelling must be there
    wanted: bool

    def __str__(self) -> str:
        terms = ", ".join("|".join(one) for one in self.terms)
        return f"{'|'.join(sorted(self.kinds))}: {terms}"


@dataclass
class GoldTurn:
    number: int
    labels: list[Label]
    never: list[str]
    event_ids: set[str] = field(default_factory=set)


@dataclass
class GoldSession:
    name: str
    project: str
    turns: list[GoldTurn]
    events: list[Event]

    @property
    def half(self) -> str:
        """Odd projects are tuned on, even ones reported."""
        digits = "".join(filter(str.isdigit, self.project)) or "0"
        return "tuned" if int(digits) % 2 else "reported"


def own() -> list[GoldSession]:
    """The set that ships."""
    sessions: dict[str, GoldSession] = {}
    for row in _rows(os.path.join(OWN, "turns.jsonl")):
        name = row["session"]
        project = name.split("-")[0]
        session = sessions.setdefault(name, GoldSession(name, project, [], []))
        turn = _turn(row)
        session.turns.append(turn)
        drafts = [
            prompt_draft(row["prompt"]),
            *map(_call, row["calls"]),
            answer_draft(row["answer"]),
        ]
        _append(session, turn, [draft for draft in drafts if draft is not None])
    return list(sessions.values())


def real(directory: str, by: str = "") -> list[GoldSession]:
    """Sessions that one reader labelled, if their transcripts lie in a directory."""
    labels: dict[str, dict[int, dict[str, Any]]] = {}
    for row in _rows(os.path.join(OWN, "real.jsonl")):
        if row.get("by", "") == by:
            labels.setdefault(row["session"], {})[row["turn"]] = row
    found = []
    for number, (name, rows) in enumerate(labels.items()):
        for path in glob.glob(os.path.join(glob.escape(directory), name + "*.jsonl.gz")):
            session = GoldSession(name, f"real{number}", [], [])
            turn = _turn(rows.get(0, {"turn": 0}))  # what was done before anybody asked
            for draft in transcript(path):
                if draft.kind == "prompt":
                    at = turn.number + 1
                    turn = _turn(rows.get(at, {"turn": at, "keep": []}))
                    session.turns.append(turn)
                elif not session.turns:
                    session.turns.append(turn)
                _append(session, turn, [draft])
            found.append(session)
    return found


def transcript(path: str) -> Iterator[EventDraft]:
    """A Claude Code transcript as its hooks would have told it: prompts, calls, final answers."""
    calls: dict[str, tuple[str, Any]] = {}
    answer = ""
    for line in _rows(path, strict=False):
        message = line.get("message")
        if line.get("isSidechain") or line.get("isMeta") or not isinstance(message, dict):
            continue
        content = message.get("content")
        parts: list[dict[str, Any]] = (
            content if isinstance(content, list) else [{"type": "text", "text": content}]
        )
        said = "\n".join(
            one.get("text") or "" for one in parts if one.get("type") == "text"
        ).strip()
        if line.get("type") == "assistant":
            answer = said or answer
            for one in parts:
                if one.get("type") == "tool_use":
                    calls[one["id"]] = (one["name"], one["input"])
            continue
        results = [one for one in parts if one.get("type") == "tool_result"]
        for one in results:
            name, arguments = calls.get(one.get("tool_use_id", ""), ("", None))
            if not tools.ignored(name):
                output = line.get("toolUseResult", one.get("content"))
                failed = True if one.get("is_error") else None
                yield tool_draft(name, arguments, output, call="x", failed=failed)
        prompt = None if results else prompt_draft(said)
        if prompt is not None:
            if (final := answer_draft(answer)) is not None:
                yield final
            answer = ""
            yield prompt
    if (final := answer_draft(answer)) is not None:
        yield final


def _append(session: GoldSession, turn: GoldTurn, drafts: Sequence[EventDraft]) -> None:
    for draft in drafts:
        at = _START + _STEP * len(session.events)
        event = Event(
            event_id=ids.new_ulid(int(at.timestamp() * 1000)),
            session_id=session.name,
            actor_id=ACTOR,
            namespace=projects.namespace(ACTOR, session.project),
            kind=draft.kind,
            body=draft.body,
            valid_time=at,
            source=EventSource(surface="claude-code", project_path=f"/work/{session.project}"),
        )
        session.events.append(event)
        turn.event_ids.add(event.event_id)


def _turn(row: dict[str, Any]) -> GoldTurn:
    labels = [_label(one, True) for one in row.get("keep", ())]
    labels += [_label(one, False) for one in row.get("may", ())]
    return GoldTurn(row["turn"], labels, row.get("never", []))


def _label(row: dict[str, Any], wanted: bool) -> Label:
    terms = tuple(tuple(term.lower().split("|")) for term in row["terms"])
    return Label(frozenset(row["type"].split("|")), terms, wanted)


def _call(row: dict[str, Any]) -> EventDraft:
    """A short call of the gold file as the tool call that it stands for."""
    output = row.get("out", "")
    match row:
        case {"run": command}:
            return tool_draft(
                "Bash",
                {"command": command},
                {"stdout": output, "stderr": "", "interrupted": False},
                call="x",
                failed=row.get("failed", False),
            )
        case {"edit": path}:
            change = {"old_string": row.get("old", ""), "new_string": row.get("new", "")}
            return tool_draft("Edit", {"file_path": path, **change}, {"filePath": path}, call="x")
        case {"write": path}:
            content = {"content": row.get("content", "")}
            return tool_draft("Write", {"file_path": path, **content}, {"filePath": path}, call="x")
        case {"read": path}:
            return tool_draft("Read", {"file_path": path}, None, call="x")
        case {"grep": pattern}:
            return tool_draft("Grep", {"pattern": pattern, "path": "."}, None, call="x")
        case {"search": query}:
            return tool_draft("WebSearch", {"query": query}, output, call="x")
        case {"fetch": url}:
            return tool_draft("WebFetch", {"url": url}, {"result": output}, call="x")
        case {"task": description}:
            return tool_draft("Task", {"description": description}, output, call="x")
    raise BadInput(f"a call of the gold set is none of the known ones: {row}", field="calls")


def _rows(path: str, *, strict: bool = True) -> Iterator[dict[str, Any]]:
    try:
        opened: Callable[..., IO[str]] = gzip.open if path.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    if strict:
                        raise
    except (OSError, EOFError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {error}", field="gold") from error
