"""The text that an edit removed and the text that it inserted.

In: the input of a tool that writes files. Out: pairs of texts, before and after. For a file that
was written as a whole, the text before is unknown and empty.
"""

import re
from collections.abc import Iterator
from typing import Any

_OLD = ("old_string", "oldString", "old_str", "oldStr")
_NEW = ("new_string", "newString", "new_str", "newStr")
_WHOLE = ("content", "file_text", "fileText")
_MOST_EDITS = 50  # in one call
_PATCH = re.compile(r"^\*\*\* (?:Begin Patch|Update File: |Add File: )|^@@", re.MULTILINE)


def swaps(given: Any) -> Iterator[tuple[str, str]]:
    """The edits of one call that replace a text by another one."""
    if not isinstance(given, dict):
        return
    several = given.get("edits")
    for one in (several if isinstance(several, list) else [given])[:_MOST_EDITS]:
        if isinstance(one, dict):
            old, new = _first(one, _OLD), _first(one, _NEW)
            if old != new:
                yield old, new


def changes(given: Any) -> Iterator[tuple[str, str]]:
    """The same, with files that were written as a whole and with patches."""
    if isinstance(given, str):
        given = {"patch": given}
    if not isinstance(given, dict):
        return
    if whole := _first(given, _WHOLE):
        yield "", whole
    for text in given.values():
        if isinstance(text, str) and _PATCH.search(text[:2_000]):
            lines = text.splitlines()
            yield tuple("\n".join(line[1:] for line in lines if line[:1] == mark) for mark in "-+")  # type: ignore[misc]
    yield from swaps(given)


def _first(values: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((values[name] for name in names if isinstance(values.get(name), str)), "")
