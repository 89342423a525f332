"""Runs git on untrusted repositories. The only place that starts git.

In: a repository, and a command that reads. Out: git's output, or GitFailed: git is missing,
refused, took too long or printed too much. A repository's configuration can name programs in dozens
of ways, and every release of git adds some, so git never sees it. It works in a directory of our
own that borrows only the repository's objects and references.
"""

import os
import re
import selectors
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence

from recollect.core import oslayer, safe_files
from recollect.core.projects import WINDOW, Repository

PATIENCE_S = 30.0
MOST_BYTES = 1 << 20
_MOST_PACKS = 20_000
_MOST_MEMORY = 4 << 30
_CHUNK = 1 << 16
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# What our directory borrows. Not: config, hooks, info (attributes, grafts), worktrees, modules.
_BORROWED = ("objects", "refs", "packed-refs", "shallow", "reftable")
_CONFIG = """\
[core]
\trepositoryformatversion = 1
\tbare = true
\thooksPath = /dev/null
\tfsmonitor = false
\tcommitGraph = false
\tpackedGitLimit = 256m
\tpackedGitWindowSize = 16m
[protocol]
\tallow = never
[log]
\tshowSignature = false
\tmailmap = false
[extensions]
\tobjectFormat = {format}
"""
# Which kinds of storage a repository uses; nothing else of its configuration is believed.
_SETTING = r'^[ \t]*+{}[ \t]*+=[ \t]*+"?+{}"?+[ \t\r]*+$'
_SHA256 = re.compile(_SETTING.format("objectformat", "sha256"), re.IGNORECASE | re.MULTILINE)
_REFTABLE = re.compile(_SETTING.format("refstorage", "reftable"), re.IGNORECASE | re.MULTILINE)

_running: set["subprocess.Popen[bytes]"] = set()


class GitFailed(Exception):
    """Git failed."""


class GitRefused(GitFailed):
    """Git reported an error: an object is missing, or it is not a repository."""


def output(
    repository: Repository,
    *arguments: str,
    told: str = "",
    most: int = MOST_BYTES,
    patience_s: float | None = None,
) -> str:
    """All output of git, if it succeeds; `told` is its standard input."""
    found = stream(repository, *arguments, told=told, most=most, patience_s=patience_s)
    return b"".join(found).decode("utf-8", "replace")


def stream(
    repository: Repository,
    *arguments: str,
    told: str = "",
    most: int = MOST_BYTES,
    patience_s: float | None = None,
) -> Iterator[bytes]:
    """Git's output as it comes. Raises GitFailed when git fails, takes longer than `patience_s`, or
    prints more than `most` bytes."""
    left_s = PATIENCE_S if patience_s is None else patience_s
    with tempfile.TemporaryDirectory(prefix="recollect-git-") as place:
        _furnish(place, repository, told)
        process = _started(place, arguments)
        assert process.stdout is not None
        try:
            with selectors.DefaultSelector() as ready:
                ready.register(process.stdout, selectors.EVENT_READ)
                while True:
                    since = time.monotonic()
                    if left_s <= 0 or not ready.select(left_s):
                        raise GitFailed("git takes too long")
                    left_s -= time.monotonic() - since
                    chunk = os.read(process.stdout.fileno(), _CHUNK)
                    if not chunk:
                        break
                    most -= len(chunk)
                    if most < 0:
                        raise GitFailed("git printed too much")
                    yield chunk
            try:
                code = process.wait(max(left_s, 1.0))
            except subprocess.TimeoutExpired:
                raise GitFailed("git does not end") from None
            if code != 0:
                raise GitRefused(f"git {arguments[0]} ended with {code}")
        finally:
            _end(process)


def _furnish(place: str, repository: Repository, told: str) -> None:
    """Make the directory that git uses as the repository."""
    config = safe_files.text_or_nothing(os.path.join(repository.common, "config"))
    ours = _CONFIG.format(format="sha256" if _SHA256.search(config) else "sha1")
    if _REFTABLE.search(config):
        ours += "\trefStorage = reftable\n"
    files = {
        "HEAD": safe_files.text_or_nothing(os.path.join(repository.git_dir, "HEAD")),
        "config": ours,
        "told": told,
    }
    for name, text in files.items():
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    for name in _BORROWED:
        there = os.path.join(repository.common, name)
        if os.path.lexists(there):
            os.symlink(there, os.path.join(place, name))


def _started(place: str, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    # Only what git needs of our environment, and no directory that depends on where we are.
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    environment = {
        "PATH": os.pathsep.join(one for one in path if os.path.isabs(one)),
        "HOME": place,
        "LC_ALL": "C.UTF-8",
        "GIT_DIR": place,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        with open(os.path.join(place, "told"), "rb") as told:
            process = subprocess.Popen(
                ["git", "--no-pager", *arguments],
                cwd=place,
                env=environment,
                stdin=told,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    except OSError as error:
        raise GitFailed(f"git cannot be run: {error}") from error
    _running.add(process)
    oslayer.limit_memory(process.pid, _MOST_MEMORY)  # an object may claim to be larger
    return process


def end_all() -> None:
    """End all running git processes: their readers get GitFailed."""
    for process in tuple(_running):
        _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill git and whatever it started. A process that was waited for has no group left."""
    if process.returncode is None:
        oslayer.signal_group(process.pid, oslayer.KILL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    _kill(process)
    _running.discard(process)
    if process.stdout is not None:
        process.stdout.close()
    process.wait()


# --- what a history shows -----------------------------------------------------------------------


def latest(repository: Repository) -> tuple[str, ...]:
    """The commits that were checked out or merged last, newest first; none when git fails."""
    try:
        found = output(
            repository, "rev-list", "--first-parent", f"--max-count={WINDOW}", "HEAD"
        ).split()
    except GitFailed:
        return ()
    return tuple(one for one in found if _COMMIT.fullmatch(one))


def holds(repository: Repository, commits: Sequence[str]) -> bool:
    """Whether one of these commits is in the repository's own history: among its own objects, and
    reachable from its references."""
    asked = [one for one in dict.fromkeys(commits) if _COMMIT.fullmatch(one)]
    if not asked or borrows(repository):
        return False
    try:
        shown = output(
            repository, "cat-file", "--batch-check=%(objectname) %(objecttype)",
            told="\n".join(asked) + "\n",
        )  # fmt: skip
        lines = (line.split() for line in shown.splitlines())
        here = [words[0] for words in lines if words[1:] == ["commit"]]
        here = [one for one in here if _is_plain(repository, one)]
        if not here:
            return False
        beyond = output(repository, "rev-list", *here, "--not", "--all", "HEAD").split()
    except GitFailed:
        return False
    return bool(set(here).difference(beyond))


def borrows(repository: Repository) -> str:
    """Why the repository's objects prove nothing: they are stored elsewhere, or somebody else put
    them there. Empty when all are its own."""
    objects = os.path.join(repository.common, "objects")
    packs = os.path.join(objects, "pack")
    try:
        for path in (repository.common, objects, packs):
            status = os.lstat(path)
            if not stat.S_ISDIR(status.st_mode):
                return "its objects lie elsewhere"
            if status.st_uid != oslayer.user_id():
                return "it belongs to another user"
        for name in ("alternates", "http-alternates"):
            if os.path.lexists(os.path.join(objects, "info", name)):
                return "it borrows objects of another repository"
        with os.scandir(packs) as entries:
            for number, entry in enumerate(entries):
                if number == _MOST_PACKS or not entry.is_file(follow_symlinks=False):
                    return "its objects lie elsewhere"
    except OSError:
        return "it cannot be read"
    return ""


def _is_plain(repository: Repository, commit: str) -> bool:
    """Whether a loose commit object is a real file."""
    folder = os.path.join(repository.common, "objects", commit[:2])
    if os.path.islink(folder):
        return False
    loose = os.path.join(folder, commit[2:])
    return not os.path.lexists(loose) or stat.S_ISREG(os.lstat(loose).st_mode)
