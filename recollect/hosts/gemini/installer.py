"""Gemini CLI: one settings.json."""

from recollect.hosts.gemini.facts import FACTS
from recollect.hosts.installer import OneSettingsFile


class GeminiInstaller(OneSettingsFile):
    directory = ".gemini"
    home_variable = "GEMINI_CLI_HOME"


INSTALLER = GeminiInstaller(FACTS)
