"""Antigravity CLI: a named set of hooks, the MCP server, and rules (documented, not run)."""

import os
from dataclasses import replace

from recollect.hosts.antigravity_cli.facts import FACTS
from recollect.hosts.context import Context
from recollect.hosts.installer import Installer, grouped_hooks, server_file
from recollect.hosts.pieces import JsonFile, Piece, TextBlock
from recollect.hosts.rules import RULES, RULES_REASON
from recollect.hosts.switches import OffSwitch, switched_off


class AntigravityCliInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        if context.in_project:
            base, rules = context.folder(".agents"), context.folder("AGENTS.md")
        else:
            base, rules = context.folder(".gemini/config"), context.folder(".gemini/GEMINI.md")
        hooks = replace(grouped_hooks(self.facts, context), root=("recollect",))
        return [
            JsonFile(os.path.join(base, "hooks.json"), "hooks that capture", (hooks,)),
            server_file(os.path.join(base, "mcp_config.json"), context),
            TextBlock(rules, RULES_REASON, RULES, 0o644),
        ]

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        path = os.path.join(context.home, ".gemini", "config", "hooks.json")
        return switched_off([path], ("recollect", "enabled"), False)


INSTALLER = AntigravityCliInstaller(FACTS)
