"""Kiro IDE: a hook file in the format of IDE 1.x, which Kiro CLI 3 reads too."""

from recollect.hosts.context import Context
from recollect.hosts.installer import Installer
from recollect.hosts.kiro_format import hook_file, servers
from recollect.hosts.kiro_ide.facts import FACTS
from recollect.hosts.pieces import Piece


class KiroIdeInstaller(Installer):
    def pieces(self, context: Context) -> list[Piece]:
        return [hook_file(context), servers(context)]


INSTALLER = KiroIdeInstaller(FACTS)
