"""Events as they are shown to a model: one entry each, for every kind of event and body.

In: stored events. Out: entries with author and text, cut to a size. The author follows from the
kind of event, never from what its text claims. Of a tool call everything is shown once: hosts
repeat what a call was given in what it gave back.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.core.values import (
    Author,
    JsonBody,
    MessageBody,
    StoredEvent,
    TextBody,
    encode,
)
from recollect.hosts import tools
from recollect.work.edited_text import changes

ENTRY_CHARS = 8000
WORK_CHARS = 2000  # of a command or an edit: most of the text, least of what is remembered
REPLACED_CHARS = 300  # of what an edit removed
_CUT = " […] "


@dataclass(frozen=True)
class Entry:
    """One event: paragraphs of (role, text) and the attributes of its tag."""

    event_id: str
    session_id: str
    kind: str
    author: Author
    at: str
    parts: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        return sum(len(text) for _, text in self.parts)


def entries(events: Sequence[StoredEvent]) -> list[Entry]:
    """Each event with all that was said in it."""
    return [entry(stored) for stored in events]


def entry(stored: StoredEvent) -> Entry:
    """An event in full; only work is shortened, since most of it says nothing."""
    event = stored.event
    most = sys.maxsize
    match event.body:
        case TextBody(content=content):
            parts: tuple[tuple[str, str], ...] = (("", content),)
        case MessageBody(turns=turns):
            parts = tuple((turn.role, turn.content) for turn in turns)
        case JsonBody(data=dict() as data) if event.kind == "tool_use":
            parts = (("", "\n".join(_call(data))),)
            if data.get("class") in ("file-write", "command"):
                most = WORK_CHARS
        case JsonBody(data=data):
            parts = (("", encode(data).decode()),)
    whole = Entry(
        event_id=event.event_id,
        session_id=event.session_id,
        kind=event.kind,
        author=author_of(stored),
        at=event.valid_time.isoformat(timespec="seconds"),
        parts=parts,
    )
    return shorten(whole, most)


def _call(data: dict[str, Any]) -> Iterator[str]:
    """A tool call: what it did to which files, and what it gave back. What an edit gave back is the
    edit again."""
    given, failed = data.get("input"), data.get("failed") is True
    files = data["files"] if isinstance(data.get("files"), list) else []
    yield " ".join((f"{data.get('tool')}{' failed' if failed else ''}:", *map(str, files)))
    edits = list(changes(given)) if data.get("class") == "file-write" else []
    for old, new in edits:
        if old:
            yield f"- {_ends(old, REPLACED_CHARS)}"
        yield f"+ {new}"
    if not edits:
        command = data.get("command")
        told = [command] if command and isinstance(command, str) else tools.texts(given)
        yield from (text for text in told if text not in files)
    if not edits or failed:
        yield from filter(None, tools.texts(data.get("output")))


def author_of(stored: StoredEvent) -> Author:
    """Whose words an event holds."""
    event = stored.event
    match event.kind, event.body:
        case "prompt", _:
            return "user"
        case "tool_use", JsonBody(data={"class": str(tool_class)}):
            return tools.author(tool_class)  # type: ignore[arg-type]  # another word is a tool's
        case "tool_use", _:
            return "tool"
        case "note", TextBody():
            return "user"
        case "note", MessageBody(turns=(turn,)) if turn.role in ("user", "human"):
            return "user"
        case _:
            return "assistant"


def shorten(one: Entry, most: int) -> Entry:
    """An entry of at most `most` characters; of a longer text both ends stay."""
    if one.size <= most:
        return one
    share = most / one.size
    parts = tuple((role, _ends(text, int(len(text) * share))) for role, text in one.parts)
    return replace(one, parts=parts)


def cut(found: Sequence[Entry]) -> list[Entry]:
    """The entries as extraction shows them."""
    return [shorten(one, ENTRY_CHARS) for one in found]


def fit_to_size(found: Sequence[Entry], most: int) -> list[Entry]:
    """All entries, cut to at most `most` characters together (or one line each, if there are very
    many); the longest are cut first."""
    if sum(one.size for one in found) <= most:
        return list(found)
    left, cap = most, 0
    sizes = sorted(one.size for one in found)
    for index, size in enumerate(sizes):
        cap = left // (len(sizes) - index)
        if size > cap:
            break
        left -= size
    return [shorten(one, max(cap, 80)) for one in found]


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = max(0, (most - len(_CUT)) * 2 // 3)
    tail = max(0, most - len(_CUT) - head)
    return text[:head] + _CUT + (text[-tail:] if tail else "")
