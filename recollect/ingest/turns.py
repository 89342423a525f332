"""Builds turns from events (records of kind `episode`), mechanically, so that every turn can be
recalled.

In: stored events of a session, in order. Out: one record per turn: what was asked and answered,
files and commands. The same events give the same record under the same id. A note or a single
message is a record of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from recollect.core import ids
from recollect.core.one_line import one_line
from recollect.core.values import (
    Author,
    Event,
    JsonBody,
    MessageBody,
    Record,
    StoredEvent,
    TextBody,
)
from recollect.work.turn_work import TurnWorkBuilder

TITLE_CHARS = 200
SUMMARY_CHARS = 1000
MOST_FILES = 50
MOST_COMMANDS = 30
MOST_EVENTS = 500
UNANSWERED = "unanswered"
# How a turn that ran commands ended: by the last of them.
SUCCEEDED, FAILED = "succeeded", "failed"
_ROLES: dict[str, Author] = {"user": "user", "human": "user", "tool": "tool", "system": "tool"}


@dataclass(eq=False)
class TurnBuilder:
    """The events from one prompt to the next."""

    first: StoredEvent
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)
    commands: dict[str, None] = field(default_factory=dict)
    outcome: str | None = None
    events: list[str] = field(default_factory=list)
    last: StoredEvent | None = None
    position: int | None = None  # if something later arrived before its first event
    dirty: bool = True
    work: TurnWorkBuilder = field(default_factory=TurnWorkBuilder)

    def add(self, stored: StoredEvent) -> None:
        event = stored.event
        self.dirty = True
        self.last = stored
        self.events.append(event.event_id)
        self.work.add(event)
        match event.kind, event.body:
            case "prompt", _:
                self.asked.append(_text(event))
            case "tool_use", JsonBody(data=dict(call)):
                self._tool(call)
            case _, MessageBody(turns=turns):
                for turn in turns:
                    asked = _ROLES.get(turn.role) == "user"
                    kept = self.asked if asked else self.answered
                    if turn.content and turn.content not in kept:
                        kept.append(turn.content)
            case _, TextBody(content=content):
                self.answered.append(content)

    def _tool(self, call: dict[str, Any]) -> None:
        if call.get("class") in ("file-write", "file-read"):
            for path in _strings(call.get("files"))[:MOST_FILES]:
                if len(self.files) < MOST_FILES:
                    self.files.setdefault(path[:500])
        command = call.get("command")
        if isinstance(command, str) and command and len(self.commands) < MOST_COMMANDS:
            self.commands.setdefault(command[:500])
        if isinstance(command, str) and command:
            self.outcome = FAILED if call.get("failed") is True else SUCCEEDED

    def is_before(self, stored: StoredEvent) -> bool:
        """Whether an event surely comes after this turn: by the same clock or, without one, because
        it arrived later."""
        last = self.last or self.first
        if last.boot_id != stored.boot_id:
            return False
        return (last.mono_ns or 0, last.seq) < (stored.mono_ns or 0, stored.seq)

    @property
    def has_content(self) -> bool:
        return any(text.strip() for text in (*self.asked, *self.answered))

    def episode(self) -> Record:
        asked, answered = "\n\n".join(self.asked), "\n\n".join(self.answered)
        event = self.first.event
        detail = [text for text in (asked, answered) if text]
        if self.work.errors:
            detail.append("Errors:\n" + "\n".join(self.work.errors))
        if self.commands:
            detail.append("Commands:\n" + "\n".join(self.commands))
        return Record(
            record_id=ids.RECORD + event.event_id,
            namespace=event.namespace,
            kind="episode",
            title=one_line(asked or answered, TITLE_CHARS) or "(nothing but white space)",
            summary=one_line(answered if asked else "", SUMMARY_CHARS),
            detail="\n\n".join(detail),
            files=tuple(self.files),
            category=UNANSWERED if self._unanswered else self.outcome,
            level="raw",
            strategy="rules",
            author=self._author(),
            session_id=event.session_id,
            position=self.first.seq if self.position is None else self.position,
            valid_from=event.valid_time,
            source_event_ids=tuple(self.events[:MOST_EVENTS]),
        )

    @property
    def _unanswered(self) -> bool:
        """A prompt without an answer or any work: worth little."""
        done = self.answered or self.files or self.commands
        return self.first.event.kind == "prompt" and not done

    def _author(self) -> Author:
        """The author of the record; with an answer it is the assistant, to be on the safe side."""
        match self.first.event.body:
            case MessageBody(turns=(turn,)):
                return _ROLES.get(turn.role, "assistant")
        return "assistant" if self.answered else "user"


def stands_alone(event: Event) -> bool:
    """Whether an event is a memory by itself: a note, or one message of a conversation."""
    return event.kind == "note" and isinstance(event.body, (TextBody, MessageBody))


def turns_of(events: Iterable[StoredEvent]) -> list[TurnBuilder]:
    """Split a session into turns: a prompt begins one, and so does any event after a closed
    turn."""
    found: list[TurnBuilder] = []
    open_turn: TurnBuilder | None = None
    for stored in events:
        if stands_alone(stored.event):
            alone = TurnBuilder(stored)
            alone.add(stored)
            found.append(alone)
        elif stored.event.kind == "note":
            continue  # a signal of the host, nothing that was said
        else:
            if open_turn is None or stored.event.kind == "prompt":
                open_turn = TurnBuilder(stored)
                found.append(open_turn)
            open_turn.add(stored)
    return found


def _text(event: Event) -> str:
    match event.body:
        case TextBody(content=content):
            return content
        case MessageBody(turns=turns):
            return turns[-1].content
    return ""


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str) and one] if isinstance(value, list) else []
