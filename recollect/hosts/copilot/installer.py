"""GitHub Copilot CLI: a hook file of our own, the MCP server in mcp-config.json."""

import os

from recollect.hosts import slash_command
from recollect.hosts.context import SERVER, Context
from recollect.hosts.copilot.facts import FACTS
from recollect.hosts.installer import Installer
from recollect.hosts.marker import HookRun, call
from recollect.hosts.pieces import Default, Hooks, JsonFile, Piece, Server
from recollect.hosts.switches import OffSwitch, below, project_folders, switched_off


class CopilotInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        base = context.at("COPILOT_HOME", ".copilot")
        folder = os.path.join(context.project, ".github") if context.in_project else base
        hooks = Hooks(
            {
                hook.event: {
                    "type": "command",
                    "bash": context.hook(self.name, hook.event),
                    "timeoutSec": hook.timeout_s,
                }
                for hook in self.facts.hooks
            }
        )
        path = os.path.join(folder, "hooks", "recollect.json")
        found: list[Piece] = [
            JsonFile(path, "hooks that capture and recall", (Default(("version",), 1), hooks))
        ]
        if not context.in_project:
            server = {"type": "local", **context.server(tools=["*"])}
            path = os.path.join(base, "mcp-config.json")
            edit = Server(("mcpServers", SERVER), server)
            found.append(JsonFile(path, "the MCP server", (edit,)))
        return found

    def slash_command(self, context: Context) -> list[Piece]:
        base = context.at("COPILOT_HOME", ".copilot")
        path = os.path.join(base, "skills", "recollect", "SKILL.md")
        return slash_command.skill(path, context)

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        """Only a repository's settings can switch its hooks off; the user's own do not."""
        folders = project_folders(cwd, context.home)
        return switched_off(
            below(folders, ".github/copilot/settings.json"), ("disableAllHooks",), True
        )

    def notes(self, context: Context) -> list[str]:
        return [
            *super().notes(context),
            "Copilot also runs hooks of a repository's .claude/settings.json: "
            "install Claude Code's hooks for the user, not in the project.",
        ]

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        event = "userPromptSubmitted"
        return call(event, sessionId=session, cwd=cwd, hook_event_name=event, prompt=text)


INSTALLER = CopilotInstaller(FACTS)
