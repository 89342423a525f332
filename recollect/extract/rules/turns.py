"""A session as rules see it: turns, each with what was asked, answered and done.

In: a session's stored events in order. Out: turns. A prompt begins one, unless it only says to go
on or that the user interrupted: then the work before it and after it is one turn. Bodies of any
shape are read; what does not fit is passed over.
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.core.values import (
    Event,
    JsonBody,
    MessageBody,
    StoredEvent,
    TextBody,
    ToolClass,
    encode,
)
from recollect.extract.rules import patterns
from recollect.work.paths import base, main_root

_CLASSES: frozenset[ToolClass] = frozenset(
    ("file-write", "file-read", "command", "research", "delegation", "tool-use")
)
_SIGNALS_OF_STOP = ("session-end", "compaction")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/folders)/")
_PLAN_FILE = re.compile(r"/\.\w+/plans/[^/]+\.md$")  # where an agent keeps the plan it is making
_REFUSED = re.compile(
    r"\W*(?:error: )?(?:the )?user (?:doesn't want to proceed|rejected tool use)", re.IGNORECASE
)
_OUTPUT_CHARS = 4_000
_OUTPUT_FIELDS = ("stderr", "stdout", "output", "error", "content", "text", "llmContent", "message")


@dataclass(frozen=True)
class ToolCall:
    """One tool call."""

    event_id: str
    at: datetime
    tool: str
    tool_class: ToolClass
    files: tuple[str, ...]
    command: str
    failed: bool
    input: Any
    raw_output: Any

    @property
    def output(self) -> str:
        return _output(self.raw_output)[:_OUTPUT_CHARS]

    @property
    def refused(self) -> bool:
        """Whether the user declined the call, which is not a failure."""
        return self.failed and bool(patterns.REFUSED_CALL.search(self.output[:300]))

    @property
    def refusing_words(self) -> str:
        """What the user said while refusing the call."""
        said = patterns.REFUSING_WORDS.search(self.output) if self.refused else None
        return said[1].partition("\n\nNote:")[0].strip() if said else ""

    @property
    def plan(self) -> str:
        """The plan that the call presented and the user approved."""
        shown = self.input.get("plan") if isinstance(self.input, dict) else None
        planned = self.tool.replace("_", "").lower() in ("exitplanmode", "planexit")
        return shown if planned and isinstance(shown, str) and not self.failed else ""


@dataclass
class Turn:
    first: StoredEvent
    prompts: list[tuple[str, str]] = field(default_factory=list)  # event id, text
    answers: list[tuple[str, str]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    event_ids: list[str] = field(default_factory=list)
    stopped: bool = False
    followed: bool = False  # another turn came after it
    last_at: datetime | None = None
    heard: str = ""  # the answer before it
    position: int = 0  # the lowest number of its events and of all that come after it

    @property
    def asked(self) -> str:
        return "\n".join(text for _, text in self.prompts)

    @property
    def answered(self) -> str:
        return self.answers[-1][1] if self.answers else ""

    @property
    def closed(self) -> bool:
        return self.stopped or self.followed or bool(self.answers)

    @property
    def at(self) -> datetime:
        return self.last_at or self.first.event.valid_time

    @property
    def project(self) -> str:
        return (self.first.event.source.project_path or "").rstrip("/")

    @property
    def project_name(self) -> str:
        """The name of the repository's folder, also for work in one of its work trees."""
        return base(main_root(self.first.event.source.root or self.project))

    def written(self) -> dict[str, None]:
        """The files that were written, in order, each once."""
        return {
            path: None
            for call in self.calls
            if call.tool_class == "file-write" and not call.failed
            for path in call.files
            if not _PLAN_FILE.search(path)
        }

    def works(self) -> bool:
        """Whether it wrote files, other than for a trial among temporary ones."""
        tries = not _TEMPORARY.match(self.first.event.source.root or self.project)
        return any(not (tries and _TEMPORARY.match(path)) for path in self.written())

    def commands(self) -> list[ToolCall]:
        return [call for call in self.calls if call.tool_class == "command" and call.command]


def turns_of(events: Iterable[StoredEvent]) -> list[Turn]:
    found: list[Turn] = []
    turn: Turn | None = None
    for stored in events:
        event = stored.event
        if event.kind == "note":
            data = getattr(event.body, "data", None)
            stops = isinstance(data, dict) and data.get("signal") in _SIGNALS_OF_STOP
            if turn is not None and stops:
                turn.stopped = True
                turn.event_ids.append(event.event_id)
            continue
        if turn is None or _begins(event):
            if turn is not None:
                turn.followed = True
            turn = Turn(stored)
            found.append(turn)
        turn.event_ids.append(event.event_id)
        turn.last_at = event.valid_time
        turn.position = min(turn.position or stored.seq, stored.seq)
        _add(turn, event)
    for before, after in reversed(list(itertools.pairwise(found))):
        before.position = min(before.position, after.position)
        after.heard = before.answered
    return found


def _add(turn: Turn, event: Event) -> None:
    match event.kind, event.body:
        case "tool_use", JsonBody(data=dict(data)):
            turn.calls.append(_call(event, data))
        case "prompt", TextBody(content=content):
            _say(turn.prompts, event, content)
        case _, MessageBody(turns=said):
            for one in said:
                person = one.role in ("user", "human")
                if person and event.kind != "prompt" and turn.prompts:
                    continue  # the host repeats the prompt beside the answer
                if person or one.role not in ("tool", "system"):
                    _say(turn.prompts if person else turn.answers, event, one.content)
        case "session_summary", TextBody(content=content):
            _say(turn.answers, event, content)


def _say(said: list[tuple[str, str]], event: Event, text: str) -> None:
    if text.strip() and not patterns.NOT_SAID.match(text.lstrip()[:200]):
        said.append((event.event_id, text))


def _begins(event: Event) -> bool:
    if not isinstance(event.body, TextBody):
        return event.kind == "prompt"
    return event.kind == "prompt" and not patterns.GOES_ON.match(event.body.content.strip()[:80])


def refusing_words(event: Event) -> str:
    """What the user said while refusing the call that an event tells of; empty if it was none. What
    a command printed does not begin so."""
    data = event.body.data if isinstance(event.body, JsonBody) else None
    call = _call(event, data) if isinstance(data, dict) else None
    return call.refusing_words if call and _REFUSED.match(call.output) else ""


def _call(event: Event, data: dict[str, Any]) -> ToolCall:
    tool_class = data.get("class")
    files = data.get("files")
    command = data.get("command")
    tool = data.get("tool")
    return ToolCall(
        event_id=event.event_id,
        at=event.valid_time,
        tool=tool if isinstance(tool, str) else "",
        tool_class=tool_class if tool_class in _CLASSES else "tool-use",
        files=tuple(
            path[:500]
            for path in (files if isinstance(files, list) else ())
            if isinstance(path, str) and path.strip()
        ),
        command=command if isinstance(command, str) else "",
        failed=data.get("failed") is True,
        input=data.get("input"),
        raw_output=data.get("output"),
    )


def _output(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        found = [value[name] for name in _OUTPUT_FIELDS if value.get(name)]
        return "\n".join(_output(one) for one in found if isinstance(one, str | list | dict))
    if isinstance(value, list):
        return "\n".join(_output(one) for one in value[:20])
    return "" if value is None else encode(value).decode()[:200]
