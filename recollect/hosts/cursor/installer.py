"""Cursor: flat hooks, the MCP server, and a rule in projects (documented, not run)."""

import os

from recollect.hosts.context import Context
from recollect.hosts.cursor.facts import FACTS
from recollect.hosts.installer import Installer, server_file
from recollect.hosts.marker import HookRun, call
from recollect.hosts.pieces import Default, Hooks, JsonFile, OwnFile, Piece
from recollect.hosts.rules import OWN_RULES, RULES_REASON

PROJECT_RULES = (
    "---\ndescription: When to use the Recollect memory\nalwaysApply: true\n---\n\n" + OWN_RULES
)


class CursorInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        base = context.folder(".cursor")
        hooks = Hooks(
            {
                hook.event: {
                    "command": context.hook(self.name, hook.event),
                    "timeout": hook.timeout_s,
                    **hook.matched,
                }
                for hook in self.facts.hooks
            }
        )
        found: list[Piece] = [
            JsonFile(
                os.path.join(base, "hooks.json"),
                "hooks that capture and recall",
                (Default(("version",), 1), hooks),
            ),
            server_file(os.path.join(base, "mcp.json"), context),
        ]
        if context.in_project:
            path = os.path.join(base, "rules", "recollect.mdc")
            found.append(OwnFile(path, RULES_REASON, PROJECT_RULES.encode(), 0o644))
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

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        return call(
            "beforeSubmitPrompt",
            conversation_id=session,
            workspace_roots=[cwd],
            hook_event_name="beforeSubmitPrompt",
            prompt=text,
        )


INSTALLER = CursorInstaller(FACTS)
