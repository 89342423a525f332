"""SQLite's statements as PostgreSQL takes them.

In: a statement of `store/sql/statements.py`. Out: its text for psycopg, and how its values are
made fit. One list of statements says what the store does; this file knows where the two databases
speak differently, and `statements.py` beside it holds those that had to be written anew.
"""

import re
import struct
from functools import cache
from typing import Any

import numpy as np

from recollect.core.vector_bytes import DIMENSIONS
from recollect.store.postgres import statements as own
from recollect.store.sql import rows
from recollect.store.sql import statements as theirs

Values = dict[str, Any]

_VECTORS = " INTO embeddings"
_NUMBERS = r"((?:\w+\.)?(?:seq|row_id))"
_RULES: tuple[tuple[str, str], ...] = (
    (r"%", "%%"),
    (r"(?<![:\w]):([a-z_]\w*)", r"%(\1)s"),
    (r"(?<=[ (])\+(?=[a-z])", ""),
    (r"\bjson_each\(", "unfold("),
    (r"\browid\b", "row_id"),
    (r"\bjson_array\(([^)]*)\)", r"jsonb_build_array(\1)::text"),
    (r"\bmin\((\w+), excluded", r"least(sessions.\1, excluded"),
    (r"\bmax\((\w+), excluded", r"greatest(sessions.\1, excluded"),
    (r"coalesce\((\w+), excluded", r"coalesce(sessions.\1, excluded"),
    (r"CASE status (.*) ELSE status END", r"CASE sessions.status \1 ELSE sessions.status END"),
    (_NUMBERS + r" (NOT )?IN \(SELECT value FROM", r"\1 \2IN (SELECT value::bigint FROM"),
    (r"\bLIMIT -1 OFFSET", "LIMIT ALL OFFSET"),
    (r"\bLIMIT %\((\w+)\)s", r"LIMIT nullif(%(\1)s, -1)"),
    (r"ON CONFLICT \((\w+_id)\)", r"ON CONFLICT (namespace, \1)"),
    (r"json_group_array\(r\.(\w+)\)", r"json_agg(r.\1 ORDER BY r.valid_from, r.\1)::text"),
    (r"ON CONFLICT DO UPDATE", "ON CONFLICT (namespace, source_id) DO UPDATE"),
    (r"\)(\s+)WHERE reason IS NOT NULL", r") AS due\1WHERE reason IS NOT NULL"),
    (r"\bLIKE\b", "ILIKE"),
    (r"USING \((seq|row_id)\)", r"USING (namespace, \1)"),
    (r"NOT GLOB '([^'*%]*)\*'", r"NOT LIKE '\1%%'"),
)


def translate(text: str) -> str:
    for pattern, into in _RULES:
        text = re.sub(pattern, into, text)
    return text


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


def without_nul(values: Values) -> Values:
    """PostgreSQL's text cannot hold NUL, nor unfold JSON that does; its sign stands for it."""
    changed = {
        name: _NUL.sub("\\1\\\\u2400", value.replace("\0", "\u2400"))
        for name, value in values.items()
        if isinstance(value, str) and ("\0" in value or "\\u0000" in value)
    }
    return _rehashed({**values, **changed}) if changed else values


def event_without_nul(values: Values) -> Values:
    """The same for an event, whose JSON is never unfolded and stays as it came."""
    changed = {
        name: value.replace("\0", "\u2400")
        for name, value in values.items()
        if isinstance(value, str) and "\0" in value
    }
    return _rehashed({**values, **changed}) if changed else values


def _rehashed(values: Values) -> Values:
    if "hash" in values:
        columns = rows.RECORD_HASHED if "record_id" in values else rows.EVENT_COLUMNS
        values["hash"] = rows.row_hash(values, columns)
    return values


_NUL = re.compile(r"((?<!\\)(?:\\\\)*)\\u0000")  # JSON's escape, not a backslash and "u0000"


def statement(text: str, values: Values) -> tuple[str, Values]:
    """What to run for one of SQLite's statements, and with which values. Whether a value is NULL
    is answered here: the server could not tell its type, and plans better without the question."""
    given = without_nul(values)
    empty = frozenset(name for name in _asked(text) if given.get(name) is None)
    if _VECTORS in text:
        given = {**given, "near": near(given["vector"])}
    return _translated(text, empty), given


@cache
def _asked(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r":(\w+) IS NULL", text)))


@cache
def _translated(text: str, empty: frozenset[str]) -> str:
    name = _NAMES.get(text, "")
    if name in own.INSTEAD:
        return own.INSTEAD[name]
    for one in _asked(text):
        text = text.replace(f":{one} IS NULL", "TRUE" if one in empty else "FALSE")
    text = translate(text)
    if _VECTORS in text:
        text = text.replace("dim, vector)", "dim, vector, near)", 1)
        text = text.replace("%(vector)s", "%(vector)s, %(near)s", 1)
        text = text.replace("= excluded.vector", "= excluded.vector, near = excluded.near")
    return text


def _named() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in vars(theirs).items():
        if name.isupper() and isinstance(value, str):
            found[value] = name
        elif name.isupper() and isinstance(value, dict):
            found |= {text: f"{name}.{key}" for key, text in value.items()}
    return found


_NAMES = _named()
