"""Devin CLI: hooks and the MCP server in config.json (documented, not run)."""

import os

from recollect.hosts.context import SERVER, Context
from recollect.hosts.devin_cli.facts import FACTS
from recollect.hosts.installer import Installer, grouped_hooks
from recollect.hosts.pieces import JsonFile, Piece, Server


class DevinCliInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        if context.in_project:
            path = os.path.join(context.project, ".devin", "config.local.json")
        else:
            path = os.path.join(context.at("XDG_CONFIG_HOME", ".config"), "devin", "config.json")
        server = Server(("mcpServers", SERVER), context.server())
        edits = (grouped_hooks(self.facts, context), server)
        return [JsonFile(path, "hooks and the MCP server", edits)]

    def notes(self, context: Context) -> list[str]:
        return [
            *super().notes(context),
            "Devin CLI also runs Claude Code's hooks: what comes twice is kept once.",
        ]


INSTALLER = DevinCliInstaller(FACTS)
