"""Reads the cells of other programs' rows.

In: cells of any shape. Out: texts, lists and times. A cell that cannot be read is absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from recollect.core.kinds import ObservationType, RecordKind
from recollect.core.values import Event
from recollect.hosts.reading import moment, pick


@dataclass(frozen=True, kw_only=True)
class ForeignItem:
    """One row: a memory, a prompt, or a complete event."""

    key: str
    at: datetime
    project: str = ""
    session_id: str | None = None
    kind: RecordKind | None = None
    title: str = ""
    summary: str = ""
    detail: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    observation_type: ObservationType | None = None
    category: str | None = None
    importance: int = 5
    prompt: str = ""
    event: Event | None = None


Row = Mapping[str, Any]


def text(row: Row, *names: str) -> str:
    found = pick(row, *names)
    if isinstance(found, bytes):
        found = found.decode("utf-8", "replace")
    return found if isinstance(found, str) else str(found) if isinstance(found, int) else ""


def texts(row: Row, *names: str) -> tuple[str, ...]:
    """A list: as JSON, as lines, or separated by commas."""
    all_of: dict[str, None] = {}
    for name in names:
        raw = text(row, name).strip()
        if not raw:
            continue
        found: Any = None
        if raw[0] in "[{":
            try:
                found = msgspec.json.decode(raw)
            except (msgspec.MsgspecError, RecursionError):
                found = None
        if found is None:
            found = raw.splitlines() if "\n" in raw else raw.split(",")
        items = found if isinstance(found, list) else [found]
        for item in items:
            if isinstance(item, str) and item.strip():
                all_of[item.strip().removeprefix("- ")] = None
    return tuple(all_of)


def when(row: Row, *names: str) -> datetime | None:
    for name in names:
        raw = row.get(name)
        if isinstance(raw, str):
            raw = raw.strip().replace(" ", "T", 1)
        found = moment(raw)
        if found is not None:
            return found
    return None
