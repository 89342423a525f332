"""Qwen Code: one settings.json, in the form of Gemini CLI."""

from recollect.hosts.gemini_format import OneSettingsFile
from recollect.hosts.qwen.facts import FACTS


class QwenInstaller(OneSettingsFile):
    directory = ".qwen"
    machine = (
        "/etc/qwen-code",
        "/Library/Application Support/QwenCode",
        "QWEN_CODE_SYSTEM_SETTINGS_PATH",
    )
    off_switch = (("disableAllHooks",), True)


INSTALLER = QwenInstaller(FACTS)
