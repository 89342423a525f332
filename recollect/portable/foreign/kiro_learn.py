"""kiro-learn's database: events and memory records, in the envelope that ours descends from.

In: `~/.kiro-learn/kiro-learn.db`. Out: its events, whole, and its memories.
"""

from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from recollect.core import ids
from recollect.core.foreign_database import Database
from recollect.core.kinds import ObservationType, kind_of
from recollect.core.values import Event
from recollect.portable.foreign.cells import ForeignItem, Row, text, texts, when

PROGRAM = "kiro-learn"
TABLES = ("events", "memory_records")
_TYPES = get_args(ObservationType)


def recognises(database: Database) -> bool:
    return database.has("memory_records", "record_id", "title", "summary") and database.has(
        "events", "event_id", "session_id", "namespace", "kind"
    )


def items(database: Database, program: str) -> Iterator[ForeignItem]:
    places: dict[str, str] = {}
    for row in database.rows("events", order="event_id"):
        item = _event(row, places)
        if item is not None:
            yield item
    for row in database.rows("memory_records", order="record_id"):
        at = when(row, "created_at", "valid_time", "transaction_time")
        if at is None:
            continue
        kind = text(row, "observation_type")
        yield ForeignItem(
            key=text(row, "record_id"),
            at=at,
            project=_project(row, places),
            kind=kind_of(kind, None),
            title=text(row, "title"),
            summary=text(row, "summary"),
            facts=texts(row, "facts_json", "facts"),
            concepts=texts(row, "concepts_json", "concepts"),
            files=texts(row, "files_touched_json", "files_touched", "files_json", "files"),
            observation_type=kind if kind in _TYPES else None,  # type: ignore[arg-type]
        )


def _event(row: Row, places: dict[str, str]) -> ForeignItem | None:
    at = when(row, "valid_time", "transaction_time")
    event_id = text(row, "event_id")
    source = _json(row, "source_json", "source")
    body = _json(row, "body_json", "body")
    if at is None or not ids.is_ulid(event_id):
        return None
    where = source.get("project_path") or source.get("cwd") if isinstance(source, dict) else None
    if isinstance(where, str) and where:
        places.setdefault(text(row, "namespace"), where)
    surface = source.get("surface") if isinstance(source, dict) else None
    data = {
        "event_id": event_id,
        "session_id": text(row, "session_id") or PROGRAM,
        "actor_id": text(row, "actor_id") or "user",
        "namespace": "/actor/imported/",
        "kind": text(row, "kind"),
        "body": body,
        "valid_time": at.isoformat(),
        "source": {"surface": str(surface or PROGRAM)[:64], "client_id": "import"},
    }
    try:
        event = msgspec.convert(data, type=Event)
    except msgspec.ValidationError:
        return None
    return ForeignItem(
        key=event_id,
        at=at,
        project=_project(row, places),
        session_id=event.session_id,
        event=event,
    )


def _project(row: Row, places: dict[str, str]) -> str:
    """The directory, if an event of this namespace told it, else the name in the namespace."""
    namespace = text(row, "namespace")
    if namespace in places:
        return places[namespace]
    return namespace.rstrip("/").rpartition("/project/")[2] if "/project/" in namespace else ""


def _json(row: Row, *names: str) -> Any:
    try:
        return msgspec.json.decode(text(row, *names) or "null")
    except (msgspec.MsgspecError, RecursionError):
        return None
