"""Qwen Code: one settings.json, in the form of Gemini CLI."""

from recollect.hosts.gemini_format import OneSettingsFile
from recollect.hosts.qwen.facts import FACTS


class QwenInstaller(OneSettingsFile):
    directory = ".qwen"


INSTALLER = QwenInstaller(FACTS)
