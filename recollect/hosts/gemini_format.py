"""Hooks and MCP servers in one settings.json, as Gemini CLI and Qwen Code have them."""

import os

from recollect.hosts.context import SERVER, Context
from recollect.hosts.installer import Installer, grouped_hooks
from recollect.hosts.pieces import JsonFile, Piece, Server
from recollect.hosts.switches import OffSwitch, below, project_folders, switched_off


class OneSettingsFile(Installer):
    directory: str  # below home, or below the project
    home_variable = ""  # moves home itself
    # The folder of the whole machine on Linux and macOS, and the variable that names its file.
    machine: tuple[str, str, str]
    off_switch: tuple[tuple[str, ...], object]  # the setting, and the value that turns hooks off

    def pieces(self, context: Context) -> list[Piece]:
        root = context.project if context.in_project else context.at(self.home_variable)
        path = os.path.join(root, self.directory, "settings.json")
        # Trusted, because our tools would else ask at each call; they only reach our own daemon.
        server = Server(("mcpServers", SERVER), context.server(trust=True))
        edits = (grouped_hooks(self.facts, context, milliseconds=True), server)
        return [JsonFile(path, "hooks and the MCP server", edits)]

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        linux, mac, variable = self.machine
        machine = context.system(linux, mac)
        name = os.path.join(self.directory, "settings.json")
        files = [
            os.path.join(machine, "system-defaults.json"),
            os.path.join(context.at(self.home_variable), name),
            *below(project_folders(cwd, context.home), name),
            context.env.get(variable, "") or os.path.join(machine, "settings.json"),
        ]
        return switched_off(files, *self.off_switch)

    def notes(self, context: Context) -> list[str]:
        trust = f"{self.title} runs no project hooks in a folder that it does not trust."
        return [*super().notes(context), *([trust] if context.in_project else [])]
