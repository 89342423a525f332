"""Windsurf: hooks that capture; recall by MCP and rules (hosts.md 8; documented, not run)."""

import os

from recollect.capture.hosts import HOSTS
from recollect.hosts.base import SERVER, Context, Piece
from recollect.hosts.host import Host
from recollect.hosts.pieces import Hooks, JsonFile, Member, OwnFile, TextBlock
from recollect.hosts.rules import RULES, WINDSURF_RULES


class Windsurf(Host):
    def pieces(self, context: Context) -> list[Piece]:
        hooks = Hooks(
            {
                event.event: {
                    "command": context.hook(self.name, event.event),
                    "show_output": False,
                }
                for event in HOSTS[self.name].events
            }
        )
        rule = "a rule: when to use the memory"
        if context.in_project:
            base = os.path.join(context.project, ".windsurf")
            path = os.path.join(base, "rules", "recollect.md")
            return [
                JsonFile(os.path.join(base, "hooks.json"), "hooks that capture", (hooks,)),
                OwnFile(path, rule, WINDSURF_RULES.encode(), 0o644),
            ]
        base = os.path.join(context.home, ".codeium", "windsurf")
        server = Member(("mcpServers", SERVER), context.server())
        return [
            JsonFile(os.path.join(base, "hooks.json"), "hooks that capture", (hooks,)),
            JsonFile(os.path.join(base, "mcp_config.json"), "the MCP server", (server,)),
            TextBlock(os.path.join(base, "memories", "global_rules.md"), rule, RULES),
        ]


WINDSURF = Windsurf(
    name="windsurf",
    title="Windsurf",
    verified=False,
    programs=("windsurf",),
    aliases=("cascade",),
    places=(os.path.join(".codeium", "windsurf"),),
)
