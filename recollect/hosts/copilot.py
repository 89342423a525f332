"""GitHub Copilot CLI: a hook file of our own, the MCP server in mcp-config.json (hosts.md 5)."""

import os

from recollect.capture.hosts import HOSTS
from recollect.hosts.base import SERVER, Context, Piece
from recollect.hosts.host import Host
from recollect.hosts.pieces import Default, Hooks, JsonFile, Member


class Copilot(Host):
    def pieces(self, context: Context) -> list[Piece]:
        base = context.at("COPILOT_HOME", ".copilot")
        folder = os.path.join(context.project, ".github") if context.in_project else base
        hooks = Hooks(
            {
                event.event: {
                    "type": "command",
                    "bash": context.hook(self.name, event.event),
                    "timeoutSec": event.timeout_s,
                }
                for event in HOSTS[self.name].events
            }
        )
        path = os.path.join(folder, "hooks", "recollect.json")
        found: list[Piece] = [
            JsonFile(path, "hooks that capture and recall", (Default(("version",), 1), hooks))
        ]
        if not context.in_project:
            server = {"type": "local", **context.server(tools=["*"])}
            path = os.path.join(base, "mcp-config.json")
            edit = Member(("mcpServers", SERVER), server)
            found.append(JsonFile(path, "the MCP server", (edit,)))
        return found

    def notes(self, context: Context) -> list[str]:
        return [
            *super().notes(context),
            "Copilot also runs hooks of a repository's .claude/settings.json: "
            "install Claude Code's hooks for the user, not in the project.",
        ]


COPILOT = Copilot(
    name="copilot",
    title="GitHub Copilot CLI",
    verified=True,
    programs=("copilot",),
    places=(".copilot",),
    variables=("COPILOT_HOME",),
    aliases=("copilot-cli", "github-copilot"),
)
