"""Which project a directory belongs to.

In: a working directory. Out: a `Place`: the root that stands for the project and the marks by
which it is known again. A directory that vanished, or that cannot be read, is no error: the
nearest thing that can be told is returned. No git process is started; the few files git keeps
about work trees are read directly.
"""

import os
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from recollect.core import safe_files

GLOBAL_PROJECT = ""
_CONFIG_BYTES = 1 << 16

# What makes a directory a project when there is no git repository around it.
MARKERS = (
    ".hg",
    ".svn",
    ".kiro",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "CMakeLists.txt",
    "Makefile",
)

IdentityKind = Literal["git", "root", "remote", "alias"]


@dataclass(frozen=True)
class Place:
    """Where work happens. `root` is empty for the global project, and for a project of which only
    a name is known: what another program called it (`alias`)."""

    root: str = ""
    git_dir: str = ""
    remote: str = ""
    alias: str = ""

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
        return (self.remote or self.root).rstrip("/").rpartition("/")[2].removesuffix(".git")

    @property
    def identities(self) -> tuple[tuple[IdentityKind, str], ...]:
        """The marks, strongest first: where the repository lies, where the files lie, whence it
        was cloned. The path leads so that a renamed remote does not orphan a project's memories;
        the remote makes a second clone, or a moved one, the same project."""
        marks: list[tuple[IdentityKind, str]] = []
        if self.git_dir:
            marks.append(("git", self.git_dir))
        if self.root:
            marks.append(("root", self.root))
        if self.remote:
            marks.append(("remote", self.remote))
        if self.alias:
            marks.append(("alias", self.alias))
        return tuple(marks)


def locate(cwd: str, home: str | None = None) -> Place:
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
            return Place(root=canonical(directory))
    return Place()


def unseen(cwd: str) -> Place:
    """What can be told of a directory without looking at it: it stands for itself."""
    root = unicodedata.normalize("NFC", os.path.normpath(cwd))
    return Place() if _covers(root, os.path.expanduser("~")) else Place(root=root)


def canonical(path: str) -> str:
    """One spelling for one place: links resolved, NFC, no trailing slash."""
    return unicodedata.normalize("NFC", os.path.realpath(path))


def namespace(actor: str, project_id: str = GLOBAL_PROJECT) -> str:
    """The key under which an actor's memories of a project are kept."""
    owner = segment(actor)
    if not project_id:
        return f"/actor/{owner}/"
    return f"/actor/{owner}/project/{segment(project_id)}/"


def normalise_remote(url: str) -> str:
    """`host/path` of a remote, whatever its spelling; empty for one that names no host."""
    text = url.strip()
    scheme = re.match(r"^[A-Za-z][A-Za-z0-9+.-]*://", text)
    if scheme:
        if scheme.group().lower() == "file://":
            return ""
        text = text[scheme.end() :]
        host, _, path = text.partition("/")
    else:
        # scp form: user@host:path. A single letter before the colon is a Windows drive.
        host, colon, path = text.partition(":")
        if not colon or "/" in host or len(host) < 2:
            return ""
    host = re.sub(r":\d+$", "", host.rpartition("@")[2]).lower()
    path = re.sub(r"/+", "/", path).strip("/").removesuffix(".git").rstrip("/")
    if not host or not path:
        return ""
    return unicodedata.normalize("NFC", f"{host}/{path}")


def segment(text: str) -> str:
    """One path segment of a namespace: nothing in a name may open another segment."""
    cleaned = unicodedata.normalize("NFC", text)
    return re.sub(r"[/%\x00-\x1f]", lambda char: f"%{ord(char.group()):02X}", cleaned)


def _upward(start: str, ceiling: str) -> list[str]:
    """The directory and its parents, as far up as a project may lie."""
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
    """Whether a directory is the ceiling or lies above it. The file system's root always does."""
    return directory == os.path.dirname(directory) or (ceiling + os.sep).startswith(
        directory.rstrip(os.sep) + os.sep
    )


def _git_place(directory: str) -> Place | None:
    """The repository whose work tree starts here, seen from its main work tree."""
    dot_git = os.path.join(directory, ".git")
    if os.path.isdir(dot_git):
        git_dir = dot_git
    else:
        pointer = safe_files.path_or_nothing(dot_git)
        if not pointer.startswith("gitdir:"):
            return None
        git_dir = os.path.join(directory, pointer[len("gitdir:") :].strip())
    if not os.path.exists(os.path.join(git_dir, "HEAD")):
        return None
    # A linked work tree names the repository it shares; a submodule is a repository of its own.
    shared = safe_files.path_or_nothing(os.path.join(git_dir, "commondir"))
    common = (
        os.path.realpath(os.path.join(git_dir, shared)) if shared else os.path.realpath(git_dir)
    )
    if not shared:
        root = directory
    elif os.path.basename(common) == ".git":
        root = os.path.dirname(common)
    else:
        root = common  # work trees of a bare repository: the repository itself stands for them
    remote = _origin(safe_files.text_or_nothing(os.path.join(common, "config"), _CONFIG_BYTES))
    return Place(root=canonical(root), git_dir=canonical(common), remote=normalise_remote(remote))


def _origin(config: str) -> str:
    """The URL of `origin`, or of the first remote there is."""
    section = ""
    urls: dict[str, str] = {}
    for line in config.splitlines():
        text = line.strip()
        header = re.match(r'^\[remote "(.*)"\]', text)
        if text.startswith("["):
            section = header.group(1) if header else ""
        elif section:
            key, equals, value = text.partition("=")
            if equals and key.strip().lower() == "url":
                urls.setdefault(section, value.strip().strip('"'))
    return urls.get("origin") or next(iter(urls.values()), "")
