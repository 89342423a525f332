"""Values to rows and back, and the short hash that shows whether a row is still what it was.

In: structs of `core.values`. Out: dictionaries of column values; rows to structs. A row that does
not decode raises DamagedRow that names it.
"""

import hashlib
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Generic, TypeVar

import msgspec

from recollect.core.clock import from_micros, to_micros
from recollect.core.errors import BadInput, DamagedRow
from recollect.core.values import (
    Arrival,
    Body,
    Checkpoint,
    Entity,
    Event,
    EventSource,
    ExtractionRun,
    Fact,
    Operation,
    Preference,
    Procedure,
    Receipt,
    Record,
    Relationship,
    Session,
    StoredEvent,
    TurnWork,
    Usage,
    Value,
    Vector,
    encode,
)

V = TypeVar("V", bound=Value)


class Codec(Generic[V]):
    """How one kind of value is laid out in its table: a column per field, by the field's type."""

    def __init__(self, kind: type[V]) -> None:
        self.kind = kind
        hints = typing.get_type_hints(kind)
        self.columns = tuple(field.name for field in msgspec.structs.fields(kind))
        self._encoders = [(name, _encoder(hints[name])) for name in self.columns]
        decoders = ((at, _decoder(hints[name])) for at, name in enumerate(self.columns))
        self._decoders = [(at, decoder) for at, decoder in decoders if decoder is not None]

    def encode(self, value: V) -> dict[str, Any]:
        try:
            return {name: to_column(getattr(value, name)) for name, to_column in self._encoders}
        except UnicodeEncodeError as error:
            raise not_unicode(error) from error

    def decode(self, row: Sequence[Any]) -> V:
        cells = list(row)
        try:
            for at, from_column in self._decoders:
                cells[at] = from_column(cells[at])
        except (msgspec.MsgspecError, ValueError, TypeError, OverflowError) as error:
            raise DamagedRow(f"the row of {row[0]} cannot be read: {error}") from error
        return self.kind(**dict(zip(self.columns, cells, strict=True)))


def _core_type(hint: Any) -> Any:
    """The type of a column whether or not it may be NULL."""
    options = [arg for arg in typing.get_args(hint) if arg is not type(None)]
    is_union = type(None) in typing.get_args(hint)
    return options[0] if is_union and len(options) == 1 else hint


def _encoder(hint: Any) -> Callable[[Any], Any]:
    core = _core_type(hint)
    if core is datetime:
        return lambda value: None if value is None else to_micros(value)
    if core is bool:
        return int
    if core is Any or typing.get_origin(core) in (tuple, dict):
        return lambda value: encode(value).decode()
    return lambda value: value


def _decoder(hint: Any) -> Callable[[Any], Any] | None:
    """None for what a column holds as it is."""
    core = _core_type(hint)
    if core is datetime:
        return lambda cell: None if cell is None else from_micros(cell)
    if core is bool:
        return bool
    if core is Any or typing.get_origin(core) in (tuple, dict):
        decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(core)
        return decoder.decode
    return None


RECORD = Codec(Record)
VECTOR = Codec(Vector)
ENTITY = Codec(Entity)
RELATIONSHIP = Codec(Relationship)
FACT = Codec(Fact)
PROCEDURE = Codec(Procedure)
PREFERENCE = Codec(Preference)
SESSION = Codec(Session)
CHECKPOINT = Codec(Checkpoint)
RECEIPT = Codec(Receipt)
OPERATION = Codec(Operation)
RUN = Codec(ExtractionRun)
USAGE = Codec(Usage)
TURN_WORK = Codec(TurnWork)

# The life of a belief: columns, with their defaults, that came to rows which had a hash already.
LIFE = {"state": "current", "scope": "project", "scope_name": "", "subject": "", "value": "",
        "polarity": "", "source_type": "stated", "ended_by": ""}  # fmt: skip
# Columns that change without the memory changing, and those that came later than the hash.
_UNHASHED = frozenset({"access_count", "last_accessed", "freshness", *LIFE})
RECORD_HASHED = tuple(name for name in RECORD.columns if name not in _UNHASHED)

EVENT_COLUMNS = (
    "event_id",
    "namespace",
    "session_id",
    "actor_id",
    "kind",
    "body",
    "valid_time",
    "utc_offset",
    "source",
    "parent_event_id",
    "content_hash",
    "digest",
    "boot_id",
    "mono_ns",
    "transaction_time",
)
EVENT_READ = (*EVENT_COLUMNS, "seq", "prompt_number")

_body = msgspec.json.Decoder(Body)
_source = msgspec.json.Decoder(EventSource)


def event_row(arrival: Arrival, transaction_time: datetime) -> dict[str, Any]:
    """The columns of a new event, its hash included."""
    event = arrival.event
    offset = event.valid_time.utcoffset() or timedelta(0)
    try:
        row: dict[str, Any] = {
            "event_id": event.event_id,
            "namespace": event.namespace,
            "session_id": event.session_id,
            "actor_id": event.actor_id,
            "kind": event.kind,
            "body": encode(event.body).decode(),
            "valid_time": to_micros(event.valid_time),
            "utc_offset": round(offset.total_seconds() / 60),
            "source": encode(event.source).decode(),
            "parent_event_id": event.parent_event_id,
            "content_hash": event.content_hash,
            "digest": arrival.digest,
            "boot_id": arrival.boot_id,
            "mono_ns": arrival.mono_ns,
            "transaction_time": to_micros(transaction_time),
        }
        row["hash"] = row_hash(row, EVENT_COLUMNS)
    except UnicodeEncodeError as error:
        raise not_unicode(error) from error
    row["surface"] = event.source.surface
    row["project_path"] = event.source.project_path
    return row


def read_event(cells: Sequence[Any]) -> StoredEvent:
    row = dict(zip(EVENT_READ, cells, strict=True))
    try:
        offset = timezone(timedelta(minutes=row["utc_offset"]))
        return StoredEvent(
            event=Event(
                event_id=row["event_id"],
                session_id=row["session_id"],
                actor_id=row["actor_id"],
                namespace=row["namespace"],
                kind=row["kind"],
                body=_body.decode(row["body"]),
                valid_time=from_micros(row["valid_time"]).astimezone(offset),
                source=_source.decode(row["source"]),
                parent_event_id=row["parent_event_id"],
                content_hash=row["content_hash"],
            ),
            seq=row["seq"],
            transaction_time=from_micros(row["transaction_time"]),
            boot_id=row["boot_id"],
            mono_ns=row["mono_ns"],
            prompt_number=row["prompt_number"],
        )
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError) as error:
        raise DamagedRow(f"event {row['event_id']} cannot be read: {error}") from error


def row_hash(row: Mapping[str, Any], columns: Sequence[str]) -> bytes:
    """Eight bytes over the columns, told apart by type so that '1', 1 and NULL differ."""
    digest = hashlib.blake2b(digest_size=8)
    for name in columns:
        cell = row[name]
        if isinstance(cell, (str, bytes)):  # bytes: text that the scrubber did not decode
            raw = cell if isinstance(cell, bytes) else cell.encode()
            digest.update(b"s%d:" % len(raw))
            digest.update(raw)
        else:
            digest.update(f"{type(cell).__name__}:{cell!r};".encode())
    return digest.digest()


def not_unicode(error: UnicodeEncodeError) -> BadInput:
    return BadInput(
        f"text that is not valid Unicode ({error.reason} at character {error.start})",
        hint="Replace lone surrogates before storing.",
    )
