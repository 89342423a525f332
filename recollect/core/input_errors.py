"""Explains in plain words what is wrong with an input.

In: msgspec's error and the expected type. Out: BadInput that names the field, says what is wrong
with it and what would be right.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

from recollect.core.errors import BadInput

_FORMS = (
    ("^mr_", "is not the id of a memory: mr_ and 26 letters and digits "
             "(recollect search shows them)"),
    ("^[0-7]", "is not an id: 26 letters and digits, a ULID"),
    ("^/actor/", "is not a namespace, such as /actor/ada/"),
)  # fmt: skip
_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "datetime": "a time",
    "null": "nothing",
}
_BOUNDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_LENGTH = re.compile(r"^Expected `(\w+)` of length (>=|<=) (\d+)$")
_RANGE = re.compile(r"^Expected `\w+` (>=|<=|>|<) (\S+)$")
_KIND = re.compile(r"^Expected `([^`]+)`, got `(\w+)`$")
_NAMED = re.compile(r"^Object (missing required|contains unknown) field `([^`]*)`$")


def explained(error: msgspec.MsgspecError, kind: Any) -> BadInput:
    message, _, path = str(error).partition(" - at `")
    field = path.rstrip("`").removeprefix("$").lstrip(".")
    if not isinstance(error, msgspec.ValidationError):
        return BadInput(message, field=field)
    if named := _NAMED.match(message):
        whole = f"{field}.{named[2]}" if field else named[2]
        if named[1] == "missing required":
            return BadInput(f"{whole} is missing", field=whole)
        return BadInput(f"there is no field {whole!r} here{_near(kind, named[2])}", field=whole)
    told = _message(message, kind, field)
    return BadInput(f"{field or 'this'} {told}" if told else message, field=field)


def _message(message: str, kind: Any, field: str) -> str:
    if message.startswith(("Invalid enum value", "Invalid value")):
        given = message.removeprefix("Invalid enum value").removeprefix("Invalid value").strip()
        allowed = ", ".join(str(one) for one in _allowed(kind, field))
        return f"cannot be {given}: it is one of {allowed}" if allowed else f"cannot be {given}"
    if "matching regex" in message:
        for beginning, words in _FORMS:
            if f"regex '{beginning}" in message:
                return words
        return "is not in the form that is expected here"
    if found := _LENGTH.match(message):
        return _length(*found.groups())
    if found := _RANGE.match(message):
        return f"must be {_BOUNDS[found[1]]} {found[2]}"
    if message.startswith("Invalid RFC3339"):
        return "is no time: write 2026-11-01T15:30:00Z"
    if "with a timezone" in message:
        return "needs a time zone: write 2026-11-01T15:30:00Z"
    if found := _KIND.match(message):
        wanted = " or ".join(_KINDS.get(one.strip(), one.strip()) for one in found[1].split("|"))
        return f"must be {wanted}, not {_KINDS.get(found[2], found[2])}"
    return ""


def _length(what: str, bound: str, number: str) -> str:
    if bound == ">=" and number == "1":
        return "must not be empty"
    unit = "characters" if what == "str" else "entries"
    return f"must have at {'least' if bound == '>=' else 'most'} {number} {unit}"


def _near(kind: Any, name: str) -> str:
    import difflib

    known = [one.encode_name for one in getattr(inspect.type_info(kind), "fields", ())]
    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _allowed(kind: Any, field: str) -> list[Any]:
    """The values that a field takes, found by its path through the type."""
    here, tags = [inspect.type_info(kind)], list[Any]()
    for step in re.findall(r"[^.\[\]]+|\[[^\]\[]*\]", field):
        tags = [tag for one in here for tag in _tags(one, step)]
        here = [inner for one in here for inner in _inside(one, step)]
    found = (*tags, *(value for one in here for value in _literals(one)))
    return sorted(dict.fromkeys(found), key=str)


def _inside(kind: inspect.Type, step: str) -> Iterator[inspect.Type]:
    for one in _plain(kind):
        if isinstance(one, inspect.StructType):
            yield from (item.type for item in one.fields if item.encode_name == step)
        elif isinstance(one, inspect.VarTupleType | inspect.ListType):
            yield one.item_type
        elif isinstance(one, inspect.DictType):
            yield one.value_type


def _tags(kind: inspect.Type, step: str) -> Iterator[Any]:
    """The names of the shapes of a value, if that is the field which tells them apart."""
    for one in _plain(kind):
        if isinstance(one, inspect.StructType) and one.tag_field == step:
            yield one.tag


def _literals(kind: inspect.Type) -> Iterator[Any]:
    for one in _plain(kind):
        if isinstance(one, inspect.LiteralType):
            yield from one.values


def _plain(kind: inspect.Type) -> Iterator[inspect.Type]:
    """Without what only describes, and each side of an either-or."""
    if isinstance(kind, inspect.Metadata):
        yield from _plain(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _plain(one)
    else:
        yield kind
