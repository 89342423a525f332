"""What is kept out on purpose: the rules of the user and those of a project.

In: the setting `ignore` and the files `.recollect.toml`. Out: why nothing is captured in a
directory, which files and tools are not captured, and warnings. Standard library only, because the
hook asks here before it spools. A project's file is data, never code; one that cannot be read or
understood keeps the project out, with a warning.
"""

import errno
import fnmatch
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recollect.core import oslayer
from recollect.core.path_patterns import Pattern, canonical, file_pattern

PROJECT_FILE = ".recollect.toml"
KINDS = ("project", "file", "tool")
MOST = 200
FILE_BYTES = 64 << 10
_DEPTH = 64
_KNOWN_KEYS = frozenset({"capture", "ignore"})
_PREFIX = re.compile(r"([A-Za-z]{2,}):")  # one letter is a drive of Windows


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
            return DirectoryRules()
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
