"""OpenCode: the plugin of opencode_plugin.py in its own folders."""

from recollect.hosts.opencode.facts import FACTS
from recollect.hosts.opencode_plugin import PluginInstaller


class OpenCodeInstaller(PluginInstaller):
    directory = "opencode"
    config_names = ("opencode.json", "opencode.jsonc")


INSTALLER = OpenCodeInstaller(FACTS)
