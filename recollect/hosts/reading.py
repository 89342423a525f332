"""Reading what a host sent, whatever it is, and making it fit the limits of an event.

In: bytes that should be a JSON object. Out: plain data without surrogates, NULs, endless nesting or
numbers that nobody can store; long texts are cut, largest first, with a marker where something is
missing. Nothing raises: half a JSON gives the half that was there, no JSON gives None, a value of
the wrong type reads as absent.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from recollect.core.values import EVENT_BODY_BYTES, encode

MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_TOKENS = 50_000
MAX_KEY = 256
_TOO_DEEP = "… [nested too deep]"
_SURROGATE = re.compile("[\ud800-\udfff]")

Data = dict[str, Any]


def read_object(raw: bytes) -> tuple[Data | None, bool]:
    """The object in these bytes, and whether it had to be repaired; None when there is none."""
    if not raw.strip():
        return None, False
    try:
        value, repaired = msgspec.json.decode(raw), False
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value, repaired = lenient(raw.decode("utf-8", "replace")), True
    if not isinstance(value, dict) or (repaired and not value):
        return None, repaired
    return plain(value), repaired


def lines_from_the_end(transcript: bytes) -> Iterator[Data]:
    """The objects of a JSONL file, last first; lines that cannot be read are left out."""
    for raw in reversed(transcript.splitlines()):
        line, repaired = read_object(raw)
        if line is not None and not repaired:
            yield line


def lines_between(transcript: bytes, start: datetime | None, end: datetime) -> bytes:
    """The last lines of a JSONL file that were written in this time: one that is read early still
    ends with the turn before, one that is read late holds the turns since."""
    lines = transcript.splitlines()
    first = last = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        line, _ = read_object(lines[at])
        written = moment((line or {}).get("timestamp"))
        if written is not None and written > end:
            last = at
        elif written is not None and start is not None and written < start:
            break
        first = at
    return b"\n".join(lines[first:last])


# --- half a JSON ---------------------------------------------------------------------------------

_TOKEN = re.compile(r'[ \t\r\n,:]*([\[\]{}"]|[^\s,:\[\]{}"]+)')
_JSON = json.JSONDecoder(strict=False)
_STRING = re.compile(r'((?:[^"\\]+|\\.)*)("?)', re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def lenient(text: str) -> Any:
    """Parse as much as is there: no recursion, bounded work, an end anywhere is the end."""
    root: list[Any] = []
    stack: list[Any] = [root]
    keys: list[str | None] = [None]
    at = 0
    for _ in range(MAX_TOKENS):
        token = _TOKEN.match(text, at)
        if token is None:
            break
        at = token.end()
        mark = token[1]
        if mark in "]}":
            if len(stack) == 1:
                break
            stack.pop()
            keys.pop()
            continue
        value: Any
        if mark == '"':
            value, at = _string(text, at)
            if isinstance(stack[-1], dict) and keys[-1] is None:
                keys[-1] = value
                continue
        elif mark in "[{":
            value = [] if mark == "[" else {}
        else:
            value = _literal(mark)
        parent = stack[-1]
        if isinstance(parent, dict):
            parent[keys[-1] or ""] = value
            keys[-1] = None
        else:
            parent.append(value)
        if mark in "[{":
            stack.append(value)
            keys.append(None)
        elif len(stack) == 1:
            break
    return root[0] if root else None


def _string(text: str, at: int) -> tuple[str, int]:
    """The string that begins here, with its escapes resolved; without an end it is all the rest."""
    found = _STRING.match(text, at)
    assert found is not None  # the pattern matches the empty text too
    body = found[1]
    after = found.end() if found[2] else len(text)
    if "\\" not in body:
        return body, after
    try:
        return str(_JSON.decode(f'"{body}"')), after
    except ValueError:
        pass
    # A bad escape somewhere: read the others, let the bad one stand for its letter.
    units = _ESCAPE.sub(_unescaped, body).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace"), after


def _unescaped(escape: re.Match[str]) -> str:
    letter = escape[1]
    return chr(int(letter[1:], 16)) if len(letter) == 5 else _ESCAPES.get(letter, letter)


def _literal(word: str) -> Any:
    known = {"true": True, "false": False, "null": None}
    if word in known:
        return known[word]
    if len(word) > 40:
        return None
    try:
        return float(word) if any(mark in word for mark in ".eE") else int(word)
    except ValueError:
        return None


# --- plain data ----------------------------------------------------------------------------------


def plain(value: Any, depth: int = 0, left: list[int] | None = None) -> Any:
    """A copy that can be stored as JSON: bounded in depth and number (`left`), every text valid."""
    left = [MAX_NODES] if left is None else left
    left[0] -= 1
    match value:
        case str():
            return plain_text(value)
        case None | bool():
            return value
        case int():
            return value if -(2**63) <= value < 2**63 else plain_text(hex(value))[:80]
        case float():
            return value if math.isfinite(value) else None
        case dict() | list() if depth >= MAX_DEPTH:
            return _TOO_DEEP
        case dict():
            out: Data = {}
            for key, item in value.items():
                if left[0] <= 0:
                    out["…"] = f"[{len(value) - len(out)} more]"
                    break
                out[plain_text(str(key))[:MAX_KEY]] = plain(item, depth + 1, left)
            return out
        case list():
            items: list[Any] = []
            for item in value:
                if left[0] <= 0:
                    items.append(f"… [{len(value) - len(items)} more]")
                    break
                items.append(plain(item, depth + 1, left))
            return items
        case _:
            return plain_text(str(value))


def plain_text(text: str) -> str:
    """Valid text: no NUL, no lone surrogate."""
    if text.isascii():
        return text.replace("\x00", "\ufffd") if "\x00" in text else text
    return _SURROGATE.sub("\ufffd", text).replace("\x00", "\ufffd")


# --- fields --------------------------------------------------------------------------------------


def pick(data: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that is there; hosts spell the same field in several ways."""
    for name in names:
        if data.get(name) is not None:
            return data[name]
    return None


def word(data: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a short text (or a number): an id, a name, a path."""
    for name in names:
        value = data.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def count(data: Mapping[str, Any], name: str) -> int:
    """This field as a number of things; 0 when it is none."""
    value = data.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def section(data: Mapping[str, Any], *names: str) -> Data:
    """The first of these fields that is an object."""
    for name in names:
        value = data.get(name)
        if isinstance(value, dict):
            return value
    return {}


def prose(value: Any, depth: int = 0) -> str:
    """Text in any of the shapes in which hosts send it: a string, a part, a list of parts."""
    if isinstance(value, str):
        return value
    if depth > 3:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (prose(item, depth + 1) for item in value)))
    if isinstance(value, dict):
        return prose(pick(value, "text", "content", "llmContent", "parts"), depth + 1)
    return ""


def moment(value: Any) -> datetime | None:
    """A time as hosts write it: ISO text, seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str) and value.isdigit():
            value = int(value[:20])
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value[:64])
            parsed = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
            return parsed.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


# --- fitting -------------------------------------------------------------------------------------

STRING_BYTES = 512 << 10
# Room for the body's own frame and for what scrubbing may add.
BODY_BYTES = EVENT_BODY_BYTES - 4096
_SMALLEST = 64


def cut(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, the marker included."""
    if len(text) * 4 <= limit:
        return text
    raw = text.encode()
    if len(raw) <= limit:
        return text
    marker = f"… [truncated {len(raw)} bytes]"
    head = raw[: max(0, limit - len(marker.encode()))].decode("utf-8", "ignore")
    return head + f"… [truncated {len(raw) - len(head.encode())} bytes]"


def fit(data: dict[str, Any]) -> dict[str, Any]:
    """Data whose JSON is at most 1 MiB, with no text over 512 KiB."""
    fitted: dict[str, Any] = _with_texts_cut(data, STRING_BYTES)
    if len(encode(fitted)) > BODY_BYTES:
        limit = min(STRING_BYTES, _longest(data))
        while len(encode(fitted)) > BODY_BYTES and limit > _SMALLEST:
            limit = limit * 3 // 4
            fitted = _with_texts_cut(data, limit)
    while (size := len(encode(fitted))) > BODY_BYTES:
        # Only countless small things are left: give up the largest field as a whole.
        largest = max(fitted, key=lambda key: len(encode(fitted[key])))
        fitted[largest] = f"… [truncated {size} bytes]"
    return fitted


def _longest(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, dict):
        return max(map(_longest, value.values()), default=0)
    return max(map(_longest, value), default=0) if isinstance(value, list) else 0


def _with_texts_cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, dict):
        return {key: _with_texts_cut(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_texts_cut(item, limit) for item in value]
    return value
