"""What is kept out on purpose: projects, files, tools, and private sessions.

In: rules of the user (the setting `ignore`) and of a project (`.recollect.toml`), prompts, the data
directory. Out: why something must not be captured, or nothing. Standard library only, because the
hook asks here before it spools. A project's file is data, never code; one that cannot be read or
understood keeps the project out, with a warning.
"""

import fnmatch
import functools
import hashlib
import json
import os
import re
import stat
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROJECT_FILE = ".recollect.toml"
PRIVATE_VARIABLE = "RECOLLECT_PRIVATE"
PRIVATE_LINE = "recollect: private"
PUBLIC_LINE = "recollect: public"
WORD, ENVIRONMENT = "word", "environment"
KINDS = ("project", "file", "tool")
PROMPT_FIELDS = ("prompt", "user_prompt", "userPrompt", "message")
EVENT_FIELDS = ("hook_event_name", "hookName", "hookEventName")
# --- made from hosts/*/facts.py and adapter.py: python -m tests.docs --write ---
# Where payloads name their session.
SESSION_FIELDS = (
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "trajectory_id",
    "taskId",
    "task_id",
    "thread-id",
)
# Variables that name it.
SESSION_VARIABLES = (
    "CLAUDE_CODE_SESSION_ID",
    "GEMINI_SESSION_ID",
    "QWEN_CODE_SESSION_ID",
)
# Events that end it, in letters and digits alone.
SESSION_ENDS = (
    "sessiondeleted",
    "sessionend",
    "taskcancel",
)
# --- end of what is made ---

LONGEST = 256
MOST = 200
MOST_PARTS = 20
MOST_WILD = 12
FILE_BYTES = 64 << 10
MOST_WORK = 100_000  # parts of paths held against patterns, for one call of a tool
_DEPTH = 64
_TOKEN = re.compile(r"[^\s\"'`<>|;&(),=:\[\]{}]{1,4096}")
_WILD = re.compile(r"\[[^\]]*\]?|[*?/]+")
_WORD = re.compile(r"recollect:[ \t]{0,8}(private|public)", re.IGNORECASE)
_KNOWN_KEYS = frozenset({"capture", "ignore"})
# A session may have begun so long before its first hook was heard, and go on in its transcript so
# long after the last one.
_LATE_MS = 60_000
# A private session that was silent for so long is no longer shown; it is kept out all the same.
RUNNING_S = {WORD: 24 * 3600, ENVIRONMENT: 12 * 3600}


# --- patterns ------------------------------------------------------------------------------------


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


# --- rules ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeepOutRules:
    """What the user keeps out, in every project."""

    projects: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    files: tuple[Pattern, ...] = ()

    def project(self, directory: str) -> str:
        """The rule that matches a directory, or nothing."""
        path = canonical(directory) + "/"
        return next((one for one in self.projects if path.startswith(one.rstrip("/") + "/")), "")

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


def rules(entries: Iterable[str]) -> KeepOutRules:
    """The valid rules of a list."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for entry in entries:
        if not fault_in_rules([entry]):
            kind, _, value = entry.partition(":")
            found[kind].append(value.strip())
    return KeepOutRules(
        projects=tuple(canonical(os.path.expanduser(one)) for one in found["project"]),
        tools=tuple(found["tool"]),
        files=tuple(map(file_pattern, found["file"])),
    )


def canonical(path: str) -> str:
    import unicodedata  # the hook that only asks for the environment does not need it

    return unicodedata.normalize("NFC", os.path.realpath(path))


# --- a project's own file ------------------------------------------------------------------------


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
        rule = own.project(directory)
        off = f"the setting ignore has project:{rule}" if rule else ""
        files, warnings = list(own.files), []
        for folder in _upward(canonical(directory)):
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
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
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


def _checked(fd: int, about: os.stat_result, folder: str) -> ProjectRules:
    if not stat.S_ISREG(about.st_mode):
        return ProjectRules(broken="it is not a file")
    if about.st_uid not in (os.getuid(), 0):
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
        files = tuple(file_pattern(one, folder) for one in given)
    except ValueError as error:
        return ProjectRules(broken=f"ignore: {error}", unknown=unknown)
    return ProjectRules(capture=capture, files=files, unknown=unknown)


def _upward(directory: str) -> list[str]:
    found = [directory]
    while len(found) < _DEPTH and directory != (directory := os.path.dirname(directory)):
        found.append(directory)
    return found


# --- what a tool touched -------------------------------------------------------------------------


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


# --- private sessions ----------------------------------------------------------------------------


def private_environment(environ: Mapping[str, str]) -> bool:
    return environ.get(PRIVATE_VARIABLE, "").strip().lower() not in ("", "0", "false", "no", "off")


def privacy_word(prompt: str) -> str:
    """`private` or `public` when the first or the last line of a prompt is that word and nothing
    else."""
    lines = prompt.strip().splitlines()
    for line in (lines[:1] + lines[-1:]) if lines else ():
        found = _WORD.fullmatch(line.strip())
        if found is not None:
            return found.group(1).lower()
    return ""


def session_key(host: str, session_id: str | None, cwd: str) -> str:
    """What identifies a session across restarts. A host that names no session has one per
    directory."""
    return session_id or f"{host}@{cwd}"


@dataclass(frozen=True)
class PrivateSession:
    """A private session that is still open: its host, and what made it private."""

    host: str
    by: str


def private_sessions_text(sessions: Sequence[PrivateSession]) -> tuple[str, str]:
    """One sentence about the open private sessions, and how they end."""
    hosts = ", ".join(sorted({one.host for one in sessions}))
    if len(sessions) == 1:
        told = f"A private session of {hosts} is running: nothing of it is kept."
    else:
        told = f"{len(sessions)} private sessions are running ({hosts}): nothing of them is kept."
    ways = {
        WORD: f"Private by a prompt: the line `{PUBLIC_LINE}` in a prompt, or its end, ends that.",
        ENVIRONMENT: f"Private by {PRIVATE_VARIABLE}: that ends with the session.",
    }
    kinds = {one.by for one in sessions}
    return told, " ".join(way for by, way in ways.items() if by in kinds)


class PrivateSessions:
    """Which sessions were private, and when: one small file each, named by a digest."""

    def __init__(self, directory: str) -> None:
        self._folder = os.path.join(directory, "private")

    def begin(self, key: str, host: str, at_ms: int, by: str) -> None:
        """`by` is the word in a prompt or the environment: only the former can be taken back."""
        spans = self._spans(key)
        if not spans or spans[-1][1] is not None:
            spans.append([at_ms, None])
        self._write(key, host, spans, by)

    def end(self, key: str, host: str, at_ms: int) -> None:
        spans = self._spans(key)
        if spans and spans[-1][1] is None:
            spans[-1][1] = max(at_ms, spans[-1][0])
            self._write(key, host, spans)

    def open(self, key: str) -> str:
        """What makes a session private now; empty when it is not."""
        spans = self._spans(key)
        going_on = bool(spans) and spans[-1][1] is None
        return str(_json(self._path(key)).get("by") or WORD) if going_on else ""

    def covers(self, key: str, at_ms: int) -> bool:
        """Whether a session was private at that time."""
        return any(
            since <= at_ms and (until is None or at_ms <= until)
            for since, until in self._spans(key)
        )

    def running(self) -> list[PrivateSession]:
        """The private sessions that are open and were active lately."""
        found = []
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        for name in names:
            path = os.path.join(self._folder, name)
            data = _json(path)
            spans = data.get("spans") or [[0, 0]]
            try:
                age = time.time() - os.stat(path).st_mtime
            except OSError:
                continue
            by = ENVIRONMENT if data.get("by") == ENVIRONMENT else WORD
            if spans[-1][1] is None and age < RUNNING_S[by]:
                found.append(PrivateSession(str(data.get("host", "")), by))
        return found

    def note_activity(self, key: str) -> None:
        try:
            os.utime(self._path(key))
        except OSError:
            return  # it is gone: then it is not shown either

    def _path(self, key: str) -> str:
        digest = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return os.path.join(self._folder, f"{digest}.json")

    def _spans(self, key: str) -> list[list[Any]]:
        spans = _json(self._path(key)).get("spans")
        return [list(one) for one in spans] if isinstance(spans, list) else []

    def _write(self, key: str, host: str, spans: list[list[Any]], by: str = "") -> None:
        from recollect.core import oslayer  # slow to load, and the hook seldom comes here

        oslayer.private_directory(self._folder)
        content = json.dumps({"host": host[:64], "spans": spans, "by": by})
        oslayer.replace_file(self._path(key), content.encode())


def _json(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = json.loads(file.read(1 << 16))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


# --- asked by the hook ---------------------------------------------------------------------------


def session_in(stdin: bytes, environ: Mapping[str, str]) -> str | None:
    """The session that a host names in a hook's input, as its adapter would read it."""
    told = _object(stdin)
    for name in SESSION_FIELDS:
        if isinstance(value := told.get(name), str) and value.strip():
            return value.strip()[:LONGEST]
    return next((environ[name] for name in SESSION_VARIABLES if environ.get(name)), None)


def keep_private(
    directory: str, host: str, event: str, stdin: bytes, cwd: str, now_ms: int
) -> None:
    """Note that the environment makes this session private, and until when, so that no import of
    the host's transcript brings it in later."""
    session_id = session_in(stdin, os.environ)
    key, private = session_key(host, session_id, cwd), PrivateSessions(directory)
    private.begin(key, host, now_ms - _LATE_MS, ENVIRONMENT)
    if is_session_end(event, stdin):
        private.end(key, host, now_ms + _LATE_MS)


def is_session_end(event: str, stdin: bytes) -> bool:
    """Whether a hook was called at the end of a session; some hosts name the event in its input."""
    if not event:
        told = _object(stdin)
        named = (told.get(name) for name in EVENT_FIELDS)
        event = next((one for one in named if isinstance(one, str)), "")
    return "".join(filter(str.isalnum, event[:100].lower())) in SESSION_ENDS


def may_spool(directory: str, host: str, stdin: bytes, env: Mapping[str, str], cwd: str) -> bool:
    """Whether what the daemon did not take may be kept on disk until it does. A prompt that makes
    its session private takes effect here. Only the adapter knows which of a host's directories is
    the project, so one that is kept out is enough."""
    own, reader = rules(_setting(os.path.join(directory, "settings.toml"))), ProjectRulesReader()
    told = _object(stdin)
    named = [cwd, told.get("cwd"), *env.values()]
    if any(isinstance(one, str) and reader.rules_for(one, own).off for one in named):
        return False
    cwd = next((one for one in named[1:2] if isinstance(one, str) and os.path.isabs(one)), cwd)
    private, key = PrivateSessions(directory), session_key(host, session_in(stdin, env), cwd)
    now_ms = time.time_ns() // 1_000_000
    word = _word_in(told)
    if word == "private":
        private.begin(key, host, now_ms, WORD)
    elif word == "public" or private.open(key) == ENVIRONMENT:
        private.end(key, host, now_ms)  # without the variable, this session goes on in the open
    return not word and not private.open(key)


def _object(stdin: bytes) -> dict[str, Any]:
    try:
        data = json.loads(stdin)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _word_in(told: Mapping[str, Any]) -> str:
    for name in PROMPT_FIELDS:
        if isinstance(text := told.get(name), str) and (word := privacy_word(text)):
            return word
    return ""


def _setting(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            given = tomllib.load(file).get("ignore", [])
    except (OSError, ValueError):
        return []
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
