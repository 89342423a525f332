"""`recollect up`, `down` and `restart`: the daemon's process."""

import os
import sys
from typing import Any

import click

from recollect.cli import process
from recollect.cli.output import waiting
from recollect.cli.passphrase import unlock
from recollect.cli.status import port_taken, store_problem
from recollect.client import Client
from recollect.core import settings, store_key
from recollect.core.errors import BadSetting
from recollect.core.settings import Settings


@click.command()
@click.option("--foreground", is_flag=True, help="Stay in this terminal (for service managers).")
@click.option("--quiet", is_flag=True, help="Print nothing on success.")
@click.option(
    "--accept-loss",
    is_flag=True,
    help="Continue with what is left of a store that lost rows; its files are kept in backups/.",
)
def up(foreground: bool, quiet: bool, accept_loss: bool) -> int:
    """Start the daemon. It keeps running when the terminal closes."""
    chosen = settings.load()
    if accept_loss:
        _accept_loss(chosen)
    if not Client(chosen).alive():
        unlock(chosen)  # before the bar that waits
    if foreground:
        # This process becomes the daemon, so that a service manager sees it.
        keys = _keys_on_stdin()
        command = [sys.executable, "-m", "recollect.daemon", *keys, "--foreground"]
        os.execv(sys.executable, command)
    with waiting("Starting Recollect") as bar:
        started = process.start(chosen, doing=bar.doing)
    if not quiet:
        health = _print_up(chosen, "is up" if started else "was already up")
        for warning in filter(None, (port_taken(health), store_problem(health))):
            click.secho(warning, fg="yellow")
    return 0


@click.command()
def down() -> None:
    """Stop the daemon. Everything it acknowledged is stored; hooks keep new events meanwhile.

    The next agent session, prompt or command that needs the daemon starts it again.
    """
    try:
        chosen = settings.load()
    except BadSetting:
        # A bad setting must not keep a daemon running; where it runs is all that is needed.
        home = os.environ.get(settings.PREFIX + "HOME") or settings.Settings.home
        chosen = settings.Settings(home=home)
    if _stop(chosen):
        click.echo("The next agent session, prompt or command that needs it starts it again.")
    else:
        click.echo("Recollect was not running.")


@click.command()
def restart() -> None:
    """Restart the daemon, for example after an upgrade or a changed setting."""
    chosen = settings.load()
    unlock(chosen)
    _stop(chosen)
    with waiting("Starting Recollect") as bar:
        process.start(chosen, doing=bar.doing)
    _print_up(chosen, "is up")


def _keys_on_stdin() -> list[str]:
    """Put the keys of this process where the program that takes its place reads them."""
    keys = store_key.handed_over()
    if not keys:
        return []
    reading, writing = os.pipe()
    os.write(writing, keys)
    os.close(writing)
    os.dup2(reading, 0)
    return ["--keys"]


def _stop(chosen: Settings) -> bool:
    with waiting("Stopping Recollect") as bar:
        stopped = process.stop(chosen, doing=bar.doing)
    if stopped == "killed":
        click.echo("Recollect is down. It did not stop by itself and was killed; everything it had "
                   "acknowledged is stored.")  # fmt: skip
    elif stopped:
        click.echo("Recollect is down.")
    return bool(stopped)


def _print_up(chosen: Settings, how: str) -> dict[str, Any]:
    health: dict[str, Any] = Client(chosen).get("/healthz")
    click.echo(
        f"Recollect {how}: process {health['pid']}, http://127.0.0.1:{health['port']}, "
        f"data in {chosen.directory}"
    )
    return health


def _accept_loss(chosen: Settings) -> None:
    if Client(chosen).alive():
        click.echo("Nothing is missing: Recollect is running.")
        return
    done = process.on_files(chosen, "--accept-loss")
    if done["missing"] is None:
        click.echo("Nothing is missing.")
        return
    click.echo(f"Accepted: {done['missing']}.")
    for path in done["aside"]:
        click.echo(f"Kept as it was: {path}")
    if not done["aside"]:
        click.echo("Nothing was left to keep.")
    if done["newest"]:
        click.echo(f"The newest backup is {done['newest']}: recollect backup restore")
