"""Agents without hooks: a block in a rules file such as AGENTS.md, and the MCP server.

In: a context that names the rules file. Out: pieces: that file, those of earlier installations, and
the MCP configuration of each program below that is on this machine (or used in the project).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.core.errors import BadInput
from recollect.hosts.changes import FileChange
from recollect.hosts.context import SERVER, Context
from recollect.hosts.generic.facts import FACTS
from recollect.hosts.installer import Installer
from recollect.hosts.ledger import InstallLedger
from recollect.hosts.pieces import JsonFile, Piece, Server, TextBlock
from recollect.hosts.rules import RULES, RULES_REASON


@dataclass(frozen=True)
class McpProgram:
    """Where a program keeps its MCP servers: of the user, of a project, and under which key."""

    folder: str  # below the user's configuration or home; it shows that the program is here
    file: str
    project: str  # its first part shows that the project uses the program
    key: str = "mcpServers"
    extra: Mapping[str, object] = field(default_factory=dict)


VS_CODE = McpProgram("Code/User", "mcp.json", ".vscode/mcp.json", "servers", {"type": "stdio"})
CONFIGURED = (
    McpProgram(
        "zed", "settings.json", ".zed/settings.json", "context_servers", {"source": "custom"}
    ),
    McpProgram("amp", "settings.json", ".amp/settings.json", "amp.mcpServers"),
    McpProgram("crush", "crush.json", ".crush.json", "mcp", {"type": "stdio"}),
)
JUNIE = McpProgram(".junie", "mcp/mcp.json", ".junie/mcp/mcp.json")


class GenericInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        rules = self._rules_files(context)
        return [
            *(TextBlock(path, RULES_REASON, RULES, 0o644) for path in rules),
            *(_server(path, program, context) for path, program in _found(context) if rules),
        ]

    def plan_install(self, context: Context) -> list[FileChange]:
        if not self._rules_files(context):
            raise BadInput(
                "the file that your agent reads its rules from is not known",
                field="--file",
                hint="recollect install generic --file AGENTS.md",
            )
        return super().plan_install(context)

    def notes(self, context: Context) -> list[str]:
        command = " ".join(context.mcp_command)
        if any(isinstance(piece, JsonFile) for piece in self.pieces(context)):
            told = f"For an agent that is not listed above, add the MCP server `{command}` to it."
        else:
            told = f"Add the MCP server `{command}` (stdio) to the agent: no file for it is known."
        return [
            told,
            f"In Goose: `goose configure`, Add Extension, Command-line Extension, `{command}`.",
            "Without hooks nothing is captured by itself: the agent calls the tools of Recollect.",
        ]

    def _rules_files(self, context: Context) -> list[str]:
        """The one that was named, and those that hold our block since earlier."""
        named = context.rules_file
        if not named and context.in_project:
            named = os.path.join(context.project, "AGENTS.md")
        servers = {path for path, _ in _found(context)}
        scope = context.project if context.in_project else ""
        ours = [
            path
            for path, record in InstallLedger.load(context.data_dir).files.items()
            if self.name in record.hosts and record.project == scope and path not in servers
        ]
        return list(dict.fromkeys([*([named] if named else []), *filter(os.path.exists, ours)]))


def _found(context: Context) -> list[tuple[str, McpProgram]]:
    """The MCP configuration of each program that is here."""
    all_programs = (VS_CODE, *CONFIGURED, JUNIE)
    if context.in_project:
        places = [
            (os.path.join(context.project, one.project.split("/")[0]), one) for one in all_programs
        ]
        files = [os.path.join(context.project, one.project) for one in all_programs]
    else:
        config = context.at("XDG_CONFIG_HOME", ".config")
        places = [(os.path.join(context.app_config, VS_CODE.folder), VS_CODE)]
        places += [(os.path.join(config, one.folder), one) for one in CONFIGURED]
        places.append((os.path.join(context.home, JUNIE.folder), JUNIE))
        files = [os.path.join(folder, one.file) for folder, one in places]
    return [
        (path, one)
        for path, (shown, one) in zip(files, places, strict=True)
        if os.path.exists(shown)
    ]


def _server(path: str, program: McpProgram, context: Context) -> JsonFile:
    server = Server((program.key, SERVER), context.server(**program.extra))
    return JsonFile(path, "the MCP server", (server,))


INSTALLER = GenericInstaller(FACTS)
