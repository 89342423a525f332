"""Devin Desktop (Windsurf): hooks that capture; recall by MCP and rules (documented, not run).

Its hooks and servers stand where Windsurf had them; the rules of a project moved to .devin.
"""

import os

from recollect.hosts.context import Context
from recollect.hosts.installer import Installer, server_file
from recollect.hosts.marker import HookRun, call
from recollect.hosts.pieces import Hooks, JsonFile, OwnFile, Piece, TextBlock
from recollect.hosts.rules import OWN_RULES, RULES, RULES_REASON
from recollect.hosts.windsurf.facts import FACTS

PROJECT_RULES = "---\ntrigger: always_on\n---\n\n" + OWN_RULES


class WindsurfInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        hooks = Hooks(
            {
                hook.event: {
                    "command": context.hook(self.name, hook.event),
                    "show_output": False,
                }
                for hook in self.facts.hooks
            }
        )
        if context.in_project:
            base = os.path.join(context.project, ".windsurf")
            path = os.path.join(context.project, ".devin", "rules", "recollect.md")
            return [
                JsonFile(os.path.join(base, "hooks.json"), "hooks that capture", (hooks,)),
                OwnFile(path, RULES_REASON, PROJECT_RULES.encode(), 0o644),
            ]
        base = os.path.join(context.home, ".codeium", "windsurf")
        return [
            JsonFile(os.path.join(base, "hooks.json"), "hooks that capture", (hooks,)),
            server_file(os.path.join(base, "mcp_config.json"), context),
            TextBlock(os.path.join(base, "memories", "global_rules.md"), RULES_REASON, RULES),
        ]

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        return call(
            "pre_user_prompt",
            agent_action_name="pre_user_prompt",
            trajectory_id=session,
            tool_info={"user_prompt": text},
        )


INSTALLER = WindsurfInstaller(FACTS)
