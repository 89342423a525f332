"""Where installations go, for the commands that install, remove or look."""

import os
import sys

from recollect.capture import launcher
from recollect.core.errors import BadInput, CannotWrite
from recollect.core.oslayer import private_directory
from recollect.core.settings import Settings
from recollect.hosts import INSTALLERS, Context, Installer, detect_all, installer


def context(settings: Settings, *, project: str | None = None, set_default: bool = True) -> Context:
    """What installers need to know. Puts the hook program where hosts will find it."""
    return Context(
        home=os.path.expanduser("~"),
        data_dir=settings.directory,
        hook_command=settings.path("bin", "recollect-hook"),
        mcp_command=(_command(), "mcp"),
        scope="project" if project else "user",
        project=os.path.abspath(project) if project else "",
        env=dict(os.environ),
        set_default=set_default,
    )


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
        known = ", ".join(one.name for one in INSTALLERS)
        raise BadInput(
            "no agent was found on this machine",
            hint=f"Name one: recollect install HOST (known: {known})",
        )
    return [one for one in INSTALLERS if one.name in found]


def _command() -> str:
    """The `recollect` that belongs to this Python."""
    beside = os.path.join(os.path.dirname(sys.executable), "recollect")
    return beside if os.path.exists(beside) else os.path.abspath(sys.argv[0])
