"""Hooks and MCP servers in one settings.json, as Gemini CLI and Qwen Code have them."""

import os

from recollect.hosts.context import SERVER, Context
from recollect.hosts.installer import Installer, grouped_hooks
from recollect.hosts.pieces import JsonFile, Piece, Server


class OneSettingsFile(Installer):
    directory: str  # below home, or below the project
    home_variable = ""  # moves home itself

    def pieces(self, context: Context) -> list[Piece]:
        root = context.project if context.in_project else context.at(self.home_variable)
        path = os.path.join(root, self.directory, "settings.json")
        # Trusted, because our tools would else ask at each call; they only reach our own daemon.
        server = Server(("mcpServers", SERVER), context.server(trust=True))
        edits = (grouped_hooks(self.facts, context, milliseconds=True), server)
        return [JsonFile(path, "hooks and the MCP server", edits)]

    def notes(self, context: Context) -> list[str]:
        trust = f"{self.title} runs no project hooks in a folder that it does not trust."
        return [*super().notes(context), *([trust] if context.in_project else [])]
