"""What one run of the hook saw, and what it means, in the same words for every host.

In: a payload as the hook process saw it. Out: a Capture, which says everything that the pipeline
needs to know and nothing of the host's own format. These are values; nothing can go wrong here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from recollect.core.values import Author, Body, ChatMessage, EventKind, MessageBody, ToolClass

SignalName = Literal["session-start", "session-end", "compaction", "stop"]
Wants = Literal["session-start", "prompt", "tool"]

# Reasons for the end of a session that Copilot CLI, Cursor and others name.
_FAILURES = frozenset({"error", "failed", "failure", "crash", "crashed", "timeout"})


@dataclass(frozen=True)
class Payload:
    """What one run of the hook command saw: its arguments, its surroundings, its input."""

    host: str
    event: str
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    truncated: bool = False


@dataclass(frozen=True)
class ToolFacts:
    """What a tool call did, in the same words for every host."""

    name: str
    tool_class: ToolClass
    files: tuple[str, ...] = ()
    command: str = ""
    failed: bool = False


@dataclass(frozen=True)
class EventDraft:
    """An event to be: all of it that a host can know.

    `dedupe_key` is the same for the same thing reported twice within one session of one host. With
    `dedupe_seconds` it holds only for that long: the host gave no id, so the key is the content.
    """

    kind: EventKind
    body: Body
    author: Author
    tool: ToolFacts | None = None
    dedupe_key: str | None = None
    dedupe_seconds: float | None = None


@dataclass(frozen=True)
class ContextSize:
    """How many tokens the context of a session has, of which model, and with how many the host
    compacts it; 0: it does not say."""

    tokens: int
    model: str = ""
    compacts_at: int = 0


@dataclass(frozen=True)
class Capture:
    """What a payload means.

    `host` and `event` say who sent it: some hosts run hooks that were written for another.
    When every draft is a repeat, the signal is nothing new and no context is wanted. `transcript`
    is set when the answer is not in the payload but in that file: see `Adapter.final_answer`;
    `prompt_file` when the turn's prompt is only in that file: see `Adapter.prompt_in`;
    `size_file`, with a prompt, when that file says how full the context is: see
    `Adapter.context_size`.
    """

    host: str
    event: str
    session_id: str | None = None
    cwd: str = ""
    drafts: tuple[EventDraft, ...] = ()
    signal: SignalName | None = None
    reason: str = ""
    wants: Wants | None = None
    query: str = ""
    note: str = ""
    happened_at: datetime | None = None
    transcript: str | None = None
    prompt_file: str | None = None
    size_file: str | None = None
    damaged: bool = False

    @property
    def session_failed(self) -> bool:
        """Whether the host says that the session ended by a failure."""
        return self.signal == "session-end" and self.reason.casefold() in _FAILURES

    @property
    def dedupe_key(self) -> str | None:
        return self.drafts[0].dedupe_key if self.drafts else None


def with_answer(capture: Capture, answer: EventDraft) -> Capture:
    """A stop whose answer was found in the transcript."""
    return replace(capture, drafts=(*capture.drafts, answer), transcript=None, note="")


def conversation(prompt: str, answer: str) -> MessageBody:
    turns = [ChatMessage(role="user", content=prompt)] if prompt else []
    return MessageBody(turns=(*turns, ChatMessage(role="assistant", content=answer)))
