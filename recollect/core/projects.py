"""Finds the project of a directory.

In: a working directory. Out: the project's root and the marks that identify it. A
directory that is gone or unreadable is not an error: the best known place is returned. No git
process is started; git's few files about work trees are read directly.
"""

import os
import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from recollect.core import safe_files

GLOBAL_PROJECT = ""
# How many of a history's latest commits stand for it. Older ones may be those of a template, which
# anybody has; fewer would not reach below what was not pushed yet.
WINDOW = 16
_CONFIG_BYTES = 1 << 16
_HEAD_BYTES = 1 << 10
BRANCH_CHARS = 256

# What makes a directory a project when there is no git repository around it.
MARKERS = (
    *(".hg", ".svn", ".kiro", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml"),
    *("build.gradle", "build.gradle.kts", "composer.json", "Gemfile", "mix.exs", "CMakeLists.txt"),
    "Makefile",
)

IdentityKind = Literal["git", "root", "remote", "alias"]


@dataclass(frozen=True)
class ProjectPlace:
    """Where work happens. `root` is empty for the global project, and for a project that is known
    only by another program's name (`alias`). `remote` and `claimed` are what the folder says of
    itself: its remote, and a repository that does not list it."""

    root: str = ""
    git_dir: str = ""
    remote: str = ""
    alias: str = ""
    claimed: str = ""
    # Of the work tree that was looked at, which may be one of several of the project.
    branch: str = field(default="", compare=False)  # checked out now; empty: none, or unknown
    top: str = field(default="", compare=False)

    @property
    def is_global(self) -> bool:
        return not self.root and not self.alias

    @property
    def name(self) -> str:
        """A short name for people."""
        if self.is_global:
            return "global"
        if not self.root:
            return self.alias.partition(":")[2] or self.alias
        named = self.remote if names_host(self.remote) else self.root
        return named.rstrip("/").rpartition("/")[2].removesuffix(".git")

    @property
    def identities(self) -> tuple[tuple[IdentityKind, str], ...]:
        """The marks that identify the project, strongest first: the path of the repository, the
        path of the files. Both are observed: an unpacked archive cannot choose them."""
        return _given(("git", self.git_dir), ("root", self.root), ("alias", self.alias))

    @property
    def claims(self) -> tuple[tuple[IdentityKind, str], ...]:
        """Marks that the folder gives itself. They may belong to another project, so they count
        only after a check of the history (`portable/clones.py`)."""
        return _given(("git", self.claimed), ("remote", self.remote))


def _given(*marks: tuple[IdentityKind, str]) -> tuple[tuple[IdentityKind, str], ...]:
    return tuple(one for one in marks if one[1])


@dataclass(frozen=True)
class Repository:
    """A git repository by its files: the top of a work tree, its git directory, and the git
    directory that all its work trees share. `own` when these belong to the work tree: they are
    inside it, or point back at it."""

    top: str
    git_dir: str
    common: str
    linked: bool
    own: bool


def locate(cwd: str, home: str | None = None) -> ProjectPlace:
    """The project of a directory: its git repository's main work tree, else the nearest marker
    directory, never $HOME or above it, else the global project."""
    start = os.path.realpath(cwd)
    ceiling = os.path.realpath(home if home is not None else os.path.expanduser("~"))
    candidates = list(_upward(start, ceiling))
    for directory in candidates:
        place = _git_place(directory)
        if place is not None and not _covers(place.root, ceiling):
            return place
    for directory in candidates:
        if any(os.path.exists(os.path.join(directory, marker)) for marker in MARKERS):
            return ProjectPlace(root=canonical(directory), top=canonical(directory))
    return ProjectPlace()


def repository(directory: str) -> Repository | None:
    """The repository around a directory. None when there is none, or when the directory names a
    repository that does not list it."""
    for above in _upward(os.path.realpath(directory), os.sep):
        found = _repository(above)
        if found is not None:
            return found if found.own else None
    return None


def place_at(root: str) -> ProjectPlace:
    """The current place at the root of a known project. A bare repository represents its work
    trees."""
    found = _git_place(root)
    if found is not None and found.root == root:
        return found
    if os.path.isfile(os.path.join(root, "HEAD")) and os.path.isdir(os.path.join(root, "objects")):
        config = _config(os.path.join(root, "config"))
        return ProjectPlace(root=root, git_dir=root, remote=normalise_remote(_origin(config)))
    return ProjectPlace(root=root)


def repository_of(place: ProjectPlace) -> Repository | None:
    """The repository of a place, if it has one, at its main work tree."""
    if not place.git_dir:
        return None
    return Repository(place.root, place.git_dir, place.git_dir, linked=False, own=True)


def unseen(cwd: str) -> ProjectPlace:
    """The place of a directory without looking at the disk."""
    root = unicodedata.normalize("NFC", os.path.normpath(cwd))
    return ProjectPlace() if _covers(root, os.path.expanduser("~")) else ProjectPlace(root=root)


def canonical(path: str) -> str:
    """One spelling for one place: links resolved, NFC, no trailing slash."""
    return unicodedata.normalize("NFC", os.path.realpath(path))


# Folders of the data directory in which `make run` and the proofs of hooks work. They are projects,
# so that nothing of them is mixed with real work, and they are listed only when they are named.
DEMO, PROOF = "demo", "prove"


def is_staged(root: str, data_directory: str) -> bool:
    """Whether a project's directory is the one of `make run` or of the proofs."""
    return root in {canonical(os.path.join(data_directory, name)) for name in (DEMO, PROOF)}


@lru_cache(maxsize=4096)
def namespace(actor: str, project_id: str = GLOBAL_PROJECT) -> str:
    """The key under which an actor's memories of a project are stored."""
    owner = segment(actor)
    if not project_id:
        return f"/actor/{owner}/"
    return f"/actor/{owner}/project/{segment(project_id)}/"


def everywhere(project_namespace: str) -> str:
    """The actor's own namespace, for what holds in all projects."""
    return "/".join(project_namespace.split("/")[:3]) + "/"


def normalise_remote(url: str) -> str:
    """`host/path` of a remote in any spelling, or the absolute path of a local one; empty
    otherwise. The path is not accessed: an untrusted folder could name one that hangs, or that is
    mounted on access."""
    text = url.strip()
    scheme = re.match(r"^[A-Za-z][A-Za-z0-9+.-]*://", text)
    if scheme:
        text = text[scheme.end() :]
        if scheme.group().lower() == "file://":
            return _local_remote(text)
        host, _, path = text.partition("/")
    else:
        if text.startswith("/"):
            return _local_remote(text)
        # scp form: user@host:path. A single letter before the colon is a Windows drive.
        host, colon, path = text.partition(":")
        if not colon or "/" in host or len(host) < 2:
            return ""
    host = re.sub(r":\d+$", "", host.rpartition("@")[2]).lower()
    path = re.sub(r"/+", "/", path).strip("/").removesuffix(".git").rstrip("/")
    if not host or not path:
        return ""
    return unicodedata.normalize("NFC", f"{host}/{path}")


def _local_remote(path: str) -> str:
    if not path.startswith("/"):
        return ""
    plain = os.path.normpath(re.sub(r"/+", "/", path)).removesuffix(".git").rstrip("/")
    return unicodedata.normalize("NFC", plain)


def names_host(remote: str) -> bool:
    """Whether a normalised remote is on another machine."""
    return bool(remote) and not remote.startswith("/")


def segment(text: str) -> str:
    """One path segment of a namespace: no name can add another segment."""
    cleaned = unicodedata.normalize("NFC", text)
    return re.sub(r"[/%\x00-\x1f]", lambda char: f"%{ord(char.group()):02X}", cleaned)


def _upward(start: str, ceiling: str) -> list[str]:
    """The directory and its parents, up to where a project may be."""
    found = []
    directory = start
    while not _covers(directory, ceiling):
        found.append(directory)
        parent = os.path.dirname(directory)
        if parent == directory:
            break
        directory = parent
    return found


def _covers(directory: str, ceiling: str) -> bool:
    """Whether a directory is the ceiling or above it. The file system's root always is."""
    return directory == os.path.dirname(directory) or (ceiling + os.sep).startswith(
        directory.rstrip(os.sep) + os.sep
    )


def _git_place(directory: str) -> ProjectPlace | None:
    """The repository whose work tree starts here, as seen from its main work tree."""
    found = _repository(directory)
    if found is None:
        return None
    remote = normalise_remote(_origin(_config(os.path.join(found.common, "config"))))
    if not found.own:
        claimed = canonical(found.common)
        return ProjectPlace(root=canonical(directory), remote=remote, claimed=claimed)
    if not found.linked:
        root = directory
    elif os.path.basename(found.common) == ".git":
        root = os.path.dirname(found.common)
    else:
        root = found.common  # work trees of a bare repository: the repository stands for them
    return ProjectPlace(
        root=canonical(root),
        git_dir=canonical(found.common),
        remote=remote,
        branch=_branch(found.git_dir),
        top=canonical(directory),
    )


def branch_of(directory: str) -> str:
    """The branch that is checked out around a directory, as far as its files tell."""
    found = repository(directory)
    return _branch(found.git_dir) if found is not None else ""


def _branch(git_dir: str) -> str:
    """What HEAD of a work tree names; a commit that is checked out by itself is no branch."""
    head = safe_files.text_or_nothing(os.path.join(git_dir, "HEAD"), _HEAD_BYTES)
    found = re.fullmatch(r"ref:[ \t]*refs/heads/([^\s\x00-\x1f]{1,256})\s*", head)
    return found[1] if found else ""


def _repository(directory: str) -> Repository | None:
    """What a directory's `.git` leads to. A linked work tree names the repository it shares; a
    submodule is a repository of its own."""
    dot_git = os.path.join(directory, ".git")
    if os.path.isdir(dot_git):
        git_dir = os.path.realpath(dot_git)
    else:
        pointer = safe_files.path_or_nothing(dot_git)
        if not pointer.startswith("gitdir:"):
            return None
        git_dir = os.path.realpath(_joined(directory, pointer[len("gitdir:") :]))
    if not os.path.exists(os.path.join(git_dir, "HEAD")):
        return None
    shared = safe_files.path_or_nothing(os.path.join(git_dir, "commondir"))
    common = os.path.realpath(_joined(git_dir, shared)) if shared else git_dir
    if shared:
        back = _joined(git_dir, safe_files.path_or_nothing(os.path.join(git_dir, "gitdir")))
        own = os.path.dirname(git_dir) == os.path.join(common, "worktrees") and (
            os.path.realpath(os.path.dirname(back)) == directory
        )
    else:
        own = git_dir == dot_git or directory in _work_trees(git_dir)
    return Repository(directory, git_dir, common, bool(shared), own)


def _work_trees(git_dir: str) -> list[str]:
    """The work tree that a git directory names as its own, as a submodule's does."""
    texts = (_config(os.path.join(git_dir, name)) for name in ("config", "config.worktree"))
    named = (_sections(text).get("core", {}).get("worktree", "") for text in texts)
    return [os.path.realpath(_joined(git_dir, one)) for one in named if one]


def _joined(directory: str, written: str) -> str:
    """A path from one of git's files: absolute, or relative to a directory; refused with NUL."""
    return os.path.join(directory, written.strip().replace("\0", ""))


def _origin(config: str) -> str:
    """The URL of `origin`, or of the first remote there is."""
    urls = {
        section: settings["url"]
        for section, settings in _sections(config).items()
        if section.startswith('remote "') and settings.get("url")
    }
    return urls.get('remote "origin"') or next(iter(urls.values()), "")


def _sections(config: str) -> dict[str, dict[str, str]]:
    """A git configuration in its simplest form: settings by section, the first of each name."""
    found: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in config.splitlines():
        text = line.strip()
        if text.startswith("["):
            section = found.setdefault(text[1:].partition("]")[0], {})
        else:
            key, equals, value = text.partition("=")
            if equals:
                section.setdefault(key.strip().lower(), value.strip().strip('"'))
    return found


def _config(path: str) -> str:
    return safe_files.text_or_nothing(path, _CONFIG_BYTES)
