"""Auggie: hooks and the MCP server in settings.json (documented, not run).

It runs a program with arguments, without a shell, and tells a stop's answer to hooks that ask.
"""

import os

from recollect.hosts.auggie.facts import FACTS
from recollect.hosts.context import SERVER, Context
from recollect.hosts.installer import Installer
from recollect.hosts.marker import HookRun, call
from recollect.hosts.pieces import Hooks, JsonFile, Piece, Server


class AuggieInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        name = "settings.local.json" if context.in_project else "settings.json"
        path = os.path.join(context.folder(".augment"), name)
        entries = {
            hook.event: {
                **hook.matched,
                "hooks": [
                    {
                        "type": "command",
                        "command": context.hook_command,
                        "args": [self.name, hook.event],
                        "timeout": hook.timeout_ms,
                    }
                ],
                **({"metadata": {"includeConversationData": True}} if hook.event == "Stop" else {}),
            }
            for hook in self.facts.hooks
        }
        server = Server(("mcpServers", SERVER), context.server())
        return [JsonFile(path, "hooks and the MCP server", (Hooks(entries, groups=True), server))]

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        event = self.facts.prompts[0]
        told = {"conversation_id": session, "workspace_roots": [cwd], "user_prompt": text}
        return call(event, hook_event_name=event, **told)


INSTALLER = AuggieInstaller(FACTS)
