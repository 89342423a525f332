"""Patterns of paths, as in .gitignore, and whether a tool call names a file that matches one.

In: patterns of users and of repositories, which are not trusted, and what tools were given and
returned. Out: whether a path matches. Work is bounded. Standard library only: the hook needs it.
"""

import fnmatch
import functools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST = 256
MOST_PARTS = 20
MOST_WILD = 12
MOST_WORK = 100_000  # parts of paths held against patterns, for one call of a tool
_TOKEN = re.compile(r"[^\s\"'`<>|;&(),=:\[\]{}]{1,4096}")
_WILD = re.compile(r"\[[^\]]*\]?|[*?/]+")


@dataclass(frozen=True)
class Pattern:
    """A name or path with `*`, `?`, `[...]` and `**`, as in .gitignore: without a slash it matches
    any part of a path, with a slash a path; everything below a match is included."""

    text: str
    parts: tuple[str, ...]
    base: str = ""  # where it holds; everywhere, if empty
    anchored: bool = False

    def matches(self, path: str) -> bool:
        """`path` is absolute and has no `..`."""
        if self.base:
            if not path.startswith(self.base.rstrip("/") + "/"):
                return False
            path = path[len(self.base.rstrip("/")) :]
        return _begins(self.parts, [one for one in path.split("/") if one])

    @functools.cached_property
    def literal(self) -> str:
        """A piece of text that occurs in everything that it matches."""
        return max(_WILD.split(self.text.strip("/").removeprefix("~")), key=len)


def file_pattern(text: str, base: str = "") -> Pattern:
    """Parse a pattern; ValueError says what is wrong with it. Without a base, `/` and `~/` begin a
    whole path."""
    given = text.strip()
    if not given.strip("/") or "\0" in given:
        raise ValueError("a pattern needs a name")
    if given.startswith("!"):
        raise ValueError("a pattern cannot take back another one (!)")
    if len(given) > LONGEST:
        raise ValueError(f"a pattern has at most {LONGEST} characters")
    if sum(map(given.count, "*?[")) > MOST_WILD:
        raise ValueError(f"a pattern has at most {MOST_WILD} of * ? [")
    whole = os.path.expanduser(given) if not base and given.startswith("~") else given
    parts = [part for part in whole.split("/") if part not in ("", ".")]
    if len(parts) > MOST_PARTS or ".." in parts:
        raise ValueError(f"a pattern has at most {MOST_PARTS} parts, and no ..")
    anchored = whole.startswith("/") or ("/" in whole.rstrip("/") and bool(base))
    if not anchored:
        parts.insert(0, "**")
    return Pattern(given, tuple(parts), base, anchored)


def _begins(parts: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a path, or a directory above it, matches the parts. Linear in both: a pattern may
    come from an untrusted repository."""

    def opened(places: set[int]) -> set[int]:
        for place in sorted(places):
            while place < len(parts) and parts[place] == "**":
                place += 1
                places.add(place)
        return places

    places = opened({0})
    for name in path:
        after = set()
        for place in places:
            if place < len(parts) and parts[place] == "**":
                after.add(place)
            elif place < len(parts) and fnmatch.fnmatchcase(name, parts[place]):
                after.add(place + 1)
        places = opened(after)
        if len(parts) in places:
            return True
    return False


def canonical(path: str) -> str:
    import unicodedata  # the hook that only asks for the environment does not need it

    return unicodedata.normalize("NFC", os.path.realpath(path))


def matching_file_pattern(files: Sequence[Pattern], cwd: str, tree: Any) -> str:
    """The pattern of a file that a tool call names anywhere in its input or output, or nothing. A
    call that is too large to search counts as a match: a repository brings its own patterns, and
    must not be able to slow the daemon down."""
    if not files:
        return ""
    if cwd and (found := _first(files, cwd, "")):
        return found
    work = MOST_WORK
    for text in _texts(tree):
        near = [one for one in files if one.literal in text or (cwd and one.literal in cwd)]
        for token in dict.fromkeys(_TOKEN.findall(text)) if near else ():
            likely = [one for one in near if one.literal in token or (cwd and one.literal in cwd)]
            if not likely:
                continue
            work -= (len(likely) + 5) * (token.count("/") + cwd.count("/") + 1)
            if work < 0:
                return likely[0].text
            if found := _first(likely, cwd, token.rstrip(".!?")):
                return found
    return ""


def _first(files: Sequence[Pattern], cwd: str, name: str) -> str:
    """The pattern that a name matches as written, as git writes it, or with links resolved."""
    names = {name, name.partition("/")[2] if name[:2] in ("a/", "b/") else name}
    names |= {os.path.expanduser(one) for one in names if one.startswith("~/")}
    paths = {os.path.normpath(os.path.join(cwd or "/", one)) for one in names if "\0" not in one}
    paths |= set(map(canonical, paths))
    return next((one.text for one in files if any(map(one.matches, paths))), "")


def _texts(tree: Any) -> Iterable[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(tree, (list, tuple)):
        for one in tree:
            yield from _texts(one)
