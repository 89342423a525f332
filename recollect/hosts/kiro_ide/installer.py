"""Kiro IDE: a hook file of our own in the format of IDE 1.x, which Kiro CLI 3 reads too."""

import os

from recollect.hosts.context import Context
from recollect.hosts.installer import Installer, server_file
from recollect.hosts.kiro_ide.facts import FACTS
from recollect.hosts.pieces import Default, Elements, JsonFile, Piece


class KiroIdeInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        hooks = Elements(
            ("hooks",),
            tuple(
                {
                    "name": f"recollect-{hook.event}",
                    "trigger": hook.event,
                    **hook.matched,
                    "action": {"type": "command", "command": context.hook(self.name, hook.event)},
                    "timeout": hook.timeout_s,
                    "enabled": True,
                }
                for hook in self.facts.hooks
            ),
        )
        base = context.folder(".kiro")
        path = os.path.join(base, "hooks", "recollect.json")
        edits = (Default(("version",), "v1"), hooks)
        return [
            JsonFile(path, "hooks that capture and recall", edits),
            server_file(
                os.path.join(base, "settings", "mcp.json"),
                context,
                allow="autoApprove",
                disabled=False,
            ),
        ]


INSTALLER = KiroIdeInstaller(FACTS)
