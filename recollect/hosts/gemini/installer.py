"""Gemini CLI: one settings.json."""

from recollect.hosts.gemini.facts import FACTS
from recollect.hosts.gemini_format import OneSettingsFile


class Gemini(OneSettingsFile):
    directory = ".gemini"
    home_variable = "GEMINI_CLI_HOME"


INSTALLER = Gemini(FACTS)
