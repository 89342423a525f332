"""`recollect service`: start Recollect with the user's session, by systemd or launchd."""

import os
import plistlib
import shutil
import subprocess
import sys

import click

from recollect.cli.groups import Group
from recollect.core import oslayer, settings
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings

LABEL = "dev.recollect.daemon"
UNIT = "recollect.service"


class NoServiceManager(RecollectError):
    """This machine has neither a systemd user session nor launchd."""

    hint = "Nothing is lost: the first agent session starts Recollect by itself."


@click.group(cls=Group)
def command() -> None:
    """Start the daemon when you log in (systemd user unit or launchd agent)."""


@command.command()
@click.option("--no-start", is_flag=True, help="Write the file, but start nothing.")
def install(no_start: bool) -> None:
    """Write the service file and enable it."""
    chosen = settings.load()
    path, content = _file(chosen)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    oslayer.replace_file(path, content)
    click.echo(f"Written: {path}")
    if not no_start:
        _manage(["enable", "--now", UNIT], ["load", "-w", path])


@command.command()
def uninstall() -> None:
    """Disable the service and remove its file."""
    path, _ = _file(settings.load())
    if not os.path.exists(path):
        click.echo("There is no service to remove.")
        return
    try:
        _manage(["disable", "--now", UNIT], ["unload", "-w", path])
    except NoServiceManager as error:
        click.echo(f"{error} Only the file is removed.")
    os.unlink(path)
    click.echo(f"Removed: {path}")


@command.command()
def show() -> int:
    """Show whether the service is installed; exit code 1 when it is not."""
    path, content = _file(settings.load())
    if not os.path.exists(path):
        click.echo("Not installed. Install it: recollect service install")
        return 1
    with open(path, "rb") as file:
        current = file.read() == content
    click.echo(f"Installed: {path}" + ("" if current else " (of another version; install again)"))
    return 0


def _file(chosen: Settings) -> tuple[str, bytes]:
    """Path and content of the service file of this system."""
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        path = os.path.join(home, "Library", "LaunchAgents", f"{LABEL}.plist")
        return path, plistlib.dumps(
            {
                "Label": LABEL,
                "ProgramArguments": [sys.executable, "-m", "recollect", "up", "--foreground"],
                "EnvironmentVariables": {"RECOLLECT_HOME": chosen.directory},
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
            }
        )
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    unit = f"""\
[Unit]
Description=Recollect, a memory for AI coding agents

[Service]
ExecStart="{sys.executable}" -m recollect up --foreground
Environment="RECOLLECT_HOME={chosen.directory}" MALLOC_ARENA_MAX=2 OPENBLAS_NUM_THREADS=1
Restart=on-failure
RestartSec=10
SuccessExitStatus=3

[Install]
WantedBy=default.target
"""
    return os.path.join(config, "systemd", "user", UNIT), unit.encode()


def _manage(systemd: list[str], launchd: list[str]) -> None:
    if sys.platform == "darwin":
        command = ["launchctl", *launchd]
    elif shutil.which("systemctl") and os.environ.get("XDG_RUNTIME_DIR"):
        command = ["systemctl", "--user", *systemd]
    else:
        raise NoServiceManager()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RecollectError(f"{' '.join(command)} failed: {done.stderr.strip()}")
