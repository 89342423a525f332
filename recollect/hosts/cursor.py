"""Cursor: flat hooks, the MCP server, and a rule in projects (hosts.md 8; documented, not run)."""

import os

from recollect.capture.hosts import HOSTS
from recollect.hosts.base import SERVER, Context, Piece
from recollect.hosts.host import Host
from recollect.hosts.pieces import Default, Hooks, JsonFile, Member, OwnFile
from recollect.hosts.rules import CURSOR_RULES


class Cursor(Host):
    def pieces(self, context: Context) -> list[Piece]:
        base = os.path.join(context.project if context.in_project else context.home, ".cursor")
        hooks = Hooks(
            {
                event.event: {
                    "command": context.hook(self.name, event.event),
                    "timeout": event.timeout_s,
                }
                for event in HOSTS[self.name].events
            }
        )
        server = Member(("mcpServers", SERVER), context.server())
        found: list[Piece] = [
            JsonFile(
                os.path.join(base, "hooks.json"),
                "hooks that capture, and recall at the session's start",
                (Default(("version",), 1), hooks),
            ),
            JsonFile(os.path.join(base, "mcp.json"), "the MCP server", (server,)),
        ]
        if context.in_project:
            path = os.path.join(base, "rules", "recollect.mdc")
            rule = "a rule: when to use the memory"
            found.append(OwnFile(path, rule, CURSOR_RULES.encode(), 0o644))
        return found

    def notes(self, context: Context) -> list[str]:
        notes = [
            *super().notes(context),
            "Cursor can also run Claude Code's hooks (Settings, third-party configs): "
            "keep that off, or each prompt is seen twice.",
        ]
        if not context.in_project:
            notes.append(
                "Cursor has no file for user rules: to have the agent look things up by itself, "
                "paste `recollect install --show-rules` into Settings, Rules."
            )
        return notes


CURSOR = Cursor(
    name="cursor",
    title="Cursor",
    verified=False,
    programs=("cursor", "cursor-agent"),
    places=(".cursor",),
    aliases=("cursor-ide", "cursor-agent"),
)
