"""Which agents a command is about, where their files are, and the hook program."""

import os

from recollect.capture import launcher
from recollect.core.errors import CannotWrite, NotFound
from recollect.core.oslayer import private_directory
from recollect.core.settings import Settings
from recollect.hosts import registry
from recollect.hosts.context import of_this_machine as context
from recollect.hosts.install import detect_all, installer
from recollect.hosts.installer import Installer

__all__ = ["chosen", "context", "put_hook"]


def put_hook(settings: Settings) -> None:
    """Write the hook program and its launcher into the data directory."""
    try:
        private_directory(settings.directory)
        launcher.write(settings.directory)
        launcher.install_hook(settings.directory)
    except OSError as error:
        raise CannotWrite(f"{settings.directory} cannot be written to: {error.strerror}") from error


def chosen(names: tuple[str, ...]) -> list[Installer]:
    """The hosts that were named, or all that are on this machine."""
    if names:
        return [installer(name) for name in dict.fromkeys(names)]
    found = detect_all(os.path.expanduser("~"), dict(os.environ))
    if not found:
        known = ", ".join(registry.facts())
        raise NotFound(
            "no agent was found on this machine",
            hint=f"Name one: recollect install HOST (known: {known})",
        )
    return [registry.installers()[name] for name in found]
