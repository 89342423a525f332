"""`recollect service`: start Recollect with the user's session, by systemd, launchd or Windows'
Task Scheduler."""

import getpass
import os
import plistlib
import shutil
import subprocess
import sys
from xml.sax.saxutils import escape

import click

from recollect.cli.groups import Group
from recollect.core import oslayer, settings
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings

LABEL = "dev.recollect.daemon"
UNIT = "recollect.service"
TASK = "Recollect"


class NoServiceManager(RecollectError):
    """This machine has no systemd user session, launchd or Task Scheduler."""

    hint = "Nothing is lost: the first agent session starts Recollect by itself."


@click.group(cls=Group)
def command() -> None:
    """Start the daemon when you log in (systemd user unit, launchd agent, Windows task)."""


@command.command()
@click.option("--no-start", is_flag=True, help="Write the file, but start nothing.")
def install(no_start: bool) -> None:
    """Write the service file and enable it."""
    chosen = settings.load()
    path, content = _file(chosen)
    known, made = os.path.exists(path), []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        made.append(folder)
        folder = os.path.dirname(folder)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    oslayer.replace_file(path, content)
    if no_start:
        click.echo(f"Written: {path}")
        return
    try:
        _manage(
            ["enable", "--now", UNIT],
            ["load", "-w", path],
            ["/Create", "/F", "/TN", TASK, "/XML", path],
        )
    except RecollectError:
        if not known:  # a file that nobody starts would say that it is installed
            os.unlink(path)
            for folder in made:
                os.rmdir(folder)
        raise
    click.echo(f"Written: {path}")
    if sys.platform == "win32":
        _manage([], [], ["/Run", "/TN", TASK])


@command.command()
def uninstall() -> None:
    """Disable the service and remove its file."""
    path, _ = _file(settings.load())
    if not os.path.exists(path):
        click.echo("There is no service to remove.")
        return
    try:
        _manage(["disable", "--now", UNIT], ["unload", "-w", path], ["/Delete", "/F", "/TN", TASK])
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
    if sys.platform == "win32":
        return chosen.path("service.xml"), windows_task(chosen.directory)
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


def windows_task(directory: str) -> bytes:
    """A task of the Task Scheduler: at the user's logon, without a window, again after a failure. A
    task cannot set a variable, so the program does."""
    program = (
        "import os, runpy, sys; "
        f"os.environ['RECOLLECT_HOME'] = {directory!r}; "
        "sys.argv = ['recollect', 'up', '--foreground']; "
        "runpy.run_module('recollect', run_name='__main__')"
    )
    user = "\\".join(filter(None, (os.environ.get("USERDOMAIN"), getpass.getuser())))
    python = os.path.join(os.path.dirname(sys.executable), "pythonw.exe")
    task = f"""\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Recollect, a memory for AI coding agents</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger><Enabled>true</Enabled><UserId>{escape(user)}</UserId></LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{escape(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{escape(python)}</Command>
      <Arguments>{escape(subprocess.list2cmdline(["-c", program]))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
    return task.encode("utf-16")


def _manage(systemd: list[str], launchd: list[str], windows: list[str]) -> None:
    if sys.platform == "darwin":
        command = ["launchctl", *launchd]
    elif sys.platform == "win32":
        command = ["schtasks", *windows]
    elif shutil.which("systemctl") and os.environ.get("XDG_RUNTIME_DIR"):
        command = ["systemctl", "--user", *systemd]
    else:
        raise NoServiceManager()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RecollectError(f"{' '.join(command)} failed: {done.stderr.strip()}")
