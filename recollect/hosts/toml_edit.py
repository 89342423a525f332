"""Put a table into a TOML file and take it out again, leaving all other bytes alone.

In: a file's bytes and a table's name. Out: the new bytes, proven by `tomllib`: everything foreign
reads the same before and after. What cannot be done so raises BadInput and nothing is written.

tomlkit writes the table, but does not find it: removing a table with tomlkit also removes the
comments that stand behind its last key, which are the user's, and what it adds goes behind the
last table of the same family instead of to the end. So tables are found by their header lines.
"""

import re
import tomllib
from typing import Any

from recollect.core.errors import BadInput

Name = tuple[str, ...]

_BOM = "\ufeff"
_BRACKET = re.compile(r"^[ \t]*\[", re.MULTILINE)


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
    block = written(table, values).replace("\n", newline)
    spans = _spans(text, table)
    if spans:
        after = text
        for start, end in reversed(spans[1:]):
            after = after[:start] + after[end:]
        after = after[: spans[0][0]] + block + after[spans[0][1] :]
    else:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        after = text + gap + block
    _verify(text, after, table, values, name)
    return after.encode("utf-8")


def copied(raw: bytes, table: Name, other: bytes, name: str) -> bytes:
    """With the table as it is written in `other`."""
    text, theirs = _text(raw, name), _text(other, name)
    block = "".join(theirs[start:end] for start, end in _spans(theirs, table))
    (first, *more) = _spans(text, table) or [(len(text), len(text))]
    after = text
    for start, end in reversed(more):
        after = after[:start] + after[end:]
    after = after[: first[0]] + block + after[first[1] :]
    _verify(text, after, table, get(other, table, name), name)
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
    _verify(text, after, table, None, name)
    return after.encode("utf-8")


def written(table: Name, values: dict[str, Any]) -> str:
    """The table under its header, sub-tables after a blank line."""
    import tomlkit  # 20 ms that only a change needs

    nested: dict[str, Any] = values
    for step in reversed(table):
        nested = {step: nested}
    return tomlkit.dumps(nested)


# --- inside -----------------------------------------------------------------------------------


def _text(raw: bytes | None, name: str) -> str:
    try:
        return (raw or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text; nothing was changed", field=name) from error


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            f"{name} is not valid TOML: {error}; nothing was changed",
            field=name,
            hint=f"Mend {name}, then try again.",
        ) from error


def _spans(text: str, table: Name) -> list[tuple[int, int]]:
    """Where the table and its sub-tables stand; comments behind their last key are not theirs."""
    spans: list[tuple[int, int]] = []
    starts = [found.start() for found in _BRACKET.finditer(text)]
    for at, start in enumerate(starts):
        if _header(text, start)[: len(table)] != table or _loads(text[:start]) is None:
            continue  # another table, or in the middle of a text or a list
        ends = (end for end in starts[at + 1 :] if _loads(text[start:end]) is not None)
        end = _trimmed(text, start, next(ends, len(text)))
        if spans and not text[spans[-1][1] : start].strip():
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _trimmed(text: str, start: int, end: int) -> int:
    """The end without the blank lines and comments before it."""
    while True:
        line = text.rfind("\n", start, end - 1) + 1
        last = text[line:end].strip()
        if line <= start or (last and not last.startswith("#")):
            return end
        end = line


def _header(text: str, start: int) -> Name:
    """The name in the header at this place; empty when it is none."""
    data: Any = _loads(text[start : text.find("\n", start) + 1 or None])
    steps = []
    while isinstance(data, dict) and data:
        step, data = next(iter(data.items()))
        steps.append(step)
        data = data[0] if isinstance(data, list) else data
    return tuple(steps)


def _loads(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


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


def _verify(before: str, after: str, table: Name, values: dict[str, Any] | None, name: str) -> None:
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
