"""Qwen Code: one settings.json, in the form of Gemini CLI."""

from recollect.hosts.installer import OneSettingsFile
from recollect.hosts.qwen.facts import FACTS


class QwenInstaller(OneSettingsFile):
    directory = ".qwen"


INSTALLER = QwenInstaller(FACTS)
