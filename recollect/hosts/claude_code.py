"""Claude Code: hooks in settings.json, the MCP server in .claude.json (hosts.md 2)."""

import os

from recollect.capture.hosts import HOSTS
from recollect.hosts.base import SERVER, Context, Piece
from recollect.hosts.host import Host
from recollect.hosts.pieces import Hooks, JsonFile, Member


class ClaudeCode(Host):
    def pieces(self, context: Context) -> list[Piece]:
        if context.in_project:
            # The personal file: settings.json is shared with the team, and our paths are not.
            settings = os.path.join(context.project, ".claude", "settings.local.json")
            servers = os.path.join(context.project, ".mcp.json")
        else:
            settings = os.path.join(context.at("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")
            servers = os.path.join(context.at("CLAUDE_CONFIG_DIR"), ".claude.json")
        # Without alwaysLoad only the tools' names would reach the model.
        server = {"type": "stdio", **context.server(alwaysLoad=True)}
        return [
            JsonFile(settings, "hooks that capture and recall", (hooks(context, self.name),)),
            JsonFile(servers, "the MCP server", (Member(("mcpServers", SERVER), server),)),
        ]

    def notes(self, context: Context) -> list[str]:
        return [
            *super().notes(context),
            "In a folder that Claude Code does not trust yet, it asks before hooks run.",
        ]


def hooks(context: Context, host: str, milliseconds: bool = False) -> Hooks:
    """Hooks in the form that Claude Code invented and Codex, Gemini and Qwen share."""
    return Hooks(
        {
            event.event: {
                **event.matched,
                "hooks": [
                    {
                        "type": "command",
                        "command": context.hook(host, event.event),
                        "timeout": event.timeout_ms if milliseconds else event.timeout_s,
                    }
                ],
            }
            for event in HOSTS[host].events
        },
        groups=True,
    )


CLAUDE_CODE = ClaudeCode(
    name="claude-code",
    title="Claude Code",
    verified=True,
    programs=("claude",),
    places=(".claude",),
    variables=("CLAUDE_CONFIG_DIR",),
    aliases=("claude", "claudecode", "claude_code"),
)
