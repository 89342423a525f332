"""All hosts by name.

In: the name of a host as the hook command was given it. Out: its adapter; a host that nobody knows
gets one that stores what it can and answers nothing.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from recollect.capture.hosts.adapter import GUARD, answer_draft
from recollect.capture.hosts.base import (
    Capture,
    Draft,
    HookSpec,
    Host,
    Payload,
    ToolFacts,
    with_answer,
)
from recollect.capture.hosts.claude_code import CLAUDE_CODE
from recollect.capture.hosts.cline import CLINE
from recollect.capture.hosts.codex import CODEX
from recollect.capture.hosts.copilot import COPILOT
from recollect.capture.hosts.cursor import CURSOR
from recollect.capture.hosts.gemini import GEMINI
from recollect.capture.hosts.generic import generic
from recollect.capture.hosts.kiro import KIRO_CLI, KIRO_IDE
from recollect.capture.hosts.opencode import OPENCODE
from recollect.capture.hosts.qwen import QWEN
from recollect.capture.hosts.reading import lines_between
from recollect.capture.hosts.windsurf import WINDSURF

__all__ = [
    "ENVIRONMENT",
    "HOSTS",
    "Capture",
    "Draft",
    "HookSpec",
    "Host",
    "Payload",
    "ToolFacts",
    "answer",
    "answered_from_transcript",
    "capture",
    "host",
]

_ALL: tuple[Host, ...] = (
    CLAUDE_CODE,
    CODEX,
    GEMINI,
    COPILOT,
    QWEN,
    OPENCODE,
    KIRO_CLI,
    KIRO_IDE,
    CURSOR,
    WINDSURF,
    CLINE,
)
HOSTS: Mapping[str, Host] = MappingProxyType({known.name: known for known in _ALL})
_NAMES = {alias: known for known in _ALL for alias in (known.name, *known.aliases)}

# The environment values that the hook process passes on, for all hosts together.
ENVIRONMENT = tuple(
    sorted({GUARD, "CLAUDECODE", *(name for known in _ALL for name in known.environment)})
)


def host(name: str) -> Host:
    """The adapter for this name or alias."""
    return _NAMES.get(name.strip().lower()) or generic(name)


def capture(payload: Payload) -> Capture:
    """What a payload means; `Capture.host` is who really sent it."""
    return host(payload.host).capture(payload)


def answer(captured: Capture, context: str = "") -> bytes:
    """What the hook prints. Ask for the empty context too: some hosts need to hear something."""
    return host(captured.host).answer(captured.event, context)


def answered_from_transcript(
    captured: Capture,
    transcript: bytes,
    began: datetime | None = None,
    ended: datetime | None = None,
) -> Capture:
    """A stop with the answer that its transcript (or the end of it) holds, if it holds one that was
    given between these times."""
    told = lines_between(transcript, began, ended) if ended else transcript
    draft = answer_draft(host(captured.host).final_answer(told))
    return with_answer(captured, draft) if draft else captured
