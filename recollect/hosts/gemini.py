"""Gemini CLI and Qwen Code: hooks and MCP servers in one settings.json (hosts.md 4 and 6)."""

import os
from dataclasses import dataclass

from recollect.hosts.base import SERVER, Context, Piece
from recollect.hosts.claude_code import hooks
from recollect.hosts.host import Host
from recollect.hosts.pieces import JsonFile, Member


@dataclass(frozen=True)
class GeminiLike(Host):
    directory: str = ""  # below home, or below the project
    home_variable: str = ""  # moves home itself

    def pieces(self, context: Context) -> list[Piece]:
        root = context.project if context.in_project else context.at(self.home_variable)
        path = os.path.join(root, self.directory, "settings.json")
        # Trusted, because our tools would else ask at each call; they only reach our own daemon.
        server = Member(("mcpServers", SERVER), context.server(trust=True))
        edits = (hooks(context, self.name, milliseconds=True), server)
        return [JsonFile(path, "hooks and the MCP server", edits)]

    def notes(self, context: Context) -> list[str]:
        trust = f"{self.title} runs no project hooks in a folder that it does not trust."
        return [*super().notes(context), *([trust] if context.in_project else [])]


GEMINI = GeminiLike(
    name="gemini",
    title="Gemini CLI",
    verified=True,
    programs=("gemini",),
    places=(".gemini",),
    variables=("GEMINI_CLI_HOME",),
    aliases=("gemini-cli",),
    directory=".gemini",
    home_variable="GEMINI_CLI_HOME",
)
QWEN = GeminiLike(
    name="qwen",
    title="Qwen Code",
    verified=True,
    programs=("qwen",),
    places=(".qwen",),
    aliases=("qwen-code", "qwen-cli"),
    directory=".qwen",
)
