"""What is kept out on purpose: the rules of the user and those of a project.

In: the setting `ignore`, the files `.recollect.toml`, and what tools were given and returned. Out:
why nothing is captured in a directory, which files and tools are not captured, and warnings.
Patterns of files are those of .gitignore; they are not trusted, and the work for them is bounded.
Standard library only, because the hook asks here before it spools. A project's file is data, never
code; one that cannot be read or understood keeps the project out, with a warning.
"""

import errno
import fnmatch
import functools
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.core import oslayer

PROJECT_FILE = ".recollect.toml"
KINDS = ("project", "file", "tool")
MOST = 200
FILE_BYTES = 64 << 10
_DEPTH = 64
_KNOWN_KEYS = frozenset({"capture", "ignore"})
_PREFIX = re.compile(r"([A-Za-z]{2,}):")  # one letter is a drive of Windows
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
    def folded(self) -> "Pattern":
        """The pattern for paths in lower case: `.ENV` is the file `.env` on some disks, and on the
        others it is likely to hold the same."""
        lower = tuple(part.casefold() for part in self.parts)
        return replace(self, parts=lower, base=self.base.casefold())

    @functools.cached_property
    def literal(self) -> str:
        """A piece of text that occurs, in lower case, in everything that it matches."""
        return max(_WILD.split(self.text.casefold().strip("/").removeprefix("~")), key=len)


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
    work, here = MOST_WORK, cwd.casefold()
    for text in _texts(tree):
        lower = text.casefold()
        near = [one for one in files if one.literal in lower or one.literal in here]
        for token in dict.fromkeys(_TOKEN.findall(text)) if near else ():
            lower = token.casefold()
            likely = [one for one in near if one.literal in lower or one.literal in here]
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
    lower = {one.casefold() for one in paths}
    return next((one.text for one in files if any(map(one.folded.matches, lower))), "")


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


# --- rules ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeepOutRules:
    """What the user keeps out, in every project."""

    projects: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: tuple[Pattern, ...] = ()

    def tool(self, name: str) -> str:
        called = name.casefold()
        return next((one for one in self.tools if fnmatch.fnmatchcase(called, one.casefold())), "")


def fault_in_rules(entries: Sequence[str]) -> str:
    """What is wrong with a list of rules, or nothing."""
    if len(entries) > MOST:
        return f"it takes at most {MOST} entries"
    for entry in entries:
        kind, colon, value = entry.partition(":")
        if not colon or kind not in KINDS or not value.strip():
            return f"{entry!r} is none of project:DIR, file:PATTERN, tool:NAME"
        if kind == "project" and not os.path.isabs(os.path.expanduser(value)):
            return f"{entry!r} must be a whole path"
        if kind == "file":
            try:
                file_pattern(value)
            except ValueError as error:
                return f"{entry!r}: {error}"
    return ""


def split_kind(text: str) -> tuple[str, str]:
    """The kind that a rule begins with, or nothing, and the rest. ValueError when there is no such
    kind: taken as part of a file's name it would keep nothing out."""
    found = _PREFIX.match(text.strip())
    if found is None:
        return "", text
    if found[1] not in KINDS:
        told = f"there is no kind of rule {found[1]!r}, only project:, file: and tool:"
        raise ValueError(f"{told}. For files of that very name write file:{text.strip()}")
    return found[1], text.strip()[found.end() :].strip()


def rules(entries: Iterable[str]) -> KeepOutRules:
    """The valid rules of a list."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for entry in entries:
        if not fault_in_rules([entry]):
            kind, _, value = entry.partition(":")
            # Earlier versions stored file:X as file:file:X.
            found[kind].append(value.strip().removeprefix(f"{kind}:"))
    return KeepOutRules(
        projects=tuple(canonical(os.path.expanduser(one)) for one in found["project"]),
        tools=tuple(found["tool"]),
        files=tuple(map(file_pattern, found["file"])),
    )


@dataclass(frozen=True)
class ProjectRules:
    """What one project's file says; `broken` tells why it cannot be understood."""

    capture: bool = True
    files: tuple[Pattern, ...] = ()
    broken: str = ""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class DirectoryRules:
    """The rules for a directory: why nothing is captured there, which files are not, and
    warnings."""

    off: str = ""
    files: tuple[Pattern, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass
class ProjectRulesReader:
    """Reads project files, each again only when it changed."""

    _cache: dict[str, tuple[tuple[int, int, int], ProjectRules]] = field(default_factory=dict)

    def rules_for(self, directory: str, own: KeepOutRules) -> DirectoryRules:
        """The rules for a directory: the user's, and those of every project file at or above it."""
        if not os.path.isabs(directory) or "\0" in directory:
            return DirectoryRules(files=own.files)
        folders = [canonical(directory)]
        while len(folders) < _DEPTH and (above := os.path.dirname(folders[-1])) != folders[-1]:
            folders.append(above)
        inside = (one for one in own.projects if f"{folders[0]}/".startswith(one.rstrip("/") + "/"))
        off = next((f"the setting ignore has project:{one}" for one in inside), "")
        files, warnings = list(own.files), []
        for folder in folders:
            path = os.path.join(folder, PROJECT_FILE)
            said = self._read(path)
            if said is None:
                continue
            if said.broken:
                warnings.append(
                    f"{path}: {said.broken}; until that is corrected nothing is captured"
                )
                off = off or f"{path} cannot be understood"
            warnings += [f"{path}: there is no key {key!r}" for key in said.unknown]
            if not said.capture:
                off = off or f"{path} says capture = false"
            files += said.files
        return DirectoryRules(off, tuple(files), tuple(warnings))

    def _read(self, path: str) -> ProjectRules | None:
        try:
            fd = os.open(path, os.O_RDONLY | oslayer.NONBLOCK | oslayer.NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return None  # no such directory can exist
            return ProjectRules(broken=f"it cannot be opened ({error.strerror})")
        try:
            about = os.fstat(fd)
            seen = (about.st_ino, about.st_mtime_ns, about.st_size)
            known = self._cache.get(path)
            if known is not None and known[0] == seen:
                return known[1]
            said = _checked(fd, about, os.path.dirname(path))
        finally:
            os.close(fd)
        if len(self._cache) > 1000:
            self._cache.clear()
        self._cache[path] = seen, said
        return said


def rules_in(directory: str, ignore: Iterable[str]) -> DirectoryRules:
    """The rules for one directory, read now; `ignore` is the setting."""
    return ProjectRulesReader().rules_for(directory, rules(ignore))


def _checked(fd: int, about: os.stat_result, folder: str) -> ProjectRules:
    if not stat.S_ISREG(about.st_mode):
        return ProjectRules(broken="it is not a file")
    if about.st_uid not in (oslayer.user_id(), 0):
        return ProjectRules(broken="it belongs to another user")
    if about.st_size > FILE_BYTES:
        return ProjectRules(broken=f"it is larger than {FILE_BYTES >> 10} KiB")
    try:
        return parse_project_file(os.read(fd, FILE_BYTES + 1).decode(), folder)
    except (OSError, UnicodeDecodeError) as error:
        return ProjectRules(broken=f"it cannot be read ({error})")


def parse_project_file(text: str, folder: str) -> ProjectRules:
    """What a project's file says for its directory."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return ProjectRules(broken=f"it is not valid TOML ({error})")
    unknown = tuple(sorted(set(data) - _KNOWN_KEYS))[:10]
    capture, given = data.get("capture", True), data.get("ignore", [])
    if not isinstance(capture, bool):
        return ProjectRules(broken="capture is neither true nor false", unknown=unknown)
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        return ProjectRules(broken="ignore is not a list of patterns", unknown=unknown)
    if len(given) > MOST:
        return ProjectRules(broken=f"ignore has more than {MOST} patterns", unknown=unknown)
    try:
        split = [split_kind(one) for one in given]
        if other := next((kind for kind, _ in split if kind not in ("", "file")), ""):
            return ProjectRules(broken=f"ignore: it takes files, not {other}:", unknown=unknown)
        files = tuple(file_pattern(name, folder) for _, name in split)
    except ValueError as error:
        return ProjectRules(broken=f"ignore: {error}", unknown=unknown)
    return ProjectRules(capture=capture, files=files, unknown=unknown)
