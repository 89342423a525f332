"""Values as PostgreSQL can hold them: text without NUL, vectors for the server's index.

In: columns of a row. Out: the same, fit for psycopg. A row that changed so gets its hash anew.
"""

import re
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from recollect.core.vector_bytes import DIMENSIONS
from recollect.store.sql import rows

Values = dict[str, Any]


class Half(bytes):
    """A vector as pgvector reads it: half precision, big-endian, in its binary form."""


def near(blob: bytes) -> Half | None:
    """A vector for the server's index; None for one that an index cannot order."""
    row = np.frombuffer(blob, dtype="<f4")
    with np.errstate(over="ignore", invalid="ignore"):
        half = row.astype(">f2")
    if row.size != DIMENSIONS or not np.isfinite(half).all():
        return None
    return Half(struct.pack(">HH", row.size, 0) + half.tobytes())


def without_nul(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """PostgreSQL's text cannot hold NUL, nor unfold JSON that does; its sign stands for it."""
    changed = {
        name: _NUL.sub("\\1\\\\u2400", value.replace("\0", "\u2400"))
        for name, value in values.items()
        if isinstance(value, str) and ("\0" in value or "\\u0000" in value)
    }
    return _rehashed({**values, **changed}) if changed else values


class AsItIs(dict[str, Any]):
    """Values that are stored as they are given."""


def event_without_nul(values: Values) -> AsItIs:
    """The same for an event, whose JSON is never unfolded and stays as it came."""
    changed = {
        name: value.replace("\0", "\u2400")
        for name, value in values.items()
        if isinstance(value, str) and "\0" in value
    }
    return AsItIs(_rehashed({**values, **changed}) if changed else values)


def _rehashed(values: Values) -> Values:
    if "hash" in values:
        columns = rows.RECORD_HASHED if "record_id" in values else rows.EVENT_COLUMNS
        values["hash"] = rows.row_hash(values, columns)
    return values


_NUL = re.compile(r"((?<!\\)(?:\\\\)*)\\u0000")  # JSON's escape, not a backslash and "u0000"
