"""Where an installation goes and what it shall run.

In: settings and this machine, or values that a test chooses. Out: a Context.
"""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from recollect.capture import launcher
from recollect.core.errors import BadInput
from recollect.core.settings import Settings

SERVER = "recollect"  # the name of our MCP server everywhere

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
    allow_writes: bool = False  # with consent, the tools that change memory run without asking
    rules_file: str = ""  # generic: the file from which an agent reads its rules, such as AGENTS.md
    platform: str = sys.platform
    root: str = "/"  # of the file system: where the settings of an organisation stand

    def __post_init__(self) -> None:
        if self.scope == "project" and not self.project:
            raise BadInput("scope 'project' needs a project directory", field="project")

    def hook(self, host: str, event: str) -> str:
        """The command line that a host's shell runs."""
        if self.platform == "win32":  # cmd.exe and bash both know these quotes
            return f'"{self.hook_command}" {host} {event}'
        return f"{shlex.quote(self.hook_command)} {host} {event}"

    def at(self, variable: str, *default: str) -> str:
        """A host's own directory: what its variable says, else below home."""
        chosen = self.env.get(variable, "")
        return os.path.expanduser(chosen) if chosen else os.path.join(self.home, *default)

    def folder(self, name: str) -> str:
        """A host's directory of this name, in the project or below home."""
        return os.path.join(self.project if self.in_project else self.home, name)

    def system(self, linux: str, mac: str) -> str:
        """A file or folder of the whole machine."""
        return os.path.join(self.root, (mac if self.platform == "darwin" else linux).lstrip("/"))

    @property
    def app_config(self) -> str:
        """Where desktop programs such as VS Code keep their settings."""
        if self.platform == "darwin":
            return os.path.join(self.home, "Library", "Application Support")
        if self.platform == "win32":
            return self.at("APPDATA", "AppData", "Roaming")
        return os.path.join(self.home, ".config")

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


def of_this_machine(
    settings: Settings,
    *,
    project: str | None = None,
    set_default: bool = True,
    allow_writes: bool = False,
    rules_file: str | None = None,
) -> Context:
    """Where hosts keep their files here, and the commands that they shall run."""
    return Context(
        home=os.path.expanduser("~"),
        data_dir=settings.directory,
        hook_command=settings.path("bin", launcher.NAME),
        mcp_command=(_command(), "mcp"),
        scope="project" if project else "user",
        project=os.path.abspath(project) if project else "",
        env=dict(os.environ),
        set_default=set_default,
        allow_writes=allow_writes,
        rules_file=os.path.abspath(os.path.join(project or "", rules_file)) if rules_file else "",
    )


def _command() -> str:
    """The `recollect` that belongs to this Python."""
    beside = os.path.join(os.path.dirname(sys.executable), "recollect")
    return beside if os.path.exists(beside) else os.path.abspath(sys.argv[0])
