"""Add and remove whole tables of a TOML file, line by line, leaving all other bytes alone.

In: a file's bytes and a table's name. Out: the new bytes, proven by `tomllib`: everything foreign
reads the same before and after. What cannot be done so raises BadInput and nothing is written.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from recollect.core.errors import BadInput

Name = tuple[str, ...]

# A statement may run over lines only inside brackets or in a string of three quotes.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})'
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[{]|[\]}]|\n|[^"\'#\[\]{}\n]+',
    re.DOTALL,
)


@dataclass(frozen=True)
class _Statement:
    """A whole statement with its line end: a header (with the table's name), a key, or space."""

    start: int
    end: int
    header: Name | None
    blank: bool


def read(raw: bytes | None, name: str) -> dict[str, Any]:
    return _parsed(_text(raw, name), name)


def get(raw: bytes | None, table: Name, name: str) -> dict[str, Any] | None:
    found: Any = read(raw, name)
    for step in table:
        found = found.get(step) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def put(raw: bytes | None, table: Name, values: dict[str, Any], name: str) -> bytes:
    """The table with exactly these values: in place if it is there, else at the end."""
    text = _text(raw, name)
    if get(raw, table, name) == values:
        return raw or b""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join(_written(table, values))
    spans = _spans(text, table)
    if spans:
        after = text
        for start, end in reversed(spans[1:]):
            after = after[:start] + after[end:]
        after = after[: spans[0][0]] + block + newline + after[spans[0][1] :]
    else:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        after = text + gap + block + newline
    _prove(text, after, table, values, name)
    return after.encode("utf-8")


def remove(raw: bytes, table: Name, name: str) -> bytes:
    """Without the table and its sub-tables; the blank line before them goes too."""
    text = _text(raw, name)
    if get(raw, table, name) is None:
        return raw
    after = text
    for start, end in reversed(_spans(text, table)):
        before = after[:start]
        if before.endswith(("\n\n", "\n\r\n")):
            before = before[: -2 if before.endswith("\r\n") else -1]
        after = before + after[end:]
    _prove(text, after, table, None, name)
    return after.encode("utf-8")


# --- inside -----------------------------------------------------------------------------------


def _text(raw: bytes | None, name: str) -> str:
    try:
        return (raw or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text; nothing was changed", field=name) from error


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            f"{name} is not valid TOML: {error}; nothing was changed",
            field=name,
            hint=f"Mend {name}, then try again.",
        ) from error


def _statements(text: str) -> list[_Statement]:
    found: list[_Statement] = []
    start = at = depth = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:  # cannot be in a file that parses; the proof would catch it
            break
        at, word = token.end(), token.group()
        depth += (word in "[{") - (word in "]}")
        if (word == "\n" and depth <= 0) or at == len(text):
            line = text[start:at]
            bare = line.strip().removeprefix("\ufeff")
            header = _header(bare) if bare.startswith("[") else None
            found.append(_Statement(start, at, header, not bare or bare.startswith("#")))
            start, depth = at, 0
    return found


def _header(line: str) -> Name | None:
    try:
        data: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    steps = []
    while isinstance(data, dict) and data:
        step, data = next(iter(data.items()))
        steps.append(step)
        data = data[0] if isinstance(data, list) else data
    return tuple(steps)


def _spans(text: str, table: Name) -> list[tuple[int, int]]:
    """Where the table and its sub-tables stand; comments behind their last key are not theirs."""
    spans: list[tuple[int, int]] = []
    start = end = -1
    for statement in _statements(text):
        if statement.header is not None:
            if start >= 0:
                spans.append((start, end))
            inside = statement.header[: len(table)] == table
            start, end = (statement.start, statement.end) if inside else (-1, -1)
        elif start >= 0 and not statement.blank:
            end = statement.end
    if start >= 0:
        spans.append((start, end))
    merged: list[tuple[int, int]] = []
    for begin, stop in spans:
        if merged and not text[merged[-1][1] : begin].strip():
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((begin, stop))
    return merged


def _written(table: Name, values: dict[str, Any]) -> list[str]:
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    lines = [f"[{'.'.join(_key(step) for step in table)}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in values.items():
        if isinstance(value, dict):
            lines += ["", *_written((*table, key), value)]
    return lines


def _key(step: str) -> str:
    return step if re.fullmatch(r"[A-Za-z0-9_-]+", step) else _string(step)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _without(data: dict[str, Any], table: Name) -> dict[str, Any]:
    """A copy without the table, and without parents that hold nothing else."""
    rest = dict(data)
    if len(table) == 1:
        rest.pop(table[0], None)
    elif isinstance(rest.get(table[0]), dict):
        rest[table[0]] = _without(rest[table[0]], table[1:])
    if isinstance(rest.get(table[0]), dict) and not rest[table[0]]:
        del rest[table[0]]
    return rest


def _prove(before: str, after: str, table: Name, values: dict[str, Any] | None, name: str) -> None:
    try:
        data = _parsed(after, name)
    except BadInput:
        data = {}
    label = ".".join(table)
    found: Any = data
    for step in table:
        found = found.get(step) if isinstance(found, dict) else None
    if found != values or _without(data, table) != _without(_parsed(before, name), table):
        raise BadInput(
            f"{name}: [{label}] is written in a way that cannot be changed safely",
            field=name,
            hint=f"Edit [{label}] in {name} by hand; nothing was changed.",
        )
