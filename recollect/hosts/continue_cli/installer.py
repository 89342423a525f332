"""Continue: hooks in settings.json in Claude Code's form, and a rule."""

import os

from recollect.hosts.context import Context
from recollect.hosts.continue_cli.facts import FACTS
from recollect.hosts.installer import Installer, grouped_hooks
from recollect.hosts.pieces import JsonFile, OwnFile, Piece
from recollect.hosts.rules import OWN_RULES, RULES_REASON
from recollect.hosts.switches import OffSwitch, below, forbidden, project_folders

NAMES = ("settings.json", "settings.local.json")


class ContinueCliInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        name, base = NAMES[int(context.in_project)], context.folder(".continue")
        if not context.in_project:
            base = context.at("CONTINUE_GLOBAL_DIR", ".continue")
        hooks = grouped_hooks(self.facts, context)
        rule = os.path.join(base, "rules", "recollect.md")
        return [
            JsonFile(os.path.join(base, name), "hooks that capture and recall", (hooks,)),
            OwnFile(rule, RULES_REASON, OWN_RULES.encode(), 0o644),
        ]

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        """Any of the files turns all hooks off, Claude Code's among them."""
        folders = [context.at("CONTINUE_GLOBAL_DIR", ".continue"), context.folder(".claude")]
        for folder in project_folders(cwd, context.home):
            folders += below([folder], ".claude", ".continue")
        return forbidden(below(folders, *NAMES), ("disableAllHooks",))

    def notes(self, context: Context) -> list[str]:
        command = f"command: {context.mcp_command[0]}, args: {list(context.mcp_command[1:])}"
        return [
            f"Add the MCP server to mcpServers in config.yaml: {{name: recollect, {command}}}.",
            "cn 1.5.47 does not run hooks yet: bring its sessions in with `recollect import`.",
        ]


INSTALLER = ContinueCliInstaller(FACTS)
