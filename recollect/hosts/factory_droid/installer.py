"""Factory Droid: hooks in hooks.json, the MCP server in mcp.json (documented, not run)."""

import os
from dataclasses import replace

from recollect.hosts import slash_command
from recollect.hosts.changes import read
from recollect.hosts.context import Context
from recollect.hosts.factory_droid.facts import FACTS
from recollect.hosts.installer import Installer, grouped_hooks, server_file
from recollect.hosts.json_edit import JsonDocument
from recollect.hosts.pieces import JsonFile, Piece


class FactoryDroidInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        base = context.folder(".factory")
        hooks = grouped_hooks(self.facts, context)
        path, settings = os.path.join(base, "hooks.json"), os.path.join(base, "settings.json")
        if not os.path.exists(path) and JsonDocument.read(read(settings), settings).has(hooks.root):
            path = settings  # a new hooks.json would hide the user's hooks in settings.json
        else:
            hooks = replace(hooks, root=())  # the file holds nothing but events
        return [
            JsonFile(path, "hooks that capture and recall", (hooks,)),
            server_file(os.path.join(base, "mcp.json"), context, disabled=False),
        ]

    def slash_command(self, context: Context) -> list[Piece]:
        path = os.path.join(context.folder(".factory"), "commands", "recollect.md")
        return slash_command.markdown(path, context, "$ARGUMENTS")


INSTALLER = FactoryDroidInstaller(FACTS)
