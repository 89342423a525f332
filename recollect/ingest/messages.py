"""What passes between the write path and those around it.

A hook asks for context (`RecallQuestion`) and recall answers it (`Recalled`); listeners are told
of a stored event (`Notice`), and the hook gets its `Reply`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.core.values import Arrival, StoredEvent


@dataclass(frozen=True)
class RecallQuestion:
    """What a hook asks for: the context for a prompt, for the start of a session, or for a command
    that a tool has run."""

    trigger: str
    text: str
    namespaces: tuple[str, ...]
    session_id: str
    event_id: str | None
    limit_chars: int
    reason: str = ""  # of a session's start: startup, resume, compact, clear
    branch: str = ""  # checked out now; empty: none, or unknown
    person: str = ""
    host: str = ""
    size_file: str = ""  # the host's file that says how full the session's context is


@dataclass(frozen=True)
class Recalled:
    """The answer: the text to inject, the memories in it, and how long it took. `besides`: in words
    for the user, what it tells that is no memory. `lines`: what it tells of earlier work."""

    context: str = ""
    records: tuple[str, ...] = ()
    latency_us: int = 0
    receipt_id: str | None = None
    besides: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notice:
    """What listeners get: an event was stored."""

    stored: StoredEvent | Arrival
    host: str
    signal: str | None = None


@dataclass(frozen=True)
class Reply:
    """The answer to a hook: a status of `frames`, and the bytes it prints."""

    status: int
    stdout: bytes = b""


Recall = Callable[[RecallQuestion], Recalled]
Listener = Callable[[Notice], None]
Send = Callable[[Reply], None]


def nothing_to_say(question: RecallQuestion) -> Recalled:
    return Recalled()


def do_not_send(reply: Reply) -> None:
    """For a caller that takes the answer as the result."""
