"""Qwen Code: one settings.json, in the form of Gemini CLI."""

import os

from recollect.hosts import slash_command
from recollect.hosts.context import Context
from recollect.hosts.gemini_format import OneSettingsFile
from recollect.hosts.pieces import Piece
from recollect.hosts.qwen.facts import FACTS


class QwenInstaller(OneSettingsFile):
    directory = ".qwen"
    machine = (
        "/etc/qwen-code",
        "/Library/Application Support/QwenCode",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH",
    )
    off_switch = (("disableAllHooks",), True)

    def slash_command(self, context: Context) -> list[Piece]:
        base = os.path.join(context.at(self.home_variable), self.directory)
        path = os.path.join(base, "commands", "recollect.md")
        return slash_command.markdown(path, context, "{{args}}")


INSTALLER = QwenInstaller(FACTS)
