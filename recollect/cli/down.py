"""`recollect down`: stop the daemon."""

import os

import click

from recollect.cli import process
from recollect.cli.output import waiting
from recollect.core import settings
from recollect.core.errors import BadSetting

STARTS_AGAIN = "The next agent session, prompt or command that needs it starts it again."


@click.command()
def command() -> None:
    """Stop the daemon. What it acknowledged is safe; hooks keep what comes meanwhile.

    The next agent session, prompt or command that needs it starts it again.
    """
    try:
        chosen = settings.load()
    except BadSetting:
        # A bad setting must not keep a daemon running; where it runs is all that is needed.
        home = os.environ.get(settings.PREFIX + "HOME") or settings.Settings.home
        chosen = settings.Settings(home=home)
    with waiting("Stopping Recollect") as bar:
        stopped = process.stop(chosen, doing=bar.doing)
    click.echo(f"{how_it_stopped(stopped)} {STARTS_AGAIN}" if stopped else how_it_stopped(stopped))


def how_it_stopped(stopped: process.Stopped) -> str:
    if stopped == "killed":
        return (
            "Recollect is down. It did not stop by itself and was ended; what it had acknowledged "
            "is safe."
        )
    return "Recollect is down." if stopped else "Recollect was not running."
