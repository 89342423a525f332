"""Recognises that two events, received in different ways, tell the same of one session.

In: a session and what was said or done. Out: a mark of sixteen bytes, the same for a hook's event
and for the host's transcript of it; None for what only one of them has.
"""

import hashlib
from typing import Any

from recollect.core.values import Body, EventKind, JsonBody, MessageBody, TextBody, encode

_LONGEST = 2000


def mark(session_id: str, kind: EventKind, body: Body) -> bytes | None:
    likeness = _likeness(kind, body)
    if likeness is None:
        return None
    text = f"{session_id}\0{kind}\0{likeness}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _likeness(kind: EventKind, body: Body) -> str | None:
    match kind, body:
        case "prompt", TextBody(content=content):
            return _words(content)
        case "prompt" | "session_summary", MessageBody(turns=turns):
            return _words(turns[-1].content)
        case "tool_use", JsonBody(data=dict(call)):
            return _call(call)
        case "note", JsonBody(data={"signal": "compacted", "summary": str(summary)}):
            return _words(summary)
    return None


def _call(call: dict[str, Any]) -> str:
    """By command or files: hosts name their tools and describe the outcome differently in hooks and
    transcripts."""
    what = call.get("command") or call.get("files") or call.get("input")
    return f"{call.get('class')}\0{encode(what).decode()[:_LONGEST]}"


def _words(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
