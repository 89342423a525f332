"""What an installer is: pure planning of changes to a host's files, and the words for it.

In: a Context (where home, data and commands are). Out: Changes, a State, Notes; nothing is written
here. A file that cannot be read or understood raises BadInput or CannotWrite.
"""

import hashlib
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from recollect.core import safe_files
from recollect.core.errors import BadInput, CannotWrite

MARK = "recollect-hook"  # an entry whose command holds this is ours, whatever its version
MOST_BYTES = 64 << 20  # of a host's own file; Claude Code's ~/.claude.json grows to megabytes
SERVER = "recollect"  # the name of our MCP server everywhere

State = Literal["installed", "partial", "absent", "foreign"]
Scope = Literal["user", "project"]


@dataclass(frozen=True)
class Context:
    """Where an installation goes and what it shall run."""

    home: str
    data_dir: str
    hook_command: str  # the absolute path of recollect-hook
    mcp_command: tuple[str, ...]  # such as ("/venv/bin/recollect", "mcp")
    scope: Scope = "user"
    project: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    set_default: bool = True  # kiro-cli: make our agent the default one if there is none
    merge_agents: bool = False  # kiro-cli: with consent, add our hooks to the user's own agents
    platform: str = sys.platform

    def __post_init__(self) -> None:
        if self.scope == "project" and not self.project:
            raise BadInput("scope 'project' needs a project directory", field="project")

    def hook(self, host: str, event: str) -> str:
        """The command line that a host's shell runs."""
        return f"{shlex.quote(self.hook_command)} {host} {event}"

    def at(self, variable: str, *default: str) -> str:
        """A host's own directory: what its variable says, else below home."""
        chosen = self.env.get(variable, "")
        return os.path.expanduser(chosen) if chosen else os.path.join(self.home, *default)

    @property
    def in_project(self) -> bool:
        return self.scope == "project"

    @property
    def mcp_env(self) -> dict[str, str]:
        """Some hosts start servers with a bare environment, so a moved data directory is named."""
        usual = os.path.join(self.home, ".recollect")
        return {} if self.data_dir == usual else {"RECOLLECT_HOME": self.data_dir}

    def server(self, **extra: object) -> dict[str, object]:
        """Our MCP server as most hosts write it."""
        entry: dict[str, object] = {"command": self.mcp_command[0], "args": [*self.mcp_command[1:]]}
        return entry | ({"env": self.mcp_env} if self.mcp_env else {}) | extra


@dataclass(frozen=True)
class Change:
    """One file before and after; None means that there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    mode: int | None = None  # for a new file; an existing one keeps its own


@dataclass(frozen=True)
class Found:
    """How we know that a host is on this machine."""

    how: tuple[str, ...]
    program: str | None = None


class Piece(Protocol):
    """One file that a host reads, and what in it is ours."""

    @property
    def path(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def mode(self) -> int | None: ...

    def put(self, before: bytes | None) -> bytes:
        """The file with our entries in it; the same bytes when they are there already."""

    def strip(self, now: bytes, keep: bytes | None) -> bytes | None:
        """The file without our entries; None when nothing is left.

        `keep` is the file as it was before us: empty containers that it had stay.
        """

    def holds(self, now: bytes) -> bool:
        """Whether anything of ours is in it."""


class Installer(Protocol):
    """A host: how to find it, what we put where, what a person must still do."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...
    @property
    def verified(self) -> bool:
        """Whether a real client was seen running what we write; else only documented."""

    def detect(self, home: str, env: Mapping[str, str]) -> Found | None: ...
    def pieces(self, context: Context) -> list[Piece]: ...
    def plan_install(self, context: Context) -> list[Change]: ...
    def plan_uninstall(self, context: Context) -> list[Change]: ...
    def state(self, context: Context) -> State:
        """How much of ours is there; a file that cannot be understood raises BadInput."""

    def notes(self, context: Context) -> list[str]: ...


def read(path: str) -> bytes | None:
    """A file's bytes; None when there is none."""
    try:
        return safe_files.read_whole(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotWrite(f"{path} cannot be read: {error.strerror}") from error


def digest(raw: bytes | None) -> str | None:
    return None if raw is None else hashlib.sha256(raw).hexdigest()
