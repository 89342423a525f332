"""Whether two things say the same, told by digests from which neither can be read.

In: what was said or done in a session. Out: a mark, the same for what a hook captured and for what
the host's transcript says of it; None for what only one of them tells. And fingerprints of texts,
the same for the same words, for what is never to be learned again.
"""

import hashlib
import re
import unicodedata
from typing import Any

from recollect.core.values import Body, EventKind, JsonBody, MessageBody, TextBody, encode

_LONGEST = 2000
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset({"a", "an", "the"})


def mark(session_id: str, kind: EventKind, body: Body) -> bytes | None:
    likeness = _likeness(kind, body)
    if likeness is None:
        return None
    text = f"{session_id}\0{kind}\0{likeness}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def fingerprint(text: str) -> str:
    """The same for texts in the same words, whatever their case and punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = [word for word in _WORD.findall(folded) if word not in _ARTICLES]
    if not words:
        return ""
    return hashlib.blake2b(" ".join(words).encode(), digest_size=12).hexdigest()


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
    """By what was run or which files were meant: hosts name their tools differently in hooks and
    transcripts, and word the outcome differently."""
    what = call.get("command") or call.get("files") or call.get("input")
    return f"{call.get('class')}\0{encode(what).decode()[:_LONGEST]}"


def _words(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
