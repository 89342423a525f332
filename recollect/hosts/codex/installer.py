"""Codex CLI: hooks.json, the MCP server in config.toml, and trust."""

import glob
import os
from typing import Any

from recollect.core.tool_schemas import READING, WRITING
from recollect.hosts import slash_command
from recollect.hosts.changes import FileChange
from recollect.hosts.codex import trust
from recollect.hosts.codex.facts import FACTS
from recollect.hosts.context import SERVER, Context
from recollect.hosts.installer import Installer, grouped_hooks
from recollect.hosts.pieces import JsonFile, Piece, TomlServer
from recollect.hosts.switches import (
    OffSwitch,
    below,
    forbidden,
    project_folders,
    switched_off,
    value_of,
)


class CodexInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        config = os.path.join(trust.folder(context), "config.toml")
        values: dict[str, Any] = {
            **context.server(),
            "startup_timeout_sec": 20,
            "default_tools_approval_mode": "prompt",
            "tools": _tools(config, context),
        }
        hooks = grouped_hooks(self.facts, context)
        trusted = tuple(("hooks", "state", key) for key in trust.hook_keys(context))
        return [
            JsonFile(trust.hooks_path(context), "hooks that capture and recall", (hooks,)),
            TomlServer(config, "the MCP server", ("mcp_servers", SERVER), values, trusted),
        ]

    def plan_install(self, context: Context) -> list[FileChange]:
        """Trust in hooks that change is void: it goes, so that we know to ask for it again."""
        changes = super().plan_install(context)
        renewed = any(change.path == trust.hooks_path(context) for change in changes)
        return trust.withdrawn(context, changes) if renewed else changes

    def plan_uninstall(self, context: Context) -> list[FileChange]:
        changes = super().plan_uninstall(context)
        return trust.withdrawn(context, changes) if context.in_project else changes

    def notes(self, context: Context) -> list[str]:
        notes = super().notes(context)
        if self.needs_trust(context):
            notes.append(
                "Codex runs no hook that you have not trusted, and does not say so: "
                "start codex, type /hooks and trust Recollect's hooks."
            )
        return notes

    def slash_command(self, context: Context) -> list[Piece]:
        """Codex has no commands of users any more; a skill is called with `$recollect`."""
        path = os.path.join(trust.folder(context), "skills", "recollect", "SKILL.md")
        return slash_command.skill(path, context)

    def plugin(self, context: Context, cwd: str) -> str:
        listed = value_of(trust.user_config_path(context), ("plugins",)) or {}
        for name, table in listed.items():
            plugin, _, market = name.partition("@")
            if plugin == SERVER and table.get("enabled") is not False:
                kept = os.path.join(trust.folder(context), "plugins", "cache", market, SERVER)
                versions = sorted(glob.glob(os.path.join(glob.escape(kept), "*")))
                return versions[-1] if versions else ""
        return ""

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        machine = context.system("/etc/codex", "/etc/codex")
        own = [
            os.path.join(machine, "config.toml"),
            trust.user_config_path(context),
            *below(project_folders(cwd, context.home), ".codex/config.toml"),
            os.path.join(machine, "managed_config.toml"),
            requirements := os.path.join(machine, "requirements.toml"),
        ]
        found = [
            *switched_off(own, ("features", "hooks"), False),
            *switched_off(own, ("features", "codex_hooks"), False),  # its older name
            *forbidden([requirements], ("allow_managed_hooks_only",)),
        ]
        if not found and self.plugin(context, cwd) and self.state(context) == "absent":
            return trust.plugin_doubts(context, cwd)
        return found or trust.doubts(context, cwd)

    def needs_trust(self, context: Context) -> bool:
        return not trust.trusted(context)

    def plan_trust(self, context: Context) -> list[FileChange]:
        return trust.planned(context)


def _tools(config: str, context: Context) -> dict[str, Any]:
    """Which tools run without asking: those that read and, when the user has said so, those that
    write. What the user set for a tool stays, also what Codex wrote down when asked."""
    listed = value_of(config, ("mcp_servers", SERVER, "tools"))
    approved = {"approval_mode": "approve"}
    tools = dict.fromkeys(READING, approved) | (listed if isinstance(listed, dict) else {})
    return tools | (dict.fromkeys(WRITING, approved) if context.allow_writes else {})


INSTALLER = CodexInstaller(FACTS)
