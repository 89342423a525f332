"""Claude Code: hooks in settings.json, the MCP server in .claude.json."""

import os
from typing import Any

from recollect.hosts import slash_command
from recollect.hosts.claude_code.facts import FACTS
from recollect.hosts.context import SERVER, Context
from recollect.hosts.installer import Installer, allowed, grouped_hooks
from recollect.hosts.pieces import JsonFile, Piece, Server
from recollect.hosts.switches import (
    OffSwitch,
    below,
    forbidden,
    fragments,
    project_folders,
    switched_off,
    value_of,
)


class ClaudeCodeInstaller(Installer):
    plugin_root = "${CLAUDE_PLUGIN_ROOT}"

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
        hooks = grouped_hooks(self.facts, context)
        tools = f"mcp__{SERVER}"
        may = allowed(("permissions", "allow"), context, f"{tools}__{{}}", tools, f"{tools}__*")
        why = "hooks that capture and recall; tools that read memory run without asking"
        return [
            JsonFile(settings, why, (hooks, may)),
            JsonFile(servers, "the MCP server", (Server(("mcpServers", SERVER), server),)),
        ]

    def slash_command(self, context: Context) -> list[Piece]:
        folder = os.path.join(context.at("CLAUDE_CONFIG_DIR", ".claude"), "commands")
        return slash_command.markdown(
            os.path.join(folder, "recollect.md"),
            context,
            "$ARGUMENTS",
            **{"argument-hint": slash_command.HINT, "disable-model-invocation": True},
        )

    def plugin(self, context: Context, cwd: str) -> str:
        config = context.at("CLAUDE_CONFIG_DIR", ".claude")
        on: dict[str, Any] = {}
        for path in _settings_files(config, context, cwd):
            on |= value_of(path, ("enabledPlugins",)) or {}
        installed = value_of(
            os.path.join(config, "plugins", "installed_plugins.json"), ("plugins",)
        )
        for name, entries in (installed or {}).items():
            if name.startswith(f"{SERVER}@") and on.get(name) is True:
                return str(entries[-1]["installPath"])
        return ""

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        config = context.at("CLAUDE_CONFIG_DIR", ".claude")
        machine = context.system("/etc/claude-code", "/Library/Application Support/ClaudeCode")
        managed = [
            os.path.join(machine, "managed-settings.json"),
            *fragments(os.path.join(machine, "managed-settings.d")),
            os.path.join(config, "remote-settings.json"),  # what an organisation's server said
        ]
        files = _settings_files(config, context, cwd)
        return [
            *switched_off([*files, *managed], ("disableAllHooks",), True),
            *forbidden(managed, ("allowManagedHooksOnly",)),
        ]

    def notes(self, context: Context) -> list[str]:
        return [
            *super().notes(context),
            "In a folder that Claude Code does not trust yet, it asks before hooks run.",
        ]


def _settings_files(config: str, context: Context, cwd: str) -> list[str]:
    """The user's and the project's, weaker ones first."""
    names = (".claude/settings.json", ".claude/settings.local.json")
    own = os.path.join(config, "settings.json")
    return [own, *below(project_folders(cwd, context.home), *names)]


INSTALLER = ClaudeCodeInstaller(FACTS)
