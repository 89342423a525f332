"""Cline: one executable file per event, MCP and rules."""

import os
import shlex

from recollect.hosts.changes import read
from recollect.hosts.cline.facts import FACTS
from recollect.hosts.context import Context
from recollect.hosts.installer import Installer, server_file
from recollect.hosts.marker import HookRun, call
from recollect.hosts.pieces import GENERATED, OwnFile, Piece
from recollect.hosts.rules import OWN_RULES, RULES_REASON

_EXTENSION = ("globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")


class ClineInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        scripts = [
            OwnFile(path, f"hook for {event}", _script(context, event), 0o755)
            for event, path in self._scripts(context)
            if not self._foreign(path)
        ]
        rules = os.path.join(self._folder(context, "Rules"), "recollect.md")
        rule = OwnFile(rules, RULES_REASON, OWN_RULES.encode(), 0o644)
        if context.in_project:
            return [*scripts, rule]
        return [
            *scripts,
            server_file(_servers(context), context, allow="autoApprove", disabled=False),
            rule,
        ]

    def notes(self, context: Context) -> list[str]:
        taken = [path for _, path in self._scripts(context) if self._foreign(path)]
        return [
            "Turn on hooks in Cline's settings (Feature settings, Enable Hooks), then reload.",
            *(
                f"{path} is someone else's hook and stays; that event is not seen."
                for path in taken
            ),
        ]

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        return call(
            "UserPromptSubmit",
            hookName="UserPromptSubmit",
            taskId=session,
            workspaceRoots=[cwd],
            userPromptSubmit={"prompt": text},
        )

    def _folder(self, context: Context, kind: str) -> str:
        if context.in_project:
            base = os.path.join(context.project, ".clinerules")
            return os.path.join(base, "hooks") if kind == "Hooks" else base
        documents = os.path.join(context.home, "Documents", "Cline", kind)
        shared = os.path.join(context.home, ".cline")
        newer = os.path.isdir(os.path.join(shared, "data")) and not os.path.isdir(documents)
        return os.path.join(shared, kind.lower()) if newer else documents

    def _scripts(self, context: Context) -> list[tuple[str, str]]:
        folder = self._folder(context, "Hooks")
        return [(hook.event, os.path.join(folder, hook.event)) for hook in self.facts.hooks]

    def _foreign(self, path: str) -> bool:
        """A hook's file name is its event, so only one can be there: the user's own wins."""
        found = read(path)
        return found is not None and GENERATED.encode() not in found


def _script(context: Context, event: str) -> bytes:
    hook = shlex.quote(context.hook_command)
    lines = (
        "#!/bin/sh",
        f"# {GENERATED}.",
        f"[ -x {hook} ] || exit 0",
        f"exec {hook} cline {event}",
    )
    return ("\n".join(lines) + "\n").encode()


def _servers(context: Context) -> str:
    """The newer place that all of Cline's programs share, if it is there; else the extension's."""
    shared = os.path.join(context.home, ".cline", "data", "settings")
    if os.path.isdir(shared):
        return os.path.join(shared, _EXTENSION[-1])
    return os.path.join(context.app_config, "Code", "User", *_EXTENSION)


INSTALLER = ClineInstaller(FACTS)
