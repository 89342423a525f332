"""Kilo: the plugin of opencode_plugin.py in its own folders."""

from recollect.hosts.kilo.facts import FACTS
from recollect.hosts.opencode_plugin import PluginInstaller


class KiloInstaller(PluginInstaller):
    directory = "kilo"
    config_names = ("kilo.jsonc", "kilo.json")


INSTALLER = KiloInstaller(FACTS)
