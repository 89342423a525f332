"""Gemini CLI: one settings.json."""

import os
from fnmatch import fnmatch

from recollect.hosts import slash_command
from recollect.hosts.context import SERVER, Context
from recollect.hosts.gemini.facts import FACTS
from recollect.hosts.gemini_format import OneSettingsFile
from recollect.hosts.pieces import MARK, Piece
from recollect.hosts.switches import OffSwitch, value_of


class GeminiInstaller(OneSettingsFile):
    directory = ".gemini"
    home_variable = "GEMINI_CLI_HOME"
    machine = (
        "/etc/gemini-cli",
        "/Library/Application Support/GeminiCli",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    )
    plugin_root = "${extensionPath}"
    off_switch = (("hooksConfig", "enabled"), False)

    def slash_command(self, context: Context) -> list[Piece]:
        base = os.path.join(context.at(self.home_variable), self.directory)
        path = os.path.join(base, "commands", "recollect.toml")
        return slash_command.toml(path, context, "{{args}}")

    def plugin(self, context: Context, cwd: str) -> str:
        folder = os.path.join(context.at(self.home_variable), self.directory, "extensions")
        rules = value_of(os.path.join(folder, "extension-enablement.json"), (SERVER, "overrides"))
        on = os.path.isdir(os.path.join(folder, SERVER))
        for rule in rules or ():  # the last one that is about this directory decides
            if fnmatch(f"{cwd}/", str(rule).removeprefix("!")):
                on = on and not str(rule).startswith("!")
        return os.path.join(folder, SERVER) if on else ""

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        """Gemini CLI also has a list of commands that it does not run."""
        path = os.path.join(context.at(self.home_variable), self.directory, "settings.json")
        disabled = value_of(path, ("hooksConfig", "disabled"))
        named = [one for one in disabled if MARK in str(one)] if isinstance(disabled, list) else []
        one_by_one = OffSwitch(
            f"hooksConfig.disabled in {path} names Recollect's hooks",
            "Start gemini, and enable them with /hooks",
        )
        return [*super().off_switches(context, cwd), *([one_by_one] if named else [])]


INSTALLER = GeminiInstaller(FACTS)
