"""Renamed files, as reported by git or by the tool that renamed them.

In: a tool call. Out: old and new names as they were given; folders end with a slash. A call that
failed renamed nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from recollect.core.values import Action, TurnWork
from recollect.work import commands
from recollect.work.paths import base, looks_like_file

MOST = 50  # of one call
_MOST_OUTPUT = 40_000
# What git prints of a commit, a merge or a pull: " rename src/{old => new}/a.py (97%)".
_PRINTED = re.compile(r"^ rename (.{1,400}) \(\d{1,3}%\)$", re.MULTILINE)
_BRACES = re.compile(r"\{([^{}]{0,200}) => ([^{}]{0,200})\}")
_PATCHED = re.compile(r"^\*\*\* Update File: (.+)\n\*\*\* Move to: (.+)$", re.MULTILINE)
_FIELDS = (
    ("source", "destination"),
    ("source_path", "destination_path"),
    ("old_path", "new_path"),
    ("oldPath", "newPath"),
    ("from", "to"),
)


def by_command(line: str) -> Iterator[tuple[str, str]]:
    """What `mv` and `git mv` were given, relative to where they ran."""
    for words in commands.words_of_parts(line):
        if words[:2] == ["git", "mv"]:
            given = words[2:]
        elif words[:1] == ["mv"]:
            given = words[1:]
        else:
            continue
        names = [one for one in given if not one.startswith("-")]
        if len(names) < 2 or any("*" in one or "$" in one for one in names):
            continue
        *olds, last = names
        for old in olds[:MOST]:
            into = len(olds) > 1 or last.endswith("/") or (_is_folder(last) and not _is_folder(old))
            yield _pair(old, f"{last.rstrip('/')}/{base(old.rstrip('/'))}" if into else last)


def printed_by_git(output: Any) -> Iterator[tuple[str, str]]:
    """Renames that git tells of, relative to the root of the repository."""
    text = commands.printed(output)[:_MOST_OUTPUT]
    for found in list(_PRINTED.finditer(text))[:MOST]:
        braces = _BRACES.search(found[1])
        if braces is not None:
            before, after = found[1][: braces.start()], found[1][braces.end() :]
            old, new = (f"{before}{part}{after}".replace("//", "/") for part in braces.groups())
        else:
            old, _, new = found[1].partition(" => ")
        if old and new:
            yield old, new


def by_tool(call: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What a patch moves, and what a tool that is called so moves or renames."""
    given = call.get("input")
    texts = given.values() if isinstance(given, dict) else [given]
    for text in texts:
        if isinstance(text, str) and "*** Move to: " in text:
            yield from _PATCHED.findall(text)[:MOST]
    name = str(call.get("tool", "")).lower()
    if isinstance(given, dict) and ("move" in name or "rename" in name):
        for old, new in _FIELDS:
            if isinstance(given.get(old), str) and isinstance(given.get(new), str):
                yield _pair(given[old], given[new])
                return


def _is_folder(name: str) -> bool:
    return name.endswith("/") or not looks_like_file(base(name))


def _pair(old: str, new: str) -> tuple[str, str]:
    if _is_folder(old):
        return f"{old.rstrip('/')}/", f"{new.rstrip('/')}/"
    return old, new


def with_current_paths(turns: Sequence[TurnWork]) -> list[TurnWork]:
    if not any(action.was for work in turns for action in work.actions):
        return list(turns)
    touched = {action.path for work in turns for action in work.actions if action.path}
    now: dict[str, str] = {}  # from the last turn back: what a name of that time became
    found = []
    for work in reversed(turns):
        actions: list[Action] = []
        for action in reversed(work.actions):
            path = now.get(action.path, action.path)
            if not path.endswith("/"):  # a folder is no file
                actions.append(msgspec.structs.replace(action, path=path, was=""))
            if action.was:
                _rename(now, touched, action.was, action.path)
        defines = tuple((name, now.get(path, path)) for name, path in work.defines)
        found.append(
            msgspec.structs.replace(work, actions=tuple(reversed(actions)), defines=defines)
        )
    return found[::-1]


def _rename(now: dict[str, str], touched: set[str], old: str, new: str) -> None:
    """From here back the old name means the new one, and the new one means another file."""
    names = [(old, new)]
    if old.endswith("/"):
        names = [(one, new + one[len(old) :]) for one in touched if one.startswith(old)]
    for before, after in names:
        now[before] = now.get(after, after)
    for before, after in names:
        if after != before:
            now.pop(after, None)
