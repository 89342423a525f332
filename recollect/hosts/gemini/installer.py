"""Gemini CLI: one settings.json."""

import os

from recollect.hosts import slash_command
from recollect.hosts.context import Context
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
    off_switch = (("hooksConfig", "enabled"), False)

    def slash_command(self, context: Context) -> list[Piece]:
        base = os.path.join(context.at(self.home_variable), self.directory)
        path = os.path.join(base, "commands", "recollect.toml")
        return slash_command.toml(path, context, "{{args}}")

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
